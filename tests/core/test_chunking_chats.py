"""Chunks of a chat: lines without sections, read on where they were left, edited further up."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from clawmark.core.chunking import Chunk, chunk_text, weigh

WORDS = st.sampled_from(["crane", "v2.3", "数据库备份方案", "👩\u200d🔧", "🇩🇪🇫🇷", "e\u0301te\u0301", "x" * 30, "a. b"])
LINES = st.lists(WORDS, min_size=1, max_size=30).map(lambda words: "User: " + " ".join(words))
CHATS = st.lists(LINES, min_size=1, max_size=25)
SIZES = st.integers(8, 60).flatmap(lambda tokens: st.tuples(st.just(tokens), st.integers(0, tokens - 1)))


def cut(text: str, sizes: tuple[int, int], *, continues: bool = False) -> list[Chunk]:
    return chunk_text(text, tokens=sizes[0], overlap=sizes[1], anchored=True, continues=continues)


@given(CHATS, SIZES)
def test_every_line_is_in_a_chunk_and_no_chunk_is_above_the_budget(lines: list[str], sizes: tuple[int, int]) -> None:
    text = "\n".join(lines)
    chunks = cut(text, sizes)

    assert (chunks[0].start, chunks[-1].end) == (0, len(text))
    assert all(one.start < other.start <= one.end + 1 for one, other in pairwise(chunks))
    assert all(weigh(text[chunk.start : chunk.end]) <= max(32, sizes[0] * 4) for chunk in chunks)


@given(CHATS, SIZES, st.data())
def test_reading_on_from_a_chunk_gives_the_chunks_of_the_whole(
    lines: list[str], sizes: tuple[int, int], data: st.DataObject
) -> None:
    """From any chunk that begins with a line; the ones before do not depend on what follows."""
    text = "\n".join(lines)
    chunks = cut(text, sizes)
    starts = [number for number, chunk in enumerate(chunks) if not chunk.start or text[chunk.start - 1] == "\n"]
    first = data.draw(st.sampled_from(starts))
    shift, above = chunks[first].start, chunks[first].start_line - 1
    tail = cut(text[shift:], sizes, continues=first > 0)

    moved = [Chunk(c.start_line + above, c.end_line + above, c.start + shift, c.end + shift) for c in tail]
    assert moved == chunks[first:]
    grown = cut(f"{text}\nUser: and more", sizes)
    assert grown[: len(chunks) - 1] == chunks[:-1]


def test_an_edit_of_an_even_chat_changes_the_chunks_around_it() -> None:
    """T06: without a choice by words every later cut would move, as all messages are alike in length."""
    lines = [f"User: Message {number}: we spoke of crane number {number * 7} at the lock." for number in range(400)]
    edited = [*lines]
    edited[4] += " It was edited, and is longer now."

    before, after = (
        {lines_of(chat, chunk) for chunk in cut(chat, (400, 80))} for chat in map("\n".join, (lines, edited))
    )
    assert len(after) > 20
    assert len(after - before) <= 2


def lines_of(text: str, chunk: Chunk) -> str:
    return text[chunk.start : chunk.end]
