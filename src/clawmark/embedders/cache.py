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

    def put(self, provider: str, model: str, vectors: Mapping[bytes, NDArray[Any]]) -> None:
        """Remember vectors by text key, and forget the longest unused above the cap."""
        day = int(time.time() // 86400)
        rows = [
            (_full_key(provider, model, key), vector.astype("<f4").tobytes(), day) for key, vector in vectors.items()
        ]
        self._run(lambda db: _store(db, rows, self.max_entries), create=True)

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
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL, used INTEGER NOT NULL)"
            )
            db.execute("CREATE INDEX IF NOT EXISTS vectors_by_use ON vectors (used)")
        return self._db


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
