"""How terms and vectors lie in the index file."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Mapping, Sequence

# Between the lines of a chunk; term ids begin at 1.
LINE_BREAK = 0


def pack_ids(main: Sequence[int], singles: Sequence[int]) -> bytes:
    """Pack term ids as little-endian uint32: the count of the main ones, they, the singles."""
    packed = array("I", (len(main), *main, *singles))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()


def unpack_ids(blob: bytes) -> tuple[array[int], array[int]]:
    """Give (main ids with line breaks, ids of singles) of a packed chunk."""
    packed = array("I")
    packed.frombytes(blob)
    if sys.byteorder == "big":
        packed.byteswap()
    border = packed[0] + 1
    return packed[1:border], packed[border:]


def count_ids(blob: bytes, wanted: Mapping[int, str]) -> dict[str, int]:
    """Count the wanted term ids in a packed chunk, by term."""
    main, singles = unpack_ids(blob)
    counts: dict[str, int] = {}
    for ids in (main, singles):
        for number in ids:
            if number in wanted:
                term = wanted[number]
                counts[term] = counts.get(term, 0) + 1
    return counts


def word_of(number: int) -> str:
    """Spell a term id as the word that stands for it in the full-text index.

    >>> word_of(35), word_of(256)
    ('23', '100')
    """
    return f"{number:x}"


def words_of(blob: bytes) -> str:
    """Give what the full-text index holds of a packed chunk."""
    main, singles = unpack_ids(blob)
    return " ".join([word_of(number) for ids in (main, singles) for number in ids if number])
