"""Reading the bytes of one file, once, and only if it is a regular file of text."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from clawmark.core.digest import content_hash
from clawmark.core.errors import ClawmarkError
from clawmark.files.found import FoundFile
from clawmark.files.names import error_text, kind_of

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
# Where the platform lacks one of these it is 0 and changes nothing.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class UnreadableNoteError(ClawmarkError):
    """A note cannot be read as text; the others can.

    Attributes:
        reason: One line without the path, for reports.
        path: Stored path of the note; "" when it is not known.
        lasting: True when the bytes themselves are no text, so that reading them again
            gives the same; False when another try may succeed.
    """

    default_code = "NOTE_UNREADABLE"

    def __init__(self, reason: str, *, path: str = "", action: str = "", lasting: bool = False) -> None:
        super().__init__(f"{path or 'The file'} cannot be read: {reason}.", action=action)
        self.reason = reason
        self.path = path
        self.lasting = lasting


class ChangedWhileReadingError(UnreadableNoteError):
    """A note was written to while it was read; the next sync will find it at rest."""


@dataclass(frozen=True)
class FileBytes:
    """The bytes of a file and its state when they were read.

    Attributes:
        data: All bytes.
        size: Bytes on disk.
        mtime_ns: Modification time on disk.
    """

    data: bytes
    size: int
    mtime_ns: int


@dataclass(frozen=True)
class NoteText:
    r"""The text of a note and the state of the file it came from.

    Attributes:
        text: Without byte order mark; every CR LF is one ``\n``, so line numbers
            are those of the file. A CR alone stays as it is.
        hash: SHA-256 (hex) of the file's bytes.
        size: Bytes on disk.
        mtime_ns: Modification time on disk.
    """

    text: str
    hash: str
    size: int
    mtime_ns: int


def read_note(file: FoundFile, *, follow_links: bool = False) -> NoteText:
    """Read a note that a scan found.

    The size and time are those of the bytes read, which may be newer than *file*.

    Args:
        file: The note.
        follow_links: True opens a link that took the note's place. Notes behind
            followed links need it not: a scan gives their targets.

    Raises:
        UnreadableNoteError: If it is no UTF-8, contains NUL, is gone, may not be read,
            or is no regular file any more.
        ChangedWhileReadingError: If it changed under the reader.
    """
    raw = read_bytes(file, follow_links=follow_links)
    text = text_of(raw.data, file.path)
    return NoteText(text, content_hash(raw.data), raw.size, raw.mtime_ns)


def read_bytes(file: FoundFile, *, follow_links: bool = False) -> FileBytes:
    """Read all bytes of a file that a scan found, such as a transcript.

    Raises:
        UnreadableNoteError: If it is gone, may not be read, or is no regular file any more.
        ChangedWhileReadingError: If it changed under the reader.
    """
    try:
        with open_regular(file.absolute, follow_links=follow_links) as (handle, before):
            content = _read_all(handle.fileno(), before.st_size)
            after = os.fstat(handle.fileno())
    except OSError as error:
        raise UnreadableNoteError(error_text(error), path=file.path) from error
    except UnreadableNoteError as error:
        raise UnreadableNoteError(error.reason, path=file.path) from error
    if len(content) != before.st_size or _state(after) != _state(before):
        raise ChangedWhileReadingError("it changed while it was read", path=file.path, action="Sync again.")
    return FileBytes(content, before.st_size, modified_ns(before))


def _read_all(descriptor: int, size: int) -> bytes:
    """Read to the end past every buffer: a note of 2 kB needs none of 64."""
    parts: list[bytes] = []
    while part := os.read(descriptor, max(size, 0) + 1):
        parts.append(part)
        size -= len(part)
        if size < 0:
            break  # it grew while it was read
    return b"".join(parts)


@contextmanager
def open_regular(
    path: str | Path, *, follow_links: bool = False, folder: int | None = None
) -> Generator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file for reading; never waits for a writer, follows a link only if told to.

    Args:
        path: The file.
        follow_links: True opens what a link leads to.
        folder: Descriptor of an open folder that *path* is relative to.

    Yields:
        The open file and its state at that moment.

    Raises:
        UnreadableNoteError: If it is a FIFO, a device or anything else.
    """
    descriptor = os.open(path, _FLAGS | (0 if follow_links else _NO_FOLLOW), dir_fd=folder)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise UnreadableNoteError(f"not a regular file ({kind_of(state.st_mode)})")
        with os.fdopen(descriptor, "rb", buffering=1 << 16, closefd=False) as handle:
            yield handle, state
    finally:
        os.close(descriptor)


def modified_ns(state: os.stat_result) -> int:
    """Give a modification time that 64 bits can hold: a broken clock or archive may name one after 2262."""
    return min(state.st_mtime_ns, 2**63 - 1)


def _state(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def text_of(content: bytes, path: str) -> str:
    """Give the text of a note's bytes, as ``NoteText`` has it.

    Raises:
        UnreadableNoteError: If they are no UTF-8, or contain NUL.
    """
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        reason = f"not UTF-8 (byte 0x{content[error.start]:02x} at offset {error.start})"
        raise UnreadableNoteError(reason, path=path, action="Save the file as UTF-8.", lasting=True) from error
    if (offset := content.find(b"\0")) >= 0:
        raise UnreadableNoteError(f"not text (NUL byte at offset {offset})", path=path, lasting=True)
    return text.removeprefix("\ufeff").replace("\r\n", "\n")
