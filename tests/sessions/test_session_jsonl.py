"""JSONL bytes to numbered lines, and where an increment resumes."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.sessions import complete_prefix, split_jsonl


def test_lines_are_numbered_from_one_with_blank_and_bad_ones_counted() -> None:
    assert list(split_jsonl(b'{"a":1}\r\n\nbad\n{"b":2}\n')) == [
        (1, b'{"a":1}'),
        (2, b""),
        (3, b"bad"),
        (4, b'{"b":2}'),
    ]


def test_a_half_written_last_line_is_left_for_later() -> None:
    data = '{"a":1}\n{"text":"半'.encode()[:-1]

    assert complete_prefix(data) == 8
    assert list(split_jsonl(data)) == [(1, b'{"a":1}')]


def test_a_last_line_without_newline_counts_when_it_is_whole() -> None:
    data = b'{"a":1}\n{"b":2}'

    assert complete_prefix(data) == len(data)
    assert list(split_jsonl(data)) == [(1, b'{"a":1}'), (2, b'{"b":2}')]


def test_a_last_line_that_is_no_object_is_left_for_later() -> None:
    """The number 12 may become 123."""
    assert complete_prefix(b"12") == 0


def test_blank_and_empty_data_is_complete() -> None:
    assert (complete_prefix(b""), complete_prefix(b" \n ")) == (0, 3)
    assert list(split_jsonl(b"")) == []


LINES = st.lists(
    st.sampled_from([b"", b"bad", b"[]", json.dumps({"text": "两\n行"}).encode(), b'{"role":"user","text":"hello"}']),
    max_size=8,
)


@settings(max_examples=100)
@given(LINES, st.booleans(), st.data())
def test_resuming_at_any_byte_gives_the_same_lines(lines: list[bytes], ends: bool, data: st.DataObject) -> None:
    whole = b"\n".join(lines) + b"\n" * ends
    seen = whole[: data.draw(st.integers(0, len(whole)))]

    end = complete_prefix(seen)
    resumed = split_jsonl(whole[end:], first_line=1 + whole[:end].count(b"\n"))

    spoken = [(number, line) for number, line in [*split_jsonl(seen), *resumed] if line]
    assert spoken == [(number, line) for number, line in split_jsonl(whole) if line]
