"""How the text of a document lies in the index file, and what the full-text index gets of a chunk."""

from __future__ import annotations

import zlib

from clawmark.core.tokens import text_singles, text_terms

# Small windows suit small texts: notes of 2 kB take 40 us instead of 64, and no more room.
_LEVEL, _WINDOW, _MEMORY = 1, -12, 5


def spelled(text: str) -> str:
    """Spell a chunk for the full-text index: its terms, then its single characters.

    Always the same for the same text: a row is forgotten by spelling it again.
    """
    return spell(text_terms(text), text_singles(text))


def spell(terms: list[str] | tuple[str, ...], singles: tuple[str, ...]) -> str:
    """Spell terms that are known already; line feeds separate like spaces."""
    return " ".join((*terms, *singles))


def count_terms(text: str, wanted: frozenset[str]) -> dict[str, int]:
    """Count the wanted terms in a chunk without the full-text index."""
    counts: dict[str, int] = {}
    for term in (*text_terms(text), *text_singles(text)):
        if term in wanted:
            counts[term] = counts.get(term, 0) + 1
    return counts


def pack(text: str) -> bytes:
    """Compress a text."""
    squeezer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _WINDOW, _MEMORY)
    return squeezer.compress(text.encode()) + squeezer.flush()


def unpack(blob: bytes) -> str:
    """Undo ``pack``."""
    return zlib.decompress(blob, _WINDOW).decode()
