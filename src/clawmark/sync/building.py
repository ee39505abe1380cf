"""From the bytes of a file to the document and chunks that a store keeps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from clawmark.core.chunking import CHUNKER_VERSION, Chunk, chunk_text, embedding_text
from clawmark.core.digest import content_key
from clawmark.core.forgetting import FORGOTTEN, HIDDEN_LINES, NOTHING_FORGOTTEN, Forgotten
from clawmark.core.ports import ChunkRow, Document, DocumentRow, Writer
from clawmark.core.tokens import TOKENIZER_VERSION, text_singles, text_terms
from clawmark.files import FoundFile, read_note

_NOT_INCLUDED = "not in [sessions] include_kinds"


@dataclass(frozen=True)
class Recipe:
    """The settings that decide what is made of a file.

    Attributes:
        tokens: Budget of a chunk.
        overlap: Tokens that neighbours may share.
        redact: Whether secrets are masked.
        follow_links: Whether links are followed when reading.
        kinds: Kinds of session that are indexed; None for all.
        forgotten: What may not be indexed; no part of the identity.
    """

    tokens: int = 400
    overlap: int = 80
    redact: bool = True
    follow_links: bool = False
    kinds: frozenset[str] | None = None
    forgotten: Forgotten = NOTHING_FORGOTTEN

    def exclusion(self, kind: str) -> str | None:
        """Say why sessions of a kind are not indexed; None when they are."""
        if self.kinds is None or kind in self.kinds:
            return None
        return f"{kind} session, {_NOT_INCLUDED}"

    def judges_otherwise(self, row: DocumentRow) -> bool:
        """Tell whether a session was let in, or left out, under another choice of kinds."""
        if row.source != "sessions" or "kind" not in row.meta:
            return False
        noted = row.rejected if row.rejected and row.rejected.endswith(_NOT_INCLUDED) else None
        return noted != self.exclusion(row.meta["kind"])

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
    """A document with its chunks, and the number of secrets that were masked.

    Attributes:
        document: What the index gets; when chunks are kept, its text goes on behind theirs.
        chunks: Its chunks, without those that are kept.
        redactions: Number of secrets.
        kept_chunks: Chunks at the beginning that stay as the index has them.
        kept_chars: Characters at the beginning of the text that stay.
    """

    document: Document
    chunks: tuple[ChunkRow, ...]
    redactions: int
    kept_chunks: int = 0
    kept_chars: int = 0

    def put(self, writer: Writer) -> None:
        """Write the document, or what is new of it."""
        if self.kept_chunks:
            writer.extend(self.document, self.chunks, kept_chunks=self.kept_chunks, kept_chars=self.kept_chars)
        else:
            writer.replace(self.document, self.chunks)


def rejection(found: FoundFile, reason: str) -> Document:
    """Note a file that was looked at and holds nothing to index, so that it is not read again."""
    return Document(found.source, found.path, "", found.size, found.mtime_ns, rejected=reason)


def build(found: FoundFile, recipe: Recipe, row: DocumentRow | None = None) -> Built:
    """Read a file and make its document, without what is forgotten.

    Args:
        found: The file.
        recipe: What is made of it.
        row: What the index has of it, to read on from there; None to read all of it.

    Raises:
        UnreadableNoteError: The file cannot be read, or is no text.
    """
    if recipe.forgotten.hides_path(found.path):
        return forgotten_file(Document(found.source, found.path, "", found.size, found.mtime_ns))
    built = _build(found, recipe, row)
    return forgotten_file(built.document) if recipe.forgotten.hides(built.document) else built


def forgotten_file(document: Document) -> Built:
    """Note a file that is forgotten as a whole: nothing of it is kept but its path and state."""
    return Built(replace(document, hash="", text="", meta={}, time_ms=None, rejected=FORGOTTEN), (), 0)


def _build(found: FoundFile, recipe: Recipe, row: DocumentRow | None) -> Built:
    if found.source == "sessions":
        from clawmark.sync.transcripts import build_session  # many workspaces have none

        return build_session(found, recipe, row)
    note = read_note(found, follow_links=recipe.follow_links)
    text, redactions = _masked(note.text, recipe)
    document = Document(found.source, found.path, note.hash, note.size, note.mtime_ns, text=text)
    if not text.strip():
        return Built(replace(document, rejected="nothing but blank lines", text=""), (), 0)
    if redactions:
        document = replace(document, meta={"redactions": redactions})
    document = without_forgotten_lines(document, recipe)
    text = document.text
    if document.rejected:
        return Built(document, (), 0)
    spans = chunk_text(text, tokens=recipe.tokens, overlap=recipe.overlap)
    return Built(document, chunk_rows(text, spans), redactions)


def without_forgotten_lines(document: Document, recipe: Recipe) -> Document:
    """Blank the forgotten lines of a document; one with no other is rejected."""
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


def chunk_rows(text: str, spans: Sequence[Chunk]) -> tuple[ChunkRow, ...]:
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
