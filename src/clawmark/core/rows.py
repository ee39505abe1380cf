"""Chunks as a store is given them and gives them back, and what it tells of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple


class Nearness(NamedTuple):
    """How near a question a chunk is.

    Attributes:
        best: Cosine of its best sentence; of the chunk where it has one vector.
        whole: Cosine of the direction of all its sentences together.
    """

    best: float
    whole: float


@dataclass(frozen=True)
class ChunkRow:
    r"""One chunk as a store keeps it.

    Attributes:
        start_line: First line in the file, 1-based.
        end_line: Last line, included.
        start: Offset of the first character in the document's text.
        end: Offset after the last one.
        context: Headings above the chunk.
        terms: Its terms in order, "\n" between lines.
        singles: Single characters of unspaced scripts, findable beside the terms.
        embedding_key: Content hash of what was, or will be, embedded.
        speaker: Who says its first line in a session: "user" or "assistant"; "" in files.
        spoken_ms: When, milliseconds since 1970; None when it is not known, and in files.
    """

    start_line: int
    end_line: int
    start: int
    end: int
    context: str
    terms: tuple[str, ...]
    singles: tuple[str, ...]
    embedding_key: bytes
    speaker: str = ""
    spoken_ms: int | None = None


@dataclass(frozen=True)
class Candidate:
    """A chunk that a leg found, or that both must score.

    Attributes:
        id: Chunk id, stable until its document is replaced.
        document_id: Its document.
        source: "memory" or "sessions".
        path: Stored path of the document.
        start_line: First line, 1-based.
        end_line: Last line, included.
        length: Number of terms.
        frequencies: Query term to its count in the chunk.
        mtime_ns: File time when it was indexed.
        size: File size when it was indexed.
        time_ms: The session's own time.
        kind: Session kind; "" for files.
        session: Id of the session; "" for files.
        speaker: As in ``ChunkRow``.
        spoken_ms: As in ``ChunkRow``.
    """

    id: int
    document_id: int
    source: str
    path: str
    start_line: int
    end_line: int
    length: int
    frequencies: Mapping[str, int]
    mtime_ns: int
    size: int
    time_ms: int | None
    kind: str
    session: str = ""
    speaker: str = ""
    spoken_ms: int | None = None


@dataclass(frozen=True)
class StoredChunk:
    """A chunk with its place in its document's text.

    Attributes:
        id: Chunk id.
        start_line: First line in the file, 1-based.
        end_line: Last line, included.
        start: Offset of the first character in the document's text.
        end: Offset after the last one.
        embedding_key: Content hash of what was, or will be, embedded.
        embedded: Whether it has a vector.
    """

    id: int
    start_line: int
    end_line: int
    start: int
    end: int
    embedding_key: bytes
    embedded: bool


@dataclass(frozen=True)
class Fault:
    """One contradiction between the rows of an index.

    Attributes:
        code: Stable identifier.
        message: What does not agree, with numbers.
    """

    code: str
    message: str
