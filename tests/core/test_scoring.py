"""Scores: monotone where more should count for more, and always in [0, 1]."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.scoring import (
    IDENTITY_MAP,
    SHARE_KNEE,
    CosineMap,
    TermStatistics,
    TextScoreName,
    attainable_bm25,
    bm25,
    bm25_rank_to_score,
    cosine_from_distance,
    cosine_from_l2,
    cosine_similarity,
    inverse_document_frequency,
    query_idf,
    saturate,
    text_score,
)

NAMES: tuple[TextScoreName, ...] = get_args(TextScoreName)
COUNTS = st.integers(0, 50)
LENGTHS = st.integers(1, 2000)
ANY_FLOAT = st.floats()
POSITIVE = st.floats(1e-6, 1e6)
VECTORS = st.integers(1, 8).flatmap(
    lambda size: st.tuples(*[st.lists(st.floats(-1e3, 1e3), min_size=size, max_size=size)] * 2)
)


@st.composite
def questions(draw: st.DrawFn) -> tuple[TermStatistics, dict[str, float]]:
    """Draw the statistics of an index, and the weights of a question's terms in it."""
    chunks = draw(st.integers(1, 5000))
    frequency = draw(st.dictionaries(st.sampled_from("abcd"), st.integers(0, chunks), min_size=1))
    statistics = TermStatistics(chunks, draw(st.floats(1, 500)), frequency)
    return statistics, query_idf(list(frequency), statistics)


def strength(question: tuple[TermStatistics, dict[str, float]], counts: dict[str, int], length: int) -> float:
    statistics, idf = question
    return bm25(counts, length=length, statistics=statistics, idf=idf)


# BM25


@settings(max_examples=100, deadline=None)
@given(questions(), COUNTS, LENGTHS)
def test_one_more_occurrence_of_a_term_scores_more(
    question: tuple[TermStatistics, dict[str, float]], count: int, length: int
) -> None:
    term = min(question[1])

    assert strength(question, {term: count + 1}, length) > strength(question, {term: count}, length)


@settings(max_examples=100, deadline=None)
@given(questions(), st.integers(1, 50), LENGTHS)
def test_a_longer_chunk_with_the_same_matches_scores_less(
    question: tuple[TermStatistics, dict[str, float]], count: int, length: int
) -> None:
    term = min(question[1])

    assert strength(question, {term: count}, length + 1) < strength(question, {term: count}, length)


@settings(max_examples=100, deadline=None)
@given(questions(), st.dictionaries(st.sampled_from("abcd"), COUNTS), LENGTHS)
def test_a_strength_is_never_negative_and_0_only_without_a_match(
    question: tuple[TermStatistics, dict[str, float]], counts: dict[str, int], length: int
) -> None:
    known = {term: count for term, count in counts.items() if term in question[1]}

    found = strength(question, known, length)

    assert found >= 0.0
    assert (found > 0.0) == any(known.values())


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 10_000), st.data())
def test_a_rarer_term_weighs_more_and_every_term_weighs_something(chunks: int, data: st.DataObject) -> None:
    """A term of every note of a tiny workspace still counts."""
    frequency = data.draw(st.integers(0, chunks))
    weights = [inverse_document_frequency(df, chunks) for df in sorted({0, frequency, chunks})]

    assert all(one > other for one, other in pairwise(weights))
    assert weights[-1] > 0.0


def test_a_term_that_occurs_nowhere_has_the_full_weight() -> None:
    statistics = TermStatistics(10, 20.0, {"crane": 5})

    idf = query_idf(["crane", "harbour"], statistics)

    assert list(idf) == ["crane", "harbour"]
    assert idf["harbour"] == inverse_document_frequency(0, 10) > idf["crane"]
    assert attainable_bm25(idf) == idf["crane"] + idf["harbour"]


def test_a_chunk_of_average_length_with_each_term_once_reaches_what_is_attainable() -> None:
    statistics = TermStatistics(10, 20.0, {"crane": 5, "harbour": 2})
    idf = query_idf(["crane", "harbour"], statistics)

    reached = bm25({"crane": 1, "harbour": 1}, length=20, statistics=statistics, idf=idf)

    assert reached == pytest.approx(attainable_bm25(idf))


def test_more_words_of_the_question_score_more() -> None:
    """R21: three of three words above two of three."""
    statistics = TermStatistics(20, 10.0, {"harbour": 2, "crane": 2, "inspect": 2})
    idf = query_idf(["harbour", "crane", "inspect"], statistics)
    three = bm25({"harbour": 1, "crane": 1, "inspect": 1}, length=10, statistics=statistics, idf=idf)
    two = bm25({"harbour": 1, "crane": 1}, length=10, statistics=statistics, idf=idf)

    scores = [text_score(found, name="share", attainable=attainable_bm25(idf), best=three) for found in (three, two)]

    assert scores[0] > scores[1] > 0.35


def test_an_empty_index_divides_by_nothing() -> None:
    statistics = TermStatistics(0, 0.0, {})
    idf = query_idf(["crane"], statistics)

    assert bm25({"crane": 1}, length=0, statistics=statistics, idf=idf) > 0.0


# Text scores


@settings(max_examples=100, deadline=None)
@given(ANY_FLOAT, st.sampled_from(NAMES), ANY_FLOAT, ANY_FLOAT)
def test_every_text_score_of_any_strength_lies_between_0_and_1(
    found: float, name: TextScoreName, attainable: float, best: float
) -> None:
    """R03: also for what is not a number, with one exception for callers: attainable and best are numbers."""
    attainable, best = (value if math.isfinite(value) else 1.0 for value in (attainable, best))

    score = text_score(found, name=name, attainable=attainable, best=best)

    assert 0.0 <= score <= 1.0
    assert score > 0.0 or found <= 0.0 or not math.isfinite(found) or attainable <= 0.0 or best <= 0.0 or found < 1e-9


@settings(max_examples=100, deadline=None)
@given(POSITIVE, POSITIVE, st.sampled_from(NAMES), POSITIVE)
def test_a_stronger_match_never_scores_less(one: float, other: float, name: TextScoreName, attainable: float) -> None:
    weak, strong = sorted((one, other))

    def scored(found: float) -> float:
        return text_score(found, name=name, attainable=attainable, best=strong)

    assert scored(weak) <= scored(strong)


@settings(max_examples=100, deadline=None)
@given(POSITIVE, st.floats(1.0, 2.2))
def test_repetitions_bring_the_share_above_the_knee_but_never_to_1(attainable: float, times: float) -> None:
    """R05: not even the best possible match scores 1."""
    score = text_score(attainable * times, name="share", attainable=attainable, best=1.0)

    assert SHARE_KNEE <= score < 1.0


def test_the_share_is_the_part_of_the_question_that_is_answered() -> None:
    assert text_score(2.0, name="share", attainable=8.0, best=2.0) == 0.25
    assert text_score(2.0, name="max", attainable=8.0, best=2.0) == 1.0
    assert text_score(2.0, name="saturation", attainable=8.0, best=2.0) == pytest.approx(2 / 3)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("found", [0.0, -1.0, math.nan, math.inf, -math.inf])
def test_what_is_no_match_scores_0(found: float, name: TextScoreName) -> None:
    """R03."""
    assert text_score(found, name=name, attainable=1.0, best=1.0) == 0.0


@pytest.mark.parametrize("name", ["share", "max"])
def test_a_whole_of_0_is_not_divided_by(name: TextScoreName) -> None:
    assert text_score(1.0, name=name, attainable=0.0, best=0.0) == 0.0


def test_better_ranks_of_the_full_text_index_score_more() -> None:
    """R03: -4.2, -2.1 and -0.5 strictly decreasing inside (0, 1)."""
    ranks = [-4.2, -2.1, -0.5]
    scores = [saturate(-rank) for rank in ranks]

    assert 1.0 > scores[0] > scores[1] > scores[2] > 0.0
    assert scores == [bm25_rank_to_score(rank) for rank in ranks]
    assert [saturate(value) for value in (0.0, -3.0, math.nan, math.inf, -math.inf)] == [0.0] * 5


# Cosines


@settings(max_examples=100, deadline=None)
@given(VECTORS)
def test_a_cosine_is_symmetric_and_lies_between_minus_1_and_1(vectors: tuple[list[float], list[float]]) -> None:
    a, b = vectors

    found = cosine_similarity(a, b)

    assert -1.0 <= found <= 1.0
    assert found == pytest.approx(cosine_similarity(b, a), abs=1e-12)


@settings(max_examples=100, deadline=None)
@given(VECTORS, st.floats(0.01, 100))
def test_the_length_of_a_vector_does_not_change_its_cosine(
    vectors: tuple[list[float], list[float]], factor: float
) -> None:
    """R08."""
    a, b = ([round(x, 3) for x in vector] for vector in vectors)

    assert cosine_similarity([x * factor for x in a], b) == pytest.approx(cosine_similarity(a, b), abs=1e-9)


@pytest.mark.parametrize("vector", [[0.0, 0.0], [math.inf, 0.0], [math.nan, 1.0]])
def test_a_vector_without_direction_is_like_nothing(vector: list[float]) -> None:
    assert cosine_similarity(vector, [1.0, 1.0]) == 0.0


def test_vectors_of_two_lengths_are_refused() -> None:
    """R09."""
    with pytest.raises(ValueError, match="3 and 4 dimensions"):
        cosine_similarity([1, 2, 3], [1, 2, 3, 4])


def test_distances_become_scores_that_are_never_negative() -> None:
    """R11: 0.447, 1.0 and 1.549 between unit vectors."""
    assert [cosine_from_l2(distance) for distance in (0.447, 1.0, 1.549)] == pytest.approx([0.9, 0.5, 0.0], abs=0.01)
    assert [cosine_from_distance(distance) for distance in (0.0, 0.25, 1.0, 1.7)] == [1.0, 0.75, 0.0, 0.0]


@settings(max_examples=100, deadline=None)
@given(ANY_FLOAT)
def test_any_distance_becomes_a_score_between_0_and_1(distance: float) -> None:
    assert 0.0 <= cosine_from_distance(distance) <= 1.0
    assert 0.0 <= cosine_from_l2(distance) <= 1.0


# Maps of cosines


@st.composite
def maps(draw: st.DrawFn) -> CosineMap:
    size = draw(st.integers(0, 6))
    cosines = draw(st.lists(st.floats(-1, 1), min_size=size, max_size=size, unique=True))
    scores = draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
    return CosineMap(tuple(zip(sorted(cosines), sorted(scores), strict=True)))


@settings(max_examples=100, deadline=None)
@given(maps(), st.floats(-1, 1), st.floats(-1, 1))
def test_a_map_keeps_the_order_of_cosines_and_gives_scores(mapped: CosineMap, one: float, other: float) -> None:
    """R17."""
    low, high = sorted((one, other))

    assert 0.0 <= mapped(low) <= mapped(high) + 1e-12 <= 1.0 + 1e-12


@settings(max_examples=100, deadline=None)
@given(maps())
def test_a_map_goes_through_its_points(mapped: CosineMap) -> None:
    for cosine, score in mapped.points:
        assert mapped(cosine) == pytest.approx(score)


def test_a_map_is_straight_between_its_points_and_level_beyond_them() -> None:
    mapped = CosineMap(((0.0, 0.1), (0.2, 0.35), (0.8, 0.9)))

    assert [mapped(cosine) for cosine in (-1.0, 0.0, 0.8, 1.0)] == [0.1, 0.1, 0.9, 0.9]
    assert [mapped(cosine) for cosine in (0.1, 0.2, 0.5)] == pytest.approx([0.225, 0.35, 0.625])


@settings(max_examples=50, deadline=None)
@given(st.floats(-1, 1))
@example(0.5)
def test_nothing_is_known_of_an_unknown_embedder(cosine: float) -> None:
    """R17: the identity, said so."""
    assert IDENTITY_MAP(cosine) == max(0.0, cosine)
    assert "nothing is known" in IDENTITY_MAP.source
