"""Vectors by content: a text is embedded once, whatever file, agent or workspace holds it.

One SQLite file in the user's cache folder. A key is a digest of provider, model and
text, so the file reveals no text and no path.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from clawmark.core.digest import content_key
from clawmark.core.log import logger

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = TypeVar("_T")

# 50,000 vectors of 512 dimensions are 100 MB; the cap of the re-implemented system.
DEFAULT_MAX_ENTRIES = 50_000


class EmbeddingCache:
    """Unit vectors in a file; a cache that cannot be used is an empty one.

    Args:
        path: The file; made at the first write.
        max_entries: Vectors to keep; the longest unused go first.
        told: Told (provider, model, texts) of vectors that were known.
    """

    def __init__(
        self,
        path: Path,
        *,
        max_entries: int | None = None,
        told: Callable[[str, str, int], None] = lambda provider, model, texts: None,
    ) -> None:
        self.path = path
        self.max_entries = DEFAULT_MAX_ENTRIES if max_entries is None else max_entries
        self._told = told
        self._lock = threading.Lock()
        self._db: sqlite3.Connection | None = None
        self._broken = False

    def get(self, provider: str, model: str, keys: Sequence[bytes]) -> dict[bytes, NDArray[Any]]:
        """Give the known vectors by text key."""
        import numpy as np

        full = {_full_key(provider, model, key): key for key in keys}
        rows = self._run(lambda db: _lookup(db, list(full))) or []
        vectors = {full[row[0]]: np.frombuffer(row[1], dtype="<f4") for row in rows if len(row[1]) % 4 == 0}
        # A vector that a bad disk has changed is an unknown one.
        with np.errstate(all="ignore"):
            known = {key: vector for key, vector in vectors.items() if abs(float(vector @ vector) - 1.0) < 0.01}
        if known:
            self._told(provider, model, len(known))
        return known

    def get_records(self, provider: str, model: str, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Give the known records of sentences by text key."""
        full = {_full_key(provider, model, key): key for key in keys}
        rows = self._run(lambda db: _lookup(db, list(full))) or []
        known = {full[key]: blob[16:] for key, blob in rows if content_key(blob[16:]) == blob[:16]}
        if known:
            self._told(provider, model, len(known))
        return known

    def put(self, provider: str, model: str, vectors: Mapping[bytes, NDArray[Any] | bytes]) -> None:
        """Remember vectors, or records of sentences, by text key, and forget the longest unused above the cap."""
        day = int(time.time() // 86400)
        rows = [(_full_key(provider, model, key), _blob(vector), day) for key, vector in vectors.items()]
        self._run(lambda db: _store(db, rows, self.max_entries), create=True)

    def remove(self, provider: str, model: str, keys: Sequence[bytes]) -> int:
        """Forget vectors by text key, without a trace in the file; give how many were there."""
        full = [_full_key(provider, model, key) for key in dict.fromkeys(keys)]
        return self._run(lambda db: _remove(db, full)) or 0

    def is_damaged(self) -> bool:
        """Tell whether the file is there and cannot be used."""
        sound = self._run(lambda db: db.execute("PRAGMA quick_check(1)").fetchone()[0] == "ok")
        return self.path.exists() and not sound

    def mend(self) -> None:
        """Throw a damaged file away, and forget the longest unused above the cap: all of it can be made again."""
        if self.is_damaged():
            self.close()
            for suffix in ("", "-wal", "-shm"):
                Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            self._broken = False
        self._run(lambda db: _store(db, [], self.max_entries))

    def stats(self) -> dict[str, Any]:
        """Give the number of entries, their bytes, the cap and the place."""
        entries, size = self._run(_size) or (0, 0)
        return {"path": str(self.path), "entries": entries, "bytes": size, "max_entries": self.max_entries}

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _run(self, action: Callable[[sqlite3.Connection], _T], *, create: bool = False) -> _T | None:
        with self._lock:
            if self._broken or (self._db is None and not create and not self.path.exists()):
                return None
            try:
                return action(self._open())
            except (sqlite3.Error, OSError) as error:
                # A cache is a convenience: without it texts are embedded again.
                logger(__name__).warning("The embedding cache %s cannot be used: %s", self.path, error)
                self._broken = True
                with suppress(sqlite3.Error):
                    if self._db is not None:
                        self._db.close()
                self._db = None
                return None

    def _open(self) -> sqlite3.Connection:
        if self._db is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            db = sqlite3.connect(self.path, timeout=5.0, isolation_level=None, check_same_thread=False)
            self._db = db
            _use_wal(db)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")
            db.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL)"
            )
            db.execute("CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used)")
        return self._db


def _use_wal(db: sqlite3.Connection) -> None:
    """Change to WAL; SQLite itself does not wait for another process that is doing the same."""
    for _ in range(100):
        with suppress(sqlite3.OperationalError):
            db.execute("PRAGMA journal_mode = WAL")
            return
        time.sleep(0.05)
    db.execute("PRAGMA journal_mode = WAL")


def _blob(vector: NDArray[Any] | bytes) -> bytes:
    """A vector proves itself by its length of 1; a record carries a digest."""
    return content_key(vector) + vector if isinstance(vector, bytes) else vector.astype("<f4").tobytes()


def _full_key(provider: str, model: str, key: bytes) -> bytes:
    return content_key(f"{provider}\0{model}\0".encode() + key)


def _size(db: sqlite3.Connection) -> tuple[int, int]:
    return db.execute("SELECT count(*), coalesce(sum(length(vector)), 0) FROM vectors").fetchone()


def _lookup(db: sqlite3.Connection, keys: list[bytes]) -> list[tuple[bytes, bytes]]:
    rows: list[tuple[bytes, bytes]] = []
    for start in range(0, len(keys), 500):
        part = keys[start : start + 500]
        marks = ",".join("?" * len(part))
        rows += db.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part).fetchall()
    return rows


def _remove(db: sqlite3.Connection, keys: list[bytes]) -> int:
    before = db.total_changes
    db.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return db.total_changes - before


def _store(db: sqlite3.Connection, rows: list[tuple[bytes, bytes, int]], max_entries: int) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        db.executemany("INSERT OR REPLACE INTO vectors (key, vector, used) VALUES (?, ?, ?)", rows)
        extra = db.execute("SELECT count(*) FROM vectors").fetchone()[0] - max_entries
        if extra > 0:
            db.execute(
                "DELETE FROM vectors WHERE rowid IN (SELECT rowid FROM vectors ORDER BY used, rowid LIMIT ?)", (extra,)
            )
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise
