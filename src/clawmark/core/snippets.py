"""The part of a chunk that is shown: a window around the best match, always source text."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clawmark.core.graphemes import safe_cut
from clawmark.core.tokens import cached_analysis, surface_pattern

# Of the re-implemented system (recall-spec 5.9); counts characters, not UTF-16 units.
SNIPPET_CHARS = 700

_BORDER = re.compile(r"\n|(?<=[.!?。！？；;])\s*|(?<=，)|\s+")


def snippet(text: str, weights: Mapping[str, float], *, limit: int = SNIPPET_CHARS) -> str:
    """Cut the window of a text that holds the most of the question.

    Args:
        text: The chunk.
        weights: Query term to its weight, such as its inverse document frequency.
        limit: Longest window in characters, >= 1.

    Returns:
        A substring of *text*, at most *limit* characters, no grapheme cut; the whole
        text when it is short enough, its beginning when no term occurs.
    """
    if len(text) <= limit:
        return text
    start, end = _window(text, weights, limit)
    return text[start:end].strip("\n")


def cut_at_border(text: str, limit: int) -> str:
    """Cut a text to *limit* characters, at a line, sentence or word border when one is near the end."""
    if len(text) <= limit:
        return text
    return text[: _last_border(text, limit * 2 // 3, limit)]


def _window(text: str, weights: Mapping[str, float], limit: int) -> tuple[int, int]:
    matches = _matches(text, weights)
    if not matches:
        return 0, _last_border(text, limit * 2 // 3, limit)
    first, last = _densest(matches, weights, limit)
    # The rest of the room goes mostly after the match: what follows explains it.
    spare = limit - (last - first)
    start = _first_border(text, max(0, first - spare // 3), first)
    end = min(len(text), start + limit)
    if end < len(text):
        end = _last_border(text, max(last, start + limit * 2 // 3), end)
    return start, end


def _matches(text: str, weights: Mapping[str, float]) -> list[tuple[int, int, frozenset[str]]]:
    """Give (start, end, terms) of each surface word that holds a query term, in order."""
    found: list[tuple[int, int, frozenset[str]]] = []
    for match in surface_pattern(text).finditer(text):
        if match[0] == "\n":
            continue
        terms = cached_analysis(match[0])
        hit = frozenset(term for term in (*terms.main, *terms.singles) if term in weights)
        if hit:
            found.extend(_narrowed(match.start(), match[0], hit))
    return found


def _narrowed(start: int, surface: str, hit: frozenset[str]) -> list[tuple[int, int, frozenset[str]]]:
    """A run without spaces may be a paragraph long: find the terms inside it."""
    if len(surface) <= 64:
        return [(start, start + len(surface), hit)]
    places = [
        (start + at.start(), start + at.end(), frozenset({term}))
        for term in hit
        for at in re.finditer(re.escape(term), surface, re.IGNORECASE)
    ]
    return sorted(places, key=lambda place: place[:2]) or [(start, start + 64, hit)]


def _densest(
    matches: list[tuple[int, int, frozenset[str]]], weights: Mapping[str, float], limit: int
) -> tuple[int, int]:
    """Give the span of at most *limit* characters that holds the greatest weight of distinct terms."""
    best, span, tail = -1.0, (0, 0), 0
    counts: dict[str, int] = {}
    for head, (_, end, terms) in enumerate(matches):
        for term in terms:
            counts[term] = counts.get(term, 0) + 1
        while matches[tail][0] < end - limit and tail < head:
            for term in matches[tail][2]:
                counts[term] -= 1
            tail += 1
        present = sum(weights[term] for term, count in counts.items() if count)
        # Of equal windows the one with more repetitions, then the tighter, then the first.
        value = present + 0.05 * sum(weights[term] * min(count - 1, 3) for term, count in counts.items() if count > 1)
        value -= 1e-4 * (end - matches[tail][0])
        if value > best:
            best, span = value, (matches[tail][0], min(end, matches[tail][0] + limit))
    return span


def _first_border(text: str, low: int, high: int) -> int:
    if low == 0:
        return 0
    line = text.rfind("\n", low, high)
    if line >= 0:
        return line + 1
    border = _BORDER.search(text, low, high)
    return safe_cut(text, border.end() if border else low)


def _last_border(text: str, low: int, high: int) -> int:
    line = text.rfind("\n", low, high)
    if line > low:
        return line
    cut = 0
    for border in _BORDER.finditer(text, low, high):
        cut = border.start() if border[0].strip() == "" and border[0] else border.end()
    return safe_cut(text, cut if cut > low else high)
