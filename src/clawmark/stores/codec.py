"""How texts and vectors lie in the index file, and what the full-text index gets of a chunk."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.tokens import text_singles, text_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Small windows suit small texts: notes of 2 kB take 40 us instead of 64, and no more room.
_LEVEL, _WINDOW, _MEMORY = 1, -12, 5
# Of a packed vector: the lowest byte of a float32 is left out.
BYTES_PER_NUMBER = 3


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


def pack_vector(vector: NDArray[Any]) -> bytes:
    """Pack a float32 vector without the lowest byte of its numbers, rounded.

    The cosine of unit vectors changes by less than 1e-5, and the index of a megabyte of
    prose stays below three (user case C08).
    """
    import numpy as np

    bits = np.ascontiguousarray(vector, dtype="<f4").view("<u4") + np.uint32(0x80)
    return bits.view(np.uint8).reshape(-1, 4)[:, 1:].tobytes()


def unpack_vectors(blobs: Sequence[bytes]) -> NDArray[Any]:
    """Undo ``pack_vector`` for many: (vectors, dimensions) float32."""
    import numpy as np

    if not blobs:
        return np.empty((0, 0), dtype=np.float32)
    packed = np.frombuffer(b"".join(blobs), dtype=np.uint8).reshape(len(blobs), -1, BYTES_PER_NUMBER)
    whole = np.zeros((*packed.shape[:2], 4), dtype=np.uint8)
    whole[:, :, 1:] = packed
    return whole.view("<f4")[:, :, 0].astype(np.float32)
