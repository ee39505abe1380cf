"""A window of a memory file."""

from __future__ import annotations

import hashlib
import io
import os
import tracemalloc
from base64 import urlsafe_b64encode
from collections.abc import Callable
from pathlib import Path

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.core.errors import ArgumentError
from clawmark.core.model import ReadResult
from clawmark.files import FileRules, read_window
from clawmark.files.window import cluster_cut, seek_line, take_lines

WriteNote = Callable[..., Path]
MEGABYTE = 1_000_000


def read_all(ws: Path, path: str, *, max_chars: int, lines: int = 120) -> tuple[str, int]:
    """Follow ``next_from`` and ``cursor`` to the end; give the text and the number of reads."""
    text, reads = "", 0
    result = ReadResult("ok", path, next_from=1)
    while result.cursor or result.next_from:
        joint = "" if result.cursor or not reads else "\n"
        result = read_window(
            FileRules(ws),
            path,
            from_line=result.next_from or 1,
            cursor=result.cursor,
            max_chars=max_chars,
            lines=lines,
        )
        assert 0 < len(result.text) <= max_chars
        text, reads = text + joint + result.text, reads + 1
    return text, reads


def test_a_short_file_comes_whole_with_its_hash(ws: Path, note: WriteNote) -> None:
    content = "# Facts\nTea.\n\nRouter.\n"
    note("MEMORY.md", content)

    assert read_window(FileRules(ws), "MEMORY.md") == ReadResult(
        "ok",
        "MEMORY.md",
        text="# Facts\nTea.\n\nRouter.",
        lines=4,
        total_lines=4,
        hash=hashlib.sha256(content.encode()).hexdigest(),
    )


def test_a_window_names_the_line_to_go_on_from(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md", "".join(f"line {number}\n" for number in range(1, 301)))

    first = read_window(FileRules(ws), "MEMORY.md")
    middle = read_window(FileRules(ws), "MEMORY.md", from_line=100, lines=2)
    last = read_window(FileRules(ws), "MEMORY.md", from_line=300)

    assert (first.lines, first.next_from, first.truncated, first.total_lines) == (120, 121, True, 300)
    assert (middle.text, middle.from_line, middle.next_from) == ("line 100\nline 101", 100, 102)
    assert (last.text, last.next_from, last.truncated) == ("line 300", None, False)


@pytest.mark.parametrize(
    ("content", "text", "lines"),
    [
        (b"", "", 0),
        (b"\xef\xbb\xbf", "", 0),
        (b"\n", "", 1),
        (b"\n\n", "\n", 2),
        (b"a", "a", 1),
        (b"a\n\nb", "a\n\nb", 3),
        (b"\xef\xbb\xbfa\r\nb\r\n", "a\nb", 2),
        (b"a\rb\r", "a\rb\r", 1),
        ("a\u2028b\x0bc\x85d\n".encode(), "a\u2028b\x0bc\x85d", 1),
        (b"caf\xe9 \xff\xfe\n", "caf\ufffd \ufffd\ufffd", 1),
    ],
)
def test_lines_end_at_newlines_only(ws: Path, note: WriteNote, content: bytes, text: str, lines: int) -> None:
    note("MEMORY.md", content)

    result = read_window(FileRules(ws), "MEMORY.md")

    assert (result.text, result.lines, result.total_lines) == (text, lines, lines)
    assert (result.truncated, result.next_from, result.cursor) == (False, None, None)


@pytest.mark.parametrize("from_line", [4, 5, 1_000_000])
def test_beyond_the_end_there_is_nothing_and_no_error(ws: Path, note: WriteNote, from_line: int) -> None:
    note("MEMORY.md", "a\nb\nc\n")

    result = read_window(FileRules(ws), "MEMORY.md", from_line=from_line)

    assert (result.status, result.text, result.lines, result.next_from) == ("ok", "", 0, None)
    assert (result.from_line, result.total_lines, result.truncated) == (from_line, 3, False)


@pytest.mark.parametrize("name", ["from_line", "lines", "max_chars"])
@pytest.mark.parametrize("number", [0, -3])
def test_numbers_below_one_are_wrong_arguments(ws: Path, note: WriteNote, name: str, number: int) -> None:
    note("MEMORY.md")

    with pytest.raises(ArgumentError, match=f"{name} is {number}"):
        read_window(FileRules(ws), "MEMORY.md", **{name: number})


def test_whole_lines_are_given_while_they_fit_the_budget(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md", "aaaa\nbbbb\ncccc\n")

    texts = [read_window(FileRules(ws), "MEMORY.md", max_chars=limit).text for limit in (14, 13, 9, 8, 4)]

    assert texts == ["aaaa\nbbbb\ncccc", "aaaa\nbbbb", "aaaa\nbbbb", "aaaa", "aaaa"]


def test_an_empty_line_needs_room_for_its_newline(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md", "aaaa\n\nb\n")

    assert read_window(FileRules(ws), "MEMORY.md", max_chars=4).next_from == 2
    assert read_window(FileRules(ws), "MEMORY.md", max_chars=5).next_from == 3


@pytest.mark.parametrize("character", ["x", "会", "🎉", "\xe9"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_line_of_100000_characters_takes_exactly_25_reads(
    ws: Path, note: WriteNote, character: str, end: str
) -> None:
    """U07."""
    line = character * 100_000
    note("memory/long.md", line + end)

    text, reads = read_all(ws, "memory/long.md", max_chars=4_000)

    assert (text == line, reads) == (True, 25)


def test_no_character_is_cut_in_two(ws: Path, note: WriteNote) -> None:
    """U07: families, flags, skin tones and marks stay whole, each part readable alone."""
    clusters = ["👨‍👩‍👧‍👦", "🇩🇪", "🇫🇷", "👍🏽", "e\u0301", "한", "क्षि", "a"]
    line = "".join(clusters[number * 5 % 8] for number in range(4_000))
    note("memory/long.md", f"{line}\nnext\n")

    result = read_window(FileRules(ws), "memory/long.md", max_chars=1_000)
    parts = [result.text]
    while result.cursor:
        assert (result.lines, result.next_from, result.truncated, result.from_line) == (1, None, True, 1)
        result = read_window(FileRules(ws), "memory/long.md", max_chars=1_000, cursor=result.cursor)
        parts.append(result.text)

    assert "".join(parts) == f"{line}\nnext"
    assert [cluster for part in parts for cluster in regex.findall(r"\X", part)] == regex.findall(
        r"\X", f"{line}\nnext"
    )


def test_after_the_rest_of_a_cut_line_the_next_lines_follow(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md", "short\n" + "x" * 15 + "\nnext\nlast\n")

    cut = read_window(FileRules(ws), "MEMORY.md", from_line=2, max_chars=10)
    rest = read_window(FileRules(ws), "MEMORY.md", cursor=cut.cursor, max_chars=10)

    assert (cut.text, cut.from_line, cut.lines) == ("x" * 10, 2, 1)
    assert (rest.text, rest.from_line, rest.lines, rest.next_from) == ("xxxxx\nnext", 2, 2, 4)
    assert (rest.cursor, rest.truncated) == (None, True)


def test_bytes_that_are_no_text_do_not_move_the_cursor(ws: Path, note: WriteNote) -> None:
    content = b"ab\xffcd\xe4\xbcef\xf0\x9f\x8e\x89g" * 50
    note("memory/a.md", content)

    text, _ = read_all(ws, "memory/a.md", max_chars=7)

    assert text == content.decode("utf-8", "surrogateescape").translate(dict.fromkeys(range(0xDC80, 0xDD00), "\ufffd"))


def test_a_budget_below_one_cluster_still_goes_on(ws: Path, note: WriteNote) -> None:
    note("memory/a.md", "👨‍👩‍👧‍👦" * 3)

    text, reads = read_all(ws, "memory/a.md", max_chars=1)

    assert (text, reads) == ("👨‍👩‍👧‍👦" * 3, 21)


def test_a_cursor_is_good_for_one_state_of_one_file(ws: Path, note: WriteNote) -> None:
    note("memory/a.md", "x" * 20)
    note("memory/b.md", "x" * 20)
    cursor = read_window(FileRules(ws), "memory/a.md", max_chars=5).cursor or ""

    for path in ("memory/b.md", "memory/a.md"):
        with pytest.raises(ArgumentError, match=f"{cursor}.*{path}"):
            read_window(FileRules(ws), path, cursor=cursor)
        note("memory/a.md", "y" * 21)


@pytest.mark.parametrize("cursor", ["", "x", "nonsense", "é", "%%%", urlsafe_b64encode(b"\0" * 24).decode()])
def test_a_cursor_that_nobody_gave_out_is_a_wrong_argument(ws: Path, note: WriteNote, cursor: str) -> None:
    note("memory/a.md")

    with pytest.raises(ArgumentError, match="cursor"):
        read_window(FileRules(ws), "memory/a.md", cursor=cursor)


def test_a_note_that_does_not_exist_yet_is_not_found_with_near_names(ws: Path, note: WriteNote) -> None:
    """U05."""
    for day in range(20, 30):
        note(f"memory/2026-06-{day}.md")

    result = read_window(FileRules(ws), "memory/2026-06-30.md")

    assert (result.status, result.text, result.lines) == ("not_found", "", 0)
    assert result.path == "memory/2026-06-30.md"
    assert result.suggestions == tuple(f"memory/2026-06-{day}.md" for day in (29, 28, 27, 26, 25))


def test_no_hidden_or_excluded_name_is_suggested(ws: Path, note: WriteNote) -> None:
    for path in ("memory/plans.md", "memory/.plan.md", "memory/plan2.md"):
        note(path)

    result = read_window(FileRules(ws, exclude=("plan2.md",)), "memory/plan.md")

    assert result.suggestions == ("memory/plans.md",)


def test_a_few_lines_of_a_huge_note_cost_no_memory(ws: Path, note: WriteNote) -> None:
    """F10, and a line that is huge itself."""
    place = note("memory/huge.md", "".join(f"line {number}\n" for number in range(1, 20)))
    os.truncate(place, 500 * MEGABYTE)
    rules = FileRules(ws)

    tracemalloc.start()
    try:
        few = read_window(rules, "memory/huge.md", from_line=10, lines=5)
        cut = read_window(rules, "memory/huge.md", from_line=19)
        rest = read_window(
            rules, "memory/huge.md", cursor=cut.cursor or read_window(rules, "memory/huge.md", from_line=20).cursor
        )
        beyond = read_window(rules, "memory/huge.md", from_line=1_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert few.text == "line 10\nline 11\nline 12\nline 13\nline 14"
    assert (few.lines, few.next_from, few.total_lines, few.hash) == (5, 15, None, None)
    assert (cut.text, cut.next_from, cut.truncated) == ("line 19", 20, True)
    assert rest.text == "\0" * 12_000
    assert beyond.lines == 0
    assert peak < 5 * MEGABYTE


def test_the_size_limit_decides_whether_lines_are_counted(ws: Path, note: WriteNote) -> None:
    note("memory/a.md", "12345\n789\n")

    at = read_window(FileRules(ws, max_bytes=10), "memory/a.md", from_line=2)
    above = read_window(FileRules(ws, max_bytes=9), "memory/a.md", from_line=2)

    assert (at.text, at.total_lines, at.hash is None) == ("789", 2, False)
    assert (above.text, above.total_lines, above.hash) == ("789", None, None)


ANY_LINES = st.lists(st.text("ab \r👍🏽\u0301🇩会", max_size=12), max_size=8)


@given(ANY_LINES, st.sampled_from(["\n", "\r\n"]), st.integers(1, 9), st.integers(1, 9), st.integers(1, 40))
@settings(max_examples=100)
def test_a_window_is_what_splitting_the_whole_file_gives(
    lines: list[str], end: str, from_line: int, count: int, max_chars: int
) -> None:
    content = "".join(line + end for line in lines)
    handle = io.BytesIO(content.encode())
    expected = [line.removesuffix("\r") for line in content.split("\n")[:-1]][from_line - 1 :][:count]
    while len(expected) > 1 and len("\n".join(expected)) > max_chars:
        expected.pop()

    if not seek_line(handle, from_line):
        assert expected == []
        return
    window = take_lines(handle, lines=count, max_chars=max_chars)

    assert window.lines == len(expected)
    if window.rest is None:
        assert window.text == "\n".join(expected)
        assert window.more == (from_line - 1 + window.lines < len(lines))
    else:
        assert len(expected) == 1
        assert expected[0].startswith(window.text)
        assert 0 < len(window.text) <= max_chars < len(expected[0])


@given(st.text("ab 👍🏽👨‍\u0301🇩🇪会각\u0600\udcff", min_size=1, max_size=60), st.integers(1, 60))
@settings(max_examples=100)
def test_a_cut_is_the_last_border_of_clusters_before_the_limit(text: str, limit: int) -> None:
    ends = [match.end() for match in regex.finditer(r"\X", text)]

    assert cluster_cut(text, limit) == max((end for end in ends if end <= limit), default=limit)


def test_a_long_row_of_flags_is_cut_between_flags() -> None:
    text = "a" + "🇩🇪" * 1_500

    assert cluster_cut(text, 2_000) == 1_999
