"""What every answer holds, and how its numbers belong together (design, sections 3 and 5)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from asking import ASOF, KEYWORD, ask, codes, paths, run

from clawmark import Explanation, Memory, SearchResponse, SearchResult
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

FERRIES = {"Ferry one": 0.9, "Ferry two": 0.7, "Ferry three": 0.55, "Ferry four": 0.45, "Ferry five": 0.1}


@pytest.fixture
def ferries(note: Note) -> None:
    """Five notes of falling likeness, two of them dated."""
    names = ("memory/one.md", "memory/2026-05-31.md", "memory/three.md", "memory/2026-06-29.md", "memory/five.md")
    for path, text in zip(names, FERRIES, strict=True):
        note(path, f"{text} left from the pier.")


# Shape


def test_values_have_the_fields_of_the_contract() -> None:
    """Names stay; later work adds behind them."""
    expected = {
        SearchResponse: "results mode provider model fallback citations stale partial warnings error filtered "
        "best_filtered omitted abstained took_ms",
        SearchResult: "path start_line end_line score confidence vector_score text_score snippet source citation "
        "stale explanation",
        Explanation: "cosine bm25 vector_score text_score vector_weight text_weight hybrid_score age_days "
        "half_life_days decay_multiplier decay_rule rank_before_diversity rank_after_diversity threshold relaxed "
        "candidates",
    }
    for value, names in expected.items():
        assert [field.name for field in fields(value)][: len(names.split())] == names.split()


@pytest.mark.usefixtures("ferries")
def test_the_wire_shape_is_the_same_names_in_camel_case(workspace: Path) -> None:
    """What the command line prints as JSON."""
    shape = ask(workspace, "search", "ferry", "--asof", ASOF)
    hit = shape["results"][0]

    assert " ".join(shape) == (
        "results mode provider model fallback citations stale partial warnings error filtered bestFiltered omitted "
        "abstained tookMs"
    )
    assert " ".join(hit) == (
        "path startLine endLine score confidence vectorScore textScore snippet source citation stale explanation "
        "date origin trust flags"
    )
    assert " ".join(hit["explanation"]) == (
        "cosine bm25 vectorScore textScore vectorWeight textWeight hybridScore ageDays halfLifeDays decayMultiplier "
        "decayRule rankBeforeDiversity rankAfterDiversity threshold relaxed candidates"
    )


@pytest.mark.usefixtures("ferries")
def test_both_doors_give_the_same_answer(workspace: Path, open_memory: Open) -> None:
    """Equal without ``tookMs``, as of the same moment."""
    here = open_memory().search("ferry two", asof=ASOF).to_dict()
    there = ask(workspace, "search", "ferry two", "--asof", ASOF)

    assert {**here, "tookMs": 0} == {**there, "tookMs": 0}


def test_a_fallback_names_the_provider_as_from(note: Note, open_memory: Open) -> None:
    """The one wire name that camelCase does not give; an optional citation is left out."""
    note("memory/a.md", "Ferry.")
    embedder = StubEmbedder(dimensions=3)
    memory = open_memory(embedder=embedder, config={"citations": {"mode": "off"}})
    memory.sync()
    embedder.model = "another"

    shape = memory.search("ferry").to_dict()

    assert set(shape["fallback"]) == {"from", "reason"}
    assert shape["fallback"]["from"] == "stub"
    assert (shape["provider"], shape["model"], shape["mode"]) == (None, None, "keyword")
    assert "citation" not in shape["results"][0]


@pytest.mark.usefixtures("ferries")
def test_the_answer_names_the_vectors_that_answered(open_memory: Open) -> None:
    """``provider`` and ``model``, ``fallback`` None when nothing was degraded."""
    response = open_memory(embedder=StubEmbedder(FERRIES)).search("ferry")

    assert (response.mode, response.provider, response.model) == ("hybrid", "stub", "stub-1")
    assert (response.fallback, response.error, response.warnings, response.partial) == (None, None, (), False)
    assert response.took_ms > 0.0


# Numbers

DECAY = {"temporal_decay": {"enabled": True, "half_life_days": 30, "floor": 0.2}}


@pytest.mark.usefixtures("ferries")
def test_the_score_is_exactly_the_weighted_sum_times_the_multiplier(open_memory: Open) -> None:
    """No rounding, no hidden factor; the explanation holds all of them."""
    config = {"query": {"hybrid": {"vector_weight": 0.6, "text_weight": 0.3, **DECAY}}}
    response = open_memory(embedder=StubEmbedder(FERRIES), config=config).search("ferry one", min_score=0.0)

    assert len(response.results) == 5
    for result in response.results:
        told = result.explanation.to_dict()
        vector, text = told["vectorScore"], told["textScore"]
        assert (vector, text) == (result.vector_score, result.text_score)
        assert (told["vectorWeight"], told["textWeight"]) == pytest.approx((2 / 3, 1 / 3))
        assert told["hybridScore"] == told["vectorWeight"] * vector + told["textWeight"] * text
        assert result.score == told["hybridScore"] * told["decayMultiplier"]
        assert 0.0 <= result.score <= 1.0
    aged = {result.path: result.explanation.decay_multiplier for result in response.results}
    assert aged["memory/one.md"] == 1.0
    assert aged["memory/2026-05-31.md"] == pytest.approx(0.2 + 0.8 * 2 ** (-30.5 / 30))


@pytest.mark.usefixtures("ferries")
def test_results_are_ordered_by_score_then_path_then_line(note: Note, open_memory: Open) -> None:
    """Equal scores never change places from run to run."""
    long = "\n\n".join("The lighthouse keeper wrote this entry in the book of the tower. " * 18 for _ in range(3))
    for path in ("memory/b.md", "memory/a.md", "MEMORY.md"):
        note(path, long)
    memory = open_memory(embedder=StubEmbedder(FERRIES))

    for query in ("lighthouse keeper", "ferry", "pier tower"):
        response = memory.search(query, max_results=50, min_score=0.0)
        keys = [(-result.score, result.path, result.start_line) for result in response.results]
        assert len(keys) > 5
        assert keys == sorted(keys)
        assert [hit.explanation.rank_before_diversity for hit in response.results] == list(range(1, len(keys) + 1))


@pytest.mark.usefixtures("ferries")
def test_what_a_threshold_held_back_is_counted(workspace: Path, open_memory: Open) -> None:
    """``filtered`` and ``best_filtered``; nothing below a threshold given as an argument is shown."""
    memory = open_memory(embedder=StubEmbedder(FERRIES))

    response = memory.search("question", min_score=0.35)

    assert [round(result.score, 3) for result in response.results] == [0.63, 0.49, 0.385]
    assert (response.filtered, response.best_filtered) == (2, pytest.approx(0.315, abs=1e-4))
    assert memory.search("question", min_score=0.3).filtered == 1
    assert (memory.search("question", min_score=0.0).best_filtered, memory.search("x", min_score=0.0).filtered) == (
        None,
        0,
    )
    text = run(workspace, "search", "ferry", "--min-score", "1").stdout
    assert "5 below it, the best at 0." in text


@pytest.mark.usefixtures("ferries")
def test_a_filled_place_is_not_counted_as_held_back(open_memory: Open) -> None:
    """Below the threshold, but shown and marked."""
    response = open_memory(embedder=StubEmbedder(FERRIES)).search("five question words for nothing")

    assert [result.path for result in response.results if result.explanation.relaxed] == ["memory/five.md"]
    assert (response.filtered, response.best_filtered) == (1, pytest.approx(0.315, abs=1e-4))


@pytest.mark.usefixtures("ferries")
def test_what_the_budget_left_out_is_counted(workspace: Path, open_memory: Open) -> None:
    """``omitted``; the whole answer without a budget has none."""
    memory = open_memory(embedder=StubEmbedder(FERRIES))
    whole = memory.search("ferry", min_score=0.0)
    room = sum(len(result.snippet) + len(result.citation or "") for result in whole.results[:2])

    response = memory.search("ferry", min_score=0.0, max_chars=room + 5)

    assert (whole.omitted, response.omitted) == (0, 3)
    assert response.results == whole.results[:2]
    assert ask(workspace, "search", "ferry", "--max-chars", str(room + 5))["omitted"] > 0


# Pace


def test_a_question_that_is_not_embedded_in_time_is_answered_by_keyword(note: Note, open_memory: Open) -> None:
    """``deadline``: the provider hangs; the answer names it and does not wait."""
    note("memory/a.md", "The ferry is late.")
    answer = threading.Event()
    embedder = StubEmbedder(on_query=lambda text: assert_waited(answer))
    memory = open_memory(embedder=embedder)
    memory.sync()
    try:
        response = memory.search("ferry", deadline=0.05)
        assert not answer.is_set()
    finally:
        answer.set()

    assert (response.mode, response.error, paths(response)) == ("keyword", None, ["memory/a.md"])
    assert codes(response) == ["VECTOR_LEG_TIMEOUT"]
    assert response.fallback is not None
    assert response.fallback.from_provider == "stub"
    assert "timed out" in response.fallback.reason
    assert memory.search("ferry", deadline=60).mode == "hybrid"


def assert_waited(answer: threading.Event) -> None:
    assert answer.wait(30)


# Determinism


@pytest.mark.usefixtures("ferries")
@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
def test_two_processes_with_different_hash_seeds_print_the_same_bytes(
    mode: str, workspace: Path, note: Note, table_env: Callable[..., dict[str, str]]
) -> None:
    """Index and search in each, from the same files; only the time taken may differ."""
    for number in range(12):
        note(f"memory/same-{number}.md", "Two ferries wait at the pier for the tide and the pilot.")
    provider = KEYWORD if mode == "keyword" else table_env(FERRIES)

    answers = [answer_of_a_process(workspace, {**provider, "PYTHONHASHSEED": seed}) for seed in ("1", "4242")]

    assert answers[0] == answers[1]
    assert json.loads(answers[0])["mode"] == mode
    assert len(json.loads(answers[0])["results"]) >= 16


def answer_of_a_process(workspace: Path, variables: dict[str, str]) -> str:
    """Index and search in a process of its own, and leave nothing behind."""
    env = {**os.environ, **variables, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "clawmark", "search", "ferry pier tide pilot two", "--max-results", "20"]
    options = ["--asof", ASOF, "--json", "--workspace", str(workspace), "--sources", "memory"]
    done = subprocess.run([*command, *options], env=env, capture_output=True, check=True, timeout=60)
    shutil.rmtree(workspace / ".clawmark")
    return json.dumps({**json.loads(done.stdout), "tookMs": 0}, indent=2)


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "diverse": {"mmr": {"enabled": True, "lambda": 0.5}},
    "decaying": DECAY,
    "keyword": {},
    "vector": {"enabled": False},
}


@pytest.mark.usefixtures("ferries")
@pytest.mark.parametrize("name", SETTINGS)
def test_a_larger_number_of_results_only_appends(name: str, note: Note, open_memory: Open) -> None:
    """The pool is the same, so what was shown stays in its place."""
    for number in range(10):
        note(f"memory/tide-{number}.md", f"The pier was wet at tide {number}, and the pilot waited. " * (number + 1))
    embedder = "none" if name == "keyword" else StubEmbedder(FERRIES, otherwise=0.3)
    memory = open_memory(embedder=embedder, config={"query": {"hybrid": SETTINGS[name]}})

    longest = memory.search("ferry pilot pier two", max_results=15)

    assert len(longest.results) >= 4
    for count in range(1, 15):
        shorter = memory.search("ferry pilot pier two", max_results=count)
        assert [replace(hit) for hit in shorter.results] == list(longest.results[:count])
