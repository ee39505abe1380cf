"""A clock that moves on whenever it is read: waiting by it takes no time."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

START = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


class MovingClock:
    """Begins on 2026-06-30 at noon; each reading is *step* seconds later than the one before."""

    def __init__(self, step: float = 0.0) -> None:
        self.step = step
        self._now = START
        self._lock = threading.Lock()

    def __call__(self) -> datetime:
        with self._lock:
            self._now += timedelta(seconds=self.step)
            return self._now

    @property
    def seconds(self) -> float:
        """Seconds since the start, without moving on."""
        return (self._now - START).total_seconds()

    def advance(self, seconds: float) -> None:
        with self._lock:
            self._now += timedelta(seconds=seconds)
