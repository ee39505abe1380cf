"""The values that a scan gives back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from clawmark.core.model import PathReason
from clawmark.files.rules import Source


class FoundFile(NamedTuple):
    """A file that is to be indexed, as it was when the folder was walked.

    Attributes:
        path: Stored path: relative to the workspace, ``/`` between names. A
            transcript's is ``sessions/`` and its path below its folder.
        source: "memory" or "sessions".
        place: Where to open it, as text; for a followed link to a file, the link's target.
        size: Bytes, > 0.
        mtime_ns: Modification time, nanoseconds since 1970.
        inode: With *device* the identity of the file; both 0 when the system has none.
        device: See *inode*.
    """

    path: str
    source: Source
    place: str
    size: int
    mtime_ns: int
    inode: int
    device: int

    @property
    def absolute(self) -> Path:
        """Give where to open it; made when asked for, because a walk over ten thousand files has no time for it."""
        return Path(self.place)


@dataclass(frozen=True)
class Scan:
    """What one walk over the files saw; every count and every trigger uses this.

    Attributes:
        files: Everything that is to be indexed, ordered by (source, path).
        skipped: What looks like a note or a transcript and does not count, with the
            reason; for a hidden or a junk folder one entry, for the folder itself.
        unreadable: What could not be looked at. Files there may exist.
        missing: Configured paths that do not exist.
        folders: Absolute paths of the folders that were listed: a new file can appear there.
    """

    files: tuple[FoundFile, ...] = ()
    skipped: tuple[PathReason, ...] = ()
    unreadable: tuple[PathReason, ...] = ()
    missing: tuple[PathReason, ...] = ()
    folders: tuple[str, ...] = ()

    def may_hide(self, path: str) -> bool:
        """Tell whether a stored path lies in something unreadable, so that its absence proves nothing."""
        return any(entry.path in (path, ".") or path.startswith(f"{entry.path}/") for entry in self.unreadable)
