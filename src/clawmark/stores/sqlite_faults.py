"""Do the rows of an index agree with each other? Cheap questions, and one repair for all of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from clawmark.core.codes import is_record
from clawmark.core.rows import Fault
from clawmark.stores.codec import BYTES_PER_NUMBER, spelled, unpack
from clawmark.stores.sqlite_schema import create_terms_table, terms_table

_LOST_DOCUMENTS = "documents WHERE generation NOT IN (SELECT id FROM generations)"
_LOST_CHUNKS = "chunks WHERE document NOT IN (SELECT id FROM documents)"
_LOST_VECTORS = "vectors WHERE chunk NOT IN (SELECT id FROM chunks)"
_DOUBLED = "chunks WHERE id NOT IN (SELECT min(id) FROM chunks GROUP BY document, start, stop)"
_SHORT_DOCUMENTS = (
    "documents WHERE chunks != (SELECT count(*) FROM chunks c WHERE c.document = documents.id) "
    "OR (rejected IS NOT NULL AND chunks != 0)"
)
_OWN_CHUNKS = "SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document WHERE d.generation = ?"


def find_faults(db: sqlite3.Connection, agent: str) -> list[Fault]:
    """Name what contradicts itself; about 50 ms for ten thousand notes."""
    return [*_shared_faults(db), *_agents_faults(db, agent)]


def _shared_faults(db: sqlite3.Connection) -> Iterator[Fault]:
    lost = {name: _count(db, where) for name, where in _LOST.items()}
    if any(lost.values()):
        parts = ", ".join(f"{number} {name}" for name, number in lost.items() if number)
        yield Fault("ROWS_ORPHANED", f"Rows belong to nothing: {parts}.")
    doubled = _count(db, _DOUBLED)
    if doubled:
        yield Fault("ROWS_DOUBLED", f"{doubled} chunks are there twice.")
    tables = _lost_tables(db)
    if tables:
        yield Fault("ROWS_ORPHANED", f"Full-text tables belong to nothing: {', '.join(tables)}.")


_LOST = {"documents": _LOST_DOCUMENTS, "chunks": _LOST_CHUNKS, "vectors": _LOST_VECTORS}


def _agents_faults(db: sqlite3.Connection, agent: str) -> Iterator[Fault]:
    generations = db.execute("SELECT id, answering FROM generations WHERE agent = ?", (agent,)).fetchall()
    if sum(answering for _, answering in generations) > 1:
        yield Fault("GENERATIONS_WRONG", "More than one index of the agent claims to answer.")
    for generation, _ in generations:
        yield from _sum_faults(db, generation)
        if _words_differ(db, generation):
            yield Fault("WORDS_WRONG", "The full-text index does not hold exactly the chunks.")
        wrong = len(_wrong_vectors(db, generation))
        if wrong:
            yield Fault("VECTORS_WRONG", f"{wrong} vectors do not have the length of the others.")


def _sum_faults(db: sqlite3.Connection, generation: int) -> Iterator[Fault]:
    noted = db.execute("SELECT chunks, total_length FROM generations WHERE id = ?", (generation,)).fetchone()
    found = db.execute(
        "SELECT count(*), coalesce(sum(c.length), 0) FROM chunks c JOIN documents d ON d.id = c.document "
        "WHERE d.generation = ?",
        (generation,),
    ).fetchone()
    if noted != found:
        yield Fault("COUNTS_WRONG", f"{noted[0]} chunks of {noted[1]} terms are noted, {found[0]} of {found[1]} found.")
    documents = _count(db, f"{_SHORT_DOCUMENTS} AND generation = {generation:d}".replace("WHERE", "WHERE (", 1) + ")")
    if documents:
        yield Fault("COUNTS_WRONG", f"{documents} files do not have the chunks that are noted for them.")


def _count(db: sqlite3.Connection, where: str) -> int:
    return db.execute(f"SELECT count(*) FROM {where}").fetchone()[0]


def _lost_tables(db: sqlite3.Connection) -> list[str]:
    kept = {terms_table(row[0]) for row in db.execute("SELECT id FROM generations")}
    rows = db.execute(r"SELECT name FROM sqlite_schema WHERE name LIKE 'terms\_%' ESCAPE '\' AND sql LIKE '%fts5%'")
    return sorted({row[0] for row in rows} - kept)


def _words_differ(db: sqlite3.Connection, generation: int) -> bool:
    table = terms_table(generation)
    if db.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (f"{table}_docsize",)).fetchone() is None:
        return True
    words = {row[0] for row in db.execute(f"SELECT id FROM {table}_docsize")}
    return words != {row[0] for row in db.execute(_OWN_CHUNKS, (generation,))}


def _wrong_vectors(db: sqlite3.Connection, generation: int) -> list[int]:
    facts = db.execute("SELECT facts FROM generations WHERE id = ?", (generation,)).fetchone()[0]
    space: dict[str, Any] = json.loads(facts).get("space") or {}
    dimensions = int(space.get("dimensions") or 0)
    rows = db.execute(
        f"SELECT length(vector), chunk FROM vectors WHERE chunk IN ({_OWN_CHUNKS}) ORDER BY chunk", (generation,)
    )
    if space.get("sentences"):
        return [chunk for size, chunk in rows if not is_record(size, dimensions)]
    return [chunk for size, chunk in rows if size != dimensions * BYTES_PER_NUMBER]


def repair(db: sqlite3.Connection, agent: str) -> None:
    """Make the rows agree, within the caller's transaction: texts and vectors are kept where they are sound.

    A file whose chunks cannot be told is removed, and read again by the next sync.
    """
    for table in _lost_tables(db):
        db.execute(f"DROP TABLE {table}")
    for where in (_LOST_DOCUMENTS, _LOST_CHUNKS, _DOUBLED, _SHORT_DOCUMENTS, _LOST_CHUNKS, _LOST_VECTORS):
        db.execute(f"DELETE FROM {where}")
    db.execute(
        "UPDATE generations SET answering = 0 WHERE agent = ? AND id != "
        "(SELECT id FROM generations WHERE agent = ? ORDER BY answering DESC, id DESC LIMIT 1)",
        (agent, agent),
    )
    for (generation,) in db.execute("SELECT id FROM generations").fetchall():
        _repair_generation(db, generation)


def _repair_generation(db: sqlite3.Connection, generation: int) -> None:
    db.executemany("DELETE FROM vectors WHERE chunk = ?", [(chunk,) for chunk in _wrong_vectors(db, generation)])
    if _words_differ(db, generation):
        _spell_again(db, generation)
    db.execute(
        "UPDATE generations SET revision = revision + 1, (chunks, total_length) = "
        "(SELECT count(*), coalesce(sum(c.length), 0) FROM chunks c JOIN documents d ON d.id = c.document "
        "WHERE d.generation = generations.id) WHERE id = ?",
        (generation,),
    )


def _spell_again(db: sqlite3.Connection, generation: int) -> None:
    """Make the full-text table from the texts."""
    db.execute(f"DROP TABLE IF EXISTS {terms_table(generation)}")
    create_terms_table(db, generation)
    for document, text in db.execute("SELECT id, text FROM documents WHERE generation = ?", (generation,)).fetchall():
        whole = unpack(text)
        chunks = db.execute("SELECT id, start, stop FROM chunks WHERE document = ?", (document,)).fetchall()
        db.executemany(
            f"INSERT INTO {terms_table(generation)} (rowid, terms) VALUES (?, ?)",
            [(chunk, spelled(whole[start:stop])) for chunk, start, stop in chunks],
        )
