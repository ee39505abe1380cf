"""What an agent has forgotten: tombstones, and the texts that they hide.

A tombstone outlives the rows that it removes: whatever would bring the text back asks
here first. It holds a path, an id or digests, never the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

from clawmark.core.digest import content_hash, content_key

Kind = Literal["path", "session", "content", "text"]

# Why a file that is forgotten as a whole has no chunks.
FORGOTTEN = "forgotten"
# The fact about a document, that lines of it are hidden.
HIDDEN_LINES = "forgotten_lines"
# A line of fewer bytes says too little to be known again by itself: "- done", "---".
TELLING_BYTES = 16


@dataclass(frozen=True, order=True)
class Tombstone:
    """One thing that may not be indexed again.

    Attributes:
        kind: "path" of a file; id of a "session"; SHA-256 (hex) of a file's "content";
            the marks of the lines of a "text", separated by spaces.
        value: See *kind*.
        subject: What was named to ``forget``; restoring names it again.
    """

    kind: Kind
    value: str
    subject: str


class Known(Protocol):
    """A document, or a row of one."""

    @property
    def path(self) -> str:
        """Stored path."""
        ...

    @property
    def hash(self) -> str:
        """SHA-256 (hex) of the file's bytes."""
        ...

    @property
    def meta(self) -> Mapping[str, Any]:
        """Facts by name."""
        ...


@dataclass(frozen=True)
class Forgotten:
    """The tombstones of one agent, as every way into the index asks them."""

    tombstones: frozenset[Tombstone] = frozenset()

    @cached_property
    def digest(self) -> str:
        """Equal for equal tombstones; "" when there are none."""
        rows = sorted((stone.kind, stone.value) for stone in self.tombstones)
        return content_hash(repr(rows).encode("utf-8", "surrogatepass")) if rows else ""

    def hides_path(self, path: str) -> bool:
        """Tell whether a file is forgotten whatever is in it."""
        return path in self._values("path")

    def hides(self, document: Known) -> bool:
        """Tell whether a document is forgotten as a whole: by its path, its session or its content."""
        if document.path in self._values("path") or document.hash in self._values("content"):
            return True
        return document.meta.get("session") in self._values("session")

    @property
    def hides_lines(self) -> bool:
        """Tell whether any text is forgotten line by line."""
        return bool(self._runs)

    def masked(self, text: str) -> str:
        """Blank the forgotten lines of a text; line numbers stay.

        A telling line is forgotten wherever it stands. A short one is so beside a
        forgotten line, or when a forgotten text is nothing but short lines and all of
        them stand here in their order.
        """
        if not self._runs:
            return text
        lines = text.split("\n")
        marks = [(number, mark_of(line)) for number, line in enumerate(lines) if line.strip()]
        gone = {marks[place][0] for place in self._gone([mark for _, mark in marks])}
        return "\n".join("" if number in gone else line for number, line in enumerate(lines)) if gone else text

    def _gone(self, marks: list[str]) -> set[int]:
        gone = {place for place, mark in enumerate(marks) if mark in self._telling}
        for places, before in ((range(len(marks)), -1), (range(len(marks) - 1, -1, -1), 1)):
            gone.update(_spread(marks, self._beside, gone, places, before))
        for run in self._whole:
            starts = (place for place in range(len(marks)) if tuple(marks[place : place + len(run)]) == run)
            gone.update(place for start in starts for place in range(start, start + len(run)))
        return gone

    def _values(self, kind: Kind) -> frozenset[str]:
        return self._by_kind.get(kind, frozenset())

    @cached_property
    def _by_kind(self) -> dict[str, frozenset[str]]:
        kinds = {stone.kind for stone in self.tombstones}
        return {kind: frozenset(stone.value for stone in self.tombstones if stone.kind == kind) for kind in kinds}

    @cached_property
    def _runs(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(value.split()) for value in sorted(self._values("text")))

    @cached_property
    def _telling(self) -> frozenset[str]:
        return frozenset(mark for run in self._runs for mark in run if _tells(mark))

    @cached_property
    def _beside(self) -> frozenset[str]:
        return frozenset(mark for run in self._runs if any(map(_tells, run)) for mark in run if not _tells(mark))

    @cached_property
    def _whole(self) -> tuple[tuple[str, ...], ...]:
        return tuple(run for run in self._runs if not any(map(_tells, run)))


NOTHING_FORGOTTEN = Forgotten()


def mark_of(line: str) -> str:
    """Give the digest of a line, white space folded; the first letter tells whether the line is telling."""
    data = " ".join(line.split()).encode("utf-8", "surrogatepass")
    return ("t" if len(data) >= TELLING_BYTES else "s") + content_key(data).hex()


def text_tombstone(lines: Iterable[str], subject: str) -> Tombstone | None:
    """Give the tombstone of some lines; None when all of them are blank."""
    marks = [mark_of(line) for line in lines if line.strip()]
    return Tombstone("text", " ".join(marks), subject) if marks else None


def _tells(mark: str) -> bool:
    return mark.startswith("t")


def _spread(
    marks: list[str], beside: frozenset[str], gone: set[int], places: Iterable[int], before: int
) -> Iterable[int]:
    """Give the short lines that follow a forgotten one, in one direction."""
    found = set(gone)
    for place in places:
        if marks[place] in beside and place + before in found:
            found.add(place)
    return found
