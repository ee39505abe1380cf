"""From chunks without a vector to chunks with one: cache first, then the provider.

Every finished batch is kept: what a killed process had embedded is not embedded again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from clawmark.core.chunking import WEIGHT_PER_TOKEN, weigh
from clawmark.core.codes import encode, is_record
from clawmark.core.errors import (
    ClawmarkError,
    EmbeddingError,
    InputTooLongError,
    ProviderError,
    QuotaError,
    RateLimitedError,
)
from clawmark.core.graphemes import safe_cut
from clawmark.core.log import logger
from clawmark.core.model import PathReason
from clawmark.core.ports import Embedder, PendingChunk, Store, embeds_sentences
from clawmark.core.sentences import SENTENCES_VERSION, sentence_spans
from clawmark.embedders.cache import EmbeddingCache

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # A vector for the whole chunk, or the record of its sentences.
    Vectors = NDArray[Any] | bytes


# Pending chunks read at a time: bounds memory, and fills several batches.
_PAGE = 512


@dataclass
class EmbeddingOutcome:
    """What embedding did.

    Attributes:
        texts_embedded: Texts that the provider was paid for.
        failed: Paths with a chunk that could not be embedded, and why.
        stopped: Why embedding ended early; None when all was tried.
        tried: Whether there was an embedder at all.
        refused: Chunks that could not be embedded.
    """

    texts_embedded: int = 0
    failed: list[PathReason] = field(default_factory=list[PathReason])
    stopped: ClawmarkError | None = None
    tried: bool = False
    refused: int = 0


def embed_pending(
    store: Store,
    agent: str,
    identity: dict[str, Any],
    embedder: Embedder,
    cache: EmbeddingCache | None,
    progress: Callable[[int], None],
    *,
    again: bool = False,
) -> EmbeddingOutcome:
    """Give every chunk its vector.

    Args:
        store: Holds the chunks.
        agent: Their owner.
        identity: Of the generation to fill.
        embedder: Makes the vectors.
        cache: Known vectors; None for no cache.
        progress: Told the number of chunks after each batch.
        again: Also those that have one, because it comes from another model. The first
            batch that succeeds replaces all: an index keeps its vectors while the
            new provider is down.
    """
    outcome = EmbeddingOutcome(tried=True)
    spender = _Spender(embedder, outcome)
    while True:
        before = spender.dimensions
        # A second round tries again what failed in the first.
        outcome.failed.clear()
        outcome.refused = 0
        try:
            for page in _pages(store, agent, identity, again=again):
                for batch in _batches(page, embedder, spender.dimensions, cache):
                    vectors = spender.embed(batch.missing)
                    outcome.refused += batch.without(vectors)
                    space = space_of(embedder, spender.dimensions or 0)
                    _keep(store, agent, identity, space, batch, vectors, cache)
                    progress(len(batch.known) + len(batch.missing))
        except ClawmarkError as error:
            outcome.stopped = error
            return outcome
        # The first answer may have replaced vectors of another length: those chunks wait again.
        if spender.dimensions == before or again:
            return outcome


@dataclass
class _Batch:
    known: dict[int, Vectors]
    missing: list[PendingChunk]
    twins: dict[bytes, list[int]]

    def without(self, vectors: dict[int, Vectors]) -> int:
        """Count the chunks, equal ones included, that an answer leaves without a vector."""
        return sum(len(self.twins[chunk.embedding_key]) for chunk in self.missing if chunk.id not in vectors)


def _pages(store: Store, agent: str, identity: dict[str, Any], *, again: bool) -> Iterator[list[PendingChunk]]:
    after = 0
    while True:
        with store.reading(agent, identity) as reader:
            page = reader.pending(limit=_PAGE, after=after, all_chunks=again)
        if not page:
            return
        yield page
        after = page[-1].id


def _batches(
    page: Sequence[PendingChunk], embedder: Embedder, dimensions: int | None, cache: EmbeddingCache | None
) -> Iterator[_Batch]:
    """Cut a page into batches of the provider's size; equal texts are sent once.

    While the length of a vector is not known, the first batch is one text, and nothing is
    taken from the cache: the same model may have been asked for another length before.
    """
    if dimensions is None:
        yield _Batch({}, list(page[:1]), {page[0].embedding_key: [page[0].id]})
        page = page[1:]
    twins: dict[bytes, list[int]] = {}
    for chunk in page:
        twins.setdefault(chunk.embedding_key, []).append(chunk.id)
    found = _cached(cache, list(twins), space_of(embedder, dimensions)) if cache and dimensions else {}
    known = {number: vector for key, vector in found.items() for number in twins[key]}
    first = {chunk.embedding_key: chunk for chunk in reversed(page) if chunk.embedding_key not in found}
    missing = sorted(first.values(), key=lambda chunk: chunk.id)
    size = max(1, embedder.max_batch_items)
    yield _Batch(known, missing[:size], twins)
    for start in range(size, len(missing), size):
        yield _Batch({}, missing[start : start + size], twins)


def same_space(space: dict[str, Any], embedder: Embedder) -> bool:
    """Tell whether vectors of an index can be compared with those of an embedder."""
    if (space["provider"], space["model"]) != (embedder.provider, embedder.model):
        return False
    return embedder.dimensions is None or embedder.dimensions == space["dimensions"]


def space_of(embedder: Embedder, dimensions: int) -> dict[str, Any]:
    """Give what vectors must have in common to lie in one index."""
    return {
        "provider": embedder.provider,
        "model": embedder.model,
        "dimensions": dimensions,
        "sentences": SENTENCES_VERSION if embeds_sentences(embedder) else 0,
    }


def _cached(cache: EmbeddingCache, keys: list[bytes], space: dict[str, Any]) -> dict[bytes, Vectors]:
    provider, dimensions = space["provider"], space["dimensions"]
    if not space["sentences"]:
        vectors = cache.get(provider, space["model"], keys)
        return {key: vector for key, vector in vectors.items() if len(vector) == dimensions}
    records = cache.get_records(provider, kind_of(space), keys)
    return {key: record for key, record in records.items() if is_record(len(record), dimensions)}


def kind_of(space: dict[str, Any]) -> str:
    """Name a model together with the rules that find the sentences."""
    return f"{space['model']}\0sentences {space['sentences']}" if space["sentences"] else space["model"]


def _keep(
    store: Store,
    agent: str,
    identity: dict[str, Any],
    space: dict[str, Any],
    batch: _Batch,
    vectors: dict[int, Vectors],
    cache: EmbeddingCache | None,
) -> None:
    by_key = {chunk.embedding_key: vectors[chunk.id] for chunk in batch.missing if chunk.id in vectors}
    everything = dict(batch.known)
    for key, vector in by_key.items():
        everything.update(dict.fromkeys(batch.twins[key], vector))
    if not everything:
        return
    if cache and by_key:
        cache.put(space["provider"], kind_of(space), by_key)
    with store.writing(agent, identity) as writer:
        writer.put_vectors(everything, space=space)


class _Spender:
    """Calls the provider: checks every answer, halves what is refused, never loses the rest."""

    def __init__(self, embedder: Embedder, outcome: EmbeddingOutcome) -> None:
        self._embedder = embedder
        self._outcome = outcome
        self.dimensions = embedder.dimensions

    def embed(self, chunks: Sequence[PendingChunk]) -> dict[int, Vectors]:
        """Give the vectors of each chunk; chunks that cannot be embedded are listed and left out."""
        if not chunks:
            return {}
        texts = [chunk.text for chunk in chunks]
        try:
            vectors = self._by_sentence(texts) if embeds_sentences(self._embedder) else self._whole(texts)
        except (RateLimitedError, QuotaError, ProviderError):
            raise
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; one bad text must not sink the rest
            return self._halved(chunks, error)
        self._outcome.texts_embedded += len(chunks)
        return {chunk.id: vector for chunk, vector in zip(chunks, vectors, strict=True)}

    def _whole(self, texts: Sequence[str]) -> Sequence[Vectors]:
        most = self._embedder.max_input_tokens
        vectors = checked(self._embedder.embed_documents([fitting(text, most) for text in texts]), len(texts))
        self._agree(vectors.shape[1])
        return list(vectors)

    def _by_sentence(self, texts: Sequence[str]) -> Sequence[Vectors]:
        """Embed every distinct sentence of some chunks once: neighbours share some."""
        import numpy as np

        sentences = [[text[start:end] for start, end in sentence_spans(text)] or [text] for text in texts]
        rows = {sentence: row for row, sentence in enumerate(dict.fromkeys(chain.from_iterable(sentences)))}
        distinct, size = list(rows), max(1, self._embedder.max_batch_items)
        parts = [self._whole(distinct[start : start + size]) for start in range(0, len(distinct), size)]
        vectors = np.array(list(chain.from_iterable(parts)))
        return [encode(vectors[[rows[sentence] for sentence in own]]) for own in sentences]

    def _agree(self, dimensions: int) -> None:
        """Refuse vectors of another length than the first: they could not be compared."""
        if self.dimensions is None:
            self.dimensions = dimensions
        elif dimensions != self.dimensions:
            message = f"The answer holds vectors of {dimensions} numbers, where others have {self.dimensions}."
            raise EmbeddingError(message, code="BAD_EMBEDDING")

    def _halved(self, chunks: Sequence[PendingChunk], error: Exception) -> dict[int, Vectors]:
        if len(chunks) > 1:
            middle = len(chunks) // 2
            return self.embed(chunks[:middle]) | self.embed(chunks[middle:])
        chunk = chunks[0]
        half = safe_cut(chunk.text, len(chunk.text) // 2)
        if isinstance(error, InputTooLongError) and half > 0:
            # The beginning of a text is the best single vector for it that the model can give.
            return self.embed([PendingChunk(chunk.id, chunk.path, chunk.embedding_key, chunk.text[:half])])
        logger(__name__).debug("embedding %s failed", chunk.path, exc_info=error)
        reason = f"embedding failed: {error or type(error).__name__}"
        self._outcome.failed.append(PathReason(chunk.path, reason))
        return {}


def fitting(text: str, max_tokens: int) -> str:
    """Cut a text to the tokens that a model takes, by estimate."""
    budget = max_tokens * WEIGHT_PER_TOKEN
    if weigh(text) <= budget:
        return text
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if weigh(text[:middle]) <= budget else (low, middle - 1)
    return text[: safe_cut(text, low)]


def checked(vectors: Any, count: int) -> NDArray[Any]:
    """Check an answer and bring its rows to unit length.

    Raises:
        EmbeddingError: Wrong count or shape, numbers that are not finite, a row of zeros.
    """
    import numpy as np

    matrix = np.asarray(vectors, dtype=np.float32)
    if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
        raise EmbeddingError(f"{count} texts gave an answer of shape {matrix.shape}.", code="BAD_EMBEDDING")
    with np.errstate(over="ignore"):
        norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    if not np.isfinite(matrix).all() or not np.isfinite(norms).all() or (norms < 1e-10).any():
        raise EmbeddingError(
            "The answer holds numbers that are not finite, or nothing but zeros.", code="BAD_EMBEDDING"
        )
    return matrix / norms
