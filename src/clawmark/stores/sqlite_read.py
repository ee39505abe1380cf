"""The reading side of the SQLite index: one generation, one snapshot."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.chunking import embedding_text
from clawmark.core.forgetting import Tombstone
from clawmark.core.ports import Candidate, DocumentRow, Filter, IndexState, PendingChunk
from clawmark.core.rows import Nearness, StoredChunk
from clawmark.core.scoring import TermStatistics
from clawmark.stores.codec import count_terms, unpack
from clawmark.stores.sqlite_schema import terms_table, translate
from clawmark.stores.tombstones import tombstones_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from clawmark.stores.matrix import MatrixCache

_DOCUMENT_COLUMNS = "id, source, path, hash, size, mtime_ns, time_ms, rejected, chunks, meta"


class SqliteReader:
    """A consistent view of one generation (``core.ports.Reader``)."""

    def __init__(
        self, db: sqlite3.Connection, generation: int | None, matrices: MatrixCache, location: str, agent: str
    ) -> None:
        self._db = db
        self._agent = agent
        self._location = location
        self._generation = generation
        self._matrices = matrices

    def state(self) -> IndexState | None:
        """See ``core.ports.Reader``."""
        if self._generation is None:
            return None
        row = self._db.execute(
            "SELECT id, revision, identity, complete, facts FROM generations WHERE id = ?",
            (self._generation,),
        ).fetchone()
        if row is None:
            return None
        return IndexState(row[0], row[1], json.loads(row[2]), bool(row[3]), json.loads(row[4]))

    def documents(self) -> list[DocumentRow]:
        """See ``core.ports.Reader``."""
        if self._generation is None:
            return []
        row = self._db.execute("SELECT revision FROM generations WHERE id = ?", (self._generation,)).fetchone()
        return self._matrices.documents(self._generation, row[0] if row else -1, self._read_documents)

    def _read_documents(self) -> list[DocumentRow]:
        rows = self._db.execute(
            f"SELECT {_DOCUMENT_COLUMNS} FROM documents WHERE generation = ? ORDER BY source, path",
            (self._generation,),
        )
        return [DocumentRow(*row[:9], meta=json.loads(row[9]) if row[9] != "{}" else {}) for row in rows]

    def text_candidates(self, terms: Sequence[str], where: Filter, limit: int) -> list[int]:
        """See ``core.ports.Reader``."""
        if not terms or self._generation is None:
            return []
        # Every term is quoted, and no term holds a quotation mark: no user text is syntax.
        match = " OR ".join(f'"{term}"' for term in terms)
        join, values = self._restrict(where, "f.rowid")
        table = terms_table(self._generation)
        sql = f"SELECT f.rowid FROM {table} f {join} AND f.{table} MATCH ? ORDER BY f.rank, f.rowid LIMIT ?"
        try:
            return [row[0] for row in self._db.execute(sql, (*values, match, limit))]
        except sqlite3.Error as error:
            raise translate(error, self._location) from error

    def scan_text(self, terms: Sequence[str], where: Filter) -> list[int]:
        """See ``core.ports.Reader``."""
        join, values = self._restrict(where, "f.id", always=True)
        rows = self._db.execute(f"SELECT f.id FROM chunks f {join} ORDER BY f.id", values)
        texts = self.texts([row[0] for row in rows])
        wanted = frozenset(terms)
        return [number for number, text in texts.items() if count_terms(text, wanted)]

    def vector_candidates(self, vector: NDArray[Any], where: Filter, limit: int) -> list[tuple[int, float]]:
        """See ``core.ports.Reader``."""
        matrix = self._matrices.get(self._db, self._generation)
        allowed = None if self._sees_all(where) else self._allowed_documents(where)
        return matrix.nearest(vector, allowed, limit)

    def cosines(self, vector: NDArray[Any], chunk_ids: Collection[int]) -> dict[int, Nearness]:
        """See ``core.ports.Reader``."""
        return self._matrices.get(self._db, self._generation).cosines(vector, chunk_ids)

    def candidates(self, chunk_ids: Collection[int], terms: Sequence[str]) -> list[Candidate]:
        """See ``core.ports.Reader``."""
        rows = self._db.execute(
            "SELECT c.id, c.document, d.source, d.path, c.start_line, c.end_line, c.length, "
            "d.mtime_ns, d.size, d.time_ms, d.kind, "
            "CASE d.source WHEN 'sessions' THEN json_extract(d.meta, '$.session') ELSE '' END, c.speaker, c.spoken_ms "
            "FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE c.id IN (SELECT value FROM json_each(?)) AND d.generation = ?",
            (json.dumps(list(chunk_ids)), self._generation),
        ).fetchall()
        counts = self._term_frequency(chunk_ids, terms)
        return [_candidate(row, counts.get(row[0], {})) for row in rows]

    def statistics(self, terms: Sequence[str]) -> TermStatistics:
        """See ``core.ports.Reader``."""
        row = self._db.execute(
            "SELECT chunks, total_length FROM generations WHERE id = ?", (self._generation,)
        ).fetchone()
        chunks, total = row or (0, 0)
        return TermStatistics(chunks, total / chunks if chunks else 0.0, self._document_frequency(terms))

    def texts(self, chunk_ids: Collection[int]) -> dict[int, str]:
        """See ``core.ports.Reader``."""
        rows = self._db.execute(
            "SELECT c.id, c.document, c.start, c.stop FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE c.id IN (SELECT value FROM json_each(?)) AND d.generation = ?",
            (json.dumps(list(chunk_ids)), self._generation),
        ).fetchall()
        texts = self._document_texts({row[1] for row in rows})
        return {row[0]: texts[row[1]][row[2] : row[3]] for row in rows}

    def pending(self, *, limit: int, after: int = 0, all_chunks: bool = False) -> list[PendingChunk]:
        """See ``core.ports.Reader``."""
        rows = self._db.execute(
            "SELECT c.id, d.path, c.embedding_key, c.document, c.start, c.stop, c.context "
            "FROM chunks c JOIN documents d ON d.id = c.document LEFT JOIN vectors v ON v.chunk = c.id "
            "WHERE d.generation = ? AND c.id > ? AND (? OR v.chunk IS NULL) ORDER BY c.id LIMIT ?",
            (self._generation, after, all_chunks, limit),
        ).fetchall()
        texts = self._document_texts({row[3] for row in rows})
        return [
            PendingChunk(row[0], row[1], row[2], embedding_text(row[6], texts[row[3]][row[4] : row[5]])) for row in rows
        ]

    def tombstones(self) -> frozenset[Tombstone]:
        """See ``core.ports.Reader``."""
        return tombstones_of(self._db, self._agent)

    def document_text(self, document_id: int) -> str:
        """See ``core.ports.Reader``."""
        row = self._db.execute(
            "SELECT text FROM documents WHERE id = ? AND generation = ?", (document_id, self._generation)
        ).fetchone()
        return unpack(row[0]) if row else ""

    def chunks(self, document_id: int) -> list[StoredChunk]:
        """See ``core.ports.Reader``."""
        rows = self._db.execute(
            "SELECT c.id, c.start_line, c.end_line, c.start, c.stop, c.embedding_key, v.chunk IS NOT NULL "
            "FROM chunks c JOIN documents d ON d.id = c.document LEFT JOIN vectors v ON v.chunk = c.id "
            "WHERE d.id = ? AND d.generation = ? ORDER BY c.start, c.id",
            (document_id, self._generation),
        )
        return [StoredChunk(*row[:6], embedded=bool(row[6])) for row in rows]

    def counts(self) -> dict[str, dict[str, int]]:
        """See ``core.ports.Reader``."""
        if self._generation is None:
            return {}
        counts: dict[str, dict[str, int]] = {}
        rows = self._db.execute(
            "SELECT source, sum(rejected IS NULL), sum(chunks), sum(rejected IS NOT NULL) "
            "FROM documents WHERE generation = ? GROUP BY source",
            (self._generation,),
        )
        for source, files, chunks, rejected in rows:
            counts[source] = {"files": files, "chunks": chunks, "vectors": 0, "rejected": rejected}
        rows = self._db.execute(
            "SELECT d.source, count(*) FROM vectors v JOIN chunks c ON c.id = v.chunk "
            "JOIN documents d ON d.id = c.document WHERE d.generation = ? GROUP BY d.source",
            (self._generation,),
        )
        for source, vectors in rows:
            counts[source]["vectors"] = vectors
        return counts

    def bytes_by_part(self, *, deep: bool = True) -> dict[str, int]:
        """See ``core.ports.Reader``."""
        if self._generation is None:
            return {}
        pages = self._db.execute("PRAGMA page_count").fetchone()[0]
        file = {"file": pages * self._db.execute("PRAGMA page_size").fetchone()[0]}
        return self._parts() | file if deep else file

    def _parts(self) -> dict[str, int]:
        assert self._generation is not None
        row = self._db.execute(
            "SELECT coalesce(sum(length(d.text)), 0) FROM documents d WHERE d.generation = ?",
            (self._generation,),
        ).fetchone()
        parts = {"text": int(row[0])}
        row = self._db.execute(
            "SELECT coalesce(sum(length(v.vector)), 0) "
            "FROM chunks c JOIN documents d ON d.id = c.document LEFT JOIN vectors v ON v.chunk = c.id "
            "WHERE d.generation = ?",
            (self._generation,),
        ).fetchone()
        parts["vectors"] = int(row[0])
        table = terms_table(self._generation)
        row = self._db.execute(f"SELECT coalesce(sum(length(block)), 0) FROM {table}_data").fetchone()
        parts["full_text"] = int(row[0])
        return parts

    def _document_texts(self, ids: Collection[int]) -> dict[int, str]:
        rows = self._db.execute(
            "SELECT id, text FROM documents WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(ids)),),
        )
        return {row[0]: unpack(row[1]) for row in rows}

    def _document_frequency(self, terms: Sequence[str]) -> dict[str, int]:
        if not terms or self._generation is None:
            return {}
        sql = "SELECT term, doc FROM {0} WHERE term IN (SELECT value FROM json_each(?))"
        try:
            return dict(self._ask_vocabulary("row", sql, json.dumps(list(terms))))
        except sqlite3.Error:
            return dict(Counter(term for _, counts in self._counted(None, terms) for term in counts))

    def _term_frequency(self, chunk_ids: Collection[int], terms: Sequence[str]) -> dict[int, dict[str, int]]:
        if not terms or self._generation is None:
            return {}
        sql = (
            "SELECT doc, term, count(*) FROM {0} WHERE term IN (SELECT value FROM json_each(?)) "
            "AND doc IN (SELECT value FROM json_each(?)) GROUP BY doc, term"
        )
        found: dict[int, dict[str, int]] = {}
        try:
            rows = self._ask_vocabulary("instance", sql, json.dumps(list(terms)), json.dumps(list(chunk_ids)))
            for number, term, count in rows:
                found.setdefault(number, {})[term] = count
        except sqlite3.Error:
            return dict(self._counted(chunk_ids, terms))
        return found

    def _ask_vocabulary(self, kind: str, sql: str, *values: str) -> list[Any]:
        """Ask the full-text index for its terms: "row" per term, "instance" per occurrence."""
        assert self._generation is not None
        name = f"temp.vocabulary_{kind}_{self._generation:d}"
        table = terms_table(self._generation)
        self._db.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5vocab ('main', '{table}', '{kind}')")
        return self._db.execute(sql.format(name), values).fetchall()

    def _counted(self, chunk_ids: Collection[int] | None, terms: Sequence[str]) -> list[tuple[int, dict[str, int]]]:
        """Count terms in the texts (of all chunks), when the full-text index is damaged."""
        if chunk_ids is None:
            rows = self._db.execute(
                "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.generation = ?",
                (self._generation,),
            )
            chunk_ids = [row[0] for row in rows]
        wanted = frozenset(terms)
        return [(number, count_terms(text, wanted)) for number, text in self.texts(chunk_ids).items()]

    def _sees_all(self, where: Filter) -> bool:
        if where.documents is not None:
            return False
        rows = self._db.execute("SELECT DISTINCT source FROM documents WHERE generation = ?", (self._generation,))
        return all(row[0] in where.sources for row in rows)

    def _allowed_documents(self, where: Filter) -> set[int]:
        rows = self._db.execute(
            "SELECT id FROM documents WHERE generation = ? AND source IN (SELECT value FROM json_each(?))",
            (self._generation, json.dumps(sorted(where.sources))),
        )
        ids = {row[0] for row in rows}
        return ids if where.documents is None else ids & where.documents

    def _restrict(self, where: Filter, chunk: str, *, always: bool = False) -> tuple[str, tuple[Any, ...]]:
        """Give the join and its values that keep a query within the filter."""
        if not always and self._sees_all(where):
            return "WHERE 1", ()
        join = f"JOIN chunks c ON c.id = {chunk} JOIN documents d ON d.id = c.document WHERE d.generation = ?"
        if self._sees_all(where):
            return join, (self._generation,)
        allowed = json.dumps(sorted(self._allowed_documents(where)))
        return f"{join} AND d.id IN (SELECT value FROM json_each(?))", (self._generation, allowed)


def _candidate(row: Any, counts: dict[str, int]) -> Candidate:
    number, document, source, path, start, end, length, *of_document = row
    return Candidate(number, document, source, path, start, end, length, counts, *of_document)
