"""What a store tells of its rows to those who keep it in order."""

from __future__ import annotations

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
