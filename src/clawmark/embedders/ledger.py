"""What all processes of a user share about providers: pauses, what was learned, usage.

One small SQLite file in the user's cache folder; no text, no path and no key is in it.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from clawmark.core.log import logger

_T = TypeVar("_T")

LEDGER_FILE = "providers.sqlite"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS pauses (
    key TEXT PRIMARY KEY, failures INTEGER NOT NULL, until REAL NOT NULL, code TEXT NOT NULL, reason TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS learned (key TEXT PRIMARY KEY, value INTEGER NOT NULL, until REAL NOT NULL);
CREATE TABLE IF NOT EXISTS usage (
    day TEXT NOT NULL, provider TEXT NOT NULL, model TEXT NOT NULL,
    requests INTEGER NOT NULL DEFAULT 0, texts INTEGER NOT NULL DEFAULT 0,
    tokens INTEGER NOT NULL DEFAULT 0, cached INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (day, provider, model)
);
"""


@dataclass(frozen=True)
class Pause:
    """Why a provider is not called for a while.

    Attributes:
        failures: Failures in a row.
        until: Seconds since 1970, by the injected clock.
        code: Code of the error that began it.
        reason: Its message.
    """

    failures: int
    until: float
    code: str
    reason: str


@dataclass(frozen=True)
class Usage:
    """What one model of a provider was given on one day (UTC)."""

    day: str
    provider: str
    model: str
    requests: int
    texts: int
    tokens: int
    cached: int


class Ledger:
    """The file; one that cannot be used is replaced by memory, for the life of the process.

    Args:
        path: The file, made at the first write; None keeps everything in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._db: sqlite3.Connection | None = None
        self._owner = 0

    def pause(self, key: str) -> Pause | None:
        """Give the pause of a provider; it may be over."""
        query = "SELECT failures, until, code, reason FROM pauses WHERE key = ?"
        row = self._read(lambda db: db.execute(query, (key,)).fetchone())
        return Pause(*row) if row else None

    def put_pause(self, key: str, pause: Pause) -> None:
        """Begin, or prolong, a pause."""
        values = (key, pause.failures, pause.until, pause.code, pause.reason)
        self._write(lambda db: db.execute("INSERT OR REPLACE INTO pauses VALUES (?, ?, ?, ?, ?)", values))

    def end_pause(self, key: str) -> None:
        """Forget a pause: the provider has answered."""
        self._write(lambda db: db.execute("DELETE FROM pauses WHERE key = ?", (key,)))

    def take_turn(self, key: str, pause: Pause, until: float) -> bool:
        """Tell whether the caller is the one that may try after a pause; others wait until then."""
        update = "UPDATE pauses SET until = ? WHERE key = ? AND until = ?"
        return self._write(lambda db: db.execute(update, (until, key, pause.until)).rowcount) == 1

    def learned(self, key: str, now: float) -> int | None:
        """Give a number that a provider was found to have, unless that is too long ago."""
        query = "SELECT value FROM learned WHERE key = ? AND until > ?"
        row = self._read(lambda db: db.execute(query, (key, now)).fetchone())
        return row[0] if row else None

    def learn(self, key: str, value: int, until: float) -> None:
        """Remember a number until a moment."""
        self._write(lambda db: db.execute("INSERT OR REPLACE INTO learned VALUES (?, ?, ?)", (key, value, until)))

    def add_usage(self, usage: Usage) -> None:
        """Add to what was used on a day."""
        names = ("requests", "texts", "tokens", "cached")
        sums = ", ".join(f"{name} = {name} + excluded.{name}" for name in names)
        insert = (
            f"INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, provider, model) DO UPDATE SET {sums}"
        )
        counts = tuple(getattr(usage, name) for name in names)
        self._write(lambda db: db.execute(insert, (usage.day, usage.provider, usage.model, *counts)))

    def usage(self, since_day: str) -> list[Usage]:
        """Give what was used, by day, provider and model."""
        query = (
            "SELECT day, provider, model, requests, texts, tokens, cached FROM usage WHERE day >= ?"
            " ORDER BY day, provider, model"
        )
        return [Usage(*row) for row in self._read(lambda db: db.execute(query, (since_day,)).fetchall()) or ()]

    def close(self) -> None:
        """Release the file; what was kept in memory is gone."""
        with self._lock:
            if self._db is not None:
                self._db.close()
                self._db = None

    def _read(self, action: Callable[[sqlite3.Connection], Any]) -> Any:
        with self._lock:
            if self._db is None and self.path is not None and not self.path.exists():
                return None
            return self._run(action)

    def _write(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        with self._lock:
            return self._run(action)

    def _run(self, action: Callable[[sqlite3.Connection], _T]) -> _T:
        try:
            return action(self._open())
        except (sqlite3.Error, OSError) as error:
            if self.path is None:
                raise
            logger(__name__).warning("%s cannot be used, usage is not recorded: %s", self.path, error)
            self._forget_file()
            return action(self._open())

    def _forget_file(self) -> None:
        with suppress(sqlite3.Error):
            if self._db is not None:
                self._db.close()
        self._db, self.path = None, None

    def _open(self) -> sqlite3.Connection:
        # A connection must not be carried over a fork.
        if self._db is None or (self._owner != os.getpid() and self.path is not None):
            self._db, self._owner = self._connect(), os.getpid()
        return self._db

    def _connect(self) -> sqlite3.Connection:
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        name = str(self.path) if self.path else ":memory:"
        db = sqlite3.connect(name, timeout=2.0, isolation_level=None, check_same_thread=False)
        try:
            if self.path is not None:
                db.execute("PRAGMA journal_mode = WAL")
                db.execute("PRAGMA synchronous = NORMAL")
            db.executescript(_SCHEMA)
        except BaseException:
            db.close()
            raise
        return db
