"""What the file behind a hit says now: who its text is from, and whether the text still stands there.

Loads little: the hook uses it too.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from clawmark.core.trust import HEAD_CHARS, Origin, TrustRule, declared_origin, origin_of

# Where the platform lacks one of these it is 0 and changes nothing.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)


class Provenance:
    """Gives the origin of hits; each file is looked at once.

    Args:
        rules: The user's path rules.
        follow_links: As for indexing.
    """

    def __init__(self, rules: Sequence[TrustRule], *, follow_links: bool) -> None:
        self._rules = rules
        self._follow_links = follow_links
        self._declared: dict[str, Origin | None] = {}

    def origin(self, path: str, source: str, file: str | os.PathLike[str] | None) -> Origin:
        """Give the origin of a file's text.

        Args:
            path: Stored path.
            source: "memory" or "sessions"; only notes have front matter.
            file: Where the note lies; None when that is not known.
        """
        if source == "memory" and file is not None and path not in self._declared:
            head = read_file(file, 4 * HEAD_CHARS, follow_links=self._follow_links)
            self._declared[path] = declared_origin(head) if head is not None else None
        return origin_of(path, source, self._rules, self._declared.get(path))


def read_file(file: str | os.PathLike[str], most_bytes: int, *, follow_links: bool) -> str | None:
    """Read the beginning of a regular file; None when it cannot be read, or is anything else."""
    try:
        descriptor = os.open(file, _FLAGS | (0 if follow_links else _NO_FOLLOW))
    except OSError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        data = b""
        while len(data) < most_bytes and (part := os.read(descriptor, most_bytes - len(data))):
            data += part
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return data.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")


def line_of(text: str, passage: str, near_line: int) -> int | None:
    r"""Give the line where a passage stands in a text now; None when it is gone.

    Args:
        text: The file as it is.
        passage: As it was indexed.
        near_line: Where it stood; of several places the nearest counts.

    >>> line_of("new\nold line\n", "old line", 1), line_of("new\n", "old line", 1)
    (2, None)
    """
    places: list[int] = []
    at = text.find(passage)
    while passage and at >= 0 and len(places) < 100:
        places.append(text.count("\n", 0, at) + 1)
        at = text.find(passage, at + 1)
    return min(places, key=lambda line: abs(line - near_line), default=None)
