"""The short form of ``benchmarks/crash.py`` (``make soak``): the same writers, readers and demands, fewer kills."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
KILLS = 12


def load_script() -> ModuleType:
    """Load the harness, which is a script beside its parts, outside of any package."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("crash", BENCHMARKS / "crash.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        # A dataclass looks up its own module by name.
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


crash = load_script()


def test_killed_writers_lose_and_break_nothing_and_no_reader_notices(tmp_path: Path) -> None:
    counts = crash.run(tmp_path, kills=KILLS, seed=11)

    assert counts.broken() == [], crash.report(counts)
    assert counts.kills.total() == KILLS
    assert counts.searches > 0
    assert counts.embedded.texts > 0
    assert counts.comparisons == 2


def test_a_second_loss_of_the_same_text_is_counted_as_one_too_many() -> None:
    """What the count of embedded texts excuses: one batch in flight a kill, and a return after forgetting."""
    embedded = crash.checks.Embedded()
    batches = [
        {"life": 1, "recipe": [60, 0], "keys": ["kept"], "notes": [[1]]},
        {"life": 1, "recipe": [60, 0], "keys": ["flying"], "notes": [[2]]},
        {"life": 2, "recipe": [60, 0], "keys": ["flying"], "notes": [[2]]},
        {"life": 2, "recipe": [60, 0], "keys": ["kept"], "notes": [[1]]},
        {"life": 3, "recipe": [60, 0], "keys": ["new"], "notes": [[3]]},
    ]

    embedded.count(batches, {1}, crash.Counter(), cache=True)

    assert (embedded.texts, embedded.distinct, embedded.after_kills) == (5, 3, 1)
    assert embedded.without_reason == ["('kept',): 1 times again"]


@pytest.fixture
def ledger() -> object:
    return crash.Ledger([crash.Note(1, "memory/a.md", "old text\n")])


def test_a_text_may_be_shown_until_a_sync_behind_its_successor_returns(ledger: crash.Ledger) -> None:
    ledger.follow(
        {"t": 1.0, "do": "edit", "number": 1, "before": "memory/a.md", "path": "memory/a.md", "text": "new\n"}
    )
    ledger.follow({"t": 2.0, "done": "edit"})
    ledger.follow({"t": 3.0, "synced": {"memory/a.md": "hash"}})

    assert ledger.may_show("memory/a.md", "old text", 2.5, 2.9)
    assert not ledger.may_show("memory/a.md", "old text", 3.1, 3.2)
    assert not ledger.may_show("memory/a.md", "new", 0.1, 0.9)
    assert ledger.may_show("memory/a.md", "new", 3.1, 3.2)


def test_a_text_that_a_killed_writer_never_wrote_may_not_be_shown(ledger: crash.Ledger) -> None:
    ledger.follow(
        {"t": 1.0, "do": "edit", "number": 1, "before": "memory/a.md", "path": "memory/a.md", "text": "new\n"}
    )

    assert ledger.resolve({"memory/a.md": "old text\n"}, set(), 2.0) == "edit"
    assert not ledger.may_show("memory/a.md", "new", 3.0, 3.1)
    assert ledger.may_show("memory/a.md", "old text", 3.0, 3.1)
    assert ledger.faults == []


def test_a_half_written_note_is_a_fault(ledger: crash.Ledger) -> None:
    ledger.resolve({"memory/a.md": "old te"}, set(), 2.0)

    assert len(ledger.faults) == 1
    assert "half-written" in ledger.faults[0]
