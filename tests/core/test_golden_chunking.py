"""Chunks and weights, recorded from the system that clawmark re-implements.

Column: the newest version (2026.9.6).
Differences on purpose, so that every chunk is a span of its text: an overlap is whole lines,
never a part of one; nothing is put between the pieces of one long line; blank lines at the
ends are no part of a chunk, and a blank text has none; a cut prefers a heading, then a blank
line. ``perEntry`` (a chunk to a bullet) is not re-implemented. Where none of this plays a
part the chunks are equal; everywhere the budget, the coverage and the line numbers hold.
"""

from __future__ import annotations

import pytest

from clawmark.core.chunking import Chunk, chunk_text, weigh
from golden import NEWEST, SPRING, Case, case_id, cases

RECORDED = cases("chunk", NEWEST, "chunkMarkdown")
# Nothing is carried over, and no line is longer than the budget.
ALIKE = [case for case in RECORDED if case["id"] in {"chunk-182", "chunk-186", "chunk-194", "chunk-202", "chunk-204"}]


def chunks_of(case: Case) -> list[Chunk]:
    return chunk_text(case["input"]["content"], tokens=case["input"]["tokens"], overlap=case["input"]["overlap"])


def budget(case: Case) -> int:
    return max(32, 4 * case["input"]["tokens"])


@pytest.mark.parametrize("case", ALIKE, ids=case_id)
def test_chunks_are_the_recorded_ones(case: Case) -> None:
    """Column [N], but for the blank end of the last chunk."""
    text = case["input"]["content"]

    found = [(chunk.start_line, chunk.end_line, text[chunk.start : chunk.end]) for chunk in chunks_of(case)]

    recorded = [(row["startLine"], row["endLine"], row["text"]) for row in case["expected"]]
    trimmed = [(first, last - whole.endswith("\n"), whole.rstrip("\n")) for first, last, whole in recorded]
    assert found == trimmed


def test_a_blank_text_has_no_chunk() -> None:
    """Column [N] has one with the text ""; its indexer drops it."""
    [case] = [case for case in RECORDED if case["input"]["content"] == ""]

    assert [row["text"] for row in case["expected"]] == [""]
    assert chunks_of(case) == []


@pytest.mark.parametrize("case", RECORDED, ids=case_id)
def test_no_chunk_of_a_recorded_text_is_above_the_budget(case: Case) -> None:
    """Column [N]; spring chunks could be (user case P05)."""
    text = case["input"]["content"]

    assert all(weigh(text[chunk.start : chunk.end]) <= budget(case) for chunk in chunks_of(case))


@pytest.mark.parametrize("case", RECORDED, ids=case_id)
def test_every_character_of_a_recorded_text_is_in_a_chunk(case: Case) -> None:
    """Column [N]."""
    text = case["input"]["content"]
    covered = {at for chunk in chunks_of(case) for at in range(chunk.start, chunk.end)}

    assert [text[at] for at in range(len(text)) if at not in covered and not text[at].isspace()] == []


@pytest.mark.parametrize("case", RECORDED, ids=case_id)
def test_chunks_of_a_recorded_text_begin_and_end_on_the_lines_that_they_name(case: Case) -> None:
    """Column [N]."""
    text = case["input"]["content"]

    for chunk in chunks_of(case):
        assert chunk.start_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.end_line == text.count("\n", 0, chunk.end) + 1


@pytest.mark.parametrize("case", RECORDED, ids=case_id)
def test_about_as_many_chunks_are_made_as_recorded(case: Case) -> None:
    """Column [N]: the same budget holds about the same; a carried line takes more room than its end."""
    recorded = [row for row in case["expected"] if row["text"]]

    assert abs(len(chunks_of(case)) - len(recorded)) <= 1 + len(recorded) // 4


def test_spring_chunks_were_above_the_budget_where_ours_are_not() -> None:
    """Column [S], the listed defect: overlap on top of a full chunk, and Chinese at a quarter of its cost."""
    above = [
        case["id"]
        for case in cases("chunk", SPRING)
        if any(weigh(row["text"]) > budget(case) for row in case["expected"])
    ]

    assert above == ["chunk-187", "chunk-189", "chunk-191", "chunk-195", "chunk-197", "chunk-199"]


@pytest.mark.parametrize("case", cases("cjk_weight", NEWEST), ids=case_id)
def test_a_text_weighs_what_was_recorded(case: Case) -> None:
    """Column [N], the only one."""
    assert weigh(case["input"]) == case["expected"]
