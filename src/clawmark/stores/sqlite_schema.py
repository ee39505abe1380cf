"""The tables of the SQLite index, their version, and what its errors mean.

Rows carry the generation; a generation belongs to one agent and has a full-text table of
its own: one agent's words never touch another's statistics.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable

from clawmark.core.errors import StoreBusyError, StoreCorruptError, StoreError

APPLICATION_ID = 0x636C776D  # "clwm"
SCHEMA_VERSION = 2

# Five vectors of 512 dimensions fill a page of 8 kB to 95 %, two one of 4 kB to 77 %;
# larger pages cost more on small edits.
PAGE_SIZE = 8192

_TABLES = """
CREATE TABLE generations (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    identity TEXT NOT NULL,
    answering INTEGER NOT NULL DEFAULT 0,
    complete INTEGER NOT NULL DEFAULT 0,
    revision INTEGER NOT NULL DEFAULT 0,
    chunks INTEGER NOT NULL DEFAULT 0,
    total_length INTEGER NOT NULL DEFAULT 0,
    facts TEXT NOT NULL DEFAULT '{}',
    UNIQUE (agent, identity)
);
CREATE TABLE documents (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    generation INTEGER NOT NULL REFERENCES generations (id),
    source TEXT NOT NULL,
    path TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    time_ms INTEGER,
    rejected TEXT,
    kind TEXT NOT NULL DEFAULT '',
    chunks INTEGER NOT NULL DEFAULT 0,
    meta TEXT NOT NULL DEFAULT '{}',
    text BLOB NOT NULL,
    UNIQUE (generation, source, path)
);
CREATE TABLE chunks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    document INTEGER NOT NULL REFERENCES documents (id),
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    start INTEGER NOT NULL,
    stop INTEGER NOT NULL,
    length INTEGER NOT NULL,
    embedding_key BLOB NOT NULL,
    context TEXT NOT NULL
);
CREATE INDEX chunks_of_document ON chunks (document);
CREATE TABLE vectors (
    chunk INTEGER PRIMARY KEY REFERENCES chunks (id),
    vector BLOB NOT NULL
);
CREATE TABLE tombstones (
    agent TEXT NOT NULL,
    kind TEXT NOT NULL,
    value TEXT NOT NULL,
    subject TEXT NOT NULL,
    PRIMARY KEY (agent, kind, value, subject)
) WITHOUT ROWID;
"""

# What SQLite says of a damaged file where it gives no code.
_DAMAGE = re.compile("malformed|not a database|Could not decode")


def _add_speakers(db: sqlite3.Connection) -> None:
    db.execute("ALTER TABLE chunks ADD COLUMN speaker TEXT NOT NULL DEFAULT ''")
    db.execute("ALTER TABLE chunks ADD COLUMN spoken_ms INTEGER")
    # Sessions are read again; their vectors stay, because their texts are the same.
    db.execute("UPDATE documents SET hash = '', mtime_ns = 0 WHERE source = 'sessions'")
    db.execute("UPDATE generations SET revision = revision + 1")


# Migration n brings version n to n + 1; a new file takes them all. Derived data: a step
# may also empty tables, the next sync fills them again.
MIGRATIONS: dict[int, Callable[[sqlite3.Connection], None]] = {1: _add_speakers}


def terms_table(generation: int) -> str:
    """Name the full-text table of a generation."""
    return f"terms_{generation:d}"


def create_terms_table(db: sqlite3.Connection, generation: int) -> None:
    """Make the full-text table of a generation.

    It holds our own terms, separated by spaces: every other printable ASCII character is
    part of a term. It keeps no copy of them: they are made again from the text.
    """
    db.execute(
        f"CREATE VIRTUAL TABLE {terms_table(generation)} USING fts5 "
        f"(terms, content = '', tokenize = \"ascii tokenchars '-_./:#@+'\")"
    )


def prepare(db: sqlite3.Connection, location: str, *, fill: Callable[[sqlite3.Connection], None]) -> None:
    """Create the tables in a new file, or bring an older one up to date.

    Args:
        db: An open file.
        location: Its name, for people.
        fill: Called in the transaction that makes the tables.

    Raises:
        StoreError: The file was written by a newer clawmark.
    """
    version = read_version(db, location)
    if version == SCHEMA_VERSION:
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        version = read_version(db, location)
        if version == 0:
            for statement in _TABLES.split(";\n"):
                if statement.strip():
                    db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            fill(db)
        for step in range(max(version, 1), SCHEMA_VERSION):
            MIGRATIONS[step](db)
        db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def read_version(db: sqlite3.Connection, location: str) -> int:
    """Give the schema version of an open index, 0 for an empty file.

    Raises:
        StoreError: It is not ours, or newer than this clawmark.
    """
    # Tables first: a file that another process is just creating has none yet, or all.
    tables = int(db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0])
    version = int(db.execute("PRAGMA user_version").fetchone()[0])
    owner = int(db.execute("PRAGMA application_id").fetchone()[0])
    if tables and owner != APPLICATION_ID:
        raise StoreError(
            f"{location} is a database of another program.",
            code="INDEX_FOREIGN",
            action="Name another file in [store] url.",
        )
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The index {location} was written by a newer clawmark "
            f"(schema {version}, this one knows {SCHEMA_VERSION}).",
            code="INDEX_NEWER",
            action="Upgrade clawmark, or name another index file in [store] url.",
        )
    return version if tables else 0


def translate(error: sqlite3.Error, location: str) -> StoreError:
    """Turn an SQLite error into one that names the cause and its one repair."""
    name = getattr(error, "sqlite_errorname", "") or ""
    text = str(error)
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return StoreBusyError(
            f"Another process is writing the index {location}.", action="Try again when it has finished."
        )
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CONSTRAINT")) or _DAMAGE.search(text):
        return StoreCorruptError(
            f"The index {location} is damaged: {text}.",
            action="Run `clawmark index --force`: it is rebuilt from your files.",
        )
    if name.startswith("SQLITE_FULL"):
        return StoreError(f"The disk of {location} is full.", code="INDEX_DISK_FULL", action="Free some space.")
    if name.startswith(("SQLITE_CANTOPEN", "SQLITE_PERM", "SQLITE_READONLY", "SQLITE_AUTH")):
        return StoreError(
            f"The index {location} cannot be opened: {text}.",
            code="INDEX_PERMISSION",
            action="Check the permissions of the file and its folder.",
        )
    if name.startswith("SQLITE_IOERR"):
        return StoreError(f"Reading the index {location} failed: {text}.", code="INDEX_IO", action="Check the disk.")
    if "no such table" in text or "no such column" in text:
        return StoreCorruptError(
            f"The index {location} is incomplete: {text}.",
            action="Run `clawmark index --force`: it is rebuilt from your files.",
        )
    return StoreError(f"The index {location} failed: {text}.", action="Run `clawmark doctor`.")
