"""The system's events for folders, and what happens when it refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from clawmark.watcher.sources import EventSource, NoCapacityError
from waiting import eventually


@pytest.fixture
def stop() -> Iterator[threading.Event]:
    event = threading.Event()
    yield event
    event.set()


def test_changes_in_the_folders_arrive_and_those_below_do_not(tmp_path: Path, stop: threading.Event) -> None:
    (tmp_path / "below").mkdir()
    source = EventSource((str(tmp_path),), stop)
    (tmp_path / "below" / "a.md").write_text("x", encoding="utf-8")
    (tmp_path / "fence.md").write_text("x", encoding="utf-8")

    assert eventually(source.wait) == {str(tmp_path / "fence.md")}
    source.close()


def test_a_folder_that_cannot_be_watched_is_never_passed_over(tmp_path: Path, stop: threading.Event) -> None:
    """Any refusal but "not found" stands here for that of a system without watches left."""
    with pytest.raises(NoCapacityError):
        EventSource((str(tmp_path), f"/{'x' * 5000}"), stop)


def test_a_folder_that_is_gone_is_told_apart(tmp_path: Path, stop: threading.Event) -> None:
    with pytest.raises(FileNotFoundError):
        EventSource((str(tmp_path), str(tmp_path / "gone")), stop)


def test_a_wait_ends_when_it_is_told_to_stop(tmp_path: Path, stop: threading.Event) -> None:
    source = EventSource((str(tmp_path),), stop)
    stop.set()

    with pytest.raises(StopIteration):
        eventually(source.wait)
    source.close()
