"""A session to text lines for indexing, and lines of that text back to the transcript."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from clawmark.core.graphemes import safe_cut
from clawmark.sessions.model import Role, Session, SessionLine, SessionText

# spec 7.4: a longer message becomes several text lines.
WRAP_WIDTH = 800

_LABELS: dict[Role, str] = {"user": "User", "assistant": "Assistant"}

# Where a message may be cut. The last group, a space or nothing, is dropped there.
_SENTENCE_END = re.compile(r"""[.!?…]['"”’)\]]*+([ ])|[。！？；][”’」』）】]*+([ ]?+)""")
_PAUSE = re.compile(r"[，、：。！？；”’）】》」』]++([ ]?+)|([ ])")


def render_line(line: SessionLine) -> str:
    """Give a message as one text line: its speaker, and its text with whitespace folded.

    >>> render_line(SessionLine(line=2, role="user", text="Hello  there "))
    'User: Hello there'
    """
    return f"{_LABELS[line.role]}: {_fold(line.text)}"


def session_text(session: Session, width: int = WRAP_WIDTH) -> SessionText:
    """Give the text of a session, and for each text line where it comes from.

    A message longer than *width* becomes several text lines; each names the speaker
    again, so that a chunk which begins inside a message still tells who speaks. Mask
    secrets before: a wrapped secret is two halves.

    Source:
        recall-spec 7.4.
    """
    texts: list[str] = []
    line_map: list[int] = []
    roles: list[Role] = []
    timestamps: list[datetime | None] = []
    for line in session.lines:
        for piece in wrap_message(line.text, width):
            texts.append(f"{_LABELS[line.role]}: {piece}")
            line_map.append(line.line)
            roles.append(line.role)
            timestamps.append(line.timestamp)
    return SessionText("\n".join(texts), tuple(line_map), tuple(roles), tuple(timestamps))


def remap_lines(start: int, end: int, line_map: Sequence[int]) -> tuple[int, int]:
    """Turn text lines into lines of the transcript, both 1-based and both included.

    A line outside the map stays as it is.

    Source:
        recall-spec 7.4, golden group line_map.

    >>> remap_lines(1, 2, (3, 7))
    (3, 7)
    """
    return _remap(start, line_map), _remap(end, line_map)


def wrap_message(text: str, width: int = WRAP_WIDTH) -> list[str]:
    """Fold the whitespace of a text and cut it into pieces of at most *width* characters.

    Cuts fall after a sentence in the second half of a piece, else after a pause or
    between words, else between characters; never inside what a reader sees as one
    character, unless that alone is wider than *width*. The pieces, joined by the single
    spaces that were dropped, or by nothing between Chinese sentences, give the folded
    text back. Blank text gives no piece.

    >>> wrap_message("One two.  Three four.", width=12)
    ['One two.', 'Three four.']
    """
    text = _fold(text)
    width = max(1, width)
    pieces: list[str] = []
    start = 0
    while len(text) - start > width:
        end, next_start = _cut(text, start, width)
        pieces.append(text[start:end])
        start = next_start
    if start < len(text):
        pieces.append(text[start:])
    return pieces


def _cut(text: str, start: int, width: int) -> tuple[int, int]:
    """Give where a piece ends and where the next begins."""
    middle, limit = start + width // 2, start + width
    for pauses, low in ((_SENTENCE_END, middle), (_PAUSE, middle), (_PAUSE, start)):
        cut = _last_pause(text, pauses, low, limit)
        if cut is not None and cut[0] > start:
            return cut
    cut = safe_cut(text, limit)
    if cut <= start:
        cut = next((at for at in range(limit, len(text)) if safe_cut(text, at) == at), len(text))
    return cut, cut


def _last_pause(text: str, pauses: re.Pattern[str], low: int, limit: int) -> tuple[int, int] | None:
    # One more character than fits: a space at the limit is dropped.
    gaps = [match.span(match.lastindex or 0) for match in pauses.finditer(text, low, limit + 1)]
    for end, next_start in reversed(gaps):
        if end <= limit and safe_cut(text, end) == end and safe_cut(text, next_start) == next_start:
            return end, next_start
    return None


def _fold(text: str) -> str:
    return " ".join(text.replace("\ufeff", " ").split())


def _remap(line: int, line_map: Sequence[int]) -> int:
    return line_map[line - 1] if 1 <= line <= len(line_map) else line
