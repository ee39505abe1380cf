"""Results as text for people and models: citations, footers, budgets.

Snippets in values are file text only; everything that is added to them is added here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from clawmark.core.snippets import cut_at_border

if TYPE_CHECKING:  # the hook needs a citation, not the values
    from clawmark.core.model import Citations, ReadResult, SearchResult

# A cut result must still say something; below this it is left out instead.
_SHORTEST_CUT = 80
_CITATION = re.compile(r"(?P<path>.+?)(?:#L(\d+)(?:-L(\d+))?|:(\d+)(?:-(\d+))?)")


def citation(path: str, start_line: int, end_line: int) -> str:
    """Name a place: ``path#L5`` or ``path#L5-L9``.

    >>> citation("MEMORY.md", 3, 3), citation("memory/a.md", 1, 9)
    ('MEMORY.md#L3', 'memory/a.md#L1-L9')
    """
    return f"{path}#L{start_line}" if start_line == end_line else f"{path}#L{start_line}-L{end_line}"


def cited_lines(place: str) -> tuple[str, dict[str, int]]:
    """Take a place as a search shows it apart: the path, and the lines as arguments of ``get``.

    >>> cited_lines("memory/a.md#L5-L9"), cited_lines("memory/a.md:5"), cited_lines("MEMORY.md")
    (('memory/a.md', {'from_line': 5, 'lines': 5}), ('memory/a.md', {'from_line': 5, 'lines': 1}), ('MEMORY.md', {}))
    """
    match = _CITATION.fullmatch(place)
    if match is None:
        return place, {}
    numbers = [int(number) for number in match.groups()[1:] if number]
    return match["path"], {"from_line": numbers[0], "lines": max(1, numbers[-1] - numbers[0] + 1)}


def shown_date(moment: datetime, source: str) -> str:
    """Give the date of a note, the date and time of a session.

    >>> shown_date(datetime.fromisoformat("2026-06-01T09:30:00+00:00"), "sessions")
    '2026-06-01 09:30'
    """
    return f"{moment:%Y-%m-%d %H:%M}" if source == "sessions" else f"{moment:%Y-%m-%d}"


def cites(setting: Citations, session_key: str | None) -> bool:
    """Decide whether results carry a citation; ``auto`` means in direct chats only.

    Args:
        setting: "auto", "on" or "off".
        session_key: Such as ``agent:main:telegram:group:123``; None is a direct chat.

    Source:
        recall-spec 8.3.

    >>> cites("auto", None), cites("auto", "agent:main:slack:CHANNEL:c1"), cites("on", "agent:m:x:group:1")
    (True, False, True)
    """
    if setting != "auto":
        return setting == "on"
    head, _, rest = (session_key or "").lower().partition(":")
    _, _, tokens = rest.partition(":") if head == "agent" else ("", "", "")
    return not {"channel", "group"} & set(tokens.split(":"))


def with_footer(result: SearchResult) -> str:
    """Give the snippet as a model reads it: the text, then its source."""
    if result.citation is None:
        return result.snippet
    return f"{result.snippet.strip()}\n\nSource: {result.citation}"


def within_budget(results: Sequence[SearchResult], max_chars: int | None) -> tuple[list[SearchResult], int]:
    """Keep what fits: whole results in order, the last one cut at a border.

    Args:
        results: Best first.
        max_chars: Budget over all snippets and citations; None for no limit.

    Returns:
        The results that fit, and the number of those left out.
    """
    if max_chars is None:
        return list(results), 0
    kept: list[SearchResult] = []
    room = max_chars
    for result in results:
        cost = len(result.snippet) + len(result.citation or "")
        if cost > room:
            shortened = _shortened(result, room)
            kept += [shortened] if shortened else []
            break
        kept.append(result)
        room -= cost
    return kept, len(results) - len(kept)


def _shortened(result: SearchResult, room: int) -> SearchResult | None:
    space = room - len(result.citation or "")
    if space < _SHORTEST_CUT:
        return None
    return replace(result, snippet=cut_at_border(result.snippet, space))


def read_text(result: ReadResult) -> str:
    """Give a window as a model reads it: the text, then how to go on.

    Source:
        recall-spec 1.4, newest version.
    """
    if result.status == "not_found":
        near = f" Did you mean {', '.join(result.suggestions)}?" if result.suggestions else ""
        return f"{result.path} does not exist.{near}"
    if not result.truncated:
        return result.text
    if result.cursor is not None:
        notice = (
            f"[Line {result.from_line} is longer than the budget. Use cursor={result.cursor} to continue inside it.]"
        )
    else:
        notice = f"[More content available. Use from={result.next_from} to continue.]"
    return f"{result.text}\n\n{notice}" if result.text else notice
