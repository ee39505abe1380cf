"""Ranking and scores: the user cases R01 to R05."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
from asking import ask, codes, damage_full_text, drop_full_text, file_of, paths, run

from clawmark import Memory
from clawmark.core.scoring import TextScoreName, saturate, text_score
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

FAULTS = pytest.mark.parametrize("fault", [drop_full_text, damage_full_text])


def garden(note: Note, count: int = 20) -> None:
    """Write notes that have nothing to do with the question."""
    for number in range(count):
        note(f"memory/garden-{number:02}.md", f"Bed {number}: tomatoes and beans were watered after lunch.")


# R01


def test_a_code_that_only_the_words_support_is_the_first_result(note: Note, open_memory: Open) -> None:
    """R01: 0.3 · text stays below the default threshold, and the note is shown all the same, and marked."""
    garden(note)
    note("memory/keys.md", "Badge code QX-4471 opens the north gate.")
    memory = open_memory(embedder=StubEmbedder({"Badge": 0.02}, otherwise=0.1))

    response = memory.search("QX-4471")

    first = response.results[0]
    assert (response.mode, first.path) == ("hybrid", "memory/keys.md")
    assert first.vector_score == pytest.approx(0.02)
    assert first.text_score is not None
    assert first.text_score > 0.5
    assert first.score < 0.35
    assert first.explanation.relaxed


def test_a_code_is_found_beside_neighbours_that_are_a_little_alike(note: Note, open_memory: Open) -> None:
    """R01: every note, the right one too, lies at the largest cosine that the case allows."""
    garden(note)
    note("memory/keys.md", "Badge code QX-4471 opens the north gate.")
    memory = open_memory(embedder=StubEmbedder(otherwise=0.1))

    assert paths(memory.search("QX-4471")) == ["memory/keys.md"]


def test_the_command_line_says_that_a_result_was_found_by_its_words_alone(
    note: Note, workspace: Path, open_memory: Open, table_env: Callable[..., dict[str, str]]
) -> None:
    """R01: what is marked in the value is said to the person."""
    garden(note)
    note("memory/keys.md", "Badge code QX-4471 opens the north gate.")
    env = table_env({"Badge": 0.02})
    assert run(workspace, "index", env=env).exit_code == 0

    result = run(workspace, "search", "QX-4471", env=env)

    assert "memory/keys.md" in result.stdout.splitlines()[0]
    assert "found by its words" in result.stdout
    (hit,) = ask(workspace, "search", "QX-4471", env=env)["results"]
    assert hit["explanation"]["relaxed"] is True


# R02

WINDOW = {"A reservoir": 0.8, "B sluice": 0.7, "C note": 0.0}


def window(note: Note) -> None:
    note("memory/a.md", "A reservoir stands above the village.")
    note("memory/b.md", "B sluice was opened by hand.")
    note("memory/c.md", "C note on pumps.")


def test_a_weak_keyword_hit_fills_a_free_place_behind_the_results_that_qualify(note: Note, open_memory: Open) -> None:
    """R02: k = 3."""
    window(note)
    memory = open_memory(embedder=StubEmbedder(WINDOW))

    response = memory.search("where are pumps installed upstream today", max_results=3)

    assert paths(response) == ["memory/a.md", "memory/b.md", "memory/c.md"]
    assert [result.explanation.relaxed for result in response.results] == [False, False, True]


def test_a_weak_keyword_hit_takes_no_place_from_a_result_that_qualifies(note: Note, open_memory: Open) -> None:
    """R02: k = 2, and in any number of places C is never above A or B."""
    window(note)
    memory = open_memory(embedder=StubEmbedder(WINDOW))

    assert paths(memory.search("where are pumps installed upstream today", max_results=2)) == [
        "memory/a.md",
        "memory/b.md",
    ]


# R03


@pytest.mark.parametrize("name", ["share", "max", "saturation"])
def test_a_stronger_keyword_match_gets_a_higher_score(name: TextScoreName) -> None:
    """R03: each map of BM25 is strictly rising, and below 1 but for the best of "max"."""
    scores = [text_score(strength, name=name, attainable=5.0, best=8.0) for strength in (0.5, 2.1, 4.2, 4.9, 7.0)]

    assert scores == sorted(set(scores))
    assert 0.0 < scores[0] < scores[-1] < 1.0


@pytest.mark.parametrize("name", ["share", "max", "saturation"])
@pytest.mark.parametrize("strength", [0.0, -3.0, math.nan, math.inf, -math.inf])
def test_what_is_no_match_scores_nothing(name: TextScoreName, strength: float) -> None:
    """R03: no exception either, and no division by nothing."""
    assert text_score(strength, name=name, attainable=5.0, best=8.0) == 0.0
    assert text_score(strength, name=name, attainable=0.0, best=0.0) == 0.0
    assert saturate(strength) == 0.0


def test_repeating_the_word_ranks_above_mentioning_it(note: Note, open_memory: Open) -> None:
    """R03: keyword only, end to end."""
    garden(note)
    note("memory/p.md", "alpha alpha alpha alpha")
    note("memory/q.md", "One mention of alpha among several other words that say nothing about it today.")

    results = open_memory().search("alpha").results

    assert [result.path for result in results] == ["memory/p.md", "memory/q.md"]
    assert 1.0 > results[0].score > results[1].score > 0.0


# R05

LONG = " ".join(["The crew wrote a report about lorries"] * 28) + " and one walrus."


def walrus(note: Note) -> None:
    note("memory/long.md", LONG)
    note("memory/word.md", "walrus")


@FAULTS
def test_without_full_text_search_the_notes_are_scanned_and_scored_by_degree(
    fault: Callable[[Path], None], note: Note, open_memory: Open
) -> None:
    """R05: no row gets 1.0 for containing the word, and the answer names the way it was found."""
    walrus(note)
    memory = open_memory()
    memory.sync()
    fault(file_of(memory))

    response = memory.search("walrus", min_score=0.0)

    assert response.error is None
    assert paths(response) == ["memory/word.md", "memory/long.md"]
    assert 1.0 > response.results[0].score > response.results[1].score > 0.0
    assert (response.mode, codes(response)) == ("keyword", ["TEXT_SCAN"])


@FAULTS
def test_a_scanned_note_scores_what_full_text_search_gave_it(
    fault: Callable[[Path], None], note: Note, open_memory: Open
) -> None:
    """R05: the fallback never scores above a real match."""
    walrus(note)
    memory = open_memory()
    whole = memory.search("walrus", min_score=0.0)
    fault(file_of(memory))

    scanned = memory.search("walrus", min_score=0.0)

    assert [(hit.path, hit.score) for hit in scanned.results] == [(hit.path, hit.score) for hit in whole.results]


@FAULTS
def test_the_command_line_says_that_notes_were_scanned(
    fault: Callable[[Path], None], note: Note, workspace: Path, open_memory: Open
) -> None:
    """R05: a degraded answer is an answer, with a warning on stderr."""
    walrus(note)
    with open_memory() as memory:
        memory.sync()
        fault(file_of(memory))

    result = run(workspace, "search", "walrus")

    assert result.exit_code == 0
    assert "memory/word.md" in result.stdout
    assert "scanned" in result.stderr
    assert codes(ask(workspace, "search", "walrus")) == ["TEXT_SCAN"]


@FAULTS
def test_the_step_that_the_warning_names_repairs_full_text_search(
    fault: Callable[[Path], None], note: Note, workspace: Path, open_memory: Open
) -> None:
    """R05: ``clawmark index --force``."""
    walrus(note)
    with open_memory() as memory:
        memory.sync()
        fault(file_of(memory))
        (warning,) = memory.search("walrus").warnings
        assert "clawmark index --force" in warning.action

    assert run(workspace, "index", "--force").exit_code == 0

    answer = ask(workspace, "search", "walrus")
    assert (paths(answer)[0], codes(answer)) == ("memory/word.md", [])
