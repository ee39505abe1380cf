"""The values of diversity that were recorded from the system that clawmark re-implements.

Columns: the newest version (2026.9.6) for words and order, which both versions have; the
spring version (2026.3.2) for the Jaccard index, recorded only there and unchanged since.
Listed defect of the spring version (spec section 10, "MMR blind to non-Latin text"): its
cases with Chinese, Korean and Cyrillic are named below, and not followed. The newest
version still sees no word in Cyrillic; user case R14 asks for words of every script.
"""

from __future__ import annotations

import pytest

from clawmark.core.diversity import jaccard, rerank_for_diversity, word_set
from golden import NEWEST, SPRING, Case, case_id, cases

DEFAULT_LAMBDA = 0.7


def with_diversity(version: str) -> list[Case]:
    """Whether diversity is on at all is for its caller to know."""
    return [case for case in cases("mmr", version) if case["input"]["config"]["enabled"]]


def reranked(case: Case) -> list[str]:
    order = rerank_for_diversity(
        case["input"]["items"],
        relevance=case["input"]["config"].get("lambda", DEFAULT_LAMBDA),
        score=lambda item: item["score"],
        text=lambda item: item["content"],
    )
    return [item["id"] for item in order]


@pytest.mark.parametrize("case", with_diversity(NEWEST), ids=case_id)
def test_the_order_is_the_recorded_one(case: Case) -> None:
    """Column [N]."""
    assert reranked(case) == case["expected"]


@pytest.mark.parametrize(
    "case", [case for case in cases("mmr_tokens", NEWEST) if case["input"] != "Привет мир"], ids=case_id
)
def test_the_words_of_a_latin_or_east_asian_text_are_the_recorded_ones(case: Case) -> None:
    """Column [N]."""
    assert sorted(word_set(case["input"])) == sorted(case["expected"])


def test_cyrillic_words_are_seen_where_the_newest_version_sees_none() -> None:
    """Column [N], left on purpose: user case R14."""
    [case] = [case for case in cases("mmr_tokens", NEWEST) if case["input"] == "Привет мир"]

    assert case["expected"] == []
    assert word_set(case["input"]) == {"привет", "мир"}


@pytest.mark.parametrize("case", cases("jaccard", SPRING), ids=case_id)
def test_the_share_of_common_words_is_the_recorded_one(case: Case) -> None:
    """Column [S], the only one; two empty sets are equal here, but unknown to ``similarity``."""
    given = case["input"]

    assert jaccard(frozenset(given["a"]), frozenset(given["b"])) == pytest.approx(case["expected"], abs=1e-9)


def test_spring_values_differ_only_by_the_listed_defect() -> None:
    """Column [S]: every case that differs has a script that the spring version cannot see."""
    orders = [case for case in with_diversity(SPRING) if reranked(case) != case["expected"]]
    words = [case for case in cases("mmr_tokens", SPRING) if word_set(case["input"]) != frozenset(case["expected"])]

    assert [[item["content"] for item in case["input"]["items"]] for case in orders] == [
        ["数据库备份计划", "数据库备份方案", "周末去爬山"]
    ]
    assert [case["input"] for case in words] == ["数据库 backup", "Привет мир", "我喜欢hello你好", "한국어 테스트"]
