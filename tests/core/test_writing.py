"""What an append adds: never a changed byte, never a block twice, never a line out of its section."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmark.core.errors import ArgumentError
from clawmark.core.writing import check_text, plan_append, plan_write

# Pieces that meet in every way: headings, lists, fences, rules, lead-ins, blank lines.
_PLAIN = ["", "", " ", "a", "b", "c ", "a b", "- a", "- b", "  c", "    d", "| a |", "\u3000", "a\r", "\ufeff", "\x85"]
_SPECIAL = [
    "# H",
    "## I",
    "### J",
    "#",
    "# c",
    "---",
    "===",
    "a:",
    "注意：",
    "🎉",
    "```",
    "```py",
    "~~~",
    "~~~~",
    "`` ` ``",
]
_LINES = st.sampled_from([*_PLAIN, *_SPECIAL])
_TEXTS = st.lists(_LINES, max_size=14).map("\n".join) | st.text(st.characters(exclude_characters="\0", codec="utf-8"))
_NEW = _TEXTS.filter(lambda text: text.replace("\ufeff", "").strip() != "")
_FILES = st.builds(
    lambda text, end, mark: (mark + text.replace("\n", end)).encode(),
    _TEXTS,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)


@given(_FILES, _NEW)
def test_an_append_keeps_every_byte_and_ends_with_a_newline(existing: bytes, text: str) -> None:
    plan = plan_append(existing, text)

    assert plan.content.startswith(existing)
    assert (plan.start_line is None) == (plan.content == existing)
    assert plan.content == existing or plan.content.endswith(b"\n")
    assert plan.content != existing or plan.skipped > 0


@given(_FILES, _NEW)
@example(b"```\nnever closed", "```\nx\n\n# y\n```\n\n# H\n\nb")
@example(b"", "# H\n```\n# c\n```\n\na")
@example(b"", "\ufeff\n\ufeffa")
@example(b"A", "  indented\n\nA\n\nB")
@example(b"a", "a\n\U0001f389")
@example(b"# T\n\n## D\n\nm", "## D\n\nm\nx\n\n# T\n\n## D\n\nm\nx")
def test_appending_a_text_twice_is_appending_it_once(existing: bytes, text: str) -> None:
    """I01: also when the first time only a part of it was new."""
    once = plan_append(existing, text)
    twice = plan_append(once.content, text)

    assert twice.content == once.content
    assert twice.start_line is None
    assert twice.skipped > 0


@given(_FILES, _NEW)
def test_every_word_of_an_appended_text_is_in_the_file(existing: bytes, text: str) -> None:
    content = plan_append(existing, text).content.decode().replace("\ufeff", "")
    lines = {line.strip() for line in content.split("\n")}

    assert [line for line in text.replace("\ufeff", "").split("\n") if _says(line) and line.strip() not in lines] == []


def _says(line: str) -> bool:
    return any(char.isalnum() for char in line)


@given(_FILES, _NEW)
def test_the_lines_of_a_plan_are_the_lines_that_were_added(existing: bytes, text: str) -> None:
    plan = plan_append(existing, text)
    if plan.start_line is None or plan.end_line is None:
        return
    lines = plan.content.split(b"\n")

    assert plan.end_line == len(lines) - 1
    assert lines[plan.start_line - 1].removeprefix(b"\xef\xbb\xbf").strip() != b""
    assert plan.start_line == 1 or not lines[plan.start_line - 2].decode().removeprefix("\ufeff").strip()


@given(_FILES, _NEW)
def test_new_lines_end_as_the_lines_of_the_file_do(existing: bytes, text: str) -> None:
    plan = plan_append(existing, text)
    added = plan.content[len(existing) :]
    crlf = existing.count(b"\r\n")

    if crlf and crlf == existing.count(b"\n"):
        assert added.count(b"\n") == added.count(b"\r\n")
    if not crlf and not existing.endswith(b"\r"):
        assert b"\r\n" not in added


@given(st.none() | _FILES, _NEW)
@example(None, "\na\r\na\r\n")
def test_writing_what_a_file_holds_changes_nothing(existing: bytes | None, text: str) -> None:
    once = plan_write(existing, text)

    assert plan_write(once.content, text).content == once.content
    assert plan_write(once.content, text).start_line is None
    assert existing is not None or once.content == text.encode()


@pytest.mark.parametrize(
    ("existing", "text", "content"),
    [
        ("", "A", "A\n"),
        ("A", "B", "A\n\nB\n"),
        ("A\n", "B\n", "A\n\nB\n"),
        ("A\n\n", "\n\nB\n\n\n", "A\n\nB\n"),
        ("A\n\n\n", "B", "A\n\n\nB\n"),
        ("A\n  ", "B", "A\n  \nB\n"),
        ("\n", "B", "\nB\n"),
        ("\ufeff", "B", "\ufeffB\n"),
        ("A\r\nB", "C\nD", "A\r\nB\r\n\r\nC\r\nD\r\n"),
        ("A\n", "C\r\nD\r\n", "A\n\nC\nD\n"),
        ("A\n", "B  \nC\n\n\nD", "A\n\nB  \nC\n\n\nD\n"),
        ("A\n", "\ufeffB", "A\n\nB\n"),
    ],
)
def test_a_block_begins_on_a_line_of_its_own_behind_a_blank_one(existing: str, text: str, content: str) -> None:
    assert plan_append(existing.encode(), text).content == content.encode()


@pytest.mark.parametrize(
    ("existing", "text", "added", "skipped"),
    [
        # I01, both ways to read it.
        ("A\n", "A\nB", "B\n", 1),
        ("A\n", "A\n\nB", "B\n", 1),
        ("A\n\nB\n", "A\nB\nC", "C\n", 1),
        ("A  \r\n", "A", "", 1),
        ("A\n\nB\n\nC\n", "B", "", 1),
        ("A\n", "B\n\nA\n\nC", "B\n\nC\n", 1),
        # A longer line that begins alike is another block.
        ("A\n", "AB", "AB\n", 0),
        ("A B\n", "A", "A\n", 0),
        # A heading goes with what it leads into.
        ("## Todo\n\n- a\n\n## Done\n\n- b\n", "## Todo\n\n- c", "## Todo\n\n- c\n", 0),
        ("## Todo\n\n- a\n", "## Todo\n\n- a\n\n- c", "## Todo\n\n- c\n", 1),
        ("## Todo\n\n- a\n", "## Todo\n- a", "", 1),
        ("# Day\n\n## Todo\n\n- a\n", "## Todo\n\n- a", "", 1),
        ("## Todo\n\n- a\n", "## Done\n\n- a", "## Done\n\n- a\n", 0),
        ("# Mon\n\n## Done\n\n- a\n", "# Tue\n\n## Done\n\n- a", "# Tue\n\n## Done\n\n- a\n", 0),
        ("## Todo\n", "## Todo", "", 1),
        ("A\n", "# T\n\n---", "# T\n\n---\n", 0),
        ("Title\n=====\n\nA\n", "Title\n=====\n\nB", "Title\n=====\n\nB\n", 0),
        # So does a line that ends in a colon.
        ("Todo:\n\n- a\n\nB\n", "Todo:\n\n- c", "Todo:\n\n- c\n", 0),
        ("待办：\n\n- a\n", "待办：\n- c", "待办：\n- c\n", 0),
        # What would break apart stays whole.
        ("```\nx = 1\n", "```\nx = 1\n\ny = 2\n```", "```\nx = 1\n\ny = 2\n```\n", 0),
        ("x\n\ny\n", "```\nx\n\ny\n```", "```\nx\n\ny\n```\n", 0),
        ("```\nx\n\n# y\n```\n", "```\nx\n\n# y\n```", "", 1),
        ("- a\n", "- a\n  - b", "- a\n  - b\n", 0),
        ("- a\n", "- a\n\n  more", "- a\n\n  more\n", 0),
        ("| a |\n", "| a |\n| b |", "| a |\n| b |\n", 0),
        # A rule between two blocks is no block of its own.
        ("---\n", "A\n\n---\n\nB", "A\n\n---\n\nB\n", 0),
        ("A\n\n---\n", "A\n\n---\n\nB", "B\n", 1),
        ("---\n", "---", "", 1),
    ],
)
def test_a_block_of_the_file_is_left_out_and_nothing_loses_its_place(
    existing: str, text: str, added: str, skipped: int
) -> None:
    plan = plan_append(existing.encode(), text)

    assert plan.content.decode().removeprefix(existing).lstrip("\n") == added
    assert plan.skipped == skipped


@pytest.mark.parametrize(
    ("existing", "text", "content"),
    [
        (None, "A", "A"),
        ("B\n", "A\r\nC", "A\r\nC"),
        ("B\r\n", "A\nC\r\n", "A\r\nC\r\n"),
        ("\ufeffB\n", "A\n", "\ufeffA\n"),
        ("\ufeffB\n", "\ufeffA\n", "\ufeffA\n"),
    ],
)
def test_a_written_file_holds_the_text_in_the_line_ends_of_before(
    existing: str | None, text: str, content: str
) -> None:
    assert plan_write(None if existing is None else existing.encode(), text).content == content.encode()


@pytest.mark.parametrize(
    ("text", "said"),
    [("", "empty"), (" \n\t\u3000\n", "empty"), ("\ufeff\n\ufeff", "empty"), ("a\0b", "NUL"), ("a\ud800b", "U+D800")],
)
def test_a_text_that_is_no_text_is_refused(text: str, said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        check_text(text)

    assert said in caught.value.message
    assert caught.value.action
