"""``get``: a window of a memory file, checked, streamed, and never more than asked for."""

from __future__ import annotations

import binascii
import io
import os
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from typing import BinaryIO

from clawmark.core.digest import content_hash, content_key
from clawmark.core.errors import ArgumentError
from clawmark.core.model import ReadResult
from clawmark.files.names import error_text, nearest_names
from clawmark.files.paths import Place, allowed_place
from clawmark.files.rules import FileRules
from clawmark.files.scan import scan_files
from clawmark.files.text import BYTE_ORDER_MARK, UnreadableNoteError, open_regular
from clawmark.files.window import Window, seek_line, take_lines

_CURSOR = struct.Struct(">QQ8s")


@dataclass(frozen=True)
class _Source:
    """An open file and what is known of it as a whole.

    Attributes:
        handle: The bytes, from memory when the file is within the size limit.
        mark: What a cursor of this file, as it is now, is signed with.
        hash: SHA-256 (hex) of the bytes, None above the limit.
        total_lines: None above the limit.
    """

    handle: BinaryIO
    mark: str
    hash: str | None = None
    total_lines: int | None = None


def read_window(
    rules: FileRules,
    path: str,
    *,
    from_line: int = 1,
    lines: int = 120,
    max_chars: int = 12_000,
    cursor: str | None = None,
) -> ReadResult:
    r"""Read some lines of a memory file.

    The file is read up to the window only when it is above ``rules.max_bytes``;
    ``total_lines`` and ``hash`` are then None. Lines end at ``\n``; a final newline
    adds no empty line; a CR before the end of a line and a byte order mark are dropped.

    Args:
        rules: What may be read.
        path: As for ``resolve_note``.
        from_line: First line, >= 1.
        lines: Most lines, >= 1.
        max_chars: Budget of the text in characters (code points), >= 1. Whole lines
            are given while they fit. Only a first line that is longer is cut.
        cursor: The ``cursor`` of the result before, to go on inside a cut line;
            *from_line* is then ignored.

    Returns:
        The window. ``next_from`` names the next line, or, after a cut line,
        ``cursor`` the rest of it. Beyond the end: "ok", no text, 0 lines. A file
        that does not exist: "not_found" with up to five similar names.

    Raises:
        ArgumentError: If a number is too small, or the cursor is of another file or
            of an earlier state of this one.
        PathNotAllowedError: As for ``resolve_note``.
        UnreadableNoteError: If the operating system refuses.

    Source:
        recall-spec 1.4, newest version; without the paging notice in the text.
    """
    _check_positive(from_line=from_line, lines=lines, max_chars=max_chars)
    place = allowed_place(rules, path)
    try:
        if place.exists:
            return _read(rules, place, from_line, lines=lines, max_chars=max_chars, cursor=cursor)
    except FileNotFoundError:
        pass  # deleted since it was looked at
    except OSError as error:
        raise UnreadableNoteError(error_text(error), path=place.stored) from error
    near = nearest_names(place.stored, (file.path for file in scan_files(rules).files))
    return ReadResult("not_found", place.stored, from_line=from_line, suggestions=near)


def _check_positive(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ArgumentError(f"{name} is {number}, but must be 1 or more.", action=f"Give a larger {name}.")


def window_of(
    stored: str, content: bytes, *, from_line: int = 1, lines: int = 120, max_chars: int = 12_000, cursor: str | None
) -> ReadResult:
    """Give a window of text that was rendered from a file, with the rules of ``read_window``.

    Args:
        stored: Path that the answer carries.
        content: The whole text, UTF-8.
        from_line: As for ``read_window``, like the others.
        lines: Most lines.
        max_chars: Budget.
        cursor: Valid while the text is the same.
    """
    digest = content_hash(content)
    source = _Source(io.BytesIO(content), f"{stored}\0{digest}", digest, content.count(b"\n") + 1)
    return _window_of(stored, source, from_line, lines=lines, max_chars=max_chars, cursor=cursor)


def _read(
    rules: FileRules, place: Place, from_line: int, *, lines: int, max_chars: int, cursor: str | None
) -> ReadResult:
    with open_regular(place.absolute) as (handle, state):
        source = _source_of(handle, state, place.stored, rules.max_bytes)
        return _window_of(place.stored, source, from_line, lines=lines, max_chars=max_chars, cursor=cursor)


def _window_of(
    stored: str, source: _Source, from_line: int, *, lines: int, max_chars: int, cursor: str | None
) -> ReadResult:
    if cursor is not None:
        from_line, offset = _position(cursor, source.mark, stored)
        source.handle.seek(offset)
        is_there = True
    else:
        is_there = seek_line(source.handle, from_line)
    window = take_lines(source.handle, lines=lines, max_chars=max_chars) if is_there else Window()
    return _result(stored, source, window, from_line)


def _source_of(handle: BinaryIO, state: os.stat_result, stored: str, max_bytes: int) -> _Source:
    mark = f"{stored}\0{state.st_ino}\0{state.st_size}\0{state.st_mtime_ns}"
    if state.st_size > max_bytes:
        return _Source(handle, mark)
    # One reading for text, hash and count, so that they agree whatever a writer does.
    content = handle.read(state.st_size)
    text = content.removeprefix(BYTE_ORDER_MARK)
    total = text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
    return _Source(io.BytesIO(content), mark, content_hash(content), total)


def _result(stored: str, source: _Source, window: Window, from_line: int) -> ReadResult:
    is_cut = window.rest is not None
    return ReadResult(
        "ok",
        stored,
        text=window.text,
        from_line=from_line,
        lines=window.lines,
        total_lines=source.total_lines,
        truncated=window.more,
        next_from=from_line + window.lines if window.more and not is_cut else None,
        cursor=_cursor(from_line, window.rest, source.mark) if window.rest is not None else None,
        hash=source.hash,
    )


def _cursor(line: int, offset: int, mark: str) -> str:
    return urlsafe_b64encode(_CURSOR.pack(line, offset, _seal(line, offset, mark))).decode()


def _position(cursor: str, mark: str, stored: str) -> tuple[int, int]:
    try:
        line, offset, seal = _CURSOR.unpack(urlsafe_b64decode(cursor))
    except (binascii.Error, struct.error, ValueError) as error:
        raise _bad_cursor(cursor, "it was not made by clawmark") from error
    if seal != _seal(line, offset, mark):
        raise _bad_cursor(cursor, f"it is not of {stored}, or that file has changed since")
    return line, offset


def _seal(line: int, offset: int, mark: str) -> bytes:
    return content_key(f"{line}\0{offset}\0{mark}".encode())[:8]


def _bad_cursor(cursor: str, reason: str) -> ArgumentError:
    return ArgumentError(
        f"The cursor {cursor!r} cannot be used: {reason}.", action="Read again from the line, without a cursor."
    )
