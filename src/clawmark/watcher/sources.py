"""Where changes come from: the system's events, a comparison every few seconds, or nowhere."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Generator
from typing import Any, Protocol

from clawmark.core.errors import ClawmarkError
from clawmark.files import Scan
from clawmark.watcher.events import Way

# How long a change may wait to be noticed; 20 rounds a second cost about 0.2 s of CPU a minute.
_STEP_MS = 25
_ROUND_MS = 50
_TICK_SECONDS = 0.1
POLL_SECONDS = 2.0
# A poll may take this share of the time at most.
_POLL_SHARE = 50


class NoCapacityError(Exception):
    """The system cannot watch so many folders, or not at all."""


class ChangeSource(Protocol):
    """Gives the paths that have changed."""

    way: Way

    def wait(self) -> set[str]:
        """Wait a moment for changes; give their absolute paths."""
        ...

    def close(self) -> None:
        """Release what the system lent."""
        ...


class EventSource:
    """The system's events for some folders, none with what is below it.

    Args:
        folders: Absolute paths.
        stop: Ends a wait early.

    Raises:
        FileNotFoundError: One of the folders has just gone.
        NoCapacityError: The system refuses.
    """

    way: Way = "events"

    def __init__(self, folders: tuple[str, ...], stop: threading.Event) -> None:
        from watchfiles import watch

        self._changes: Generator[set[Any]] = watch(
            *folders,
            watch_filter=None,
            debounce=_STEP_MS,
            step=_STEP_MS,
            rust_timeout=_ROUND_MS,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            force_polling=False,
            recursive=False,
            # True would hide every error, also that no watches are left.
            ignore_permission_denied=False,
        )
        self._first = self._open()

    def wait(self) -> set[str]:
        """See ``ChangeSource``."""
        first, self._first = self._first, set[str]()
        return first or {path for _, path in next(self._changes)}

    def close(self) -> None:
        """See ``ChangeSource``."""
        self._changes.close()

    def _open(self) -> set[str]:
        try:
            return {path for _, path in next(self._changes)}
        except StopIteration:
            return set()  # stopped before it began
        except FileNotFoundError:
            raise
        except (OSError, RuntimeError) as error:  # watchfiles' own error is a RuntimeError
            # What follows is how the library spells the error for itself.
            raise NoCapacityError(str(error).partition(" (Error {")[0]) from error


class PollSource:
    """Compares names, sizes and times of the files every few seconds.

    Args:
        look: Lists the files.
        stop: Ends a wait early.
    """

    way: Way = "polling"

    def __init__(self, look: Callable[[], Scan], stop: threading.Event) -> None:
        self._look = look
        self._stop = stop
        self._next = 0.0
        self._known = self._states()

    def wait(self) -> set[str]:
        """See ``ChangeSource``."""
        if self._stop.wait(_TICK_SECONDS) or time.monotonic() < self._next:
            return set()
        before, self._known = self._known, self._states()
        return {path for path, _ in before.items() ^ self._known.items()}

    def close(self) -> None:
        """See ``ChangeSource``."""

    def _states(self) -> dict[str, tuple[int, int]]:
        started = time.monotonic()
        try:
            files = self._look().files
        except ClawmarkError:
            files = ()  # the sync that this starts reports the reason
        now = time.monotonic()
        self._next = now + max(POLL_SECONDS, _POLL_SHARE * (now - started))
        return {found.place: (found.size, found.mtime_ns) for found in files}


class QuietSource:
    """Nobody watches: there is the interval only."""

    way: Way = "interval"

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def wait(self) -> set[str]:
        """See ``ChangeSource``."""
        self._stop.wait(_TICK_SECONDS)
        return set()

    def close(self) -> None:
        """See ``ChangeSource``."""


def polling_is_wanted() -> bool:
    """Tell whether the environment asks for polling, by the variable of ``watchfiles``."""
    return os.environ.get("WATCHFILES_FORCE_POLLING", "").lower() not in ("", "false", "disable", "disabled")
