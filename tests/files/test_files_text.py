"""The text of one note."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ClawmarkError
from clawmark.files import (
    ChangedWhileReadingError,
    FileRules,
    FoundFile,
    NoteText,
    UnreadableNoteError,
    read_note,
    scan_files,
)

WriteNote = Callable[..., Path]


def found(ws: Path) -> FoundFile:
    (file,) = scan_files(FileRules(ws)).files
    return file


def read(ws: Path, note: WriteNote, content: str | bytes) -> NoteText:
    note("memory/a.md", content)
    return read_note(found(ws))


def test_the_text_comes_with_the_hash_and_the_state_of_its_bytes(ws: Path, note: WriteNote) -> None:
    content = "# 会议\nBackup 🎉\n".encode()
    place = note("memory/a.md", content)

    text = read_note(found(ws))

    assert text.text == "# 会议\nBackup 🎉\n"
    assert text.hash == hashlib.sha256(content).hexdigest()
    assert (text.size, text.mtime_ns) == (len(content), place.stat().st_mtime_ns)


def test_a_byte_order_mark_is_no_text(ws: Path, note: WriteNote) -> None:
    assert read(ws, note, b"\xef\xbb\xbfone\n\xef\xbb\xbftwo").text == "one\n\ufefftwo"


def test_windows_line_ends_are_newlines_and_no_line_number_moves(ws: Path, note: WriteNote) -> None:
    assert read(ws, note, b"one\r\ntwo\rstill two\r\r\nthree\n").text == "one\ntwo\rstill two\r\nthree\n"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"twelve bytes\xff", "not UTF-8 (byte 0xff at offset 12)"),
        ("UTF-16".encode("utf-16-le") + b"\xd8\x00", "not UTF-8 (byte 0xd8 at offset 12)"),
        (b"cut \xe4\xbc", "not UTF-8 (byte 0xe4 at offset 4)"),
        (b"\xed\xa0\x80", "not UTF-8 (byte 0xed at offset 0)"),
        (b"a\0b", "not text (NUL byte at offset 1)"),
    ],
)
def test_what_is_no_text_is_refused_with_the_place(ws: Path, note: WriteNote, content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableNoteError) as caught:
        read(ws, note, content)

    error = caught.value
    assert isinstance(error, ClawmarkError)
    assert (error.code, error.reason, error.path) == ("NOTE_UNREADABLE", reason, "memory/a.md")
    assert error.message == f"memory/a.md cannot be read: {reason}."


def test_a_note_that_vanished_after_the_scan_is_unreadable(ws: Path, note: WriteNote) -> None:
    place = note("memory/a.md")
    file = found(ws)
    place.unlink()

    with pytest.raises(UnreadableNoteError, match="ENOENT"):
        read_note(file)


@pytest.mark.parametrize("kind", ["FIFO", "folder"])
def test_a_note_that_became_something_else_is_refused_at_once(ws: Path, note: WriteNote, kind: str) -> None:
    place = note("memory/a.md")
    file = found(ws)
    place.unlink()
    if kind == "FIFO":
        os.mkfifo(place)
    else:
        place.mkdir()

    with pytest.raises(UnreadableNoteError, match=rf"memory/a\.md .*not a regular file \({kind}\)"):
        read_note(file)


def test_a_note_that_changed_since_the_scan_is_read_as_it_is_now(ws: Path, note: WriteNote) -> None:
    note("memory/a.md", "old")
    file = found(ws)
    note("memory/a.md", "new and longer")

    text = read_note(file)

    assert (text.text, text.size) == ("new and longer", 14)


def test_a_note_that_is_written_to_while_it_is_read_is_said_to_move(ws: Path, note: WriteNote) -> None:
    place = note("memory/a.md", "x" * 4_000_000)
    file = found(ws)
    seen = threading.Event()

    def keep_writing() -> None:
        while not seen.is_set():
            for size in (4_000_001, 4_000_000):
                os.truncate(place, size)

    writer = threading.Thread(target=keep_writing)
    writer.start()
    try:
        with pytest.raises(ChangedWhileReadingError, match="changed while it was read"):
            read_until_it_moves(file)
    finally:
        seen.set()
        writer.join()


def read_until_it_moves(file: FoundFile) -> None:
    """Read again and again; between two writes, the NUL at the end is all there is to say."""
    for _ in range(1_000):
        try:
            read_note(file)
        except ChangedWhileReadingError:
            raise
        except UnreadableNoteError as error:
            assert "NUL" in error.reason  # noqa: PT017 - the other outcome of the race
