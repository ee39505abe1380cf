"""The writing side of the SQLite index: one transaction on one generation."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.forgetting import Tombstone
from clawmark.core.ports import ChunkRow, Document
from clawmark.stores.codec import pack, pack_vector, spell, spelled, unpack
from clawmark.stores.sqlite_schema import terms_table
from clawmark.stores.tombstones import put_tombstones, remove_tombstones, tombstones_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS_OF_GENERATION = "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.generation = ?"


class SqliteWriter:
    """A transaction (``core.ports.Writer``); ``finish`` writes the sums before the commit.

    Attributes:
        tombstones_changed: Whether the copy beside the index is to be written.
    """

    def __init__(self, db: sqlite3.Connection, generation: int, agent: str) -> None:
        self.tombstones_changed = False
        self._db = db
        self._agent = agent
        self._generation = generation
        self._terms_table = terms_table(generation)
        self._chunks = 0
        self._length = 0
        self._next_chunk = _next_id(db, "chunks")
        self._rows: list[tuple[Any, ...]] = []
        self._words: list[tuple[int, str]] = []
        self._changed = False

    def replace(self, document: Document, chunks: Sequence[ChunkRow]) -> int:
        """See ``core.ports.Writer``."""
        old = self._db.execute(
            "SELECT id FROM documents WHERE generation = ? AND source = ? AND path = ?",
            (self._generation, document.source, document.path),
        ).fetchone()
        known: dict[bytes, bytes] = {}
        if old is not None:
            known = self._vectors_of(old[0])
            self.remove(old[0])
        self._changed = True
        number = self._insert_document(document, len(chunks))
        self._keep_vectors(known, chunks)
        self._insert_chunks(number, chunks)
        return number

    def _vectors_of(self, document_id: int) -> dict[bytes, bytes]:
        rows = self._db.execute(
            "SELECT c.embedding_key, v.vector FROM chunks c JOIN vectors v ON v.chunk = c.id WHERE c.document = ?",
            (document_id,),
        )
        return dict(rows.fetchall())

    def _keep_vectors(self, known: Mapping[bytes, bytes], chunks: Sequence[ChunkRow]) -> None:
        """Give the vectors of a document's old chunks to those that are written next, where the text is the same."""
        numbered = enumerate(chunks, self._next_chunk)
        self._db.executemany(
            "INSERT INTO vectors (chunk, vector) VALUES (?, ?)",
            [(number, known[chunk.embedding_key]) for number, chunk in numbered if chunk.embedding_key in known],
        )

    def remove(self, document_id: int) -> None:
        """See ``core.ports.Writer``."""
        self._flush()
        self._changed = True
        owned = (document_id, self._generation)
        rows = self._db.execute(
            "SELECT c.id, c.length, c.start, c.stop, d.text FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE c.document = ? AND d.generation = ?",
            owned,
        ).fetchall()
        text = unpack(rows[0][4]) if rows else ""
        # A full-text table without content forgets a row only when told what it holds.
        self._db.executemany(
            f"INSERT INTO {self._terms_table} ({self._terms_table}, rowid, terms) VALUES ('delete', ?, ?)",
            [(chunk, spelled(text[start:stop])) for chunk, _, start, stop, _ in rows],
        )
        self._db.executemany("DELETE FROM vectors WHERE chunk = ?", [row[:1] for row in rows])
        self._chunks -= len(rows)
        self._length -= sum(row[1] for row in rows)
        self._db.executemany("DELETE FROM chunks WHERE id = ?", [row[:1] for row in rows])
        self._db.execute("DELETE FROM documents WHERE id = ? AND generation = ?", owned)

    def move(self, document_id: int, *, path: str, size: int, mtime_ns: int) -> None:
        """See ``core.ports.Writer``."""
        self._changed = True
        self._db.execute(
            "UPDATE documents SET path = ?, size = ?, mtime_ns = ? WHERE id = ? AND generation = ?",
            (path, size, mtime_ns, document_id, self._generation),
        )

    def touch(self, document_id: int, *, size: int, mtime_ns: int) -> None:
        """See ``core.ports.Writer``."""
        self._changed = True
        self._db.execute(
            "UPDATE documents SET size = ?, mtime_ns = ? WHERE id = ? AND generation = ?",
            (size, mtime_ns, document_id, self._generation),
        )

    def put_vectors(self, vectors: Mapping[int, NDArray[Any] | bytes], *, space: Mapping[str, Any]) -> None:
        """See ``core.ports.Writer``."""
        self._flush()
        self._changed = True
        if self._facts().get("space") != dict(space):
            self._db.execute(f"DELETE FROM vectors WHERE chunk IN ({CHUNKS_OF_GENERATION})", (self._generation,))
            self.put_facts({"space": dict(space)})
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors (chunk, vector) SELECT c.id, ? "
            "FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id = ? AND d.generation = ?",
            [(_packed(vector), chunk, self._generation) for chunk, vector in vectors.items()],
        )

    def put_facts(self, facts: Mapping[str, Any]) -> None:
        """See ``core.ports.Writer``."""
        merged = self._facts() | dict(facts)
        self._db.execute(
            "UPDATE generations SET facts = ? WHERE id = ?",
            (json.dumps(merged, sort_keys=True), self._generation),
        )

    def tombstones(self) -> frozenset[Tombstone]:
        """See ``core.ports.Writer``."""
        return tombstones_of(self._db, self._agent)

    def put_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """See ``core.ports.Writer``."""
        self.tombstones_changed = True
        put_tombstones(self._db, self._agent, tombstones)

    def remove_tombstones(self, tombstones: Collection[Tombstone]) -> None:
        """See ``core.ports.Writer``."""
        self.tombstones_changed = True
        remove_tombstones(self._db, self._agent, tombstones)

    def complete(self) -> None:
        """See ``core.ports.Writer``."""
        others = self._db.execute(
            "SELECT id FROM generations WHERE agent = ? AND id != ?", (self._agent, self._generation)
        ).fetchall()
        for (generation,) in others:
            remove_generation(self._db, generation)
        self._db.execute("UPDATE generations SET answering = 1, complete = 1 WHERE id = ?", (self._generation,))

    def finish(self) -> None:
        """Write what is gathered, and the sums of this transaction."""
        self._flush()
        self._db.execute(
            "UPDATE generations SET chunks = chunks + ?, total_length = total_length + ?, revision = revision + ? "
            "WHERE id = ?",
            (self._chunks, self._length, int(self._changed), self._generation),
        )

    def _flush(self) -> None:
        """Write the gathered chunks; many rows at once cost half of one by one."""
        self._db.executemany(
            "INSERT INTO chunks "
            "(id, document, start_line, end_line, start, stop, length, embedding_key, context) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self._rows,
        )
        self._db.executemany(f"INSERT INTO {self._terms_table} (rowid, terms) VALUES (?, ?)", self._words)
        self._rows, self._words = [], []

    def _facts(self) -> dict[str, Any]:
        row = self._db.execute("SELECT facts FROM generations WHERE id = ?", (self._generation,)).fetchone()
        return json.loads(row[0])

    def _insert_document(self, document: Document, chunks: int) -> int:
        cursor = self._db.execute(
            "INSERT INTO documents (generation, source, path, hash, size, mtime_ns, time_ms, rejected, kind, chunks, "
            "meta, text) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._generation,
                document.source,
                document.path,
                document.hash,
                document.size,
                document.mtime_ns,
                document.time_ms,
                document.rejected,
                str(document.meta.get("kind", "")),
                chunks,
                json.dumps(dict(document.meta), sort_keys=True),
                pack(document.text),
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _insert_chunks(self, document: int, chunks: Sequence[ChunkRow]) -> None:
        for chunk in chunks:
            length = len(chunk.terms) - chunk.terms.count("\n")
            number = self._next_chunk
            self._rows.append(
                (
                    number,
                    document,
                    chunk.start_line,
                    chunk.end_line,
                    chunk.start,
                    chunk.end,
                    length,
                    chunk.embedding_key,
                    chunk.context,
                )
            )
            self._words.append((number, spell(chunk.terms, chunk.singles)))
            self._next_chunk += 1
            self._chunks += 1
            self._length += length


def _packed(vector: NDArray[Any] | bytes) -> bytes:
    return vector if isinstance(vector, bytes) else pack_vector(vector)


def _next_id(db: sqlite3.Connection, table: str) -> int:
    """Give an id that no row has had, not even one that is gone."""
    row = db.execute("SELECT seq FROM sqlite_sequence WHERE name = ?", (table,)).fetchone()
    return row[0] + 1 if row else 1


def remove_generation(db: sqlite3.Connection, generation: int) -> None:
    """Remove a generation with all that it holds, within the caller's transaction."""
    db.execute(f"DROP TABLE IF EXISTS {terms_table(generation)}")
    db.execute(f"DELETE FROM vectors WHERE chunk IN ({CHUNKS_OF_GENERATION})", (generation,))
    db.execute(f"DELETE FROM chunks WHERE id IN ({CHUNKS_OF_GENERATION})", (generation,))
    db.execute("DELETE FROM documents WHERE generation = ?", (generation,))
    db.execute("DELETE FROM generations WHERE id = ?", (generation,))
