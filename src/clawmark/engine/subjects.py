"""What ``forget`` was told to forget: from its name to tombstones."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from clawmark.core.digest import content_hash
from clawmark.core.errors import ArgumentError, ClawmarkError
from clawmark.core.forgetting import Tombstone, text_tombstone
from clawmark.core.ports import DocumentRow, Reader
from clawmark.files import FileRules, FoundFile, UnreadableNoteError, nearest_names, read_bytes, scan_files
from clawmark.sync import Workplace
from clawmark.sync.building import build

_CITATION = re.compile(r"(?P<path>.+)#L(?P<first>\d+)(?:-L(?P<last>\d+))?")


Kind = Literal["path", "session", "chunk"]


@dataclass(frozen=True)
class Subject:
    """A file by path, a session by id or path, a passage by its citation."""

    kind: Kind
    name: str

    @property
    def spelled(self) -> str:
        """The name with its kind, as tombstones remember it."""
        return f"{self.kind}:{self.name}"

    @property
    def names(self) -> tuple[str, ...]:
        """What a text may call it by."""
        return (self.name,)

    def in_workspace(self, rules: FileRules) -> Subject:
        """Spell a path as results do."""
        if self.kind == "session":
            return self
        path = Path(self.name)
        if path.is_absolute() and path.is_relative_to(rules.workspace):
            return replace(self, name=path.relative_to(rules.workspace).as_posix())
        return replace(self, name=posixpath.normpath(self.name))


def tombstones_of(
    place: Workplace, reader: Reader, subject: Subject, known: frozenset[Tombstone]
) -> frozenset[Tombstone]:
    """Give the tombstones that keep a subject out of every index.

    Raises:
        ClawmarkError: There is nothing of that name (NOT_FOUND).
        ArgumentError: A chunk is not named by its citation.
    """
    before = {stone for stone in known if stone.subject == subject.spelled}
    found = _FINDERS[subject.kind](place, reader, subject)
    if not (before or found):
        raise _unknown(place, reader, subject)
    return frozenset(before | found)


def _of_path(place: Workplace, reader: Reader, subject: Subject) -> set[Tombstone]:
    """A path for good, and the content that is there now, under any name."""
    row = next((row for row in reader.documents() if row.path == subject.name), None)
    file = next((file for file in _files(place) if file.path == subject.name), None)
    known = row or file
    if known is None:
        return set()
    if known.source == "sessions":
        return _of_session(place, reader, subject)
    hashes = {row.hash if row is not None and row.rejected is None else "", _hash_on_disk(place, file)} - {""}
    stones = {Tombstone("content", value, subject.spelled) for value in hashes}
    return {Tombstone("path", subject.name, subject.spelled), *stones}


def _of_session(place: Workplace, reader: Reader, subject: Subject) -> set[Tombstone]:
    """A session in all its files: archives and copies give the same id."""
    rows = [row for row in reader.documents() if row.source == "sessions" and row.rejected is None]
    ids = {_id_of(row) for row in rows if subject.name == _id_of(row) or _is_called(row.path, subject.name)}
    ids = ids or set(_ids_on_disk(place, subject, {row.path for row in rows}))
    named = [row for row in rows if _id_of(row) in ids]
    hashes = {Tombstone("content", row.hash, subject.spelled) for row in named}
    return {Tombstone("session", name, subject.spelled) for name in ids} | hashes


def _of_chunk(place: Workplace, reader: Reader, subject: Subject) -> set[Tombstone]:
    match = _CITATION.fullmatch(subject.name)
    if match is None:
        raise ArgumentError(f"{subject.name!r} is no citation.", action="Name a passage as memory/a.md#L5-L9.")
    first, last = int(match["first"]), int(match["last"] or match["first"])
    row = next((row for row in reader.documents() if row.path == match["path"] and row.rejected is None), None)
    stone = text_tombstone(_lines(reader, row, first, last), subject.spelled) if row else None
    return {stone} if stone else set()


_FINDERS = {"path": _of_path, "session": _of_session, "chunk": _of_chunk}


def _lines(reader: Reader, row: DocumentRow, first: int, last: int) -> list[str]:
    """Give whole lines of an indexed file; of a transcript, the messages of every chunk that is met."""
    text = reader.document_text(row.id)
    if row.source == "memory":
        return text.split("\n")[max(first - 1, 0) : last]
    met = [chunk for chunk in reader.chunks(row.id) if chunk.start_line <= last and chunk.end_line >= first]
    if not met:
        return []
    start, end = min(chunk.start for chunk in met), max(chunk.end for chunk in met)
    start, end = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    return text[start : end if end >= 0 else len(text)].split("\n")


def _id_of(row: DocumentRow) -> str:
    return str(row.meta.get("session") or row.path)


def _is_called(path: str, name: str) -> bool:
    """Tell whether a name stands for a transcript's path: the path, the file's name, or that without endings."""
    file = PurePosixPath(path).name
    return name in (path, file, file.partition(".jsonl")[0])


def _ids_on_disk(place: Workplace, subject: Subject, indexed: set[str]) -> Iterator[str]:
    for file in _files(place):
        if file.source != "sessions" or file.path in indexed:
            continue
        try:
            found = build(file, place.recipe).document.meta.get("session")
        except UnreadableNoteError:
            continue
        if isinstance(found, str) and (found == subject.name or _is_called(file.path, subject.name)):
            yield found


def _files(place: Workplace) -> tuple[FoundFile, ...]:
    return scan_files(place.rules, place.sources).files


def _hash_on_disk(place: Workplace, file: FoundFile | None) -> str:
    try:
        return content_hash(read_bytes(file, follow_links=place.recipe.follow_links).data) if file else ""
    except UnreadableNoteError:
        return ""


def not_found(message: str, action: str) -> ClawmarkError:
    """Give the error of a name that nothing has."""
    return ClawmarkError(message, code="NOT_FOUND", action=action)


def _unknown(place: Workplace, reader: Reader, subject: Subject) -> ClawmarkError:
    if subject.kind == "chunk":
        return not_found(f"No indexed passage is at {subject.name}.", "Copy the place from a search result.")
    names = {row.path for row in reader.documents()} | {file.path for file in _files(place)}
    near = nearest_names(subject.name, names)
    action = f"Did you mean {', '.join(near)}?" if near else "Run `clawmark status`."
    return not_found(f"Nothing is known of the {subject.kind} {subject.name}.", action)
