"""When a sync is due that no change asked for: the interval, the safety look, another try."""

from __future__ import annotations

from dataclasses import dataclass

from clawmark.core.errors import StoreBusyError
from clawmark.core.model import SyncReport
from clawmark.watcher.events import Trigger

# Events can be lost (a full queue, a network drive), so the files are compared now and then anyway.
RECONCILE_SECONDS = 60.0
# A comparison may take this share of the time, at most: large memories are compared less often.
_RECONCILE_SHARE = 200
# Another process indexes: it is asked again soon, so that its work is joined when it ends.
_BUSY_SECONDS = 1.0
_FIRST_RETRY_SECONDS = 2.0
_LONGEST_RETRY_SECONDS = 300.0


@dataclass(frozen=True)
class Timing:
    """The times of a watcher, in seconds.

    Attributes:
        debounce: How long a file must rest before it is indexed.
        interval: Time between syncs that need no reason; 0 for none.
        reconcile: Time between comparisons that make up for lost events; 0 for none.
    """

    debounce: float = 1.5
    interval: float = 0.0
    reconcile: float = RECONCILE_SECONDS


class Schedule:
    """Knows when the next sync is due by time alone; all moments are monotonic seconds."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._failures = 0
        self._moments: dict[Trigger, float] = {}

    def note(self, report: SyncReport, now: float) -> None:
        """Count from a sync that has just ended."""
        took = report.took_ms / 1000
        if self._timing.reconcile:
            self._moments["reconcile"] = now + max(self._timing.reconcile, _RECONCILE_SHARE * took)
        if self._timing.interval and self._moments.get("interval", now) <= now:
            self._moments["interval"] = now + self._timing.interval
        delay = self._retry_delay(report)
        if delay is None:
            self._moments.pop("retry", None)
        else:
            self._moments["retry"] = now + delay

    def due(self, now: float) -> Trigger | None:
        """Give the trigger whose time has come."""
        due: Trigger | None = None
        for trigger, moment in self._moments.items():
            if moment <= now and (due is None or moment < self._moments[due]):
                due = trigger
        return due

    def _retry_delay(self, report: SyncReport) -> float | None:
        if not report.partial and report.error is None:
            self._failures = 0
            return None
        if report.error is not None and report.error.code == StoreBusyError.default_code:
            return _BUSY_SECONDS
        self._failures += 1
        # The exponent is bounded, for a failure that lasts for weeks.
        return min(_FIRST_RETRY_SECONDS * 2.0 ** min(self._failures - 1, 10), _LONGEST_RETRY_SECONDS)
