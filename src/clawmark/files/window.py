r"""Some lines of an open file, without reading the rest of it.

Lines end at ``\n`` only. A line is never held in memory beyond what fits the budget.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import BinaryIO

from clawmark.files.text import BYTE_ORDER_MARK

_BLOCK_BYTES = 1 << 18
# Characters beyond the budget that are read to see what the cut would divide.
_LOOKAHEAD = 16
# Characters before the cut from which clusters are counted: more than any cluster
# that is text, and enough flags in a row to count them in pairs.
_LOOKBACK = 256
_LONGEST_LOOKBACK = 4_096
_BAD_BYTE = re.compile("[\udc80-\udcff]")


@dataclass(frozen=True)
class Window:
    """Some lines of a file.

    Attributes:
        text: The lines, joined by a newline.
        lines: How many; a part of a line counts as one.
        more: True when the file goes on after them.
        rest: Byte offset of the rest of the line, when its end did not fit.
    """

    text: str = ""
    lines: int = 0
    more: bool = False
    rest: int | None = None


def seek_line(handle: BinaryIO, line: int) -> bool:
    """Move to the start of a line; False when the file ends before it."""
    if handle.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
        handle.seek(0)
    left = line - 1
    while left:
        offset = handle.tell()
        block = handle.read(_BLOCK_BYTES)
        if not block:
            return False
        breaks = block.count(b"\n")
        if breaks >= left:
            handle.seek(offset + _after_break(block, left))
            breaks = left
        left -= breaks
    return not _at_end(handle)


def take_lines(handle: BinaryIO, *, lines: int, max_chars: int) -> Window:
    """Take whole lines while their text, joined by newlines, fits.

    Args:
        handle: At the start of a line, or of the rest of one.
        lines: Most lines to take, > 0.
        max_chars: Budget in characters (code points), > 0.

    Returns:
        At least one line if there is one: a first line that does not fit is cut
        where no grapheme cluster is divided, if one fits at all. A CR before the
        line's end is dropped; bytes that are no UTF-8 are U+FFFD, one each.
    """
    taken: list[str] = []
    room = max_chars
    while len(taken) < lines:
        offset = handle.tell()
        line, is_whole = _read_line(handle, max(room, 0))
        if line is None:
            return _window(taken, more=False)
        if not is_whole or len(line) > room:
            return _window(taken, more=True) if taken else _cut_line(line, max_chars, offset)
        taken.append(line)
        room -= len(line) + 1
    return _window(taken, more=not _at_end(handle))


def cluster_cut(text: str, limit: int) -> int:
    r"""Give the last place at or before *limit* that divides no grapheme cluster.

    The limit itself when the text before it is one cluster, so that reading goes on.

    >>> cluster_cut("ae\u0301", 2), cluster_cut("abc", 2)
    (1, 2)
    """
    if limit >= len(text) or text[limit - 1 : limit + 1].isascii():
        return min(limit, len(text))
    import regex  # 0.1 s, and most cuts are between ASCII characters

    start = max(0, limit - _LOOKBACK)
    while start > max(0, limit - _LONGEST_LOOKBACK) and not text[start].isascii():
        start -= 1
    ends = (start + match.end() for match in regex.finditer(r"\X", text[start : limit + _LOOKAHEAD]))
    return max((end for end in ends if end <= limit), default=limit)


def _read_line(handle: BinaryIO, room: int) -> tuple[str | None, bool]:
    """Read a line, or as much of it as shows that it does not fit into the room."""
    most = min((room + _LOOKAHEAD) * 4, sys.maxsize)  # no character takes more than 4 bytes
    content = handle.readline(most)
    if not content:
        return None, True
    is_ended = content.endswith(b"\n")
    if is_ended:
        content = content[:-1].removesuffix(b"\r")
    # One surrogate for each bad byte keeps the way back from characters to bytes.
    return content.decode("utf-8", "surrogateescape"), is_ended or len(content) < most


def _cut_line(line: str, max_chars: int, offset: int) -> Window:
    part = line[: cluster_cut(line, max_chars)]
    return Window(_shown(part), 1, more=True, rest=offset + len(part.encode("utf-8", "surrogateescape")))


def _window(taken: list[str], *, more: bool) -> Window:
    return Window(_shown("\n".join(taken)), len(taken), more)


def _shown(text: str) -> str:
    return text if text.isascii() else _BAD_BYTE.sub("\ufffd", text)


def _after_break(block: bytes, number: int) -> int:
    at = -1
    for _ in range(number):
        at = block.index(b"\n", at + 1)
    return at + 1


def _at_end(handle: BinaryIO) -> bool:
    offset = handle.tell()
    is_end = not handle.read(1)
    handle.seek(offset)
    return is_end
