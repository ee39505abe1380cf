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
from clawmark.stores.matrix import MatrixCache
from clawmark.stores.sqlite_read import SqliteReader
from clawmark.stores.sqlite_schema import (
    PAGE_SIZE,
    SCHEMA_VERSION,
    create_terms_table,
    prepare,
    read_version,
    translate,
)
from clawmark.stores.sqlite_write import SqliteWriter

# Longer than any transaction of ours; after it the caller is told who is in the way.
BUSY_TIMEOUT_SECONDS = 10.0
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
                with closing(_empty()) as empty:
                    yield SqliteReader(empty, None, self._matrices, self.location)
                return
            db.execute("BEGIN")
            try:
                read_version(db, self.location)
                yield SqliteReader(db, _generation_of(db, agent, identity), self._matrices, self.location)
            finally:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")

    @contextmanager
    def writing(self, agent: str, identity: Mapping[str, Any]) -> Generator[SqliteWriter]:
        """See ``core.ports.Store``."""
        with self._translated():
            db = self._connect(create=True)
            assert db is not None
            db.execute("BEGIN IMMEDIATE")
            try:
                writer = SqliteWriter(db, _make_generation(db, agent, identity))
                yield writer
                writer.finish()
                db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    db.execute("ROLLBACK")
                raise

    def agents(self) -> list[str]:
        """See ``core.ports.Store``."""
        with self._translated():
            db = self._connect(create=False)
            if db is None:
                return []
            return [row[0] for row in db.execute("SELECT DISTINCT agent FROM generations ORDER BY agent")]

    def close(self) -> None:
        """See ``core.ports.Store``."""
        with self._lock:
            connections, self._connections = self._connections, []
            self._local = threading.local()
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
        # An open connection still sees pages that it has read, whatever became of them since.
        self._drop_connection()
        try:
            with self._translated():
                db = self._connect(create=False)
                return db is not None and db.execute("PRAGMA integrity_check(1)").fetchone()[0] != "ok"
        except StoreError as error:
            return isinstance(error, StoreCorruptError)

    def _connect(self, *, create: bool) -> sqlite3.Connection | None:
        db = self._open_connection()
        if db is not None:
            return db
        if not create and not self.path.exists():
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
        self._local.db, self._local.file = db, _identity(self.path)
        with self._lock:
            self._connections.append(db)
        return db

    def _open_connection(self) -> sqlite3.Connection | None:
        """Give this thread's connection, unless the file was replaced or removed under it."""
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        # A rebuild by another process, or a deleted index: the old file would answer for ever.
        if db is None or self._local.file == _identity(self.path):
            return db
        self._drop_connection()
        return None

    def _drop_connection(self) -> None:
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            return
        self._local.db = None
        with self._lock:
            self._connections = [kept for kept in self._connections if kept is not db]
            self._matrices = MatrixCache()
        with suppress(sqlite3.Error):
            db.close()

    def _configure(self, db: sqlite3.Connection, *, create: bool) -> bool:
        """Prepare a connection; False when the file is there, but its index is only being made."""
        if create:
            db.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            db.execute("PRAGMA journal_mode = WAL")
            prepare(db, self.location)
        elif (version := read_version(db, self.location)) == 0:
            return False
        elif version < SCHEMA_VERSION:
            prepare(db, self.location)
        # WAL with NORMAL cannot be corrupted by a crash; the last commits may be lost with
        # the power, and the files are the truth.
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("PRAGMA temp_store = MEMORY")
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


def _identity(path: Path) -> tuple[int, int] | None:
    """Tell one file from another that takes its name; None when there is none."""
    try:
        state = path.stat()
    except OSError:
        return None
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
    if not folder.exists():
        folder.mkdir(parents=True, exist_ok=True)
    if folder.name == FOLDER and not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")


def _empty() -> sqlite3.Connection:
    db = sqlite3.connect(":memory:", isolation_level=None)
    prepare(db, ":memory:")
    return db
