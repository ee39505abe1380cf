"""Putting new bytes in the place of a file in one step, through no link.

The new bytes go into a temporary file of the same folder, to the disk, and then take
the old file's name: a reader sees the old or the new file, and so does whoever looks
after a crash. Every name is looked up below an open folder, so that nobody can put a
link in the way after the path was checked.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from clawmark.files.text import open_regular

# Where the platform lacks one of these it is 0 and changes nothing.
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
_PRIVATE = getattr(os, "O_CLOEXEC", 0)
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _NO_FOLLOW | _PRIVATE
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | _NO_FOLLOW | _PRIVATE
# Windows opens no folder; there a checked path is all there is.
_OPENS_FOLDERS = os.open in os.supports_dir_fd
# Hidden and no *.md: no scan takes it for a note.
_TEMPORARY = re.compile(r"\.clawmark-write-[0-9a-f]{16}\.tmp")


class ChangedMeanwhileError(Exception):
    """The file is no longer the one that was read; nothing was written."""


@dataclass(frozen=True)
class Folder:
    """An open folder.

    Attributes:
        path: Where it was when it was opened.
        descriptor: None where the system opens no folders.
    """

    path: str
    descriptor: int | None

    def at(self, name: str) -> str:
        """Give a file of the folder a name that calls with ``dir_fd=descriptor`` understand."""
        return name if self.descriptor is not None else f"{self.path}{os.sep}{name}"

    def flush(self) -> None:
        """Bring the names in the folder to the disk."""
        if self.descriptor is not None:
            # Some file systems know no such thing; the names are right all the same.
            with suppress(OSError):
                os.fsync(self.descriptor)


@dataclass(frozen=True)
class Content:
    """A file's bytes, and the state that they belong to."""

    data: bytes
    state: os.stat_result


@contextmanager
def open_folder(base: str, names: Sequence[str]) -> Generator[Folder]:
    """Open a folder below another, made as far as it does not exist; no name on the way may be a link.

    Raises:
        OSError: The system refuses, or something on the way is no folder.
    """
    with ExitStack() as stack:
        # The way to the workspace is the user's own, links included.
        folder = _opened(stack, base, None, _FOLDER_FLAGS & ~_NO_FOLLOW)
        for name in names:
            place = folder.at(name)
            with suppress(FileExistsError):
                os.mkdir(place, dir_fd=folder.descriptor)
                folder.flush()
            below = _opened(stack, place, folder.descriptor, _FOLDER_FLAGS)
            folder = Folder(f"{folder.path}{os.sep}{name}", below.descriptor)
        yield folder


def _opened(stack: ExitStack, place: str, folder: int | None, flags: int) -> Folder:
    if not _OPENS_FOLDERS:
        return Folder(place, None)
    descriptor = os.open(place, flags, dir_fd=folder)
    stack.callback(os.close, descriptor)
    return Folder(place, descriptor)


def read_content(folder: Folder, name: str, *, most: int) -> Content | None:
    """Read a file; None when there is none. Of one that is larger than *most*, no byte is read.

    Raises:
        OSError: The system refuses.
        UnreadableNoteError: It is no regular file.
    """
    try:
        with open_regular(folder.at(name), folder=folder.descriptor) as (handle, state):
            return Content(handle.read(most + 1) if state.st_size <= most else b"", state)
    except FileNotFoundError:
        return None


def replace_file(folder: Folder, name: str, data: bytes, before: Content | None) -> None:
    """Make a file hold *data*, at once or not at all; its rights and its owner stay.

    Args:
        folder: Where it is.
        name: Of the file.
        data: All its bytes.
        before: What was read of it; None when it did not exist.

    Raises:
        ChangedMeanwhileError: It is not as it was read.
        OSError: The system refuses; the old file is whole.
    """
    if before is not None and not os.access(folder.at(name), os.W_OK, dir_fd=folder.descriptor):
        raise PermissionError(errno.EACCES, "The file is write-protected")
    temporary = folder.at(f".clawmark-write-{os.urandom(8).hex()}.tmp")
    try:
        _write(folder, temporary, data, before)
        _check_same(folder, name, before)
        os.replace(temporary, folder.at(name), src_dir_fd=folder.descriptor, dst_dir_fd=folder.descriptor)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=folder.descriptor)
        raise
    folder.flush()


def _write(folder: Folder, temporary: str, data: bytes, before: Content | None) -> None:
    descriptor = os.open(temporary, _NEW_FLAGS, 0o600 if before else 0o666, dir_fd=folder.descriptor)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        if before is not None:
            _inherit(descriptor, before.state)
        os.fsync(descriptor)


def _inherit(descriptor: int, old: os.stat_result) -> None:
    """Take over owner and rights of the file that is replaced, and never its time."""
    new = os.fstat(descriptor)
    if hasattr(os, "fchown") and (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        with suppress(PermissionError):  # only the superuser gives files away
            os.fchown(descriptor, old.st_uid, old.st_gid)
    if hasattr(os, "fchmod"):
        os.fchmod(descriptor, stat.S_IMODE(old.st_mode))
    # An index tells files by size and time, and a clock may tick more slowly than we write.
    if (new.st_size, new.st_mtime_ns) == (old.st_size, old.st_mtime_ns) and os.utime in os.supports_fd:
        os.utime(descriptor, ns=(new.st_atime_ns, new.st_mtime_ns + 1))


def _check_same(folder: Folder, name: str, before: Content | None) -> None:
    if _mark(_state_of(folder, name)) != _mark(before and before.state):
        raise ChangedMeanwhileError


def _state_of(folder: Folder, name: str) -> os.stat_result | None:
    try:
        return os.stat(folder.at(name), dir_fd=folder.descriptor, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _mark(state: os.stat_result | None) -> tuple[int, ...] | None:
    return state and (state.st_ino, state.st_dev, state.st_size, state.st_mtime_ns)


def remove_temporaries(top: Path, *, below: bool) -> None:
    """Remove what a killed writer left in a folder, and in those below it; links are not followed."""
    for place, folders, files in os.walk(top) if not top.is_symlink() else ():
        if not below:
            folders.clear()
        for name in filter(_TEMPORARY.fullmatch, files):
            with suppress(OSError):
                Path(place, name).unlink()
