"""When changes count as settled; moments are given, not measured."""

from __future__ import annotations

import os
from pathlib import Path

from clawmark.watcher.settling import ROUNDS, Pending

OLD_NS = 1_000_000_000


def old(file: Path, text: str) -> str:
    """Write a file whose time says nothing about when it was noticed."""
    file.write_text(text, encoding="utf-8")
    os.utime(file, ns=(OLD_NS, OLD_NS))
    return str(file)


def test_a_change_has_settled_after_one_debounce(tmp_path: Path) -> None:
    pending = Pending(2.0)
    path = old(tmp_path / "a.md", "one")

    pending.add([path], 10.0)

    assert not pending.is_due(11.9)
    assert pending.is_due(12.0)
    assert pending.take() == (path,)
    assert not pending
    assert not pending.is_due(99.0)


def test_each_new_change_begins_another_debounce(tmp_path: Path) -> None:
    pending = Pending(2.0)
    path = old(tmp_path / "a.md", "one")

    pending.add([path], 10.0)
    pending.add([path], 11.0)

    assert not pending.is_due(12.5)
    assert pending.is_due(13.0)


def test_a_file_that_differs_from_when_it_was_noticed_waits_another_round(tmp_path: Path) -> None:
    """On a network drive a file may grow without an event."""
    pending = Pending(2.0)
    file = tmp_path / "a.md"
    pending.add([old(file, "one")], 10.0)
    old(file, "one and two")

    assert not pending.is_due(12.0)
    assert not pending.is_due(13.9)
    assert pending.is_due(14.0)


def test_a_file_that_never_rests_is_due_after_a_bounded_number_of_rounds(tmp_path: Path) -> None:
    pending = Pending(2.0)
    file = tmp_path / "log.md"
    due = [now / 10 for now in range(100) if grows_and_is_due(pending, file, now / 10)]

    assert due[0] == ROUNDS * 2.0


def grows_and_is_due(pending: Pending, file: Path, now: float) -> bool:
    pending.add([old(file, "x" * int(now * 10 + 1))], now)
    return pending.is_due(now)


def test_a_transcript_waits_for_one_debounce_only(tmp_path: Path) -> None:
    """It is only ever appended to; a chat that goes on must not put itself off."""
    pending = Pending(2.0)
    path = old(tmp_path / "chat.jsonl", "{}")

    pending.add([path], 10.0, growing=True)
    pending.add([path], 11.9, growing=True)

    assert pending.is_due(12.0)


def test_changes_wait_for_the_one_that_settles_last(tmp_path: Path) -> None:
    """A burst ends in one sync."""
    pending = Pending(2.0)
    first, second = old(tmp_path / "a.md", "one"), old(tmp_path / "b.md", "two")

    pending.add([first], 10.0)
    pending.add([second], 11.5)

    assert not pending.is_due(12.0)
    assert pending.is_due(13.5)
    assert pending.take() == (first, second)


def test_a_file_that_is_gone_settles_like_any_other(tmp_path: Path) -> None:
    pending = Pending(2.0)

    pending.add([str(tmp_path / "gone.md")], 10.0)

    assert pending.is_due(12.0)


def test_without_a_debounce_a_change_is_due_at_once(tmp_path: Path) -> None:
    pending = Pending(0.0)

    pending.add([old(tmp_path / "a.md", "one")], 10.0)

    assert pending.is_due(10.0)
