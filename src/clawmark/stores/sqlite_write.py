"""The writing side of the SQLite index: one transaction on one generation."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.ports import ChunkRow, Document
from clawmark.stores.codec import LINE_BREAK, pack_ids, unpack_ids, word_of, words_of
from clawmark.stores.sqlite_read import pack_text

if TYPE_CHECKING:
    from numpy.typing import NDArray

CHUNKS_OF_GENERATION = "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.generation = ?"


class SqliteWriter:
    """A transaction (``core.ports.Writer``); ``finish`` writes the sums before the commit."""

    def __init__(self, db: sqlite3.Connection, generation: int) -> None:
        self._db = db
        self._generation = generation
        self._term_ids: dict[str, int] = {}
        self._words: dict[int, str] = {}
        self._df: Counter[int] = Counter()
        self._chunks = 0
        self._length = 0
        self._next_term = int(db.execute("SELECT coalesce(max(id), 0) + 1 FROM terms").fetchone()[0])
        known = db.execute("SELECT 1 FROM terms WHERE generation = ? LIMIT 1", (generation,)).fetchone()
        self._has_terms = known is not None
        self._new_terms: dict[int, str] = {}
        self._changed = False

    def replace(self, document: Document, chunks: Sequence[ChunkRow]) -> int:
        """See ``core.ports.Writer``."""
        old = self._db.execute(
            "SELECT id FROM documents WHERE generation = ? AND source = ? AND path = ?",
            (self._generation, document.source, document.path),
        ).fetchone()
        if old is not None:
            self.remove(old[0])
        self._changed = True
        number = self._insert_document(document, len(chunks))
        self._insert_chunks(number, chunks)
        return number

    def remove(self, document_id: int) -> None:
        """See ``core.ports.Writer``."""
        self._changed = True
        owned = (document_id, self._generation)
        rows = self._db.execute(
            "SELECT c.id, c.length, c.terms FROM chunks c JOIN documents d ON d.id = c.document "
            "WHERE c.document = ? AND d.generation = ?",
            owned,
        ).fetchall()
        for chunk, length, blob in rows:
            # A contentless full-text table forgets a row only when told what it holds.
            self._db.execute(
                "INSERT INTO chunk_terms (chunk_terms, rowid, ids) VALUES ('delete', ?, ?)",
                (chunk, words_of(blob)),
            )
            self._db.execute("DELETE FROM vectors WHERE chunk = ?", (chunk,))
            self._count(blob, -1)
            self._chunks -= 1
            self._length -= length
        self._db.execute("DELETE FROM chunks WHERE document = ?", (document_id,))
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

    def put_vectors(self, vectors: Mapping[int, NDArray[Any]], *, space: Mapping[str, Any]) -> None:
        """See ``core.ports.Writer``."""
        self._changed = True
        if self._facts().get("space") != dict(space):
            self._db.execute(f"DELETE FROM vectors WHERE chunk IN ({CHUNKS_OF_GENERATION})", (self._generation,))
            self.put_facts({"space": dict(space)})
        self._db.executemany(
            "INSERT OR REPLACE INTO vectors (chunk, vector) SELECT c.id, ? "
            "FROM chunks c JOIN documents d ON d.id = c.document WHERE c.id = ? AND d.generation = ?",
            [(vector.astype("<f4").tobytes(), chunk, self._generation) for chunk, vector in vectors.items()],
        )

    def put_facts(self, facts: Mapping[str, Any]) -> None:
        """See ``core.ports.Writer``."""
        merged = self._facts() | dict(facts)
        self._db.execute(
            "UPDATE generations SET facts = ? WHERE id = ?",
            (json.dumps(merged, sort_keys=True), self._generation),
        )

    def complete(self) -> None:
        """See ``core.ports.Writer``."""
        agent = self._db.execute("SELECT agent FROM generations WHERE id = ?", (self._generation,)).fetchone()[0]
        others = self._db.execute(
            "SELECT id FROM generations WHERE agent = ? AND id != ?", (agent, self._generation)
        ).fetchall()
        for (generation,) in others:
            remove_generation(self._db, generation)
        self._db.execute("UPDATE generations SET answering = 1, complete = 1 WHERE id = ?", (self._generation,))

    def finish(self) -> None:
        """Write the new terms, the document frequencies and the sums of this transaction."""
        self._db.executemany(
            "INSERT INTO terms (id, generation, term, df) VALUES (?, ?, ?, ?)",
            [(number, self._generation, term, self._df.pop(number, 0)) for number, term in self._new_terms.items()],
        )
        self._db.executemany(
            "UPDATE terms SET df = df + ? WHERE id = ?",
            [(change, number) for number, change in self._df.items() if change],
        )
        self._db.execute(
            "UPDATE generations SET chunks = chunks + ?, total_length = total_length + ?, revision = revision + ? "
            "WHERE id = ?",
            (self._chunks, self._length, int(self._changed), self._generation),
        )

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
                pack_text(document.text),
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _insert_chunks(self, document: int, chunks: Sequence[ChunkRow]) -> None:
        self._learn_terms(chunks)
        ids, words = self._term_ids, self._words
        for chunk in chunks:
            main = [ids[term] for term in chunk.terms]
            singles = [ids[term] for term in chunk.singles]
            length = len(main) - main.count(LINE_BREAK)
            cursor = self._db.execute(
                "INSERT INTO chunks "
                "(document, start_line, end_line, start, stop, length, embedding_key, context, terms) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    document,
                    chunk.start_line,
                    chunk.end_line,
                    chunk.start,
                    chunk.end,
                    length,
                    chunk.embedding_key,
                    chunk.context,
                    pack_ids(main, singles),
                ),
            )
            text = " ".join([words[number] for number in (*main, *singles) if number])
            self._db.execute("INSERT INTO chunk_terms (rowid, ids) VALUES (?, ?)", (cursor.lastrowid, text))
            self._df.update(set(main) | set(singles))
            self._df.pop(LINE_BREAK, None)
            self._chunks += 1
            self._length += length

    def _learn_terms(self, chunks: Sequence[ChunkRow]) -> None:
        """Give every term of the chunks an id: the known one, or a new one."""
        ids = self._term_ids
        ids.setdefault("\n", LINE_BREAK)
        fresh = {term for chunk in chunks for term in (*chunk.terms, *chunk.singles) if term not in ids}
        if not fresh:
            return
        if self._has_terms:
            known = self._db.execute(
                "SELECT term, id FROM terms WHERE generation = ? AND term IN (SELECT value FROM json_each(?))",
                (self._generation, json.dumps(list(fresh))),
            )
            ids.update(known.fetchall())
        for term in sorted(fresh):
            if term not in ids:
                ids[term] = self._next_term
                self._new_terms[self._next_term] = term
                self._next_term += 1
            self._words[ids[term]] = word_of(ids[term])

    def _count(self, blob: bytes, change: int) -> None:
        main, singles = unpack_ids(blob)
        for number in (set(main) | set(singles)) - {LINE_BREAK}:
            self._df[number] += change


def remove_generation(db: sqlite3.Connection, generation: int) -> None:
    """Remove a generation with all that it holds, within the caller's transaction."""
    rows = db.execute(f"SELECT id, terms FROM chunks WHERE id IN ({CHUNKS_OF_GENERATION})", (generation,)).fetchall()
    db.executemany(
        "INSERT INTO chunk_terms (chunk_terms, rowid, ids) VALUES ('delete', ?, ?)",
        [(chunk, words_of(blob)) for chunk, blob in rows],
    )
    db.execute(f"DELETE FROM vectors WHERE chunk IN ({CHUNKS_OF_GENERATION})", (generation,))
    db.execute(f"DELETE FROM chunks WHERE id IN ({CHUNKS_OF_GENERATION})", (generation,))
    db.execute("DELETE FROM documents WHERE generation = ?", (generation,))
    db.execute("DELETE FROM terms WHERE generation = ?", (generation,))
    db.execute("DELETE FROM generations WHERE id = ?", (generation,))
