"""Chunks as spans of a text: what holds for every text, and the cuts that readers like."""

from __future__ import annotations

import string
from itertools import pairwise

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.chunking import CHUNKER_VERSION, Chunk, chunk_text, embedding_text, weigh

WORDS = st.sampled_from(
    [
        "harbour",
        "crane",
        "v2.3.1",
        "数据库备份方案",
        "設計書",
        "배포파이프라인",
        "e\u0301te\u0301",
        "👩\u200d🔧",
        "🇩🇪🇫🇷",
        "ｶﾅ",
        "𠀀",
    ]
)
LINES = st.one_of(
    st.lists(WORDS, max_size=8).map(" ".join),
    st.lists(WORDS, max_size=40).map("".join),
    st.sampled_from(
        ["", "", "   ", "\t", "# Title", "## Part", "#", "#tag", "```", "~~~", "- item.", "x" * 90, "。" * 50]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cn", "Co", "Cc"]), max_size=60),
)
TEXTS = st.lists(LINES, max_size=25).map("\n".join)
# Tokens of a chunk, and of the overlap.
SIZES = st.integers(1, 60).flatmap(lambda tokens: st.tuples(st.just(tokens), st.integers(0, tokens - 1)))


def budget(tokens: int) -> int:
    return max(32, 4 * tokens)


def parts(text: str, chunks: list[Chunk]) -> list[str]:
    return [text[chunk.start : chunk.end] for chunk in chunks]


def uncovered(text: str, chunks: list[Chunk]) -> str:
    """Give the characters in no chunk that are not white space."""
    covered = {at for chunk in chunks for at in range(chunk.start, chunk.end)}
    return "".join(character for at, character in enumerate(text) if at not in covered and not character.isspace())


# What holds for every text


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_no_chunk_is_above_the_budget(text: str, sizes: tuple[int, int]) -> None:
    """P05, C11."""
    tokens, overlap = sizes

    assert all(weigh(part) <= budget(tokens) for part in parts(text, chunk_text(text, tokens=tokens, overlap=overlap)))


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_every_character_is_in_a_chunk(text: str, sizes: tuple[int, int]) -> None:
    """P05: also with an overlap."""
    tokens, overlap = sizes

    assert uncovered(text, chunk_text(text, tokens=tokens, overlap=overlap)) == ""


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 60))
def test_chunks_without_overlap_join_to_the_text(text: str, tokens: int) -> None:
    """C07: only white space lies between them, before the first and after the last."""
    chunks = chunk_text(text, tokens=tokens, overlap=0)
    ends = [0, *(end for chunk in chunks for end in (chunk.start, chunk.end)), len(text)]

    assert ends == sorted(ends)
    assert all(text[ends[at] : ends[at + 1]].strip() == "" for at in range(0, len(ends), 2))
    assert "".join("".join(parts(text, chunks)).split()) == "".join(text.split())


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
@example("e\u0301" * 40, (10, 9))
@example(("👩\u200d🔧" * 8 + "。") * 4, (12, 11))
def test_no_chunk_begins_or_ends_inside_a_grapheme(text: str, sizes: tuple[int, int]) -> None:
    """C07: a grapheme that is itself above the budget is the exception."""
    tokens, overlap = sizes
    clusters = [match.span() for match in regex.finditer(r"\X", text)]
    inside = {at for start, end in clusters if weigh(text[start:end]) <= 32 for at in range(start + 1, end)}

    chunks = chunk_text(text, tokens=tokens, overlap=overlap)

    assert {end for chunk in chunks for end in (chunk.start, chunk.end)} & inside == set()


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
@example("a  \n\n", (8, 0))
def test_a_chunk_begins_and_ends_on_the_lines_that_it_names(text: str, sizes: tuple[int, int]) -> None:
    tokens, overlap = sizes
    lines = text.split("\n")

    for chunk in chunk_text(text, tokens=tokens, overlap=overlap):
        assert chunk.start_line == text.count("\n", 0, chunk.start) + 1
        assert chunk.end_line == text.count("\n", 0, chunk.end) + 1
        assert lines[chunk.start_line - 1].strip()
        assert lines[chunk.end_line - 1].strip()


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
def test_a_chunk_holds_whole_lines_unless_a_line_is_above_the_budget(text: str, sizes: tuple[int, int]) -> None:
    tokens, overlap = sizes
    lines = text.split("\n")

    for chunk in chunk_text(text, tokens=tokens, overlap=overlap):
        before, after = text[: chunk.start], text[chunk.end :]
        if weigh(lines[chunk.start_line - 1]) <= budget(tokens):
            assert before == "" or before.endswith("\n")
        if weigh(lines[chunk.end_line - 1]) <= budget(tokens):
            assert after == "" or after.startswith("\n")


@settings(max_examples=100, deadline=None)
@given(TEXTS, SIZES)
@example("\n\n" + ("harbour " * 8).strip() + "\n" + ("harbour " * 8).strip(), (32, 16))
@example("\nharbour harbour harbour crane 設計書\nharbour\n", (13, 2))
def test_neighbours_share_no_more_than_the_overlap(text: str, sizes: tuple[int, int]) -> None:
    tokens, overlap = sizes
    chunks = chunk_text(text, tokens=tokens, overlap=overlap)

    for one, other in pairwise(chunks):
        assert one.start < other.start
        assert one.end < other.end
        assert weigh(text[other.start : one.end]) <= 4 * overlap


@settings(max_examples=50, deadline=None)
@given(st.text(string.printable.replace("\r", ""), max_size=80), st.sampled_from([0, 5]))
def test_a_text_below_the_budget_is_one_chunk_without_its_blank_ends(text: str, overlap: int) -> None:
    lines = text.split("\n")
    full = [number for number, line in enumerate(lines, start=1) if line.strip()]

    chunks = chunk_text(text, tokens=30, overlap=overlap)

    assert [(chunk.start_line, chunk.end_line, chunk.context) for chunk in chunks] == (
        [(full[0], full[-1], "")] if full else []
    )
    assert parts(text, chunks) == (["\n".join(lines[full[0] - 1 : full[-1]])] if full else [])


@pytest.mark.parametrize("text", ["", " ", "\n\n", " \n\t\n", "\u3000\n", " " * 5000, "\n" * 5000])
def test_a_blank_text_has_no_chunk(text: str) -> None:
    assert chunk_text(text, tokens=8, overlap=2) == []


# User cases


@pytest.mark.parametrize("letters", range(1590, 1611))
def test_an_emoji_on_the_border_of_a_chunk_is_kept_whole(letters: int) -> None:
    """C07."""
    line = "a" * letters + "🌸" + "👩\u200d🔧" + "b" * 50

    found = parts(line, chunk_text(line, tokens=400, overlap=0))

    assert "".join(found) == line
    assert all("\ufffd" not in part.encode("utf-8").decode("utf-8") for part in found)
    assert sum("👩\u200d🔧" in part for part in found) == 1
    assert all(weigh(part) <= 1600 for part in found)


def test_the_overlap_is_inside_the_budget() -> None:
    """P05."""
    line = (string.ascii_letters + string.digits) * 50
    line = line[:3000]

    chunks = chunk_text(line, tokens=400, overlap=80)

    assert all(len(part) <= 1600 for part in parts(line, chunks))
    assert uncovered(line, chunks) == ""
    assert all(one.end - other.start == 320 for one, other in pairwise(chunks))


def test_a_chinese_line_is_cut_by_tokens_not_by_characters() -> None:
    """C11."""
    line = "".join(chr(0x4E00 + number) for number in range(1600))

    found = parts(line, chunk_text(line, tokens=400, overlap=0))

    assert len(found) >= 4
    assert all(len(part) <= 400 for part in found)
    assert "".join(found) == line


# Where a text is cut


def test_a_section_begins_a_chunk() -> None:
    text = "\n".join(["# A", *["a line of text"] * 5, "## B", "under b", "more under b"])

    chunks = chunk_text(text, tokens=25, overlap=6)

    assert [part.partition("\n")[0] for part in parts(text, chunks)] == ["# A", "## B"]
    assert [chunk.context for chunk in chunks] == ["", "A"]


def test_a_short_section_does_not_end_a_chunk() -> None:
    text = "\n".join(["# A", "short", "## B", "x" * 50, "## C", "y" * 50])

    chunks = chunk_text(text, tokens=40, overlap=0)

    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 4), (5, 6)]


def test_one_accented_letter_does_not_change_where_a_text_is_cut() -> None:
    """Texts of ASCII take another way through the code; they must not come out elsewhere."""
    text = "\n".join(["# A", "word " * 120, "## B", "word " * 60, "", "## C", "word " * 30 + "cafe"])

    plain, accented = chunk_text(text), chunk_text(text.replace("cafe", "caf\u00e9"))

    assert plain == accented
    assert len(plain) == 2


def test_a_cut_goes_back_to_the_last_blank_line_where_there_is_no_heading() -> None:
    text = "\n".join(["one line of text"] * 5 + [""] + ["two"] * 9)

    chunks = chunk_text(text, tokens=25, overlap=0)

    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 5), (7, 15)]


def test_a_cut_does_not_go_back_so_far_that_a_chunk_is_left_half_empty() -> None:
    text = "\n".join(["# A", "", *["a line of text"] * 9])

    chunks = chunk_text(text, tokens=25, overlap=0)

    assert chunks[0].end_line > 2


def test_whole_lines_are_repeated_after_a_cut_but_never_before_a_heading() -> None:
    lines = [f"line {number} of the text" for number in range(10, 22)]
    plain = "\n".join(lines)
    headed = "\n".join([*lines[:4], "# Next", *lines[4:9]])

    overlapping = chunk_text(plain, tokens=25, overlap=6)
    cut = chunk_text(headed, tokens=25, overlap=6)

    assert [other.start_line - one.end_line for one, other in pairwise(overlapping)] == [0] * (len(overlapping) - 1)
    assert [(chunk.start_line, chunk.end_line) for chunk in cut] == [(1, 4), (5, 9), (9, 10)]


def test_a_long_line_is_cut_between_words() -> None:
    line = "The crane was inspected on Tuesday. It passed. The next inspection is in May, nobody knows where. " * 3

    found = parts(line, chunk_text(line, tokens=22, overlap=0))

    assert [word for part in found for word in part.split()] == line.split()
    assert "".join(found) == line


def test_a_long_line_without_spaces_is_cut_after_a_sentence() -> None:
    line = "备份完成。恢复演练！谁负责？运维组；" * 8

    found = parts(line, chunk_text(line, tokens=30, overlap=0))

    assert all(part.endswith(("。", "！", "？", "；")) for part in found)
    assert "".join(found) == line


def test_a_long_line_repeats_its_end_from_a_word_on() -> None:
    line = " ".join(f"word{number}" for number in range(60))

    found = parts(line, chunk_text(line, tokens=20, overlap=5))

    assert all(part.startswith("word") for part in found)
    assert all(one.split()[-1] in other.split() for one, other in pairwise(found))


def test_a_line_after_a_long_line_is_in_the_same_chunk_when_it_fits() -> None:
    text = "x" * 50 + "\nend"

    chunks = chunk_text(text, tokens=10, overlap=0)

    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(1, 1), (1, 2)]


def test_budgets_below_8_tokens_count_as_8() -> None:
    text = "a" * 100

    assert chunk_text(text, tokens=1, overlap=0) == chunk_text(text, tokens=8, overlap=0)


# Headings above a chunk


def test_a_chunk_names_the_headings_that_it_lies_under() -> None:
    text = "\n".join(
        [
            "# Project",
            "## Crane ##",
            "x" * 80,
            "### Inspection",
            "y" * 80,
            "## Harbour",
            "z" * 80,
            "#",
            "w" * 80,
            "# End",
        ]
    )

    contexts = {text[chunk.start]: chunk.context for chunk in chunk_text(text, tokens=20, overlap=0)}

    assert contexts["x"] == "Project > Crane"
    assert contexts["y"] == "Project > Crane > Inspection"
    assert contexts["z"] == "Project > Harbour"
    assert contexts["w"] == ""


@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_a_comment_in_a_code_block_is_no_heading(fence: str) -> None:
    text = "\n".join(["# Real", f"{fence}sh", "# comment", "x" * 80, fence, "y" * 80, "z" * 80])

    contexts = {chunk.context for chunk in chunk_text(text, tokens=20, overlap=0)}

    assert contexts == {"", "Real"}


@pytest.mark.parametrize("line", ["#tag of something", "####### seven", "text # not a heading"])
def test_other_number_signs_make_no_heading(line: str) -> None:
    text = "\n".join([line, "x" * 80, "y" * 80])

    assert {chunk.context for chunk in chunk_text(text, tokens=20, overlap=0)} == {""}


def test_what_is_embedded_begins_with_the_headings_above() -> None:
    assert embedding_text("Project > Crane", "It passed.") == "Project > Crane\nIt passed."
    assert embedding_text("", "It passed.") == "It passed."


# Weights


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30), st.text(max_size=30))
def test_a_text_weighs_as_much_as_its_parts_and_each_character_at_least_1(one: str, other: str) -> None:
    assert weigh(one + other) == weigh(one) + weigh(other)
    assert weigh(one) >= len(one)


def test_the_chunker_has_a_version_that_the_index_remembers() -> None:
    """S19."""
    assert CHUNKER_VERSION >= 1
