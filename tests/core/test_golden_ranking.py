"""Fusion and selection, recorded from the system that clawmark re-implements.

Columns: both for fusion, whose weights and sums did not change; the newest (2026.9.6) for
selection; both alike for the number of candidates.
Left out of fusion: the newest version's tiers for exact file names, its importance and its
project factor (case merge-136). Differences on purpose: equal scores are ordered by path and
line, not by the order in which the legs gave them; one snippet is cut from the chunk, so that
none is chosen between the legs; a multiplier of the user is not capped at 200 candidates
(design, section 5).
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from clawmark.core.decay import DecaySettings, decay_of
from clawmark.core.diversity import rerank_for_diversity
from clawmark.core.ports import Candidate
from clawmark.core.ranking import Ranked, candidate_limit, fuse, order, select
from golden import NEWEST, SPRING, Case, case_id, cases

PLAIN = [case for case in cases("merge") if "activeProjectKeys" not in case["input"]]
CAP = 200


def candidate(number: int, place: dict[str, Any]) -> Candidate:
    return Candidate(
        id=number,
        document_id=number,
        source=place["source"],
        path=place["path"],
        start_line=place["startLine"],
        end_line=place["endLine"],
        length=1,
        frequencies={},
        mtime_ns=0,
        size=0,
        time_ms=None,
        kind="",
    )


def multiplier(path: str, given: Case) -> float:
    decay = given.get("temporalDecay")
    if not decay:
        return 1.0
    settings = DecaySettings(enabled=decay["enabled"], half_life_days=decay["halfLifeDays"])
    now = datetime.fromtimestamp(given["nowMs"] / 1000, UTC)
    return decay_of(path, "memory", timestamp=None, now=now, settings=settings).multiplier


def merged(given: Case) -> list[Ranked]:
    """Rank the rows of both legs as a search does."""
    places = {row["id"]: row for row in [*given["keyword"], *given["vector"]]}
    vector = {row["id"]: row["vectorScore"] for row in given["vector"]}
    text = {row["id"]: row["textScore"] for row in given["keyword"]}
    ranked: list[Ranked] = []
    for number, (name, place) in enumerate(places.items()):
        hybrid = fuse(
            vector.get(name),
            text.get(name),
            mode="hybrid",
            vector_weight=given["vectorWeight"],
            text_weight=given["textWeight"],
        )
        score = hybrid * multiplier(place["path"], given)
        item = candidate(number, place)
        ranked.append(Ranked(item, None, None, vector.get(name), text.get(name), hybrid, score))
    ordered = order(ranked)
    if not given.get("mmr", {}).get("enabled"):
        return ordered
    snippets = {row["path"]: row["snippet"] for row in places.values()}
    return rerank_for_diversity(
        ordered,
        relevance=given["mmr"]["lambda"],
        score=lambda item: item.score,
        text=lambda item: snippets[item.candidate.path],
    )


@pytest.mark.parametrize("case", PLAIN, ids=case_id)
def test_two_legs_merge_into_the_recorded_order_and_scores(case: Case) -> None:
    """Both columns: weighted sum, decay, diversity."""
    found = merged(case["input"])

    assert [item.candidate.path for item in found] == [row["path"] for row in case["expected"]]
    assert [item.score for item in found] == pytest.approx([row["score"] for row in case["expected"]], abs=1e-9)


@pytest.mark.parametrize("case", [case for case in PLAIN if case["version"] == NEWEST], ids=case_id)
def test_each_leg_keeps_its_own_recorded_score(case: Case) -> None:
    """Column [N]; a leg that gave nothing is None here and 0 there."""
    found = merged(case["input"])

    assert [item.vector_score or 0 for item in found] == [row["vectorScore"] for row in case["expected"]]
    assert [item.text_score or 0 for item in found] == [row["textScore"] for row in case["expected"]]


def selected(given: Case) -> list[str]:
    ordered = [
        Ranked(candidate(number, row), None, None, row["vectorScore"], row["textScore"], row["score"], row["score"])
        for number, row in enumerate(given["merged"])
    ]
    places = {row["path"] for row in given["keyword"]}
    without_text = [Ranked(r.candidate, None, None, r.vector_score, None, r.score, r.score) for r in ordered]
    rows = [hit if hit.candidate.path in places else bare for hit, bare in zip(ordered, without_text, strict=True)]
    found = select(rows, max_results=given["maxResults"], min_score=given["minScore"], relax=True)
    return [item.candidate.path for item in found.chosen]


@pytest.mark.parametrize("case", cases("select", NEWEST), ids=case_id)
def test_the_recorded_results_are_chosen(case: Case) -> None:
    """Column [N]: strict hits first, then keyword-only hits in free places (user case R02)."""
    assert selected(case["input"]) == [row["path"] for row in case["expected"]]


def test_spring_selections_differ_only_by_keyword_hits_that_were_dropped() -> None:
    """Column [S], not followed: a keyword hit below the threshold was lost (user cases R01, R02)."""
    extra = [
        (set(selected(case["input"])) - {row["path"] for row in case["expected"]}, case["input"]["maxResults"])
        for case in cases("select", SPRING)
    ]

    assert extra == [({"memory/c.md"}, 6), ({"memory/c.md"}, 6), (set(), 6), (set(), 1)]


@pytest.mark.parametrize("case", cases("candidates"), ids=case_id)
def test_the_recorded_number_of_candidates_is_asked_for(case: Case) -> None:
    """Both columns alike; the cap of 200 is not followed, and results are whole numbers."""
    given = case["input"]

    found = candidate_limit(int(given["maxResults"]), given["candidateMultiplier"])

    assert min(CAP, found) == case["expected"]
