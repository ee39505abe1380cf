"""What starts a sync besides a search: a session that begins, and the files themselves."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clawmark.config import Settings
from clawmark.core.model import SyncReport
from clawmark.engine.freshness import Freshener
from clawmark.sync import Progress, Workplace

if TYPE_CHECKING:
    from clawmark.watcher import Watcher, WatchEvent

Listener = Callable[["WatchEvent"], None]
Pass = Callable[[Progress], SyncReport]


class Triggers:
    """The triggers of one memory.

    Args:
        place: The index and the files.
        settings: Says which triggers are on.
        freshener: Is told of what was indexed.
        synchronise: Runs one pass that waits only shortly for one of another process.
    """

    def __init__(self, place: Workplace, settings: Settings, freshener: Freshener, synchronise: Pass) -> None:
        self._place = place
        self._settings = settings
        self._freshener = freshener
        self._synchronise = synchronise
        self._lock = threading.Lock()
        self._begun: set[str] = set()
        self._watcher: Watcher | None = None
        self._users = 0
        self._listeners: list[Listener] = []

    def start_session(self, session_key: str) -> None:
        """Begin a pass in the background when a session is new; without a key each call counts as new."""
        key = session_key.strip()
        with self._lock:
            known = key in self._begun
            if key:
                self._begun.add(key)
        if self._settings.sync.on_session_start and self._settings.enabled and not known:
            self._freshener.begin()

    @contextmanager
    def watch(self, on_event: Listener | None = None) -> Generator[Watcher]:
        """Watch while the context lasts; a second one joins the first."""
        watcher = self._join(on_event)
        try:
            yield watcher
        finally:
            self._leave(watcher, on_event)

    def status(self) -> dict[str, Any] | None:
        """Say what the watcher does; None while nothing watches."""
        watcher = self._watcher
        return watcher.status() if watcher else None

    def close(self) -> None:
        """Stop watching, whoever still uses it; waits for the sync that is running."""
        with self._lock:
            watcher = self._let_go()
        if watcher is not None:
            watcher.stop()

    def _join(self, on_event: Listener | None) -> Watcher:
        with self._lock:
            if on_event is not None:
                self._listeners.append(on_event)
            self._users += 1
            if self._watcher is None:
                self._watcher = self._freshener.watcher = self._started()
            return self._watcher

    def _leave(self, watcher: Watcher, on_event: Listener | None) -> None:
        with self._lock:
            self._users -= watcher is self._watcher
            ended = self._let_go() if watcher is self._watcher and not self._users else None
        if ended is not None:
            ended.stop()
        if on_event is not None:
            self._listeners.remove(on_event)

    def _let_go(self) -> Watcher | None:
        watcher, self._watcher, self._users = self._watcher, None, 0
        self._freshener.watcher = None
        return watcher

    def _started(self) -> Watcher:
        from clawmark.watcher import Followed, Timing, Watcher

        sync = self._settings.sync
        timing = Timing(sync.watch_debounce_ms / 1000, sync.interval_minutes * 60.0)
        watcher = Watcher(
            Followed(self._place.rules, self._place.sources, events=sync.watch),
            self._noted_pass,
            timing=timing if sync.watch else replace(timing, reconcile=0.0),
            clock=self._place.clock,
            on_event=self._tell,
        )
        watcher.start()
        return watcher

    def _noted_pass(self, progress: Progress) -> SyncReport:
        began = time.monotonic()
        report = self._synchronise(progress)
        self._freshener.note(report, began)
        return report

    def _tell(self, event: WatchEvent) -> None:
        for listener in tuple(self._listeners):
            listener(event)
