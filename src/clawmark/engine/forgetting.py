"""``Memory.forget``: takes a file, a session or a passage out of the index, for good.

Only the index changes. First the tombstones are written and the rows removed, in one
transaction; then every other generation of the agent follows. No lock is needed: a
pass that is under way asks for tombstones in the transaction of each batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from clawmark.core.errors import ArgumentError, ClawmarkError, StoreBusyError
from clawmark.core.forgetting import FORGOTTEN, Forgotten, Tombstone
from clawmark.core.lineage import Lineage
from clawmark.core.model import ErrorInfo, ForgetReport, Notice
from clawmark.core.ports import DocumentRow, Reader
from clawmark.core.rendering import citation
from clawmark.core.rows import StoredChunk
from clawmark.engine.arguments import text_argument
from clawmark.engine.subjects import Kind, Subject, not_found, tombstones_of
from clawmark.sync import Workplace
from clawmark.sync.embedding import kind_of
from clawmark.sync.purging import hidden_rows, purge, remove_all


@dataclass
class _Found:
    """What tombstones hide of an index.

    Attributes:
        rows: The documents, as a whole or in part.
        chunks: Their chunks that hold something forgotten.
        texts: What is forgotten.
        derived: Citations of what shares a passage with it, and stays.
    """

    rows: list[DocumentRow] = field(default_factory=list[DocumentRow])
    chunks: list[StoredChunk] = field(default_factory=list[StoredChunk])
    texts: list[str] = field(default_factory=list[str])
    derived: list[str] = field(default_factory=list[str])


def subject_of(path: Any, session: Any, chunk: Any) -> Subject:
    """Check that exactly one thing is named, by text.

    Raises:
        ArgumentError: It is not.
    """
    named: dict[Kind, Any] = {"path": path, "session": session, "chunk": chunk}
    given: list[Kind] = [kind for kind in named if named[kind] is not None]
    if len(given) != 1:
        raise ArgumentError("Name exactly one of path, session and chunk.", action="For example path='memory/a.md'.")
    kind = given[0]
    name = text_argument(kind, named[kind])
    if not name or not name.strip():
        raise ArgumentError(f"{kind} must name something.", action="For example path='memory/a.md'.")
    return Subject(kind, name.strip())


def forget(place: Workplace, subject: Subject, *, dry_run: bool) -> ForgetReport:
    """Take a subject out of the index and keep it out; failures are part of the report.

    Args:
        place: The index and the files.
        subject: What to forget.
        dry_run: Only tell what would be removed.

    Raises:
        ArgumentError: A chunk is not named by its citation.
    """
    try:
        return _forget(place, subject, dry_run)
    except ArgumentError:
        raise
    except ClawmarkError as error:
        return ForgetReport(dry_run=dry_run, error=ErrorInfo(error.code, error.message, error.action))


def restored(place: Workplace, subject: Subject, *, dry_run: bool) -> ForgetReport:
    """Let a subject be indexed again; failures are part of the report.

    Args:
        place: The index and the files.
        subject: As it was named when it was forgotten.
        dry_run: Only tell whether it is forgotten.
    """
    try:
        with place.store.reading(place.agent) as reader:
            known, state = reader.tombstones(), reader.state()
        spelled = subject.in_workspace(place.rules).spelled
        stones = {stone for stone in known if stone.subject == spelled}
        if not stones:
            raise _nothing_to_restore(spelled, known)
        if not dry_run:
            with place.store.writing(place.agent, state.identity if state else place.recipe.identity()) as writer:
                writer.remove_tombstones(stones)
            _purge_all(place, Forgotten(known - stones))
    except ClawmarkError as error:
        return ForgetReport(dry_run=dry_run, restored=True, error=ErrorInfo(error.code, error.message, error.action))
    paths = sorted(stone.value for stone in stones if stone.kind == "path")
    return ForgetReport(documents=tuple(paths), dry_run=dry_run, restored=True)


def _forget(place: Workplace, subject: Subject, dry_run: bool) -> ForgetReport:
    with place.store.reading(place.agent) as reader:
        known, state = reader.tombstones(), reader.state()
        subject = subject.in_workspace(place.rules)
        stones = tombstones_of(place, reader, subject, known)
        forgotten = Forgotten(frozenset(stones))
        found = _find(reader, forgotten, subject)
    report = ForgetReport(
        documents=tuple(row.path for row in found.rows),
        chunks=len(found.chunks),
        vectors=sum(chunk.embedded for chunk in found.chunks),
        derived=tuple(found.derived),
        dry_run=dry_run,
    )
    if dry_run:
        return report
    with place.store.writing(place.agent, state.identity if state else place.recipe.identity()) as writer:
        writer.put_tombstones(stones)
        remove_all(writer, {row.id for row in found.rows})
    _purge_all(place, Forgotten(known | stones))
    space = state.facts.get("space") if state else None
    keys = [chunk.embedding_key for chunk in found.chunks]
    cached = place.cache.remove(space["provider"], kind_of(space), keys) if place.cache and space else 0
    return replace(report, cached=cached, warnings=_erase(place))


def _purge_all(place: Workplace, forgotten: Forgotten) -> None:
    for identity in place.store.identities(place.agent):
        purge(place.store, place.agent, identity, forgotten)


def _erase(place: Workplace) -> tuple[Notice, ...]:
    """Overwrite what the store's file still holds of removed rows, where the store can."""
    erase = getattr(place.store, "erase_traces", None)
    try:
        if erase is None or erase():
            return ()
    except StoreBusyError:
        pass  # another process is writing: what is forgotten is gone from every answer all the same
    message = "Another process is using the index: removed words stay in its file and journal until it is done."
    return (Notice("FORGET_TRACES", message, "Run the same command again."),)


def _find(reader: Reader, forgotten: Forgotten, subject: Subject) -> _Found:
    found = _Found(rows=list(hidden_rows(reader, forgotten)))
    for row in found.rows:
        text, chunks = reader.document_text(row.id), reader.chunks(row.id)
        gone = _gone_lines(text, row, forgotten)
        found.texts.append("\n".join(line for number, line in enumerate(text.split("\n")) if number in gone))
        found.chunks += [chunk for chunk in chunks if not gone.isdisjoint(_lines_of(text, chunk))]
    names = {name for name in (*subject.names, *_sessions(found.rows)) if len(name) > 1}
    lineage = Lineage(found.texts, names if subject.kind != "chunk" else ())
    for row in reader.documents():
        if row.rejected is None and not forgotten.hides(row):
            found.derived += _passages(reader, row, forgotten, lineage)
    return found


def _sessions(rows: list[DocumentRow]) -> Iterator[str]:
    for row in rows:
        if row.source == "sessions":
            yield row.path
            yield str(row.meta.get("session") or "")


def _gone_lines(text: str, row: DocumentRow, forgotten: Forgotten) -> set[int]:
    lines = text.split("\n")
    if forgotten.hides(row):
        return set(range(len(lines)))
    kept = forgotten.masked(text).split("\n")
    return {number for number, line in enumerate(lines) if line != kept[number]}


def _lines_of(text: str, chunk: StoredChunk) -> range:
    first = text.count("\n", 0, chunk.start)
    return range(first, first + text.count("\n", chunk.start, chunk.end) + 1)


def _passages(reader: Reader, row: DocumentRow, forgotten: Forgotten, lineage: Lineage) -> Iterator[str]:
    """Cite the chunks of a document that share a passage with what is forgotten."""
    text = reader.document_text(row.id)
    kept = forgotten.masked(text)
    if not lineage.shared_by(kept):
        return
    lines = kept.split("\n")
    cited = False
    for chunk in reader.chunks(row.id):
        span = _lines_of(text, chunk)
        if lineage.shared_by("\n".join(lines[span.start : span.stop])):
            cited = True
            yield citation(row.path, chunk.start_line, chunk.end_line)
    if not cited:
        yield row.path


def _nothing_to_restore(spelled: str, known: frozenset[Tombstone]) -> ClawmarkError:
    subjects = sorted({stone.subject for stone in known})
    more = f", and {len(subjects) - 5} more" if len(subjects) > 5 else ""
    action = f"Forgotten are: {', '.join(subjects[:5])}{more}." if subjects else "Nothing is forgotten."
    return not_found(f"{spelled} is not {FORGOTTEN}.", action)
