"""Waiting for what must come: on a condition, with a deadline, never for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

from clawmark.core.model import SyncReport
from clawmark.watcher import WatchEvent

PATIENCE_SECONDS = 60.0
# Settings of tests that watch: the debounce is short, nothing else differs.
QUICK = {"sync": {"watch_debounce_ms": 50}}

_T = TypeVar("_T")


def eventually(look: Callable[[], _T]) -> _T:
    """Give what *look* gives as soon as it is true; fail when it never is."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause = threading.Event()
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"It never came true: {look}"
        pause.wait(0.01)


class Heard:
    """Keeps what a watcher tells."""

    def __init__(self) -> None:
        self.events: list[WatchEvent] = []
        self._news = threading.Condition()

    def __call__(self, event: WatchEvent) -> None:
        with self._news:
            self.events.append(event)
            self._news.notify_all()

    def wait_for(self, matches: Callable[[WatchEvent], object], *, after: int = 0) -> WatchEvent:
        """Wait for an event, counted from the place *after*; give it."""
        with self._news:
            came = self._news.wait_for(lambda: any(map(matches, self.events[after:])), PATIENCE_SECONDS)
            assert came, self.events
            return next(event for event in self.events[after:] if matches(event))

    def wait_for_sync(self, trigger: str = "change", *, after: int = 0) -> SyncReport:
        """Wait for a sync; give its report."""
        event = self.wait_for(lambda event: event.kind == "synced" and event.trigger == trigger, after=after)
        assert event.report is not None
        return event.report

    @property
    def syncs(self) -> list[SyncReport]:
        """The reports of all syncs."""
        return [event.report for event in list(self.events) if event.report is not None]

    @property
    def notices(self) -> list[str]:
        """The codes of all notices."""
        return [event.notice.code for event in list(self.events) if event.notice is not None]
