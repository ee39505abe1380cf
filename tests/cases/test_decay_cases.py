"""What age does to a score: the user cases D01 to D07."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from asking import ASOF, ask, codes, paths, run

from clawmark import Memory, SearchResponse
from clawmark.core.decay import DecaySettings, date_in_path, decay_of
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

NOW = datetime(2026, 6, 30, 12, tzinfo=UTC)
EQUAL = "The ferry leaves from pier nine."
DECAY_ENV = {
    "CLAWMARK_EMBEDDING__PROVIDER": "none",
    "CLAWMARK_QUERY__HYBRID__TEMPORAL_DECAY__ENABLED": "true",
}


def decaying(*, half_life_days: float = 30.0, vector_only: bool = False) -> dict[str, Any]:
    """Give the configuration with decay on."""
    decay = {"enabled": True, "half_life_days": half_life_days}
    return {"query": {"hybrid": {"enabled": not vector_only, "temporal_decay": decay}}}


def scores(response: SearchResponse) -> dict[str, float]:
    """Give the score of each path."""
    return {result.path: result.score for result in response.results}


# D01

DATED = (
    "memory/2026-05-31.md",
    "memory/2026-05-31-standup.md",
    "memory/2026-05-31-1430-2.md",
    "memory/logs/a/2026-05-31.md",
)
TIMELESS = ("MEMORY.md", "memory/topics.md")


def test_each_way_to_name_a_daily_note_lets_it_age(note: Note, open_memory: Open) -> None:
    """D01: half the score after a half-life, with a suffix or in a folder too; knowledge stays as it is."""
    for path in (*DATED, *TIMELESS):
        note(path, EQUAL)
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config=decaying(vector_only=True))

    response = memory.search("question", max_results=10)

    assert scores(response) == pytest.approx(dict.fromkeys(DATED, 0.4) | dict.fromkeys(TIMELESS, 0.8), abs=0.01)
    assert paths(response)[:2] == list(TIMELESS)
    rules = {result.path: result.explanation.decay_rule for result in response.results}
    assert rules == dict.fromkeys(DATED, "dated") | dict.fromkeys(TIMELESS, "evergreen")


def test_age_does_nothing_unless_it_is_asked_to(note: Note, open_memory: Open) -> None:
    """D01: decay is off by default, and the explanation says so."""
    note("memory/2020-01-01.md", EQUAL)
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config={"query": {"hybrid": {"enabled": False}}})

    (result,) = memory.search("question").results

    assert result.score == pytest.approx(0.8, abs=1e-5)
    assert (result.explanation.decay_rule, result.explanation.decay_multiplier) == ("off", 1.0)


def test_the_command_line_shows_how_much_age_took(note: Note, workspace: Path) -> None:
    """D01: the multiplier and its rule, in JSON and in text."""
    note("memory/logs/2026-05-31-standup.md", EQUAL)

    (hit,) = ask(workspace, "search", "ferry", "--asof", ASOF, env=DECAY_ENV)["results"]

    assert hit["explanation"]["decayMultiplier"] == pytest.approx(0.494, abs=0.001)
    assert hit["score"] == hit["textScore"] * hit["explanation"]["decayMultiplier"]
    assert "age x0.49 (dated)" in run(workspace, "search", "ferry", "--asof", ASOF, env=DECAY_ENV).stdout


# D02


@pytest.mark.parametrize("path", ["Memory/2026-05-31.md", "MEMORY/Logs/2026-05-31-Standup.MD", "memory/2026-05-31.md"])
def test_case_does_not_matter_where_the_file_system_folds_it(path: str) -> None:
    """D02: the classifier, for a volume on which the names are one."""
    decay = decay_of(
        path, "memory", timestamp=NOW, now=NOW, settings=DecaySettings(enabled=True, half_life_days=30), fold_case=True
    )

    assert (decay.rule, decay.age_days) == ("dated", 30.5)


def test_a_note_that_is_found_under_another_case_ages_like_its_neighbours(note: Note, open_memory: Open) -> None:
    """D02: where the disk folds case it is in ``memory/``, elsewhere it is no memory; never a note without age."""
    note("memory/2026-05-31.md", EQUAL)
    note("Memory/2026-05-31-standup.md", EQUAL)
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config=decaying(vector_only=True))

    results = memory.search("question").results

    assert "memory/2026-05-31.md" in [result.path for result in results]
    assert {result.explanation.decay_rule for result in results} == {"dated"}
    assert all(result.path.startswith("memory/") for result in results)


# D03


@pytest.mark.parametrize("path", ["memory/2026-02-30.md", "memory/2026-13-01.md", "memory/0000-01-01.md"])
def test_a_date_that_no_calendar_has_is_no_date(path: str, note: Note, open_memory: Open) -> None:
    """D03: multiplier 1, rule "undated", whatever the file's own time."""
    file = note(path, EQUAL)
    os.utime(file, (1_500_000_000, 1_500_000_000))
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config=decaying(vector_only=True))

    (result,) = memory.search("question").results

    assert (result.explanation.decay_multiplier, result.explanation.decay_rule) == (1.0, "undated")
    assert result.score == pytest.approx(0.8, abs=1e-5)


def test_a_note_of_the_future_gains_nothing(note: Note, open_memory: Open) -> None:
    """D03: two weeks ahead counts as today."""
    note("memory/2026-07-15.md", EQUAL)
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config=decaying(vector_only=True))

    (result,) = memory.search("question").results

    assert (result.explanation.decay_multiplier, result.explanation.age_days) == (1.0, 0.0)
    assert result.score == pytest.approx(0.8, abs=1e-5)


@pytest.mark.parametrize("half_life_days", [0.0, -30.0, math.nan, math.inf])
def test_an_impossible_half_life_switches_decay_off_and_says_so(
    half_life_days: float, note: Note, open_memory: Open
) -> None:
    """D03: no exception, full scores, and a warning that names the value."""
    note("memory/2020-01-01.md", EQUAL)
    config = decaying(half_life_days=half_life_days, vector_only=True)
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config=config)

    response = memory.search("question")

    (result,) = response.results
    assert result.score == pytest.approx(0.8, abs=1e-5)
    (warning,) = response.warnings
    assert warning.code == "DECAY_OFF"
    assert f"half_life_days = {half_life_days:g}" in warning.message


def test_the_command_line_warns_of_an_impossible_half_life(note: Note, workspace: Path) -> None:
    """D03: on stderr, beside the result."""
    note("memory/2020-01-01.md", EQUAL)
    env = DECAY_ENV | {"CLAWMARK_QUERY__HYBRID__TEMPORAL_DECAY__HALF_LIFE_DAYS": "0"}

    result = run(workspace, "search", "ferry", env=env)

    assert (result.exit_code, result.stdout.splitlines()[0][:23]) == (0, "1. memory/2020-01-01.md")
    assert "Decay is off" in result.stderr
    assert codes(ask(workspace, "search", "ferry", env=env)) == ["DECAY_OFF"]


# D05

MODES = {
    "hybrid": (StubEmbedder(otherwise=0.8), decaying()),
    "keyword": ("none", decaying()),
    "vector": (StubEmbedder(otherwise=0.8), decaying(vector_only=True)),
}


@pytest.mark.parametrize("mode", MODES)
def test_two_half_lives_leave_a_quarter_in_every_mode(mode: str, note: Note, open_memory: Open) -> None:
    """D05: the same two notes, 60 days apart."""
    note("memory/2026-05-01.md", EQUAL)
    note("memory/2026-06-30.md", EQUAL)
    embedder, config = MODES[mode]

    response = open_memory(embedder=embedder, config=config).search("ferry", min_score=0.0)

    found = scores(response)
    assert response.mode == mode
    assert paths(response) == ["memory/2026-06-30.md", "memory/2026-05-01.md"]
    assert found["memory/2026-05-01.md"] / found["memory/2026-06-30.md"] == pytest.approx(0.25, abs=0.01)


# D07


@pytest.mark.parametrize("path", ["memory\\archive\\2026-05-31.md", ".\\memory\\2026-05-31-standup.md"])
def test_a_path_with_backslashes_is_dated_like_one_with_slashes(path: str) -> None:
    """D07: the classifier, with what Windows gives."""
    assert date_in_path(path) == date(2026, 5, 31)


def test_results_name_nested_notes_with_slashes(note: Note, workspace: Path, open_memory: Open) -> None:
    """D07: stored and cited, and the path can be read again."""
    note("memory/archive/2026-05-31.md", EQUAL)
    memory = open_memory()

    (result,) = memory.search("ferry").results

    assert (result.path, result.citation) == ("memory/archive/2026-05-31.md", "memory/archive/2026-05-31.md#L1")
    assert memory.get(result.path).text == EQUAL
    assert ask(workspace, "search", "ferry")["results"][0]["citation"] == result.citation


def test_a_pattern_with_backslashes_is_not_needed_to_find_nested_notes(note: Note, open_memory: Open) -> None:
    """D07: globs are written with slashes on every system."""
    note("memory/archive/2026-05-31.md", EQUAL)
    note("memory/2026-05-31.md", EQUAL)

    assert paths(open_memory().search("ferry", paths=["memory/archive/*"])) == ["memory/archive/2026-05-31.md"]
