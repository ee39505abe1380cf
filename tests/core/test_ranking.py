"""Order, threshold and free places: what holds for every list, and the user cases."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.core.ports import Candidate
from clawmark.core.ranking import CANDIDATES_PER_LEG, Ranked, candidate_limit, covers, fuse, order, select

SHARES = st.floats(0, 1)


def candidate(number: int, path: str = "memory/a.md", line: int = 1) -> Candidate:
    return Candidate(number, number, "memory", path, line, line, 10, {}, 0, 0, None, "")


def ranked(
    number: int, vector: float | None, text: float | None, *, path: str = "memory/a.md", line: int = 1
) -> Ranked:
    score = fuse(vector, text, mode="hybrid", vector_weight=0.7, text_weight=0.3)
    return Ranked(candidate(number, path, line), vector, text, vector, text, score, score)


@st.composite
def lists(draw: st.DrawFn) -> list[Ranked]:
    legs = st.none() | st.sampled_from([0.0, 0.2, 0.5, 0.9]) | SHARES
    rows = draw(st.lists(st.tuples(legs, legs, st.sampled_from(["a.md", "b.md"]), st.integers(1, 3)), max_size=12))
    return [
        ranked(number, vector, text, path=path, line=line) for number, (vector, text, path, line) in enumerate(rows)
    ]


def numbers(items: list[Ranked] | tuple[Ranked, ...]) -> list[int]:
    return [item.candidate.id for item in items]


# Candidates


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 500), st.integers(1, 500))
def test_more_results_never_ask_fewer_candidates(one: int, other: int) -> None:
    few, many = sorted((one, other))

    assert max(few, CANDIDATES_PER_LEG) <= candidate_limit(few, None) <= candidate_limit(many, None)
    assert candidate_limit(few, 4) == few * 4 <= candidate_limit(many, 4)


# Fusion


@settings(max_examples=100, deadline=None)
@given(SHARES | st.none(), SHARES | st.none(), SHARES)
def test_a_fused_score_lies_between_its_legs(vector: float | None, text: float | None, weight: float) -> None:
    found = fuse(vector, text, mode="hybrid", vector_weight=weight, text_weight=1 - weight)

    legs = (vector or 0.0, text or 0.0)
    assert min(legs) - 1e-12 <= found <= max(legs) + 1e-12


@settings(max_examples=100, deadline=None)
@given(SHARES, SHARES, SHARES)
def test_a_single_leg_is_judged_by_its_own_score(vector: float, text: float, weight: float) -> None:
    """R18."""
    assert fuse(vector, text, mode="vector", vector_weight=weight, text_weight=1 - weight) == vector
    assert fuse(vector, text, mode="keyword", vector_weight=weight, text_weight=1 - weight) == text


def test_a_leg_that_gave_nothing_counts_as_0() -> None:
    assert fuse(None, None, mode="hybrid", vector_weight=0.7, text_weight=0.3) == 0.0
    assert fuse(None, 0.5, mode="vector", vector_weight=0.7, text_weight=0.3) == 0.0
    assert fuse(0.5, None, mode="keyword", vector_weight=0.7, text_weight=0.3) == 0.0


# Order


@settings(max_examples=100, deadline=None)
@given(lists(), st.randoms(use_true_random=False))
def test_the_order_does_not_depend_on_the_order_before(items: list[Ranked], chance: random.Random) -> None:
    shuffled = list(items)
    chance.shuffle(shuffled)

    assert order(shuffled) == order(items)


@settings(max_examples=100, deadline=None)
@given(lists())
def test_the_order_is_by_score_then_path_then_line(items: list[Ranked]) -> None:
    keys = [(-item.score, item.candidate.path, item.candidate.start_line) for item in order(items)]

    assert keys == sorted(keys)
    assert sorted(numbers(order(items))) == list(range(len(items)))


# Selection


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(1, 6), SHARES, st.booleans())
def test_never_more_than_wanted_and_strict_results_first(
    items: list[Ranked], max_results: int, min_score: float, relax: bool
) -> None:
    """R02."""
    ordered = order(items)

    found = select(ordered, max_results=max_results, min_score=min_score, relax=relax)

    strict = [item for item in ordered if item.score >= min_score]
    shown = [item for item in found.chosen if not item.relaxed]
    assert len(found.chosen) <= max_results
    assert shown == strict[:max_results]
    assert list(found.chosen[: len(shown)]) == shown
    assert len(set(numbers(found.chosen))) == len(found.chosen)


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(1, 6), SHARES)
def test_free_places_go_to_text_hits_below_the_threshold_in_order(
    items: list[Ranked], max_results: int, min_score: float
) -> None:
    """R02: what the vector leg alone nearly passed stays out, unless nothing passed."""
    ordered = order(items)

    found = select(ordered, max_results=max_results, min_score=min_score, relax=True)

    extra = [item for item in found.chosen if item.relaxed]
    nothing_passed = len(extra) == len(found.chosen)
    assert all(item.text_matched and item.score < min_score for item in extra)
    assert nothing_passed or all((item.vector_score or 0.0) < min_score for item in extra)
    assert numbers(extra) == [number for number in numbers(ordered) if number in set(numbers(extra))]
    if len(found.chosen) < max_results and not any(item.score >= min_score for item in items):
        assert len(extra) == sum(item.text_matched for item in items)


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(1, 6), SHARES, st.booleans())
def test_everything_below_the_threshold_is_shown_or_counted(
    items: list[Ranked], max_results: int, min_score: float, relax: bool
) -> None:
    """R16."""
    found = select(order(items), max_results=max_results, min_score=min_score, relax=relax)

    below = [item for item in items if item.score < min_score]
    relaxed = {item.candidate.id for item in found.chosen if item.relaxed}
    assert found.filtered == len(below) - len(relaxed)
    assert found.best_filtered == max((item.score for item in below if item.candidate.id not in relaxed), default=None)


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(1, 6), SHARES)
def test_a_strict_selection_shows_nothing_below_the_threshold(
    items: list[Ranked], max_results: int, min_score: float
) -> None:
    found = select(order(items), max_results=max_results, min_score=min_score, relax=False)

    assert all(item.score >= min_score and not item.relaxed for item in found.chosen)


@settings(max_examples=100, deadline=None)
@given(lists(), st.integers(1, 6), SHARES, st.integers(0, 11))
def test_what_must_be_shown_is_shown(items: list[Ranked], max_results: int, min_score: float, wanted: int) -> None:
    """R12: in the last place when it would have none; never twice, never one result more."""
    ordered = order(items)

    found = select(
        ordered,
        max_results=max_results,
        min_score=min_score,
        relax=True,
        must_show=lambda item: item.candidate.id == wanted,
    )

    assert (wanted in numbers(found.chosen)) == (wanted < len(items))
    assert len(set(numbers(found.chosen))) == len(found.chosen) <= max_results


@pytest.mark.parametrize(("places", "expected"), [(3, [1, 2, 3]), (2, [1, 2]), (1, [1])])
def test_a_keyword_hit_below_the_threshold_fills_a_spare_place_only(places: int, expected: list[int]) -> None:
    """R02: A at .80, B at .70, C shares one of four words."""
    ordered = order([ranked(1, 0.8, None), ranked(2, 0.7, None), ranked(3, 0.0, 0.25)])

    found = select(ordered, max_results=places, min_score=0.35, relax=True)

    assert numbers(found.chosen) == expected
    assert [item.relaxed for item in found.chosen] == [number == 3 for number in expected]


def test_a_keyword_hit_is_found_when_nothing_passes() -> None:
    """R01: a perfect keyword hit without vector support is below the threshold."""
    notes = [ranked(number, 0.1, None) for number in range(20)]

    found = select(order([*notes, ranked(20, 0.0, 1.0)]), max_results=6, min_score=0.35, relax=True)

    assert numbers(found.chosen) == [20]
    assert found.chosen[0].relaxed


def test_the_note_that_holds_an_identifier_is_among_the_results() -> None:
    """R12: ten notes at .70 without it, one at .05 that holds it."""
    others = [ranked(number, 0.7, None) for number in range(10)]
    holder = ranked(10, 0.05, 0.95)

    found = select(
        order([*others, holder]), max_results=6, min_score=0.35, relax=True, must_show=lambda item: item.text_matched
    )

    assert numbers(found.chosen) == [0, 1, 2, 3, 4, 10]
    assert found.chosen[-1].relaxed


def test_an_identifier_that_is_shown_already_takes_no_other_place() -> None:
    """R12."""
    ordered = order([ranked(1, 0.9, 0.9), ranked(2, 0.8, None), ranked(3, 0.7, 0.2)])

    found = select(ordered, max_results=2, min_score=0.35, relax=True, must_show=lambda item: item.text_matched)

    assert numbers(found.chosen) == [1, 2]


def test_what_was_held_back_is_counted() -> None:
    """R16: the best scores .30 against .35."""
    ordered = [Ranked(candidate(1), 0.3, None, 0.3, None, 0.3, 0.3)]

    held = select(ordered, max_results=6, min_score=0.35, relax=True)
    shown = select(ordered, max_results=6, min_score=0.25, relax=False)

    assert (held.chosen, held.filtered, held.best_filtered) == ((), 1, 0.3)
    assert numbers(shown.chosen) == [1]


def test_a_chunk_covers_a_question_when_it_holds_every_term() -> None:
    assert covers({"inc": 1, "90817": 2}, ["inc", "90817"])
    assert not covers({"inc": 1, "90817": 0}, ["inc", "90817"])
    assert not covers({"inc": 1}, ["inc", "90817"])
    assert not covers({"inc": 1}, [])
