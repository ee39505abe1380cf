"""Results as text: citations, the text that a model reads, and the total budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.core.model import Explanation, ReadResult, SearchResult
from clawmark.core.rendering import citation, cites, read_text, with_footer, within_budget

SENTENCE = "The harbour crane passed its inspection on Tuesday. "


def result(snippet: str, *, path: str = "memory/a.md", cited: bool = True) -> SearchResult:
    return SearchResult(
        path=path,
        start_line=1,
        end_line=9,
        score=0.5,
        confidence=None,
        vector_score=None,
        text_score=None,
        snippet=snippet,
        source="memory",
        citation=citation(path, 1, 9) if cited else None,
        stale=False,
        explanation=Explanation(),
    )


RESULTS = st.lists(
    st.builds(result, st.integers(0, 40).map(lambda times: SENTENCE * times), cited=st.booleans()), max_size=8
)


def cost(results: list[SearchResult]) -> int:
    return sum(len(item.snippet) + len(item.citation or "") for item in results)


# Citations


@pytest.mark.parametrize("session_key", [None, "", "main", "agent:main:main", "agent:group:dm:1", "channel:x"])
def test_direct_chats_are_cited(session_key: str | None) -> None:
    assert cites("auto", session_key)


@pytest.mark.parametrize("session_key", ["agent:main:telegram:group:1", "AGENT:m:x:Channel:9", "agent:m:group"])
def test_group_chats_and_channels_are_not(session_key: str) -> None:
    assert not cites("auto", session_key)
    assert cites("on", session_key)


def test_the_footer_is_added_only_to_cited_results() -> None:
    assert with_footer(result(" text \n")) == "text\n\nSource: memory/a.md#L1-L9"
    assert with_footer(result(" text \n", cited=False)) == " text \n"


# The total budget


@settings(max_examples=100, deadline=None)
@given(RESULTS, st.integers(1, 8000))
def test_the_budget_is_never_exceeded_and_the_order_is_kept(results: list[SearchResult], budget: int) -> None:
    """U11: snippets and citations together."""
    kept, omitted = within_budget(results, budget)

    assert cost(kept) <= budget
    assert len(kept) + omitted == len(results)
    assert [item.path for item in kept] == [item.path for item in results[: len(kept)]]
    assert kept[:-1] == results[: max(0, len(kept) - 1)]
    assert all(whole.snippet.startswith(item.snippet) for item, whole in zip(kept, results, strict=False))


@settings(max_examples=100, deadline=None)
@given(RESULTS)
def test_results_that_fit_are_all_kept_whole(results: list[SearchResult]) -> None:
    assert within_budget(results, cost(results)) == (results, 0)
    assert within_budget(results, None) == (results, 0)


def test_six_long_results_are_cut_to_the_budget_and_the_rest_is_counted() -> None:
    """U11: six hits of 2,000 characters, budget 5,000."""
    results = [result((SENTENCE * 40)[:2000], path=f"memory/{number}.md") for number in range(6)]

    kept, omitted = within_budget(results, 5000)

    assert cost(kept) <= 5000
    assert [item.path for item in kept] == ["memory/0.md", "memory/1.md", "memory/2.md"]
    assert kept[:2] == results[:2]
    assert results[2].snippet.startswith(f"{kept[2].snippet} ")
    assert omitted == 3


def test_a_result_is_left_out_rather_than_cut_to_a_stump() -> None:
    """U11."""
    results = [result("x" * 100, cited=False), result("y" * 100, cited=False)]

    assert within_budget(results, 179) == (results[:1], 1)
    assert within_budget(results, 180)[1] == 0
    assert within_budget(results, 50) == ([], 2)


# Reading


def test_a_whole_window_is_shown_as_it_is() -> None:
    assert read_text(ReadResult("ok", "MEMORY.md", "some text\n", lines=1)) == "some text\n"


def test_a_reader_is_told_from_which_line_to_go_on() -> None:
    window = ReadResult("ok", "MEMORY.md", "some text", lines=1, truncated=True, next_from=2)

    assert read_text(window) == "some text\n\n[More content available. Use from=2 to continue.]"


def test_a_reader_is_told_how_to_go_on_inside_a_long_line() -> None:
    """U07."""
    window = ReadResult("ok", "MEMORY.md", "part", from_line=7, lines=1, truncated=True, next_from=7, cursor="c7")

    assert read_text(window) == ("part\n\n[Line 7 is longer than the budget. Use cursor=c7 to continue inside it.]")


def test_a_notice_without_text_stands_alone() -> None:
    window = ReadResult("ok", "MEMORY.md", "", truncated=True, next_from=2)

    assert read_text(window) == "[More content available. Use from=2 to continue.]"


def test_a_missing_file_is_named_with_its_neighbours() -> None:
    """U05."""
    missing = ReadResult("not_found", "memory/2026-06-30.md", suggestions=("memory/2026-06-29.md",))

    assert read_text(missing) == "memory/2026-06-30.md does not exist. Did you mean memory/2026-06-29.md?"
    assert read_text(ReadResult("not_found", "memory/x.md")) == "memory/x.md does not exist."
