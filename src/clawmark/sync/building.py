"""From the bytes of a file to the document and chunks that a store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from clawmark.core.chunking import CHUNKER_VERSION, Chunk, chunk_text, embedding_text
from clawmark.core.digest import content_hash, content_key
from clawmark.core.forgetting import FORGOTTEN, HIDDEN_LINES, NOTHING_FORGOTTEN, Forgotten
from clawmark.core.ports import ChunkRow, Document
from clawmark.core.tokens import TOKENIZER_VERSION, text_singles, text_terms
from clawmark.files import FoundFile, read_bytes, read_note

if TYPE_CHECKING:
    from clawmark.sessions import Session

# A message stays one line of text. Lines of 800 characters, as the re-implemented system
# makes them, lose 6 points of nDCG@10 on longmemeval_pool (.672 against .732): a chunk
# then begins in the middle of a message, without the overlap that a cut line has.
UNWRAPPED = 1 << 30


@dataclass(frozen=True)
class Recipe:
    """The settings that decide what is made of a file.

    Attributes:
        tokens: Budget of a chunk.
        overlap: Tokens that neighbours may share.
        redact: Whether secrets are masked.
        follow_links: Whether links are followed when reading.
        forgotten: What may not be indexed; no part of the identity.
    """

    tokens: int = 400
    overlap: int = 80
    redact: bool = True
    follow_links: bool = False
    forgotten: Forgotten = NOTHING_FORGOTTEN

    def identity(self) -> dict[str, object]:
        """Give what makes two indexes of the same files differ, whatever embeds them."""
        return {
            "chunker": CHUNKER_VERSION,
            "tokenizer": TOKENIZER_VERSION,
            "tokens": self.tokens,
            "overlap": self.overlap,
            "redact": self.redact,
        }


@dataclass(frozen=True)
class Built:
    """A document with its chunks, and the number of secrets that were masked."""

    document: Document
    chunks: tuple[ChunkRow, ...]
    redactions: int


def build(found: FoundFile, recipe: Recipe) -> Built:
    """Read a file and make its document, without what is forgotten.

    Raises:
        UnreadableNoteError: The file cannot be read, or is no text.
    """
    if recipe.forgotten.hides_path(found.path):
        return forgotten_file(Document(found.source, found.path, "", found.size, found.mtime_ns))
    built = _build(found, recipe)
    return forgotten_file(built.document) if recipe.forgotten.hides(built.document) else built


def forgotten_file(document: Document) -> Built:
    """Note a file that is forgotten as a whole: nothing of it is kept but its path and state."""
    return Built(replace(document, hash="", text="", meta={}, time_ms=None, rejected=FORGOTTEN), (), 0)


def _build(found: FoundFile, recipe: Recipe) -> Built:
    if found.source == "sessions":
        return _build_session(found, recipe)
    note = read_note(found, follow_links=recipe.follow_links)
    text, redactions = _masked(note.text, recipe)
    document = Document(found.source, found.path, note.hash, note.size, note.mtime_ns, text=text)
    if not text.strip():
        return Built(replace(document, rejected="nothing but blank lines", text=""), (), 0)
    if redactions:
        document = replace(document, meta={"redactions": redactions})
    document = _without_forgotten_lines(document, recipe)
    text = document.text
    if document.rejected:
        return Built(document, (), 0)
    spans = chunk_text(text, tokens=recipe.tokens, overlap=recipe.overlap)
    return Built(document, _rows(text, spans), redactions)


def _build_session(found: FoundFile, recipe: Recipe) -> Built:
    from clawmark.sessions import parse_session, session_text, split_jsonl  # many workspaces have none

    raw = read_bytes(found, follow_links=recipe.follow_links)
    session, redactions = _masked_session(parse_session(split_jsonl(raw.data), name=found.path), recipe)
    rendered = session_text(session, width=UNWRAPPED)
    text = rendered.text
    document = Document(
        source=found.source,
        path=found.path,
        hash=content_hash(raw.data),
        size=raw.size,
        mtime_ns=raw.mtime_ns,
        time_ms=_milliseconds(session.ended or session.started),
        text=text,
        meta={"kind": session.kind, "session": session.session_id, "redactions": redactions},
    )
    if not text.strip():
        return Built(replace(document, rejected="no conversation in it", text=""), (), 0)
    document = _without_forgotten_lines(document, recipe)
    text = document.text
    if document.rejected:
        return Built(document, (), 0)
    spans = chunk_text(text, tokens=recipe.tokens, overlap=recipe.overlap)
    rows = tuple(_at_source_lines(row, rendered.line_map) for row in _rows(text, spans))
    return Built(document, rows, redactions)


def _without_forgotten_lines(document: Document, recipe: Recipe) -> Document:
    text = recipe.forgotten.masked(document.text)
    if text == document.text:
        return document
    if not text.strip():
        return forgotten_file(document).document
    return replace(document, text=text, meta={**document.meta, HIDDEN_LINES: True})


def _masked(text: str, recipe: Recipe) -> tuple[str, int]:
    if not recipe.redact:
        return text, 0
    from clawmark.redaction import redact  # a search that finds nothing changed needs none

    masked = redact(text)
    return masked.text, masked.count


def _masked_session(session: Session, recipe: Recipe) -> tuple[Session, int]:
    """Mask before lines are wrapped: a secret that is cut in two would be masked in part."""
    masked = [(line, *_masked(line.text, recipe)) for line in session.lines]
    lines = tuple(replace(line, text=text) for line, text, _ in masked)
    return replace(session, lines=lines), sum(count for _, _, count in masked)


def _milliseconds(moment: datetime | None) -> int | None:
    return None if moment is None else int(moment.timestamp() * 1000)


def _at_source_lines(row: ChunkRow, line_map: Sequence[int]) -> ChunkRow:
    from clawmark.sessions import remap_lines

    start, end = remap_lines(row.start_line, row.end_line, line_map)
    return replace(row, start_line=start, end_line=end)


def _rows(text: str, spans: Sequence[Chunk]) -> tuple[ChunkRow, ...]:
    """Give each chunk its terms; the lines of a text are analysed once, overlaps included."""
    terms = text_terms(text)
    borders = [0]
    for _ in range(terms.count("\n")):
        borders.append(terms.index("\n", borders[-1]) + 1)
    borders.append(len(terms))
    return tuple(_row(text, span, terms, borders) for span in spans)


def _row(text: str, span: Chunk, terms: list[str], borders: list[int]) -> ChunkRow:
    part = text[span.start : span.end]
    if _is_part_of_line(text, span):
        own = text_terms(part)
    else:
        own = terms[borders[span.start_line - 1] : borders[span.end_line]]
    if own and own[-1] == "\n":
        own.pop()
    return ChunkRow(
        start_line=span.start_line,
        end_line=span.end_line,
        start=span.start,
        end=span.end,
        context=span.context,
        terms=tuple(own),
        singles=text_singles(part),
        embedding_key=content_key(embedding_text(span.context, part).encode()),
    )


def _is_part_of_line(text: str, span: Chunk) -> bool:
    return (span.start > 0 and text[span.start - 1] != "\n") or (span.end < len(text) and text[span.end] != "\n")
