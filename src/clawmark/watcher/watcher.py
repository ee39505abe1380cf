"""The thread that follows the files: changes in, syncs out, and no error ends it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime
from typing import Any

from clawmark.core.errors import StoreBusyError
from clawmark.core.log import logger
from clawmark.core.model import ErrorInfo, Notice, SyncReport
from clawmark.watcher.events import Trigger, WatchEvent
from clawmark.watcher.ground import Followed, Ground
from clawmark.watcher.schedule import Schedule, Timing
from clawmark.watcher.settling import Pending

# After a mistake of ours, not to fill a log.
_STUMBLE_SECONDS = 1.0

Synchronise = Callable[[Callable[[str, int, int], None]], SyncReport]


class _StoppedError(Exception):
    """Raised inside a sync between two batches, so that a watcher can end early."""


class Watcher:
    """Follows the files of one memory on a thread of its own.

    Args:
        followed: What is watched.
        synchronise: Runs one sync and gives its report; is handed a progress callback
            that may raise, to end the sync between two batches.
        timing: Debounce, interval, reconcile.
        clock: Gives now, for the times that the status shows.
        on_event: Told what happens, on the watcher's thread.
    """

    def __init__(
        self,
        followed: Followed,
        synchronise: Synchronise,
        *,
        timing: Timing,
        clock: Callable[[], datetime],
        on_event: Callable[[WatchEvent], None],
    ) -> None:
        self._synchronise = synchronise
        self._clock = clock
        self._on_event = on_event
        self._stop = threading.Event()
        self._ground = Ground(followed, self._stop, self._tell)
        self._pending = Pending(timing.debounce)
        self._schedule = Schedule(timing)
        self._finish = True
        self._ready = threading.Event()
        self._idle = threading.Event()
        self._seen_at = float("-inf")
        self._last_event: datetime | None = None
        self._last_sync: datetime | None = None
        self._error: ErrorInfo | None = None
        # A program that forgets to close must be able to end; every batch is a transaction.
        self._thread = threading.Thread(target=self._run, name="clawmark-watch", daemon=True)

    def start(self) -> None:
        """Begin: the first sync, then changes."""
        self._thread.start()

    def stop(self, *, finish: bool = True) -> None:
        """End, and wait for the sync that is running.

        Args:
            finish: False ends the sync after the batch in hand; what is finished is kept.
        """
        self._finish = finish
        self._stop.set()
        self._thread.join()

    def wait_until_ready(self, timeout: float | None = None) -> bool:
        """Wait for the end of the first sync; tell whether it has come."""
        return self._ready.wait(timeout)

    def wait_while_syncing(self, timeout: float) -> bool:
        """Wait for the end of a sync that is running; tell whether none is."""
        return self._idle.wait(timeout)

    def covers(self, moment: float) -> bool:
        """Tell whether what was known of the files at a monotonic moment still holds: no change was seen since."""
        sees = self._ground.way == "events" and self._ground.is_settled and self._thread.is_alive()
        return sees and self._error is None and not self.changed_since(moment)

    def changed_since(self, moment: float) -> bool:
        """Tell whether a change was seen at a monotonic moment or later.

        An event takes a few hundredths of a second to arrive; the times of the folders tell at once.
        """
        then = time.time() - (time.monotonic() - moment)
        return self._seen_at >= moment or not self._ground.plan.is_untouched_since(then)

    def status(self) -> dict[str, Any]:
        """Say what the watcher does: state, way, roots, last event, last sync, error."""
        return {
            "state": self._state(),
            "way": self._ground.way,
            "roots": list(self._ground.places()),
            "folders": self._ground.folders(),
            "last_event": self._last_event,
            "last_sync": self._last_sync,
            "error": self._error,
            "warning": self._ground.warning,
        }

    def _state(self) -> str:
        if not self._thread.is_alive():
            return "stopped"
        if not self._idle.is_set():
            return "syncing" if self._ready.is_set() or self._ground.way else "starting"
        if self._error is not None:
            return "waiting" if self._error.code == StoreBusyError.default_code else "failed"
        return "settling" if self._pending else "idle"

    def _run(self) -> None:
        self._guarded(self._begin)
        while not self._stop.is_set():
            self._guarded(self._round)
        self._ground.close()
        self._ready.set()
        self._idle.set()
        self._tell(WatchEvent("stopped"))

    def _guarded(self, step: Callable[[], None]) -> None:
        try:
            step()
        except Exception as error:  # noqa: BLE001 - the outermost frame of the thread: watching must go on
            logger(__name__).exception("watching stumbled")
            self._error = _mistake(error)
            self._tell(WatchEvent("notice", notice=Notice(self._error.code, self._error.message)))
            self._stop.wait(_STUMBLE_SECONDS)

    def _begin(self) -> None:
        self._ground.open()
        self._sync("start")

    def _round(self) -> None:
        self._note_changes(self._ground.wait())
        now = time.monotonic()
        self._note_changes(self._ground.follow(now))
        trigger = self._due(now)
        if trigger is not None and not self._stop.is_set():
            self._sync(trigger)

    def _due(self, now: float) -> Trigger | None:
        if not self._ready.is_set() and self._last_sync is None:
            return "start"  # stumbled before the first sync
        return "change" if self._pending.is_due(now) else self._schedule.due(now)

    def _note_changes(self, paths: list[str]) -> None:
        if not paths:
            return
        plan, now = self._ground.plan, time.monotonic()
        for growing in (False, True):
            some = [path for path in paths if plan.is_transcript(path) == growing]
            self._pending.add(some, now, growing=growing)
        self._seen_at, self._last_event = now, self._clock()
        self._tell(WatchEvent("changed", paths=tuple(map(plan.shown, paths))))

    def _sync(self, trigger: Trigger) -> None:
        self._idle.clear()
        self._ground.catch_up()
        self._pending.take()
        try:
            report = self._report()
        except _StoppedError:
            return
        self._schedule.note(report, time.monotonic())
        self._error, self._last_sync = report.error, self._clock()
        self._idle.set()
        self._tell(WatchEvent("synced", trigger=trigger, report=report))
        if report.error is None or report.error.code != StoreBusyError.default_code:
            self._ready.set()
        if trigger == "reconcile":
            self._note_changes(self._ground.renew())

    def _report(self) -> SyncReport:
        try:
            return self._synchronise(self._progress)
        except _StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 - a sync of ours that breaks is tried again like one that fails
            logger(__name__).exception("a sync broke")
            return SyncReport(partial=True, error=_mistake(error))

    def _progress(self, stage: str, done: int, total: int) -> None:
        if self._stop.is_set() and not self._finish:
            raise _StoppedError

    def _tell(self, event: WatchEvent) -> None:
        try:
            self._on_event(event)
        except Exception:  # noqa: BLE001 - a listener's mistake must not end the watching
            logger(__name__).exception("a listener failed")


def _mistake(error: Exception) -> ErrorInfo:
    return ErrorInfo("WATCH_FAILED", f"{type(error).__name__}: {error}", "It is tried again; please report it.")
