"""Sessions to text lines, wrapping, and the way back to the transcript."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.sessions import Session, SessionLine, remap_lines, render_line, session_text, wrap_message

CLUSTER = regex.compile(r"\X")


def conversation(*lines: SessionLine) -> Session:
    return Session(format="plain", session_id="s1", kind="interactive", lines=lines)


@pytest.mark.parametrize(
    ("lines", "line_map", "expected"),
    [((1, 2), (3, 7), (3, 7)), ((1, 5), (2, 4), (2, 5)), ((1, 1), (), (1, 1))],
)
def test_text_lines_map_back_to_the_transcript_as_in_the_spec(
    lines: tuple[int, int], line_map: tuple[int, ...], expected: tuple[int, int]
) -> None:
    """Golden group line_map."""
    assert remap_lines(*lines, line_map) == expected


def test_a_message_is_one_line_with_its_speaker_and_folded_whitespace() -> None:
    assert render_line(SessionLine(4, "user", " Hello\r\n\n  there\u3000\ufeff你好\u2028")) == "User: Hello there 你好"
    assert render_line(SessionLine(5, "assistant", "Hi")) == "Assistant: Hi"


def test_a_long_message_becomes_several_lines_of_one_transcript_line() -> None:
    moment = datetime(2026, 3, 4, 9, tzinfo=UTC)
    long = "The review is at three. " * 60
    rendered = session_text(
        conversation(
            SessionLine(2, "user", "Short", moment), SessionLine(5, "assistant", long), SessionLine(9, "user", "End")
        )
    )

    lines = rendered.text.split("\n")
    assert lines[0] == "User: Short"
    assert [line.startswith("Assistant: The review") for line in lines] == [False, True, True, False]
    assert rendered.line_map == (2, 5, 5, 9)
    assert rendered.roles == ("user", "assistant", "assistant", "user")
    assert rendered.timestamps == (moment, None, None, None)
    assert remap_lines(2, 3, rendered.line_map) == (5, 5)


def test_a_session_without_messages_has_no_text() -> None:
    assert session_text(conversation()).text == ""
    assert session_text(conversation()).line_map == ()


@pytest.mark.parametrize(
    ("text", "width", "pieces"),
    [
        ("Short.", 800, ["Short."]),
        ("  \n ", 800, []),
        ("One two. Three four five.", 14, ["One two.", "Three four", "five."]),
        (
            "明天下午三点开会。请带材料；我们讨论方案，然后定稿。",
            12,
            ["明天下午三点开会。", "请带材料；我们讨论方案，", "然后定稿。"],
        ),
        ("他说：「好的。」然后走了。", 10, ["他说：「好的。」", "然后走了。"]),
        ("一二三四五，六七八九十", 8, ["一二三四五，", "六七八九十"]),
        ("一二三四五六七八九十", 4, ["一二三四", "五六七八", "九十"]),
        ("see https://example.org/a/very/long/path", 12, ["see", "https://exam", "ple.org/a/ve", "ry/long/path"]),
        ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 9, ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"]),
        ("👨‍👩‍👧‍👦👨‍👩‍👧‍👦", 2, ["👨‍👩‍👧‍👦", "👨‍👩‍👧‍👦"]),
        ("exactly ten", 7, ["exactly", "ten"]),
        ("ab", 0, ["a", "b"]),
    ],
)
def test_a_message_is_cut_where_it_pauses(text: str, width: int, pieces: list[str]) -> None:
    assert wrap_message(text, width) == pieces


TEXT = st.lists(
    st.sampled_from(
        [
            *(
                "word ",
                "Sentence. ",
                "longerword",
                "? ",
                "a",
                ", ",
                "\n",
                "  ",
                "“好。” ",
                "e\u0301",
                " \u0301",
                "\u0600 ",
            ),
            *("中文", "句子。", "，", "」", "、", "👍🏽", "👨‍👩‍👧", "🇨🇳", "🇨🇳🇫🇷", "각", "क्षि", "。\ufe00", "\u200d"),
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=100)
@given(TEXT, st.integers(1, 30))
def test_pieces_join_back_with_single_spaces_or_nothing(text: str, width: int) -> None:
    folded = " ".join(text.split())
    borders = {match.start() for match in CLUSTER.finditer(folded)} | {len(folded)}

    position = 0
    for piece in wrap_message(text, width):
        if not folded.startswith(piece, position):
            assert folded[position] == " "
            position += 1
        assert folded.startswith(piece, position)
        assert position in borders
        position += len(piece)
        assert position in borders
        assert len(piece) <= width or len(CLUSTER.findall(piece)) == 1 or "\u200d" in piece
    assert position == len(folded)


@settings(max_examples=50)
@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), TEXT), max_size=6), st.integers(5, 40))
def test_every_text_line_has_one_entry_and_points_at_its_message(messages: list[tuple[str, str]], width: int) -> None:
    lines = [
        SessionLine(number * 2, "user" if role == "user" else "assistant", text)
        for number, (role, text) in enumerate(messages, 1)
        if text.strip()
    ]
    rendered = session_text(conversation(*lines), width)

    text_lines = rendered.text.split("\n") if rendered.text else []
    assert len(text_lines) == len(rendered.line_map) == len(rendered.roles) == len(rendered.timestamps)
    assert list(dict.fromkeys(rendered.line_map)) == [line.line for line in lines]
    assert list(rendered.line_map) == sorted(rendered.line_map)
    for text, role in zip(text_lines, rendered.roles, strict=True):
        assert text.startswith("User: " if role == "user" else "Assistant: ")
