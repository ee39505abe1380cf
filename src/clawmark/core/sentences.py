"""Where the sentences of a chunk begin and end: the units that are compared by meaning.

A chunk of 400 tokens says many things, and one vector for all of them is near none. Its
best sentence is what answers a question (``benchmarks/ranking``: paraphrases of single
lines found 35 of 40 against 16).
"""

from __future__ import annotations

import itertools
import re

# Part of what makes vectors comparable: other sentences are embedded again.
SENTENCES_VERSION = 1

# In bytes of UTF-8, so that a Chinese sentence counts about what it says.
# Shorter pieces ("Yes.", "7 pm.") say nothing alone and join what follows.
_LEAST_BYTES = 25
# On average a sentence has at least so many bytes, shorter ones are joined: vectors stay
# below one and a half times the text (user case C08). Joining more costs: at 80 bytes
# paraphrases of single lines are 31 of 40, at 48 they are 35.
BYTES_PER_SENTENCE = 48
_END = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？；])[”’」』）]*|\n")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    r"""Find the sentences of a chunk.

    Args:
        text: Lines of a note or a chat.

    Returns:
        (start, end) offsets, rising, not overlapping, no white space at their ends. A line
        ends a sentence. Empty only when the text is blank.

    >>> text = "# Keys\nThe key of the boiler room hangs in the hall, behind the coats. No. Since May it is with Ina."
    >>> [text[start:end] for start, end in sentence_spans(text)]
    ['# Keys\nThe key of the boiler room hangs in the hall, behind the coats.', 'No. Since May it is with Ina.']
    """
    pieces = _pieces(text)
    spans = _joined(text, pieces, _LEAST_BYTES)
    most = max(1, len(text.encode("utf-8", "replace")) // BYTES_PER_SENTENCE)
    least = _LEAST_BYTES
    while len(spans) > most:
        least = least * 5 // 4
        spans = _joined(text, pieces, least)
    return spans


def _pieces(text: str) -> list[tuple[int, int]]:
    """Cut at every end of a sentence or a line."""
    borders = [0, *(found.end() for found in _END.finditer(text)), len(text)]
    pieces: list[tuple[int, int]] = []
    for start, end in itertools.pairwise(borders):
        piece = text[start:end]
        bare = piece.strip()
        if bare:
            first = start + piece.index(bare)
            pieces.append((first, first + len(bare)))
    return pieces


def _joined(text: str, pieces: list[tuple[int, int]], least: int) -> list[tuple[int, int]]:
    """Join pieces until each has *least* bytes; what is left over joins the last one."""
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for first, end in pieces:
        start = first if start is None else start
        if len(text[start:end].encode("utf-8", "replace")) >= least:
            spans.append((start, end))
            start = None
    if start is not None:
        last = spans.pop()[0] if spans else start
        spans.append((last, pieces[-1][1]))
    return spans
