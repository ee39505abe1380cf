"""The writing side of the SQLite index: one transaction on one generation."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmark.core.errors import StoreError
from clawmark.core.forgetting import Tombstone
from clawmark.core.ports import ChunkRow, Document
from clawmark.stores.codec import pack, pack_vector, spell, spelled, unpack
from clawmark.stores.sqlite_schema import terms_table
from clawmark.stores.tombstones import put_tombstones, remove_tombstones, tombstones_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS_OF_GENERATION = "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.generation = ?"

_DOCUMENT_COLUMNS = "generation, source, path, hash, size, mtime_ns, time_ms, rejected, kind, chunks, meta, text"
_MARKS = ", ".join("?" * len(_DOCUMENT_COLUMNS.split(",")))


class _OldChunk(NamedTuple):
    """A chunk as it is in the file; the first columns are what ``replace`` must find unchanged to keep it."""

    start_line: int
    end_line: int
    start: int
    stop: int
    embedding_key: bytes
    context: str
    speaker: str
    spoken_ms: int | None
    id: int
    length: int


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
        self._vectors: list[tuple[bytes, int]] = []
        self._changed = False

    def replace(self, document: Document, chunks: Sequence[ChunkRow]) -> int:
        """See ``core.ports.Writer``."""
        old = self._find(document)
        self._changed = True
        if old is None:
            number = self._insert_document(document, len(chunks))
            self._insert_chunks(number, chunks)
            return number
        rows = self._chunk_rows(old)
        same = _same(rows, chunks)
        self._renew(old, document, chunks[same:], rows[same:])
        return old

    def extend(self, document: Document, chunks: Sequence[ChunkRow], *, kept_chunks: int, kept_chars: int) -> int:
        """See ``core.ports.Writer``."""
        old = self._find(document)
        rows = [] if old is None else self._chunk_rows(old)
        if old is None or len(rows) < kept_chunks:
            raise StoreError(f"{document.path} is not in the index as it was read.", action="Run `clawmark index`.")
        self._changed = True
        whole = replace(document, text=self._text_of(old)[:kept_chars] + document.text)
        rows = rows[kept_chunks:]
        same = _same(rows, chunks)
        self._renew(old, whole, chunks[same:], rows[same:])
        return old

    def remove(self, document_id: int) -> None:
        """See ``core.ports.Writer``."""
        self._changed = True
        self._drop_chunks(self._chunk_rows(document_id), self._text_of(document_id))
        self._db.execute("DELETE FROM documents WHERE id = ? AND generation = ?", (document_id, self._generation))

    def _find(self, document: Document) -> int | None:
        row = self._db.execute(
            "SELECT id FROM documents WHERE generation = ? AND source = ? AND path = ?",
            (self._generation, document.source, document.path),
        ).fetchone()
        return row[0] if row else None

    def _chunk_rows(self, document_id: int) -> list[_OldChunk]:
        self._flush()
        rows = self._db.execute(
            "SELECT c.start_line, c.end_line, c.start, c.stop, c.embedding_key, c.context, c.speaker, c.spoken_ms, "
            "c.id, c.length FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE c.document = ? AND d.generation = ? ORDER BY c.id",
            (document_id, self._generation),
        )
        return [_OldChunk(*row) for row in rows]

    def _text_of(self, document_id: int) -> str:
        row = self._db.execute(
            "SELECT text FROM documents WHERE id = ? AND generation = ?", (document_id, self._generation)
        ).fetchone()
        return unpack(row[0]) if row else ""

    def _renew(self, number: int, document: Document, chunks: Sequence[ChunkRow], rows: Sequence[_OldChunk]) -> None:
        """Put a document over an old one: new chunks for the last of its rows, the others stay."""
        vectors = self._vectors_of(rows)
        self._drop_chunks(rows, self._text_of(number))
        total = self._db.execute("SELECT count(*) FROM chunks WHERE document = ?", (number,)).fetchone()[0] + len(
            chunks
        )
        self._db.execute(
            f"UPDATE documents SET ({_DOCUMENT_COLUMNS}) = ({_MARKS}) WHERE id = ?",
            (*self._values(document, total), number),
        )
        found = [(vectors.get((chunk.embedding_key, chunk.context)), place) for place, chunk in enumerate(chunks)]
        self._vectors += [(blob, self._next_chunk + place) for blob, place in found if blob is not None]
        self._insert_chunks(number, chunks)

    def _vectors_of(self, rows: Sequence[_OldChunk]) -> dict[tuple[bytes, str], bytes]:
        names = {row.id: (row.embedding_key, row.context) for row in rows}
        found = self._db.execute(
            "SELECT chunk, vector FROM vectors WHERE chunk IN (SELECT value FROM json_each(?))",
            (json.dumps(list(names)),),
        )
        return {names[chunk]: vector for chunk, vector in found}

    def _drop_chunks(self, rows: Sequence[_OldChunk], text: str) -> None:
        # A full-text table without content forgets a row only when told what it holds.
        self._db.executemany(
            f"INSERT INTO {self._terms_table} ({self._terms_table}, rowid, terms) VALUES ('delete', ?, ?)",
            [(row.id, spelled(text[row.start : row.stop])) for row in rows],
        )
        self._db.executemany("DELETE FROM vectors WHERE chunk = ?", [(row.id,) for row in rows])
        self._chunks -= len(rows)
        self._length -= sum(row.length for row in rows)
        self._db.executemany("DELETE FROM chunks WHERE id = ?", [(row.id,) for row in rows])

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
            "(id, document, start_line, end_line, start, stop, length, embedding_key, context, speaker, spoken_ms) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            self._rows,
        )
        self._db.executemany(f"INSERT INTO {self._terms_table} (rowid, terms) VALUES (?, ?)", self._words)
        self._db.executemany("INSERT INTO vectors (vector, chunk) VALUES (?, ?)", self._vectors)
        self._rows, self._words, self._vectors = [], [], []

    def _facts(self) -> dict[str, Any]:
        row = self._db.execute("SELECT facts FROM generations WHERE id = ?", (self._generation,)).fetchone()
        return json.loads(row[0])

    def _insert_document(self, document: Document, chunks: int) -> int:
        cursor = self._db.execute(
            f"INSERT INTO documents ({_DOCUMENT_COLUMNS}) VALUES ({_MARKS})", self._values(document, chunks)
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _values(self, document: Document, chunks: int) -> tuple[Any, ...]:
        return (
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
        )

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
                    chunk.speaker,
                    chunk.spoken_ms,
                )
            )
            self._words.append((number, spell(chunk.terms, chunk.singles)))
            self._next_chunk += 1
            self._chunks += 1
            self._length += length


def _same(rows: Sequence[_OldChunk], chunks: Sequence[ChunkRow]) -> int:
    """Count the leading chunks that are in the index as they would be written again.

    The key is a digest of the text, so terms and vectors are the same too. Only leading
    ones stay: the ids of the others must rise in the order of the text.
    """
    count = 0
    for row, chunk in zip(rows, chunks, strict=False):
        place = (chunk.start_line, chunk.end_line, chunk.start, chunk.end)
        if row[:8] != (*place, chunk.embedding_key, chunk.context, chunk.speaker, chunk.spoken_ms):
            break
        count += 1
    return count


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
