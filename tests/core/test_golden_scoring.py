"""The values of scoring that were recorded from the system that clawmark re-implements.

Columns: the newest version (2026.9.6) for the map of BM25 ranks; the spring version
(2026.3.2) for the cosine, recorded only there; both alike for cosine distances.
Listed defects that are not followed: every keyword hit scored 1 in spring (user case R03);
vectors of two lengths were compared over the shorter one (user case R09); a score below 0
(user case R11).
"""

from __future__ import annotations

import math

import pytest

from clawmark.core.scoring import bm25_rank_to_score, cosine_from_distance, cosine_similarity
from golden import NEWEST, SPRING, Case, case_id, cases

OF_ONE_LENGTH = [case for case in cases("cosine", SPRING) if len(case["input"]["a"]) == len(case["input"]["b"])]
OF_TWO_LENGTHS = [case for case in cases("cosine", SPRING) if case not in OF_ONE_LENGTH]


@pytest.mark.parametrize("case", cases("bm25", NEWEST), ids=case_id)
def test_a_bm25_rank_becomes_the_recorded_score(case: Case) -> None:
    """Column [N]."""
    assert bm25_rank_to_score(case["input"]) == pytest.approx(case["expected"], abs=1e-9)


def test_spring_scores_differ_only_where_a_rank_is_a_match() -> None:
    """Column [S], the listed defect: every match scored 1 (user case R03)."""
    differing = [
        case
        for case in cases("bm25", SPRING)
        if bm25_rank_to_score(case["input"]) != pytest.approx(case["expected"], abs=1e-9)
    ]

    assert differing
    assert all(math.isfinite(case["input"]) and case["input"] < 0 and case["expected"] == 1 for case in differing)


@pytest.mark.parametrize("case", OF_ONE_LENGTH, ids=case_id)
def test_the_cosine_is_the_recorded_one(case: Case) -> None:
    """Column [S], the only one."""
    found = cosine_similarity(case["input"]["a"], case["input"]["b"])

    assert found == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("case", OF_TWO_LENGTHS, ids=case_id)
def test_vectors_of_two_lengths_are_never_compared(case: Case) -> None:
    """Column [S], not followed: the shorter length counted there (user case R09)."""
    with pytest.raises(ValueError, match="cannot be compared"):
        cosine_similarity(case["input"]["a"], case["input"]["b"])


@pytest.mark.parametrize("case", cases("vector_score"), ids=case_id)
def test_a_cosine_distance_becomes_the_recorded_score_and_never_less_than_0(case: Case) -> None:
    """Both columns alike; below 0 is not followed (user case R11)."""
    found = cosine_from_distance(case["input"]["distance"])

    assert found == pytest.approx(max(0.0, case["expected"]), abs=1e-9)
