"""From a transcript to the document and chunks that a store keeps, and on from there when it grows.

A transcript that begins with the bytes that were read before is read on from the message
where its last chunk begins: that chunk may grow, the ones before cannot change any more.
The bytes before are hashed, not parsed. Everything else, and whatever cannot be proven,
is read whole, so the index holds the same either way.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, BinaryIO

from clawmark.core.chunking import Chunk, chunk_text
from clawmark.core.forgetting import HIDDEN_LINES
from clawmark.core.ports import ChunkRow, Document, DocumentRow
from clawmark.files import ChangedWhileReadingError, FoundFile, modified_ns, open_growing
from clawmark.sessions import (
    PARSER_VERSION,
    Earlier,
    Role,
    Session,
    SessionReading,
    SessionText,
    complete_prefix,
    session_text,
)
from clawmark.sync.building import Built, Recipe, chunk_rows, without_forgotten_lines

# A message stays one line of text. Lines of 800 characters, as the re-implemented system
# makes them, lose 6 points of nDCG@10 on longmemeval_pool (.672 against .732): a chunk
# then begins in the middle of a message, without the overlap that a cut line has.
UNWRAPPED = 1 << 30
NO_CONVERSATION = "no conversation in it"

_BLOCK = 1 << 20


@dataclass(frozen=True)
class Resume:
    """Where a transcript is read on, if it still begins with what was read.

    Attributes:
        size: Bytes that were read.
        hash: Their SHA-256.
        offset: Bytes before the line where reading goes on.
        line: Number of that line, 1-based.
        chunks: Chunks before it, which stay.
        chars: Characters of text before it, which stay.
        redactions: Secrets masked before it.
        open_keys: Who was in the middle of a private key there.
        earlier: What is known of the session there.
    """

    size: int
    hash: str
    offset: int
    line: int
    chunks: int
    chars: int
    redactions: int
    open_keys: tuple[Role, ...]
    earlier: Earlier

    def to_json(self) -> dict[str, Any]:
        """Give it JSON-ready."""
        return {**asdict(self), "earlier": self.earlier.to_json(), "parser": PARSER_VERSION}


def resume_from(meta: Mapping[str, Any]) -> Resume | None:
    """Read what was noted with a document; None when there is nothing, or by another parser."""
    noted: dict[str, Any] = dict(meta.get("resume") or {})
    if noted.pop("parser", None) != PARSER_VERSION:
        return None
    try:
        noted |= {"open_keys": tuple(noted["open_keys"]), "earlier": Earlier.from_json(noted["earlier"])}
        return Resume(**noted)
    except (KeyError, TypeError, ValueError):
        return None


def build_session(found: FoundFile, recipe: Recipe, row: DocumentRow | None = None) -> Built:
    """Read a transcript, or on from where it was read before, and make its document.

    Args:
        found: The transcript.
        recipe: What is made of it.
        row: What the index has of it; None to read all of it.

    Raises:
        UnreadableNoteError: It cannot be read.
    """
    # What hides a line may stand on both sides of the place where reading goes on.
    may_resume = row is not None and row.rejected is None and not recipe.forgotten.hides_lines
    resume = resume_from(row.meta) if row is not None and may_resume else None
    further = _build(found, recipe, resume) if resume is not None else None
    return further or _whole(_build(found, recipe, None))


def _whole(built: Built | None) -> Built:
    assert built is not None  # only reading on can find that it must not
    return built


def _build(found: FoundFile, recipe: Recipe, resume: Resume | None) -> Built | None:
    with open_growing(found, follow_links=recipe.follow_links) as (handle, state):
        lines = TranscriptLines(handle, state.st_size)
        if resume is not None and not lines.go_on(resume):
            return None
        reading = SessionReading(lines, name=found.path, earlier=resume and resume.earlier)
    session = reading.session
    if session.revises_earlier:
        return None
    masked = mask_session(session, redact=recipe.redact, open_keys=resume.open_keys if resume else ())
    document = Document(
        source=found.source,
        path=found.path,
        hash=lines.hash,
        size=state.st_size,
        mtime_ns=modified_ns(state),
        time_ms=_milliseconds(session.ended or session.started),
        meta={"kind": session.kind, "session": session.session_id, "inode": state.st_ino},
    )
    reason = recipe.exclusion(session.kind) or (None if masked.session.lines else NO_CONVERSATION)
    if reason is not None:
        return Built(replace(document, rejected=reason), (), 0)
    return _Draft(document, reading, masked, lines, recipe, resume).built()


class TranscriptLines:
    """The finished lines of an open transcript, once: numbered, and hashed as they pass.

    Args:
        handle: The file.
        size: Bytes that count; what is appended meanwhile does not.

    Attributes:
        hash: SHA-256 of all bytes that count; set at the end, as are the next two.
        complete: Bytes of finished lines; a half-written last line waits.
        complete_hash: SHA-256 of those.
        count: Lines in all, a half-written one included.
    """

    def __init__(self, handle: BinaryIO, size: int) -> None:
        self._handle = handle
        self._size = size
        self._start = self._hashed = 0
        self._first = 1
        self._digest = hashlib.sha256()
        self._offsets: array[int] = array("Q")
        self.hash = self.complete_hash = ""
        self.complete = self.count = 0

    def go_on(self, resume: Resume) -> bool:
        """Begin where reading goes on, if the transcript begins with what was read; tell whether it does."""
        if resume.size > self._size:
            return False
        last = self._hash_to(resume.size)
        if self._digest.hexdigest() != resume.hash:
            return False
        # A last line without its line end was whole; it must still be.
        if last != b"\n" and resume.size < self._size and not self._handle.read(2).startswith((b"\n", b"\r\n")):
            return False
        self._handle.seek(resume.offset)
        self._start, self._first = resume.offset, resume.line
        return True

    def offset_of(self, line: int) -> int:
        """Give the number of bytes before a line that was read."""
        return self._offsets[line - self._first]

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        """Yield (number, line without its end)."""
        position, number = self._start, self._first
        raw = b""
        while position < self._size:
            raw = self._handle.readline(self._size - position)
            if not raw:
                raise ChangedWhileReadingError("it became shorter while it was read", action="Sync again.")
            if not raw.endswith(b"\n") and complete_prefix(raw) < len(raw):
                break
            self._feed(raw, position)
            self._offsets.append(position)
            yield number, raw.removesuffix(b"\n").removesuffix(b"\r")
            position, number = position + len(raw), number + 1
        self.complete, self.complete_hash = position, self._digest.hexdigest()
        if position < self._size:
            self._feed(raw, position)
            number += 1
        self.hash, self.count = self._digest.hexdigest(), number - 1

    def _hash_to(self, size: int) -> bytes:
        last = b""
        while self._hashed < size:
            block = self._handle.read(min(_BLOCK, size - self._hashed))
            if not block:
                return b""
            self._feed(block, self._hashed)
            last = block[-1:]
        return last

    def _feed(self, raw: bytes, position: int) -> None:
        self._digest.update(raw[max(0, self._hashed - position) :])
        self._hashed = max(self._hashed, position + len(raw))


@dataclass(frozen=True)
class Masked:
    """A session without its secrets.

    Attributes:
        session: With masked texts.
        counts: Secrets masked up to and with each line.
        open_keys: Before each line, who was in the middle of a private key.
    """

    session: Session
    counts: tuple[int, ...]
    open_keys: tuple[tuple[Role, ...], ...]


def mask_session(session: Session, *, redact: bool, open_keys: Iterable[Role] = ()) -> Masked:
    """Mask the secrets of each message before it is cut: half a secret has no shape.

    Args:
        session: What was said.
        redact: False changes nothing.
        open_keys: Who is in the middle of a private key before the first line.
    """
    if not redact:
        return Masked(session, (0,) * len(session.lines), ((),) * len(session.lines))
    from clawmark.redaction import redact_part

    open_now: frozenset[Role] = frozenset(open_keys)
    texts: list[str] = []
    counts: list[int] = []
    before: list[tuple[Role, ...]] = []
    for line in session.lines:
        before.append(tuple(sorted(open_now)))
        masked, goes_on = redact_part(line.text, inside_key=line.role in open_now)
        own = frozenset((line.role,))
        open_now = open_now | own if goes_on else open_now - own
        texts.append(masked.text)
        counts.append(masked.count + (counts[-1] if counts else 0))
    lines = tuple(replace(line, text=text) for line, text in zip(session.lines, texts, strict=True))
    return Masked(replace(session, lines=lines), tuple(counts), tuple(before))


@dataclass(frozen=True)
class _Draft:
    """A session on its way to chunks."""

    document: Document
    reading: SessionReading
    masked: Masked
    lines: TranscriptLines
    recipe: Recipe
    resume: Resume | None

    def built(self) -> Built:
        rendered = session_text(self.masked.session, width=UNWRAPPED)
        document = without_forgotten_lines(replace(self.document, text=rendered.text), self.recipe)
        if document.rejected is not None:
            return Built(document, (), 0)
        rendered = replace(rendered, text=document.text)
        chars, chunks = (self.resume.chars, self.resume.chunks) if self.resume else (0, 0)
        spans = chunk_text(
            rendered.text,
            tokens=self.recipe.tokens,
            overlap=self.recipe.overlap,
            anchored=True,
            continues=self.resume is not None,
        )
        rows = chunk_rows(rendered.text, spans)
        meta = {
            **document.meta,
            "redactions": self.masked.counts[-1] + (self.resume.redactions if self.resume else 0),
            "resume": None if document.meta.get(HIDDEN_LINES) else self._resume(rendered, spans),
        }
        return Built(
            replace(document, meta=meta),
            tuple(_placed(row, span, rendered, chars) for row, span in zip(rows, spans, strict=True)),
            self.masked.counts[-1],
            kept_chunks=chunks,
            kept_chars=chars,
        )

    def _resume(self, rendered: SessionText, spans: Sequence[Chunk]) -> dict[str, Any] | None:
        """Note where reading goes on: at the last chunk that begins with a message."""
        size, digest = self.lines.complete, self.lines.complete_hash
        last = _last_at_line_start(rendered.text, spans)
        if last == 0:
            return replace(self.resume, size=size, hash=digest).to_json() if self.resume else None
        index, before = spans[last].start_line - 1, self.resume
        line = rendered.line_map[index]
        return Resume(
            size=size,
            hash=digest,
            offset=self.lines.offset_of(line),
            line=line,
            chunks=last + (before.chunks if before else 0),
            chars=spans[last].start + (before.chars if before else 0),
            redactions=self.masked.counts[index - 1] + (before.redactions if before else 0),
            open_keys=self.masked.open_keys[index],
            earlier=self.reading.before(line),
        ).to_json()


def _last_at_line_start(text: str, spans: Sequence[Chunk]) -> int:
    at_start = (number for number in range(len(spans) - 1, 0, -1) if text[spans[number].start - 1] == "\n")
    return next(at_start, 0)


def _placed(row: ChunkRow, span: Chunk, rendered: SessionText, chars: int) -> ChunkRow:
    """Give a chunk its place in the transcript and in the whole text, its speaker and its time."""
    first, last = span.start_line - 1, span.end_line - 1
    times = (time for time in rendered.timestamps[first : last + 1] if time is not None)
    return replace(
        row,
        start_line=rendered.line_map[first],
        end_line=rendered.line_map[last],
        start=row.start + chars,
        end=row.end + chars,
        speaker=rendered.roles[first],
        spoken_ms=_milliseconds(next(times, None)),
    )


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)
