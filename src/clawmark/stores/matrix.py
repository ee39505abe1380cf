"""The vectors of one generation as one matrix in memory: an exact scan of all of them.

A rebuildable cache of the rows in the file: it follows the generation's revision.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from clawmark.stores.codec import unpack_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray


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

    def cosines(self, query: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, float]:
        """Give the cosine of each named chunk that has a vector."""
        import numpy as np

        if not self._comparable(query) or not chunk_ids:
            return {}
        wanted = np.array(sorted(chunk_ids), dtype=np.int64)
        at = np.minimum(np.searchsorted(self.chunk_ids, wanted), len(self.chunk_ids) - 1)
        found = self.chunk_ids[at] == wanted
        rows = at[found]
        values = np.einsum("ij,j->i", self.vectors[rows], query)
        return {int(chunk): float(value) for chunk, value in zip(wanted[found], values, strict=True)}

    def _comparable(self, query: NDArray[Any]) -> bool:
        return len(self.chunk_ids) > 0 and self.vectors.shape[1] == query.shape[0]


class MatrixCache:
    """Keeps the matrix of the generation that was read last, per generation and revision."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[int, VectorMatrix]] = {}

    def get(self, db: sqlite3.Connection, generation: int | None) -> VectorMatrix:
        """Give the matrix as of the connection's snapshot."""
        row = db.execute("SELECT revision FROM generations WHERE id = ?", (generation,)).fetchone()
        revision = row[0] if row else -1
        with self._lock:
            kept = self._kept.get(generation or 0)
            if kept is None or kept[0] != revision:
                kept = (revision, _load(db, generation))
                self._kept = {generation or 0: kept}
            return kept[1]


def _load(db: sqlite3.Connection, generation: int | None) -> VectorMatrix:
    import numpy as np

    rows = db.execute(
        "SELECT v.chunk, c.document, v.vector FROM vectors v JOIN chunks c ON c.id = v.chunk "
        "JOIN documents d ON d.id = c.document WHERE d.generation = ? ORDER BY v.chunk",
        (generation,),
    ).fetchall()
    chunk_ids = np.array([row[0] for row in rows], dtype=np.int64)
    document_ids = np.array([row[1] for row in rows], dtype=np.int64)
    try:
        vectors = unpack_vectors([row[2] for row in rows])
    except ValueError as error:
        raise sqlite3.DatabaseError(f"malformed vectors ({error})") from error
    return VectorMatrix(chunk_ids, document_ids, vectors)
