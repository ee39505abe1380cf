"""Citations and budgets, recorded from the system that clawmark re-implements.

Column: the spring version (2026.3.2), the only one that was recorded.
Differences on purpose: a budget counts the citation too, which stands in a field of its
own and not inside the snippet; a result is not cut to a stump of under 80 characters but
left out and counted (user case U11); "no budget" is None, a budget of 0 has room for nothing.
"""

from __future__ import annotations

import pytest

from clawmark.core.model import Explanation, SearchResult
from clawmark.core.rendering import citation, cites, with_footer, within_budget
from golden import SPRING, Case, case_id, cases


def result(
    snippet: str, *, path: str = "MEMORY.md", lines: tuple[int, int] = (1, 1), cited: bool = False
) -> SearchResult:
    return SearchResult(
        path=path,
        start_line=lines[0],
        end_line=lines[1],
        score=0.5,
        confidence=None,
        vector_score=None,
        text_score=None,
        snippet=snippet,
        source="memory",
        citation=citation(path, *lines) if cited else None,
        stale=False,
        explanation=Explanation(),
    )


@pytest.mark.parametrize("case", cases("citation", SPRING, "formatCitation"), ids=case_id)
def test_a_citation_is_the_recorded_one(case: Case) -> None:
    """Column [S]."""
    place = case["input"]

    assert citation(place["path"], place["startLine"], place["endLine"]) == case["expected"]


@pytest.mark.parametrize("case", cases("citation", SPRING, "shouldIncludeCitations(auto)"), ids=case_id)
def test_automatic_citations_are_shown_in_the_recorded_chats(case: Case) -> None:
    """Column [S]."""
    assert cites("auto", case["input"]) == case["expected"]
    assert cites("on", case["input"])
    assert not cites("off", case["input"])


@pytest.mark.parametrize("case", cases("citation", SPRING, "decorateCitations(include=true)"), ids=case_id)
def test_the_text_for_a_model_ends_with_the_recorded_source(case: Case) -> None:
    """Column [S]: the footer is added to the text that a model reads, never to the value."""
    for place, expected in zip(case["input"], case["expected"], strict=True):
        lines = (place["startLine"], place["endLine"])
        found = result(place["snippet"], path=place["path"], lines=lines, cited=True)

        assert with_footer(found) == expected["snippet"]
        assert found.citation == expected["citation"]
        assert found.snippet == place["snippet"]


def whole_snippets(case: Case) -> list[str]:
    """Give the recorded snippets that are not cut."""
    given = {item["snippet"] for item in case["input"]["results"]}
    return [item["snippet"] for item in case["expected"] if item["snippet"] in given]


@pytest.mark.parametrize("case", [case for case in cases("clamp", SPRING) if case["input"]["budget"]], ids=case_id)
def test_the_recorded_whole_results_fit_the_budget(case: Case) -> None:
    """Column [S], without the cut one: "bb" of "bbbb" says nothing."""
    given = [result(item["snippet"]) for item in case["input"]["results"]]

    kept, omitted = within_budget(given, case["input"]["budget"])

    assert [item.snippet for item in kept] == whole_snippets(case)
    assert omitted == len(given) - len(kept)


@pytest.mark.parametrize("case", [case for case in cases("clamp", SPRING) if not case["input"]["budget"]], ids=case_id)
def test_without_a_budget_nothing_is_left_out(case: Case) -> None:
    """Column [S]: a budget of 0 meant none there; here None does."""
    given = [result(item["snippet"]) for item in case["input"]["results"]]

    assert within_budget(given, None) == (given, 0)
    assert [item.snippet for item in given] == [item["snippet"] for item in case["expected"]]
