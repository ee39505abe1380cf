"""The two doors to the outside: what a store and an embedder must do.

A plug-in implements one of these Protocols and runs the contract suite of
``clawmark.testing`` against itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clawmark.core.forgetting import Tombstone
    from clawmark.core.rows import Fault, Nearness, StoredChunk
    from clawmark.core.scoring import TermStatistics


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes:
        provider: Name of the provider, such as "local".
        model: Name of the model; vectors of different models are never compared.
        dimensions: Length of a vector; None until the first answer.
        max_input_tokens: Longest text, in the tokens of ``core.chunking``.
        max_batch_items: Most texts in one call.
        concurrency: Calls that may run at the same time, >= 1.
    """

    @property
    def provider(self) -> str:
        """Name of the provider."""
        ...

    @property
    def model(self) -> str:
        """Name of the model."""
        ...

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until the first answer."""
        ...

    @property
    def max_input_tokens(self) -> int:
        """Longest text that the model takes."""
        ...

    @property
    def max_batch_items(self) -> int:
        """Most texts in one call."""
        ...

    @property
    def concurrency(self) -> int:
        """Calls that may run at the same time."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """Embed passages: (texts, dimensions) float32, rows in order, any length.

        Raises:
            InputTooLongError: One of the texts is above the limit.
            RateLimitedError: Too fast for now.
            QuotaError: Out of credit.
        """
        ...

    def embed_query(self, text: str) -> NDArray[Any]:
        """Embed a question: (dimensions,) float32, any length."""
        ...


def embeds_sentences(embedder: Embedder) -> bool:
    """Tell whether a model is to be given a chunk's sentences one by one.

    An embedder says so with an attribute ``embeds_sentences``: a model in process, for
    which ten sentences cost what the passage does. Nobody pays twice for a remote one.
    """
    return bool(getattr(embedder, "embeds_sentences", False))


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
    """

    start_line: int
    end_line: int
    start: int
    end: int
    context: str
    terms: tuple[str, ...]
    singles: tuple[str, ...]
    embedding_key: bytes


@dataclass(frozen=True)
class Document:
    """A file, or a session, as a store keeps it.

    Attributes:
        source: "memory" or "sessions".
        path: Stored path, unique per agent and source.
        hash: SHA-256 (hex) of the file's bytes.
        size: Bytes on disk.
        mtime_ns: Modification time on disk.
        time_ms: The session's own time, milliseconds since 1970; None for files.
        text: The indexed text, secrets masked.
        rejected: Why the file has no chunks although it was read; None otherwise.
        meta: Facts by name: session kind, redactions, line map.
    """

    source: str
    path: str
    hash: str
    size: int
    mtime_ns: int
    time_ms: int | None = None
    text: str = ""
    rejected: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True)
class DocumentRow:
    """What the store knows of a document, without its text."""

    id: int
    source: str
    path: str
    hash: str
    size: int
    mtime_ns: int
    time_ms: int | None
    rejected: str | None
    chunks: int
    meta: Mapping[str, Any]


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


@dataclass(frozen=True)
class Filter:
    """What a search may see, applied by both legs before their limits.

    Attributes:
        sources: Sources that are on.
        documents: Ids of the only documents allowed; None for all.
    """

    sources: frozenset[str]
    documents: frozenset[int] | None = None


@dataclass(frozen=True)
class PendingChunk:
    """A chunk that has no vector yet, with the text to embed: its headings, then its lines."""

    id: int
    path: str
    embedding_key: bytes
    text: str


@dataclass(frozen=True)
class IndexState:
    """What the store says of one agent's index.

    Attributes:
        generation: Changes with every rebuild.
        revision: Changes with every write.
        identity: The settings that the index was built with.
        complete: False while the first build, or a rebuild, is not finished.
        facts: Other facts by name: ``space`` (provider, model and dimensions of the
            vectors), time and error of the last sync.
    """

    generation: int
    revision: int
    identity: Mapping[str, Any]
    complete: bool
    facts: Mapping[str, Any]


class Writer(Protocol):
    """One transaction on an agent's index: all of it, or nothing."""

    def replace(self, document: Document, chunks: Sequence[ChunkRow]) -> int:
        """Put a document with its chunks in place of what was there; give its id.

        A chunk whose text was there keeps its vector: a kill behind this loses none.
        """
        ...

    def remove(self, document_id: int) -> None:
        """Remove a document with its chunks, terms and vectors."""
        ...

    def move(self, document_id: int, *, path: str, size: int, mtime_ns: int) -> None:
        """Give a document a new path; chunks and vectors stay."""
        ...

    def touch(self, document_id: int, *, size: int, mtime_ns: int) -> None:
        """Note that a file has a new time but the same content."""
        ...

    def put_vectors(self, vectors: Mapping[int, NDArray[Any] | bytes], *, space: Mapping[str, Any]) -> None:
        """Store vectors by chunk id; chunks that are gone are passed over.

        Args:
            vectors: Chunk id to its unit vector, or, in a space of sentences, to the
                record of its sentences (``core.codes.encode``).
            space: Provider, model, dimensions and sentences: the version of the rules
                that find them, 0 for one vector a chunk. Vectors of another space cannot be
                compared with these: they are removed first.
        """
        ...

    def put_facts(self, facts: Mapping[str, Any]) -> None:
        """Remember facts about the index by name."""
        ...

    def tombstones(self) -> frozenset[Tombstone]:
        """Give what the agent has forgotten, as of this transaction."""
        ...

    def put_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """Remember them; they belong to the agent, and outlive every generation."""
        ...

    def remove_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """Drop them."""
        ...

    def complete(self) -> None:
        """Make this generation the one that answers; older ones are removed."""
        ...


class Reader(Protocol):
    """One consistent view of one agent's index; nothing of another agent is in it.

    Both legs return raw strengths: fusion, decay, diversity and thresholds sit above
    the store, so that two stores cannot rank differently.
    """

    def state(self) -> IndexState | None:
        """Give the state of the index; None when there is none."""
        ...

    def documents(self) -> list[DocumentRow]:
        """List the documents by (source, path)."""
        ...

    def text_candidates(self, terms: Sequence[str], where: Filter, limit: int) -> list[int]:
        """Give the ids of the chunks with the strongest match of any term, best first.

        Raises:
            StoreError: Full-text search is unavailable.
        """
        ...

    def scan_text(self, terms: Sequence[str], where: Filter) -> list[int]:
        """Give the ids of all chunks with any of the terms, without the full-text index."""
        ...

    def vector_candidates(self, vector: NDArray[Any], where: Filter, limit: int) -> list[tuple[int, float]]:
        """Give (chunk id, cosine of its best sentence) of the nearest chunks, best first."""
        ...

    def cosines(self, vector: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, Nearness]:
        """Give how near each named chunk is that has a vector."""
        ...

    def candidates(self, chunk_ids: Collection[int], terms: Sequence[str]) -> list[Candidate]:
        """Describe chunks and count the query terms in them."""
        ...

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        """Give the agent's own term statistics for a question."""
        ...

    def texts(self, chunk_ids: Collection[int]) -> dict[int, str]:
        """Give the text of chunks, as indexed."""
        ...

    def pending(self, *, limit: int, after: int = 0, all_chunks: bool = False) -> list[PendingChunk]:
        """Give chunks without a vector (or all), by id, beginning after one."""
        ...

    def tombstones(self) -> frozenset[Tombstone]:
        """Give what the agent has forgotten."""
        ...

    def document_text(self, document_id: int) -> str:
        """Give the text of a document, as indexed; "" for one that is not there."""
        ...

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """Give the chunks of a document in their order."""
        ...

    def counts(self) -> dict[str, dict[str, int]]:
        """Count files, chunks, vectors and rejected files per source."""
        ...

    def bytes_by_part(self, *, deep: bool = True) -> dict[str, int]:
        """Give the bytes of the index as "file", when *deep* also those of each part of it."""
        ...


class Store(Protocol):
    """Keeps documents, chunks, terms and vectors per agent.

    An index is a *generation* with an identity: the settings that it was built with.
    Writing with another identity builds a new generation beside the one that answers,
    until it is completed.
    """

    @property
    def location(self) -> str:
        """Where the index lies, for people."""
        ...

    def reading(self, agent: str, identity: Mapping[str, Any] | None = None) -> AbstractContextManager[Reader]:
        """Open a view: of the generation that answers, or of the one with this identity."""
        ...

    def writing(self, agent: str, identity: Mapping[str, Any]) -> AbstractContextManager[Writer]:
        """Open a transaction on the generation with this identity; it is made when missing."""
        ...

    def agents(self) -> list[str]:
        """Name the agents that have an index here."""
        ...

    def identities(self, agent: str) -> list[dict[str, Any]]:
        """Give the identity of each generation of an agent, the one that answers first."""
        ...

    def faults(self, agent: str) -> list[Fault]:
        """Name what contradicts itself in the rows of an agent; nothing in a sound index."""
        ...

    def repair(self, agent: str) -> None:
        """Make the rows agree again; what cannot be saved is removed, and missing from then on."""
        ...

    def close(self) -> None:
        """Release files and connections."""
        ...
