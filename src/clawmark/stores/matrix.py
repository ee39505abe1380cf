"""The vectors of one generation as one matrix in memory: an exact scan of all of them.

A rebuildable cache of the rows in the file: it follows the generation's revision.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, Protocol

from clawmark.core.codes import SentenceCodes, decode, estimate, nearest_by_signs
from clawmark.core.ports import DocumentRow
from clawmark.core.rows import Nearness
from clawmark.stores.codec import unpack_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


# Sentences that are compared in full, for each chunk that is asked for: the signs alone
# put the best sentence of a chunk among so many, and counting bits costs next to nothing.
SENTENCES_PER_PLACE = 8


class Matrix(Protocol):
    """All vectors of a generation, ready for a question."""

    def nearest(self, query: NDArray[Any], documents: Collection[int] | None, limit: int) -> list[tuple[int, float]]:
        """Give (chunk id, cosine) of the nearest chunks, best first, ties by chunk id."""
        ...

    def cosines(self, query: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, Nearness]:
        """Give how near each named chunk is that has a vector."""
        ...


class VectorMatrix:
    """Unit vectors with the chunks and documents that they belong to.

    Attributes:
        chunk_ids: (vectors,) int64, rising.
        document_ids: (vectors,) int64.
        vectors: (vectors, dimensions) float32, rows of unit length.
    """

    def __init__(self, chunk_ids: NDArray[Any], document_ids: NDArray[Any], vectors: NDArray[Any]) -> None:
        self.chunk_ids = chunk_ids
        self.document_ids = document_ids
        self.vectors = vectors

    def nearest(self, query: NDArray[Any], documents: Collection[int] | None, limit: int) -> list[tuple[int, float]]:
        """Give (chunk id, cosine) of the nearest vectors, best first, ties by chunk id."""
        import numpy as np

        if not self._comparable(query):
            return []
        cosines = self.vectors @ query
        rows = np.arange(len(cosines))
        if documents is not None:
            rows = np.flatnonzero(np.isin(self.document_ids, np.fromiter(documents, dtype=np.int64)))
        if len(rows) > limit:
            # Everything as near as the last one stays, so that ties are broken by id.
            border = np.partition(cosines[rows], len(rows) - limit)[len(rows) - limit]
            rows = rows[cosines[rows] >= border]
        order = rows[np.lexsort((self.chunk_ids[rows], -cosines[rows]))][:limit]
        return [(int(self.chunk_ids[row]), float(cosines[row])) for row in order]

    def cosines(self, query: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, Nearness]:
        """Give the cosine of each named chunk that has a vector."""
        import numpy as np

        if not self._comparable(query):
            return {}
        rows = _rows_of(self.chunk_ids, chunk_ids)
        values = np.einsum("ij,j->i", self.vectors[rows], query).tolist()
        ids = self.chunk_ids[rows].tolist()
        return {chunk: Nearness(value, value) for chunk, value in zip(ids, values, strict=True)}

    def _comparable(self, query: NDArray[Any]) -> bool:
        return len(self.chunk_ids) > 0 and self.vectors.shape[1] == query.shape[0]


class SentenceMatrix:
    """Sentence vectors with the chunks and documents that they belong to.

    Attributes:
        chunk_ids: (chunks,) int64, rising.
        document_ids: (chunks,) int64.
        sentences: Their codes, in the order of the chunks.
        dimensions: Of the vectors.
    """

    def __init__(
        self, chunk_ids: NDArray[Any], document_ids: NDArray[Any], sentences: SentenceCodes, dimensions: int
    ) -> None:
        self.chunk_ids = chunk_ids
        self.document_ids = document_ids
        self.sentences = sentences
        self.dimensions = dimensions

    def nearest(self, query: NDArray[Any], documents: Collection[int] | None, limit: int) -> list[tuple[int, float]]:
        """Give (chunk id, cosine of its best sentence), best first, ties by chunk id."""
        import numpy as np

        if not self._comparable(query):
            return []
        kept = self.sentences
        chosen = np.arange(len(self.chunk_ids))
        if documents is not None:
            chosen = np.flatnonzero(np.isin(self.document_ids, np.fromiter(documents, dtype=np.int64)))
        rows, _ = self._sentences_of(chosen) if documents is not None else (np.arange(len(kept.factors)), None)
        near = rows[nearest_by_signs(kept.words[rows], query, limit * SENTENCES_PER_PLACE)]
        values = estimate(kept.signs[near], kept.factors[near], query)
        owners = np.searchsorted(kept.first, near, side="right") - 1
        order = np.lexsort((owners, -values))
        _, places = np.unique(owners[order], return_index=True)
        order = order[np.sort(places)][:limit]
        ids = self.chunk_ids[owners[order]].tolist()
        return list(zip(ids, values[order].tolist(), strict=True))

    def cosines(self, query: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, Nearness]:
        """Give how near the best sentence of each named chunk is, and all of them together."""
        import numpy as np

        chosen = _rows_of(self.chunk_ids, chunk_ids)
        if not self._comparable(query) or not len(chosen):
            return {}
        kept = self.sentences
        rows, begins = self._sentences_of(chosen)
        values = estimate(kept.signs[rows], kept.factors[rows], query)
        best = np.maximum.reduceat(values, begins)
        whole = np.add.reduceat(values, begins) / np.maximum(kept.lengths[chosen], 1e-6)
        triples = zip(self.chunk_ids[chosen].tolist(), best.tolist(), whole.tolist(), strict=True)
        return {chunk: Nearness(near, together) for chunk, near, together in triples}

    def _sentences_of(self, chosen: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Give the rows of all sentences of some chunks, and where each chunk's rows begin."""
        import numpy as np

        first = self.sentences.first
        counts = first[chosen + 1] - first[chosen]
        begins: NDArray[Any] = np.cumsum(counts) - counts
        rows: NDArray[Any] = np.arange(int(counts.sum())) + np.repeat(first[chosen] - begins, counts)
        return rows, begins

    def _comparable(self, query: NDArray[Any]) -> bool:
        return len(self.chunk_ids) > 0 and self.dimensions == query.shape[0]


def _rows_of(chunk_ids: NDArray[Any], wanted: Collection[int]) -> NDArray[Any]:
    """Give the rows of those wanted chunks that are there, rising."""
    import numpy as np

    ids = np.array(sorted(wanted), dtype=np.int64)
    if not len(chunk_ids) or not len(ids):
        return np.empty(0, dtype=np.int64)
    at = np.minimum(np.searchsorted(chunk_ids, ids), len(chunk_ids) - 1)
    return at[chunk_ids[at] == ids]


class MatrixCache:
    """Keeps the matrix, and the list of documents, of the generation that was read last, per revision."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[int, Matrix]] = {}
        self._documents: tuple[tuple[int, int], tuple[DocumentRow, ...]] | None = None

    def documents(self, generation: int, revision: int, load: Callable[[], list[DocumentRow]]) -> list[DocumentRow]:
        """Give the documents as of a revision: a sync that finds nothing to do asks for all of them each time."""
        key = (generation, revision)
        kept = self._documents
        if kept is None or kept[0] != key:
            kept = self._documents = key, tuple(load())
        return list(kept[1])

    def get(self, db: sqlite3.Connection, generation: int | None) -> Matrix:
        """Give the matrix as of the connection's snapshot."""
        row = db.execute("SELECT revision, facts FROM generations WHERE id = ?", (generation,)).fetchone()
        revision = row[0] if row else -1
        facts: dict[str, Any] = json.loads(row[1]) if row else {}
        with self._lock:
            kept = self._kept.get(generation or 0)
            if kept is None or kept[0] != revision:
                kept = (revision, _load(db, generation, facts.get("space") or {}))
                self._kept = {generation or 0: kept}
            return kept[1]


def _load(db: sqlite3.Connection, generation: int | None, space: dict[str, Any]) -> Matrix:
    import numpy as np

    rows = db.execute(
        "SELECT v.chunk, c.document, v.vector FROM vectors v JOIN chunks c ON c.id = v.chunk "
        "JOIN documents d ON d.id = c.document WHERE d.generation = ? ORDER BY v.chunk",
        (generation,),
    ).fetchall()
    chunk_ids = np.array([row[0] for row in rows], dtype=np.int64)
    document_ids = np.array([row[1] for row in rows], dtype=np.int64)
    blobs = [row[2] for row in rows]
    try:
        if space.get("sentences"):
            dimensions = int(space["dimensions"])
            return SentenceMatrix(chunk_ids, document_ids, decode(blobs, dimensions), dimensions)
        return VectorMatrix(chunk_ids, document_ids, unpack_vectors(blobs))
    except ValueError as error:
        raise sqlite3.DatabaseError(f"malformed vectors ({error})") from error
