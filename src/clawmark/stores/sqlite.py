"""The index as one SQLite file: WAL, full text, vectors; derived, disposable.

Any number of readers beside one writer, in any number of processes. Each thread has
its own connection.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import zlib
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from clawmark.core.errors import StoreCorruptError, StoreError
from clawmark.core.rows import Fault
from clawmark.stores.matrix import MatrixCache
from clawmark.stores.sqlite_faults import find_faults, repair
from clawmark.stores.sqlite_read import SqliteReader
from clawmark.stores.sqlite_schema import (
    PAGE_SIZE,
    SCHEMA_VERSION,
    create_terms_table,
    prepare,
    read_version,
    terms_table,
    translate,
)
from clawmark.stores.sqlite_write import SqliteWriter
from clawmark.stores.tombstones import copy_differs, load_copy, write_copy

# Longer than any transaction of ours; after it the caller is told who is in the way.
BUSY_TIMEOUT_SECONDS = 10.0
# Searches read for milliseconds; who reads for longer than this is not waited for.
JOURNAL_SECONDS = 2.0
# The folder in a workspace that holds nothing but what can be made again.
FOLDER = ".clawmark"


class SqliteStore:
    """A store in one file (``core.ports.Store``); nothing is written before ``writing``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._lock = threading.Lock()
        self._connections: list[sqlite3.Connection] = []
        self._matrices = MatrixCache()
        self._file: tuple[int, int] | None = None

    @property
    def location(self) -> str:
        """See ``core.ports.Store``."""
        return str(self.path)

    @contextmanager
    def reading(self, agent: str, identity: Mapping[str, Any] | None = None) -> Generator[SqliteReader]:
        """See ``core.ports.Store``."""
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                with closing(sqlite3.connect(":memory:", isolation_level=None)) as empty:
                    prepare(empty, ":memory:", fill=self._take_over)
                    yield SqliteReader(empty, None, self._matrices, self.location, agent)
                return
            db.execute("BEGIN")
            try:
                read_version(db, self.location)
                yield SqliteReader(db, _generation_of(db, agent, identity), self._matrices, self.location, agent)
            finally:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")

    @contextmanager
    def writing(self, agent: str, identity: Mapping[str, Any]) -> Generator[SqliteWriter]:
        """See ``core.ports.Store``."""
        with self._transaction() as db:
            writer = SqliteWriter(db, _make_generation(db, agent, identity), agent)
            yield writer
            writer.finish()
            if writer.tombstones_changed:
                # Within the transaction: nobody else can write an older copy afterwards.
                write_copy(db, self.path)

    def agents(self) -> list[str]:
        """See ``core.ports.Store``."""
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                return []
            return [row[0] for row in db.execute("SELECT DISTINCT agent FROM generations ORDER BY agent")]

    def identities(self, agent: str) -> list[dict[str, Any]]:
        """See ``core.ports.Store``."""
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                return []
            rows = db.execute(
                "SELECT identity FROM generations WHERE agent = ? ORDER BY answering DESC, id DESC", (agent,)
            )
            return [json.loads(row[0]) for row in rows.fetchall()]

    def faults(self, agent: str) -> list[Fault]:
        """See ``core.ports.Store``."""
        with self._snapshot() as db:
            if db is None:
                return []
            version = _version(db)
            if getattr(self._local, "sound", None) == (agent, version):
                return []
            found = find_faults(db, agent)
            self._local.sound = None if found else (agent, version)
            return found

    def repair(self, agent: str) -> None:
        """See ``core.ports.Store``."""
        if self.faults(agent):
            with self._transaction() as db:
                repair(db, agent)

    def erase_traces(self) -> bool:
        """Overwrite what is left of removed rows in the file and its journal.

        Deleted rows are overwritten with zeros at once (``secure_delete``), but a full-text
        index keeps removed words until its parts are merged, and the journal keeps old pages.

        Returns:
            False when another process is still reading an older state.
        """
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                return True
            for (generation,) in db.execute("SELECT id FROM generations").fetchall():
                table = terms_table(generation)
                db.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
            return self.shorten_journal()

    def shorten_journal(self) -> bool:
        """Move the journal into the file and empty it; False when another process is still reading from it."""
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                return True
            db.execute(f"PRAGMA busy_timeout = {int(JOURNAL_SECONDS * 1000)}")
            try:
                return db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
            finally:
                db.execute(f"PRAGMA busy_timeout = {int(BUSY_TIMEOUT_SECONDS * 1000)}")

    def copy_differs(self) -> bool:
        """Tell whether the file that outlives the index disagrees with it about what is forgotten."""
        with self._snapshot() as db:
            return db is not None and copy_differs(db, self.path)

    def write_copy(self) -> None:
        """Write that file again."""
        with self._transaction() as db:
            write_copy(db, self.path)

    def mend_copy(self) -> None:
        """Write that file again where a process died between it and the index; one that is broken stays as it is."""
        with suppress(StoreError):
            if self.copy_differs():
                self.write_copy()

    def close(self) -> None:
        """See ``core.ports.Store``."""
        with self._lock:
            connections, self._connections = self._connections, []
            self._local = threading.local()
            self._matrices = MatrixCache()
        for db in connections:
            with suppress(sqlite3.Error):
                db.close()

    def reset(self) -> None:
        """Remove the index file, which can be rebuilt, with its journals.

        Raises:
            StoreError: The file does not look like an index: it may be somebody's work.
        """
        self.close()
        if not _may_be_index(self.path):
            raise StoreError(
                f"{self.path} is not an index of clawmark and is left alone.",
                code="INDEX_FOREIGN",
                action="Name another file in [store] url.",
            )
        for suffix in ("", "-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)

    def is_damaged(self) -> bool:
        """Tell whether a part of the file is broken, also one that no question has met yet."""
        try:
            with self._translated():
                if self._connect(create=False) is None:
                    return False
                # An open connection still sees pages that it has read, whatever became of them since.
                with closing(sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_SECONDS)) as fresh:
                    return fresh.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok"
        except StoreError as error:
            return isinstance(error, StoreCorruptError)

    def _connect(self, *, create: bool) -> sqlite3.Connection | None:
        there = _identity_of(self.path)
        if there != self._file:
            self._forget_file(there)
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is not None:
            if self._local.file == there:
                return db
            self._drop(db)
        if not create and there is None:
            return None
        if create:
            _make_folder(self.path.parent)
        db = sqlite3.connect(self.path, timeout=BUSY_TIMEOUT_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            # SQLite does not wait for others while it changes a new file to WAL.
            with self._lock:
                usable = self._configure(db, create=create)
        except BaseException:
            db.close()
            raise
        if not usable:
            db.close()
            return None
        self._local.db, self._local.file = db, _identity_of(self.path)
        with self._lock:
            self._connections.append(db)
            self._file = self._local.file
        return db

    def _drop(self, db: sqlite3.Connection) -> None:
        self._local.db = self._local.sound = None
        with self._lock, suppress(ValueError):
            self._connections.remove(db)
        db.close()

    def _forget_file(self, there: tuple[int, int] | None) -> None:
        """Another process has removed or replaced the file: what is known of the old one is worthless."""
        with self._lock:
            self._file, self._matrices = there, MatrixCache()

    def _take_over(self, db: sqlite3.Connection) -> None:
        load_copy(db, self.path)

    @contextmanager
    def _snapshot(self) -> Generator[sqlite3.Connection | None]:
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                yield None
                return
            db.execute("BEGIN")
            try:
                yield db
            finally:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        with self._translated():
            db = self._connect(create=True)
            assert db is not None
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    def _configure(self, db: sqlite3.Connection, *, create: bool) -> bool:
        """Prepare a connection; False when the file is there, but its index is only being made."""
        if create:
            db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            db.execute("PRAGMA journal_mode = WAL")
            prepare(db, self.location, fill=self._take_over)
        elif (version := read_version(db, self.location)) == 0:
            return False
        elif version < SCHEMA_VERSION:
            prepare(db, self.location, fill=self._take_over)
        # WAL with NORMAL cannot be corrupted by a crash; the last commits may be lost with
        # the power, and the files are the truth.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
        # What is removed is overwritten; no slower than without (measured: 0.76 s against
        # 1.07 s for 5,000 chunks, within noise).
        db.execute("PRAGMA secure_delete = ON")
        return True

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise translate(error, self.location) from error
        except (zlib.error, UnicodeDecodeError, json.JSONDecodeError) as error:
            # SQLite checks its pages, not what lies in them.
            raise translate(sqlite3.DatabaseError(f"malformed text ({error})"), self.location) from error
        except TypeError as error:
            # A value that is not of its column's type: damage, unless it is a mistake of ours.
            if not self.is_damaged():
                raise
            raise translate(sqlite3.DatabaseError("malformed row"), self.location) from error


def _version(db: sqlite3.Connection) -> tuple[Any, ...]:
    """Give what changes with every change of an index by this connection, and of the file by another."""
    other = db.execute("PRAGMA data_version").fetchone()[0]
    return other, *db.execute("SELECT id, revision, answering FROM generations ORDER BY id").fetchall()


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return 0, 0  # it may be there: opening it tells what is wrong
    return state.st_dev, state.st_ino


def _may_be_index(path: Path) -> bool:
    """Tell whether a file is SQLite's, empty, or stands where nothing but an index of ours stands."""
    if path.parent.name == FOLDER or not path.exists():
        return True
    with path.open("rb") as file:
        return file.read(16) in (b"SQLite format 3\0", b"")


def canonical(identity: Mapping[str, Any]) -> str:
    """Spell an identity so that equal ones are equal text."""
    return json.dumps(dict(identity), sort_keys=True, ensure_ascii=False)


def _generation_of(db: sqlite3.Connection, agent: str, identity: Mapping[str, Any] | None) -> int | None:
    if identity is None:
        row = db.execute(
            "SELECT id FROM generations WHERE agent = ? ORDER BY answering DESC, id DESC LIMIT 1", (agent,)
        ).fetchone()
    else:
        row = db.execute(
            "SELECT id FROM generations WHERE agent = ? AND identity = ?", (agent, canonical(identity))
        ).fetchone()
    return row[0] if row else None


def _make_generation(db: sqlite3.Connection, agent: str, identity: Mapping[str, Any]) -> int:
    known = _generation_of(db, agent, identity)
    if known is not None:
        return known
    cursor = db.execute("INSERT INTO generations (agent, identity) VALUES (?, ?)", (agent, canonical(identity)))
    assert cursor.lastrowid is not None
    create_terms_table(db, cursor.lastrowid)
    return cursor.lastrowid


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if folder.name == FOLDER and not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    except OSError as error:
        message = f"The index folder {folder} cannot be used: {error.strerror or error}."
        raise StoreError(message, code="INDEX_PERMISSION", action="Check the path and its permissions.") from error
