"""Text to chunks: consecutive lines within a token budget, cut where the text pauses.

A chunk is a span of the text, so chunks join back to the source by construction.
One token is estimated as four weight units; a character weighs 1, more in scripts
whose characters cost a model more (``weigh``).

``CHUNKER_VERSION`` is part of the index identity: other spans mean a new index.

Source: recall-spec sections 2.1 and 2.2; the preference for headings and blank lines
is ours, chosen with ``clawmark eval`` (benchmarks/ranking).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple
from zlib import crc32

from clawmark.core.graphemes import safe_cut

CHUNKER_VERSION = 1

WEIGHT_PER_TOKEN = 4
_SMALLEST_BUDGET = 32

# Extra weight above 1 of each class of characters.
_WIDE = (
    r"[\u00b7\u1100-\u11ff\u2e80-\u33ff\u4dc0-\ua4cf\uac00-\ud7af\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffef]"
)
_HALF_WIDTH = r"[\uff61-\uff9f]"
_RARE = r"[\u3400-\u4dbf]"
_ASTRAL = r"[\U00010000-\U0010ffff]"
_ASTRAL_HAN = r"[\U00020000-\U0003ffff]"
_ODD = r"[\uff61-\uff9f\u3400-\u4dbf\U00010000-\U0010ffff]"
# Large sets take milliseconds to compile: only who meets such a character pays.
_compiled = cache(re.compile)

_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$")
_FENCE = re.compile(r" {0,3}(```|~~~)")
_SENTENCE_END = re.compile(r"[。！？；!?;](?=.)|\.(?= )|(?<=\S) (?=\S)")

# A cut may move back to a pause only while at least this share of the budget is
# filled. 0.5 was measured against 0.25, 0.75 and 1 (no preference): benchmarks/ranking.
FILL_BEFORE_PAUSE = 0.5
# A section begins a chunk of its own when the chunk before it is filled to this share.
FILL_BEFORE_SECTION = 0.25
# A cut before a line that its own words choose may fall while at least this share is
# filled. After an edit 0.5 makes at most 2 of 14 chunks of a chat of even messages anew
# (0.75: 11, no choice: 10), and ranks as well: benchmarks/ranking.
FILL_BEFORE_ANCHOR = 0.5


@dataclass(frozen=True)
class Chunk:
    """A span of a text.

    Attributes:
        start_line: First line, 1-based.
        end_line: Last line, included.
        start: Offset of the first character.
        end: Offset after the last character.
        context: Headings above the chunk that are not part of it, outermost first,
            joined by " > "; "" at the top of a text.
    """

    start_line: int
    end_line: int
    start: int
    end: int
    context: str = ""


class _Piece(NamedTuple):
    """A line, or a part of a line that is longer than the budget."""

    line: int
    start: int
    end: int
    weight: int
    context: str
    heading: int = 0  # level 1..6; 0 for other lines
    blank: bool = False


def weigh(text: str) -> int:
    """Estimate the cost of a text in weight units, four to a token.

    ASCII and other alphabetic characters weigh 1, Chinese, Japanese and Korean ones
    4, half-width forms 8, rare ideographs 12 or 16, other astral characters 2.

    >>> weigh("hello"), weigh("中文"), weigh("😀")
    (5, 8, 2)
    """
    if text.isascii():
        return len(text)
    weight = len(text) + 3 * len(_compiled(_WIDE).findall(text))
    if not _compiled(_ODD).search(text):
        return weight
    weight += 7 * len(_compiled(_HALF_WIDTH).findall(text))
    weight += (
        11 * len(_compiled(_RARE).findall(text))
        + len(_compiled(_ASTRAL).findall(text))
        + 14 * len(_compiled(_ASTRAL_HAN).findall(text))
    )
    return weight


def embedding_text(context: str, text: str) -> str:
    """Give what is embedded for a chunk: the headings above it, then its text."""
    return f"{context}\n{text}" if context else text


def chunk_text(
    text: str, *, tokens: int = 400, overlap: int = 80, anchored: bool = False, continues: bool = False
) -> list[Chunk]:
    """Cut a text into chunks that never weigh more than the budget.

    Every non-blank line is in at least one chunk. Neighbours share up to ``overlap``
    tokens of whole lines (of a line that is longer than the budget: of its end), none
    when the cut is at a heading. Blank lines at the ends of a chunk are not part of
    it. A grapheme is never cut.

    Args:
        text: The text; lines end at line feeds only.
        tokens: Budget of a chunk, >= 1; budgets below 8 count as 8.
        overlap: Tokens that may be repeated, 0 .. tokens - 1.
        anchored: True for a text without sections, such as a chat: cuts then fall before
            lines that their own words choose, so that after an edit further up the same
            chunks come out again.
        continues: True when *text* is the end of a longer text without headings and
            fences, from the start of one of its chunks on: the chunks are then those
            that the longer text has from there on.
    """
    budget = max(_SMALLEST_BUDGET, tokens * WEIGHT_PER_TOKEN)
    # Most short notes have no second section: 2 us instead of 60 for a kilobyte.
    if not continues and text.isascii() and len(text) <= budget and "\n#" not in text:
        return _single_chunk(text)
    carried = max(0, min(overlap * WEIGHT_PER_TOKEN, budget - 1))
    pieces = _pieces(text, budget, carried)
    anchors = text if anchored else None
    return _distinct(_span(pieces, first, last) for first, last in _groups(pieces, budget, carried, anchors))


def _single_chunk(text: str) -> list[Chunk]:
    stripped = text.rstrip()
    if not stripped:
        return []
    start = text.rfind("\n", 0, len(text) - len(text.lstrip())) + 1
    end = text.find("\n", len(stripped))
    first = text.count("\n", 0, start) + 1
    return [Chunk(first, first + stripped.count("\n", start), start, end if end >= 0 else len(text))]


def _distinct(chunks: Iterable[Chunk | None]) -> list[Chunk]:
    """Leave out what lies inside its neighbour: beside blank lines an overlap can be all that is left."""
    kept: list[Chunk] = []
    for chunk in chunks:
        if chunk is None or (kept and chunk.end <= kept[-1].end):
            continue
        if kept and chunk.start <= kept[-1].start:
            kept.pop()
        kept.append(chunk)
    return kept


def _pieces(text: str, budget: int, carried: int) -> list[_Piece]:
    pieces: list[_Piece] = []
    above = _Headings()
    start, fenced = 0, False
    may_fence = "```" in text or "~~~" in text
    for number, line in enumerate(text.split("\n"), start=1):
        if may_fence and _FENCE.match(line):
            fenced = not fenced
        end = start + len(line)
        weight = end - start if line.isascii() else weigh(line)
        if weight > budget and not line.isspace():
            pieces.extend(_cut_line(line, number, start, budget, carried, above.context))
        elif line.startswith("#") and not fenced and (heading := _HEADING.match(line)):
            context = above.enter(len(heading[1]), heading[2] or "")
            pieces.append(_Piece(number, start, end, weight, context, len(heading[1])))
        else:
            pieces.append(_Piece(number, start, end, weight, above.context, 0, not line or line.isspace()))
        start = end + 1
    return pieces


class _Headings:
    """The headings that a line lies under."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.context = ""

    def enter(self, level: int, title: str) -> str:
        """Go below a heading; give what the heading itself lies under."""
        self._open = [item for item in self._open if item[0] < level]
        outer = self._path()
        if title:
            self._open.append((level, title))
        self.context = self._path()
        return outer

    def _path(self) -> str:
        return " > ".join(title for _, title in self._open)


def _cut_line(line: str, number: int, offset: int, budget: int, carried: int, context: str) -> Iterator[_Piece]:
    """Cut a line that is longer than the budget; each part repeats the end of the one before."""
    start = 0
    while True:
        end = _furthest(line, start, budget)
        if end < len(line):
            end = _pause_before(line, start, end)
        yield _Piece(number, offset + start, offset + end, weigh(line[start:end]), context)
        if end == len(line):
            return
        overlap = _start_of_overlap(line, start, end, carried)
        start = overlap if overlap > start else end


def _furthest(line: str, start: int, budget: int) -> int:
    low, high = start + 1, min(len(line), start + budget)
    if weigh(line[start:high]) <= budget:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if weigh(line[start:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    return low


def _pause_before(line: str, start: int, end: int) -> int:
    """Move a cut back to a sentence end or a space in the last quarter, else to a grapheme border."""
    earliest = start + (end - start) * 3 // 4
    cut = 0
    for pause in _SENTENCE_END.finditer(line, earliest, end):
        cut = pause.end()
    cut = safe_cut(line, cut if cut > earliest else end)
    return cut if cut > start else end


def _start_of_overlap(line: str, start: int, end: int, carried: int) -> int:
    if not carried:
        return end
    low, high = start, end
    while low < high:
        middle = (low + high) // 2
        if weigh(line[middle:end]) <= carried:
            high = middle
        else:
            low = middle + 1
    space = line.find(" ", low, min(end, low + 40))
    cut = safe_cut(line, space + 1 if space >= 0 else low)
    return cut if weigh(line[cut:end]) <= carried else end


def _groups(pieces: list[_Piece], budget: int, carried: int, anchors: str | None) -> Iterator[tuple[int, int]]:
    first = 0
    while True:
        last = _fill(pieces, first, budget)
        if last == len(pieces):
            yield first, last
            return
        if anchors is not None:
            last = _anchor(pieces, first, last, budget, anchors)
        elif not pieces[last].heading:
            last = _pause(pieces, first, last, budget)
        yield first, last
        first = _carry(pieces, first, last, budget, carried)


def _fill(pieces: list[_Piece], first: int, budget: int) -> int:
    """Give the end of the longest chunk: where the budget is used up, or a section begins."""
    weight = 0
    least = FILL_BEFORE_SECTION * budget
    for index in range(first, len(pieces)):
        if pieces[index].heading and weight >= least:
            return index
        weight += pieces[index].weight + 1
        if weight > budget and index > first:
            return index
    return len(pieces)


def _pause(pieces: list[_Piece], first: int, last: int, budget: int) -> int:
    """Choose the cut: the last blank line that leaves enough in the chunk."""
    least = FILL_BEFORE_PAUSE * budget
    weight = sum(piece.weight + 1 for piece in pieces[first:last])
    for index in range(last, first, -1):
        if weight < least:
            break
        if pieces[index - 1].blank:
            return index
        weight -= pieces[index - 1].weight + 1
    return last


def _anchor(pieces: list[_Piece], first: int, last: int, budget: int, text: str) -> int:
    """Choose the cut: before the line with the smallest checksum that leaves enough in the chunk."""
    least = FILL_BEFORE_ANCHOR * budget
    weight = sum(piece.weight + 1 for piece in pieces[first:last])
    best, cut = -1, last
    for index in range(last, first, -1):
        if weight < least:
            break
        piece = pieces[index]
        if piece.line != pieces[index - 1].line:
            checksum = crc32(text[piece.start : piece.end].encode("utf-8", "replace"))
            if best < 0 or checksum < best:
                best, cut = checksum, index
        weight -= pieces[index - 1].weight + 1
    return cut


def _carry(pieces: list[_Piece], first: int, last: int, budget: int, carried: int) -> int:
    """Give the start of the next chunk: back from the cut while the overlap allows it."""
    if pieces[last].heading or pieces[last].line == pieces[last - 1].line:
        return last
    room = min(carried, budget - pieces[last].weight - 1)
    start = last
    while start > first + 1:
        room -= pieces[start - 1].weight + 1
        if room < 0:
            break
        start -= 1
    return start


def _span(pieces: list[_Piece], first: int, last: int) -> Chunk | None:
    while first < last and pieces[first].blank:
        first += 1
    while last > first and pieces[last - 1].blank:
        last -= 1
    if first == last:
        return None
    head, tail = pieces[first], pieces[last - 1]
    return Chunk(head.line, tail.line, head.start, tail.end, head.context)
