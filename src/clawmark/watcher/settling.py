"""Changes that wait until they have settled: who saves a file in three steps gets one sync, not three."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# A note that never rests is indexed after this many debounces all the same.
ROUNDS = 3
# Looking for events costs up to this long; the file's own time tells how long it was.
_LAG_SECONDS = 0.06

_State = tuple[int, int] | None


@dataclass
class _Change:
    first: float
    last: float
    rounds: int
    state: _State


class Pending:
    """The changed paths, and the moment from which they count as settled.

    A path has settled when its size and time have been the same for one debounce. The
    moment is that of the path that needs longest, so that a burst ends in one sync.

    Args:
        debounce: Seconds of rest, >= 0.
    """

    def __init__(self, debounce: float) -> None:
        self._debounce = debounce
        self._changes: dict[str, _Change] = {}

    def __bool__(self) -> bool:
        return bool(self._changes)

    def add(self, paths: Iterable[str], now: float, *, growing: bool = False) -> None:
        """Note that paths have changed.

        Args:
            paths: Absolute paths.
            now: Monotonic seconds.
            growing: The files are only ever appended to, so there is no half-written
                state to wait out: one debounce after the first change is enough.
        """
        for path in paths:
            state, lag = _look(path)
            seen = now - lag
            change = self._changes.setdefault(path, _Change(seen, seen, 1 if growing else ROUNDS, state))
            change.last, change.state = seen, state

    def due_at(self) -> float | None:
        """Give the moment when the changes have settled, should nothing else happen; None without changes."""
        moments = (min(change.last, self._limit(change)) + self._debounce for change in self._changes.values())
        return max(moments, default=None)

    def is_due(self, now: float) -> bool:
        """Tell whether a sync may begin; a file that differs from when it was noted waits another round."""
        due = self.due_at()
        if due is None or now < due:
            return False
        for path, change in self._changes.items():
            if change.last < self._limit(change):
                self._look_again(path, change, now)
        due = self.due_at()
        return due is not None and now >= due

    def take(self) -> tuple[str, ...]:
        """Give the changed paths, and forget them."""
        paths = tuple(sorted(self._changes))
        self._changes.clear()
        return paths

    @staticmethod
    def _look_again(path: str, change: _Change, now: float) -> None:
        state, _ = _look(path)
        if state != change.state:
            change.last, change.state = now, state

    def _limit(self, change: _Change) -> float:
        """Give the last moment at which a new change can still put the sync off."""
        return change.first + (change.rounds - 1) * self._debounce


def _look(path: str) -> tuple[_State, float]:
    """Give size and time of a file, and how long ago it was changed if that was just now."""
    try:
        found = Path(path).stat()
    except OSError:
        return None, 0.0
    age = time.time() - found.st_mtime
    return (found.st_size, found.st_mtime_ns), age if 0 <= age <= _LAG_SECONDS else 0.0
