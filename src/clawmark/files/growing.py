"""Reading a file that another program may be writing to: what was there when it was opened."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import BinaryIO

from clawmark.files.found import FoundFile
from clawmark.files.names import error_text
from clawmark.files.text import ChangedWhileReadingError, UnreadableNoteError, open_regular


@contextmanager
def open_growing(file: FoundFile, *, follow_links: bool = False) -> Generator[tuple[BinaryIO, os.stat_result]]:
    """Open a file that may grow while it is read, such as the transcript of a running chat.

    Read no more than the size in the state: what is appended later belongs to the next
    reading, which sees it by the size.

    Yields:
        The open file and its state at that moment.

    Raises:
        UnreadableNoteError: If it is gone, may not be read, or is no regular file any more.
        ChangedWhileReadingError: If it was written to otherwise than at its end.
    """
    try:
        with open_regular(file.absolute, follow_links=follow_links) as (handle, before):
            yield handle, before
            after = os.fstat(handle.fileno())
    except OSError as error:
        raise UnreadableNoteError(error_text(error), path=file.path) from error
    except UnreadableNoteError as error:
        raise UnreadableNoteError(error.reason, path=file.path) from error
    if after.st_size < before.st_size or (after.st_size == before.st_size and after.st_mtime_ns != before.st_mtime_ns):
        raise ChangedWhileReadingError("it changed while it was read", path=file.path, action="Sync again.")
