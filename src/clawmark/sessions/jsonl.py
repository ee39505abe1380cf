"""JSONL bytes to numbered lines and lines to JSON objects.

The engine of increments: a transcript grows at its end, and its last line may be half
written when it is read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

Record = dict[str, Any]


def split_jsonl(data: bytes, first_line: int = 1) -> Iterator[tuple[int, bytes]]:
    r"""Yield the finished lines of *data* with their 1-based numbers, without line ends.

    A last line without a newline counts as finished when it is a whole JSON object.

    To resume after ``end = complete_prefix(data)``, pass the bytes from *end* on and
    ``first_line + data[:end].count(b"\n")``.

    >>> list(split_jsonl(b'{"a": 1}\n{"b": 2}\n{"c":'))
    [(1, b'{"a": 1}'), (2, b'{"b": 2}')]
    """
    end = complete_prefix(data)
    start, number = 0, first_line
    while start < end:
        stop = data.find(b"\n", start, end)
        if stop < 0:
            stop = end
        yield number, data[start:stop].removesuffix(b"\r")
        start, number = stop + 1, number + 1


def complete_prefix(data: bytes) -> int:
    r"""Give the number of leading bytes that hold only finished lines.

    All of *data*, or up to the start of a last line that has no newline and is not yet a
    JSON object. Only that last line is parsed.

    >>> complete_prefix(b'{"a": 1}\n{"b":')
    9
    """
    start = data.rfind(b"\n") + 1
    rest = data[start:]
    if not rest.strip() or parse_record(rest) is not None:
        return len(data)
    return start


def parse_record(raw: bytes) -> Record | None:
    """Read one line as a JSON object; None when it is anything else.

    Bytes that are not UTF-8 become U+FFFD: a damaged character does not cost a message.
    """
    try:
        value = json.loads(raw.decode("utf-8", "replace").removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return cast("Record", value) if isinstance(value, dict) else None
