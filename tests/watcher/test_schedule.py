"""When a sync is due by time alone; moments are given, not measured."""

from __future__ import annotations

import pytest

from clawmark.core.model import ErrorInfo, PathReason, SyncReport
from clawmark.watcher.schedule import Schedule, Timing

FINE = SyncReport()
BROKEN = SyncReport(partial=True, error=ErrorInfo("EMBEDDING_FAILED", "no"))
BUSY = SyncReport(partial=True, error=ErrorInfo("INDEX_BUSY", "no"))


def test_nothing_is_due_without_interval_and_failure() -> None:
    schedule = Schedule(Timing(reconcile=0.0))
    schedule.note(FINE, 0.0)

    assert schedule.due(1e9) is None


def test_the_interval_counts_from_its_own_last_time() -> None:
    schedule = Schedule(Timing(interval=60.0, reconcile=0.0))
    schedule.note(FINE, 0.0)
    schedule.note(FINE, 50.0)

    assert schedule.due(59.9) is None
    assert schedule.due(60.0) == "interval"


def test_the_safety_look_counts_from_the_last_sync_and_is_rarer_for_a_large_memory() -> None:
    schedule = Schedule(Timing(reconcile=60.0))
    schedule.note(FINE, 0.0)
    schedule.note(FINE, 50.0)
    assert schedule.due(109.9) is None
    assert schedule.due(110.0) == "reconcile"

    schedule.note(SyncReport(took_ms=1000.0), 110.0)
    assert schedule.due(309.9) is None
    assert schedule.due(310.0) == "reconcile"


def test_a_failure_is_tried_again_with_longer_and_longer_pauses_up_to_five_minutes() -> None:
    schedule = Schedule(Timing(reconcile=0.0))
    pauses: list[int] = []
    for _ in range(10):
        schedule.note(BROKEN, 0.0)
        pauses.append(next(second for second in range(1000) if schedule.due(float(second)) == "retry"))

    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300]
    schedule.note(FINE, 0.0)
    assert schedule.due(1e9) is None
    schedule.note(BROKEN, 0.0)
    assert schedule.due(2.0) == "retry"


def test_a_sync_of_another_process_is_asked_for_again_every_second() -> None:
    schedule = Schedule(Timing(reconcile=0.0))
    for now in (0.0, 1.0, 2.0):
        schedule.note(BUSY, now)
        assert schedule.due(now + 0.9) is None
        assert schedule.due(now + 1.0) == "retry"


@pytest.mark.parametrize("report", [SyncReport(partial=True, failed=(PathReason("memory/a.md", "EACCES"),)), BROKEN])
def test_whatever_is_not_whole_is_tried_again(report: SyncReport) -> None:
    schedule = Schedule(Timing(reconcile=0.0))
    schedule.note(report, 0.0)

    assert schedule.due(2.0) == "retry"
