"""Makes the index equal to the files: one pass, from any trigger.

Files are the truth. A pass lists the eligible files (stats only), reads those whose
size or time differ, writes their chunks in batches, removes what is gone, and then
gives every chunk without a vector its vector. Each batch is a transaction: a pass that
is killed goes on where it was.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from clawmark.core.errors import ClawmarkError
from clawmark.core.forgetting import Forgotten
from clawmark.core.model import ErrorInfo, PathReason, SyncReport
from clawmark.core.ports import Document, DocumentRow, Embedder, Store, Writer
from clawmark.embedders.cache import EmbeddingCache
from clawmark.files import FileRules, FoundFile, Scan, Source, UnreadableNoteError, scan_files
from clawmark.sync.building import Built, Recipe, build, rejection
from clawmark.sync.checking import check
from clawmark.sync.embedding import EmbeddingOutcome, embed_pending, same_space, space_of
from clawmark.sync.locking import one_at_a_time
from clawmark.sync.purging import purge
from clawmark.sync.renames import follow_renames

Progress = Callable[[str, int, int], None]

# A batch is one transaction: large enough that commits cost little, small enough that
# readers see progress and a kill loses little.
_BATCH_FILES = 64
_BATCH_BYTES = 2_000_000
# Another process may be embedding a large workspace; it is waited for this long.
LOCK_SECONDS = 600.0


@dataclass(frozen=True)
class Changes:
    """What a pass would do, from stats alone.

    Attributes:
        scan: The eligible files, and what was passed over.
        fresh: Files that the index does not have.
        touched: Files whose size or time differ, with what the index has of them.
        gone: Documents whose file is no longer eligible.
        unchanged: Number of files that are as they were.
        rejected: Files that were read before and hold nothing to index.
        unfinished: Whether another index than the wanted one answers: a pass was killed
            before its end, or settings have changed.
        waiting: Chunks of an unfinished index without a vector.
    """

    scan: Scan
    fresh: tuple[FoundFile, ...]
    touched: tuple[tuple[FoundFile, DocumentRow], ...]
    gone: tuple[DocumentRow, ...]
    unchanged: int
    rejected: tuple[PathReason, ...]
    unfinished: bool = False
    waiting: int = 0

    def __bool__(self) -> bool:
        return bool(self.fresh or self.touched or self.gone or self.unfinished)

    @property
    def bytes_to_read(self) -> int:
        """Give the size of all files that must be read."""
        return sum(found.size for found in self.fresh) + sum(found.size for found, _ in self.touched)

    @property
    def paths(self) -> list[str]:
        """Name the files that differ from the index."""
        names = [found.path for found in self.fresh]
        return names + [found.path for found, _ in self.touched] + [row.path for row in self.gone]


@dataclass(frozen=True)
class Workplace:
    """Everything that a pass needs of one agent's index.

    Attributes:
        store: Where the index is.
        agent: Its owner.
        rules: Which files are memory.
        sources: Sources that are on.
        recipe: What is made of a file.
        cache: Known vectors; None for no cache.
        lock_path: Lock file, one pass at a time over all processes; None when the
            store needs none.
        clock: Gives now.
    """

    store: Store
    agent: str
    rules: FileRules
    sources: tuple[Source, ...]
    recipe: Recipe
    cache: EmbeddingCache | None
    lock_path: Path | None
    clock: Callable[[], datetime]


def find_changes(place: Workplace) -> Changes:
    """Compare files and index by size and time; no file is opened."""
    scan = scan_files(place.rules, place.sources)
    with place.store.reading(place.agent, place.recipe.identity()) as reader:
        state, counts = reader.state(), reader.counts()
        rows = {(row.source, row.path): row for row in reader.documents()}
    changes = compare(scan, rows, place.recipe)
    if state is not None and state.complete:
        return changes
    unfinished = state is not None or bool(place.store.identities(place.agent))
    return replace(changes, unfinished=unfinished, waiting=_without_vector(counts))


def compare(scan: Scan, rows: dict[tuple[str, str], DocumentRow], recipe: Recipe) -> Changes:
    """Find out what differs between the files and what the index has of them."""
    fresh: list[FoundFile] = []
    touched: list[tuple[FoundFile, DocumentRow]] = []
    rejected: list[PathReason] = []
    unchanged = 0
    left = dict(rows)
    for found in scan.files:
        row = left.pop((found.source, found.path), None)
        if row is None:
            fresh.append(found)
        elif (row.size, row.mtime_ns) != (found.size, found.mtime_ns) or recipe.judges_otherwise(row):
            touched.append((found, row))
        elif row.rejected is None:
            unchanged += 1
        else:
            rejected.append(PathReason(found.path, row.rejected))
    gone = [row for row in left.values() if not scan.may_hide(row.path)]
    return Changes(scan, tuple(fresh), tuple(touched), tuple(gone), unchanged, tuple(rejected))


def synchronise(
    place: Workplace,
    embedder: Callable[[], Embedder | None],
    *,
    force: bool = False,
    progress: Progress | None = None,
    wait_seconds: float = LOCK_SECONDS,
    explicit: bool = True,
) -> SyncReport:
    """Run one pass; failures are part of the report, never raised.

    Args:
        place: The index and the files.
        embedder: Gives the embedder, or None for keyword mode; called only when a
            chunk has no vector. What it raises is reported as the error of the pass.
        force: Read and chunk every file again.
        progress: Told (stage, done, total); stages are "reading" and "embedding".
        wait_seconds: How long a pass of another process is waited for.
        explicit: Somebody asked for it, so its time is noted also when nothing changed.
    """
    started = time.perf_counter()
    try:
        # Refuses a workspace that is gone: the lock would make its folder anew, without notes.
        scan_files(place.rules, ())
        with one_at_a_time(place.lock_path, wait_seconds):
            report = _Pass(place, embedder, force, progress or _silent, explicit).run()
    except ClawmarkError as error:
        report = SyncReport(partial=True, error=ErrorInfo(error.code, error.message, error.action))
    return replace(report, took_ms=round((time.perf_counter() - started) * 1000, 3))


class _Pass:
    """One pass over one agent's files: the counts are gathered as it goes."""

    def __init__(
        self, place: Workplace, embedder: Callable[[], Embedder | None], force: bool, progress: Progress, explicit: bool
    ) -> None:
        self._place = place
        self._embedder = embedder
        self._force = force
        self._progress = progress
        self._explicit = explicit
        self._identity = place.recipe.identity()
        self._recipe = place.recipe
        self._may_lack_rows = False
        self._counts = {"added": 0, "changed": 0, "removed": 0, "moved": 0, "unchanged": 0, "redactions": 0}
        self._skipped: list[PathReason] = []
        self._failed: list[PathReason] = []

    def run(self) -> SyncReport:
        """List, read, write, remove, embed, and note how it went."""
        self._obey_tombstones()
        changes = self._changes()
        self._counts["unchanged"] = changes.unchanged
        self._skipped += [*changes.scan.missing, *changes.scan.skipped, *changes.rejected]
        self._failed += changes.scan.unreadable
        self._read_and_write(changes)
        outcome = self._embed()
        self._failed += outcome.failed
        return self._report(changes, outcome)

    def _obey_tombstones(self) -> None:
        place = self._place
        with place.store.reading(place.agent, self._identity) as reader:
            forgotten = Forgotten(reader.tombstones())
        self._recipe = replace(place.recipe, forgotten=forgotten)
        purge(place.store, place.agent, self._identity, forgotten)
        getattr(place.store, "mend_copy", bool)()

    def _changes(self) -> Changes:
        scan = scan_files(self._place.rules, self._place.sources)
        with self._place.store.reading(self._place.agent, self._identity) as reader:
            rows = {(row.source, row.path): row for row in reader.documents()}
        changes = compare(scan, rows, self._place.recipe)
        if not self._force:
            return changes
        known = [(found, rows[found.source, found.path]) for found in scan.files if (found.source, found.path) in rows]
        return replace(changes, touched=tuple(known), unchanged=0, rejected=())

    def _read_and_write(self, changes: Changes) -> None:
        work, leaving = follow_renames(changes.fresh, changes.touched, changes.gone)
        done = 0
        if work:
            self._progress("reading", 0, len(work))
        for batch in _cut(work):
            before = len(self._failed)
            built = [(row, self._read(found, row)) for found, row in batch]
            with self._writing() as writer:
                if self._has_forgotten_more(writer):
                    del self._failed[before:]
                    built = [(row, self._read(found, row)) for found, row in batch]
                for row, result in built:
                    if result is not None:
                        self._write(writer, row, result, leaving)
            done += len(batch)
            self._progress("reading", done, len(work))
        if leaving:
            with self._writing() as writer:
                for number in leaving:
                    writer.remove(number)
            self._counts["removed"] += len(leaving)

    def _has_forgotten_more(self, writer: Writer) -> bool:
        """Tell whether something was forgotten since the batch was read; nobody can forget before it is written."""
        forgotten = Forgotten(writer.tombstones())
        if forgotten == self._recipe.forgotten:
            return False
        self._recipe = replace(self._recipe, forgotten=forgotten)
        self._may_lack_rows = True
        return True

    def _read(self, found: FoundFile, row: DocumentRow | None) -> Built | None:
        try:
            # The name of a transcript may give its id and kind: after a rename all of it is read.
            known = self._trusted(row)
            return build(found, self._recipe, known if known and known.path == found.path else None)
        except UnreadableNoteError as error:
            if error.lasting:
                return Built(rejection(found, error.reason), (), 0)
            self._failed.append(PathReason(found.path, error.reason))
            return None

    def _trusted(self, row: DocumentRow | None) -> DocumentRow | None:
        """Give what the index has of a file, unless its rows may have been forgotten since they were listed."""
        return None if self._force or self._may_lack_rows else row

    def _write(self, writer: Writer, row: DocumentRow | None, built: Built, leaving: dict[int, DocumentRow]) -> None:
        document = built.document
        if document.rejected is not None:
            self._skipped.append(PathReason(document.path, document.rejected))
        is_renamed = row is not None and row.path != document.path
        if row is not None and is_renamed:
            writer.move(row.id, path=document.path, size=document.size, mtime_ns=document.mtime_ns)
        known = self._trusted(row)
        if known is not None and _same(known, document):
            writer.touch(known.id, size=document.size, mtime_ns=document.mtime_ns)
            self._counts["moved" if is_renamed else "unchanged"] += document.rejected is None
            return
        if row is None and not self._may_lack_rows and self._move(writer, document, leaving):
            return
        built.put(writer)
        self._counts["redactions"] += built.redactions
        if document.rejected is None:
            self._counts["added" if row is None or row.rejected is not None else "changed"] += 1

    def _move(self, writer: Writer, document: Document, leaving: dict[int, DocumentRow]) -> bool:
        """Give the place of a file that is gone to one with the same content: nothing is embedded again."""
        for number, row in leaving.items():
            if row.source == document.source and _same(row, document) and document.rejected is None:
                writer.move(number, path=document.path, size=document.size, mtime_ns=document.mtime_ns)
                del leaving[number]
                self._counts["moved"] += 1
                return True
        return False

    def _embed(self) -> EmbeddingOutcome:
        place = self._place
        with place.store.reading(place.agent, self._identity) as reader:
            counts = reader.counts()
            state = reader.state()
        waiting = _without_vector(counts)
        space = state.facts.get("space") if state else None
        try:
            embedder = self._embedder() if waiting or space else None
            if embedder is None or not (waiting or self._foreign(space, embedder)):
                return EmbeddingOutcome()
            done = 0

            def count(chunks: int) -> None:
                nonlocal done
                done += chunks
                self._progress("embedding", done, max(waiting, done))

            self._progress("embedding", 0, waiting)
            foreign = self._foreign(space, embedder)
            return embed_pending(place.store, place.agent, self._identity, embedder, place.cache, count, again=foreign)
        except ClawmarkError as error:
            return EmbeddingOutcome(stopped=error)

    @staticmethod
    def _foreign(space: Any, embedder: Embedder) -> bool:
        """Tell whether the vectors of the index come from another model than the embedder's."""
        if not space:
            return False
        return not same_space(space, embedder) or space != space_of(embedder, space["dimensions"])

    @contextmanager
    def _writing(self) -> Generator[Writer]:
        with self._place.store.writing(self._place.agent, self._identity) as writer:
            yield writer

    def _report(self, changes: Changes, outcome: EmbeddingOutcome) -> SyncReport:
        place = self._place
        with place.store.reading(place.agent, self._identity) as reader:
            state, counts = reader.state(), reader.counts()
        stopped = outcome.stopped
        error = ErrorInfo(stopped.code, stopped.message, stopped.action) if stopped else None
        missing = _without_vector(counts)
        if error is None and (self._explicit or changes):
            error = check(place.store, place.agent, missing, outcome)
        facts = {
            "last_sync": self._place.clock().isoformat(),
            "error": error.to_dict() if error else None,
            "failed": [item.to_dict() for item in self._failed],
        }
        # The lock is ours and this generation is the wanted one: others are what killed rebuilds left.
        alone = state is not None and state.complete and len(place.store.identities(place.agent)) == 1
        if not alone or self._worth_noting(state, facts, changes):
            with self._writing() as writer:
                writer.put_facts(facts)
                if not alone:
                    writer.complete()
        space = bool(state and state.facts.get("space")) or bool(outcome.failed or stopped)
        return SyncReport(
            **self._counts,
            skipped=tuple(self._skipped),
            failed=tuple(self._failed),
            pending=missing if space else 0,
            chunks=sum(count["chunks"] for count in counts.values()),
            texts_embedded=outcome.texts_embedded,
            partial=bool(self._failed or error),
            error=error,
        )

    def _worth_noting(self, state: Any, facts: dict[str, Any], changes: Changes) -> bool:
        """A pass that changed nothing and failed in nothing new writes nothing."""
        if self._explicit or state is None or not state.complete or changes:
            return True
        return any(state.facts.get(name) != facts[name] for name in ("error", "failed"))


def _without_vector(counts: dict[str, dict[str, int]]) -> int:
    return sum(count["chunks"] - count["vectors"] for count in counts.values())


def _same(row: DocumentRow, document: Document) -> bool:
    """Tell whether a file makes the document that is there; other bytes, or another name of a transcript, do not."""
    if (row.hash, row.rejected) != (document.hash, document.rejected):
        return False
    return all(row.meta.get(name) == document.meta.get(name) for name in ("kind", "session"))


def _cut(work: list[tuple[FoundFile, DocumentRow | None]]) -> Iterator[list[tuple[FoundFile, DocumentRow | None]]]:
    batch: list[tuple[FoundFile, DocumentRow | None]] = []
    size = 0
    for item in work:
        batch.append(item)
        size += item[0].size
        if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _silent(stage: str, done: int, total: int) -> None:
    """Ignore progress."""
