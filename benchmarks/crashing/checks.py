"""What must hold of an index after a kill, of answers, and of the count of embedded texts."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from clawmark import Memory
from clawmark.stores.codec import unpack
from clawmark.stores.sqlite_schema import terms_table
from crashing.ledger import Ledger
from crashing.world import WordEmbedder, config

INDEX = Path(".clawmark", "index.sqlite")
# What a search may say of itself while passages are being embedded, and before there is anything.
ALWAYS = {"VECTORS_PENDING"}
AT_FIRST = {"INDEX_MISSING", "INDEX_EMPTY", "NO_VECTORS"}

_ROWS = """
SELECT d.path, d.hash, d.rejected, count(c.id), count(v.chunk) FROM generations g
JOIN documents d ON d.generation = g.id
LEFT JOIN chunks c ON c.document = d.id LEFT JOIN vectors v ON v.chunk = c.id
WHERE g.answering = 1 GROUP BY d.id
"""
_DOCUMENTS = """
SELECT source, path, hash, size, mtime_ns, time_ms, rejected, kind, d.chunks, text FROM documents d
JOIN generations g ON d.generation = g.id WHERE g.answering = 1 ORDER BY source, path
"""
_CHUNKS = """
SELECT d.source, d.path, c.start, c.stop, c.start_line, c.end_line, c.length, c.embedding_key, c.context, v.vector
FROM generations g JOIN documents d ON d.generation = g.id JOIN chunks c ON c.document = d.id
LEFT JOIN vectors v ON v.chunk = c.id WHERE g.answering = 1 ORDER BY d.source, d.path, c.start, c.stop
"""


def files_on_disk(workspace: Path) -> dict[str, str]:
    """Give path and text of all that counts as a note or a session."""
    found = [*workspace.joinpath("memory").rglob("*.md"), *workspace.joinpath("sessions").glob("*.jsonl")]
    return {file.relative_to(workspace).as_posix(): file.read_bytes().decode() for file in found}


def subjects(index: Path) -> set[str]:
    """Name what an index has forgotten."""
    return {row[0] for row in _query(index, "SELECT subject FROM tombstones")}


def corruptions(*files: Path) -> Iterator[str]:
    """Ask SQLite whether each file is sound."""
    for file in files:
        for (verdict,) in _query(file, "PRAGMA integrity_check"):
            if verdict != "ok":
                yield f"{file.name}: {verdict}"


def losses(index: Path, complete: dict[str, str]) -> Iterator[str]:
    """Name the files whose sync had returned and that the index does not have whole."""
    rows = {row[0]: row[1:] for row in _query(index, _ROWS)}
    for path, digest in complete.items():
        found = rows.get(path)
        if found is None or found[:2] != (digest, None) or not found[2] or found[2] != found[3]:
            yield f"{path}: {found} in the index, {digest} was complete"


def returned(index: Path, ledger: Ledger) -> Iterator[str]:
    """Name what is in the index although it is forgotten, or is no note."""
    rows = {row[0]: row[1:] for row in _query(index, _ROWS)}
    for path in ledger.hidden_paths():
        if path in rows and rows[path][2]:
            yield f"{path} is forgotten, and in the index"
    for path in rows:
        if not path.endswith((".md", ".jsonl")):
            yield f"{path} is a temporary file, and in the index"


def leftovers(workspace: Path) -> Iterator[str]:
    """Name what killed writers have left behind for good: anything but the index, the locks and the notes."""
    known = {"", "-wal", "-shm", ".forgotten.json", ".forgotten.json.tmp"}
    expected = {".gitignore", "sync.lock", "write.lock", *(f"{INDEX.name}{suffix}" for suffix in known)}
    for file in workspace.joinpath(INDEX.parent).iterdir():
        if file.name not in expected:
            yield f"left over: {file.name}"
    for file in workspace.rglob(".clawmark-write-*"):
        yield f"left over: {file.relative_to(workspace)}"


def wrong_answers(ledger: Ledger, events: list[dict[str, Any]], names: dict[int, tuple[str, str]]) -> Iterator[str]:
    """Name what readers met that they should not have: errors, and texts that were gone.

    Args:
        ledger: When each text could be shown.
        events: Of one reader.
        names: The answers that it has spelled so far; filled.
    """
    for event in events:
        names |= {number: (path, snippet) for number, path, snippet in event.get("new", [])}
        if event.get("error"):
            yield f"error: {event['error']}"
        early = ledger.first_sync is None or event["began"] < ledger.first_sync
        bad = set(event.get("codes", [])) - ALWAYS - (AT_FIRST if early else set())
        if bad:
            yield f"warnings: {sorted(bad)}"
        for path, snippet in map(names.__getitem__, event.get("told", [])):
            if not ledger.may_show(path, snippet, event["began"], event["t"]):
                yield f"told at {event['began']:.3f}..{event['t']:.3f}: {path}: {snippet[:120]!r}"


class Embedded:
    """Counts the texts that were embedded again, by what excuses it."""

    def __init__(self) -> None:
        self.texts = 0
        self.distinct = 0
        self.after_kills = 0
        self.after_forgetting = 0
        self.without_reason: list[str] = []

    def count(self, events: list[dict[str, Any]], killed: set[int], forgets: Counter[int], *, cache: bool) -> None:
        """Add a run up.

        With the cache a text counts as the same whatever the size of chunks; without it,
        within one size: a rebuild then embeds everything once.

        Args:
            events: Each batch, in order.
            killed: The lives that ended by a kill: the last batch of each may be lost.
            forgets: How often each note was forgotten; what is restored is embedded again.
            cache: Whether there was an embedding cache.
        """
        seen: Counter[tuple[Any, ...]] = Counter()
        notes: dict[tuple[Any, ...], list[int]] = {}
        last: dict[int, list[tuple[Any, ...]]] = {}
        for event in events:
            keys = [(key,) if cache else (key, *event["recipe"]) for key in event["keys"]]
            seen.update(keys)
            notes |= dict(zip(keys, event["notes"], strict=True))
            last[event["life"]] = keys
        in_flight = Counter(key for life, keys in last.items() if life in killed for key in keys)
        for key, times in seen.items():
            self._judge(key, times - 1, in_flight[key], sum(forgets[note] for note in notes[key]))
        self.texts += seen.total()
        self.distinct += len(seen)

    def _judge(self, key: tuple[Any, ...], again: int, in_flight: int, forgotten: int) -> None:
        lost = min(again, in_flight)
        brought_back = min(again - lost, forgotten)
        self.after_kills += lost
        self.after_forgetting += brought_back
        if again > lost + brought_back:
            self.without_reason.append(f"{key}: {again} times again")


def differences(workspace: Path, recipe: list[int], elsewhere: Path) -> Iterator[str]:
    """Name where the index differs from one that is made from the same files now, vectors and words included."""
    shutil.rmtree(elsewhere, ignore_errors=True)
    elsewhere.mkdir(parents=True)
    copy = workspace / f"{INDEX}.forgotten.json"
    if copy.exists():
        shutil.copy(copy, elsewhere)
    fresh = elsewhere / INDEX.name
    with Memory(
        workspace, config=config(recipe, cache=False), embedder=WordEmbedder(), store=f"sqlite:///{fresh}"
    ) as memory:
        error = memory.sync().error
    if error:
        yield f"a fresh index fails: {error}"
    for name, told in _dump(workspace / INDEX).items():
        made = _dump(fresh)[name]
        if told != made:
            first = next((pair for pair in zip(told, made, strict=False) if pair[0] != pair[1]), None)
            yield f"{name}: {len(told)} against {len(made)} of a fresh index; first {json.dumps(first, default=repr)}"


def _dump(index: Path) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(index)) as db:
        documents = [(*row[:-1], unpack(row[-1])) for row in db.execute(_DOCUMENTS)]
        generation = db.execute("SELECT id FROM generations WHERE answering = 1").fetchone()[0]
        db.execute(f"CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, {terms_table(generation)}, 'row')")
        words = db.execute("SELECT term, doc, cnt FROM temp.words ORDER BY term").fetchall()
        return {"documents": documents, "chunks": db.execute(_CHUNKS).fetchall(), "words": words}


def _query(file: Path, sql: str) -> list[Any]:
    if not file.exists():
        return []
    with closing(sqlite3.connect(file, timeout=20.0)) as db:
        try:
            return db.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []  # its writer died while it made the file
            raise
