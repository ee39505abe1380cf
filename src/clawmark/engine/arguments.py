"""Checks the arguments of public calls before anything is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar

from clawmark.core.errors import ArgumentError
from clawmark.core.trust import ORIGINS, Origin

_P = ParamSpec("_P")
_T = TypeVar("_T")

SOURCES = ("memory", "sessions")
# Beyond it a number means "all" or "no limit", and no library below counts that far.
LARGEST_NUMBER = 1_000_000_000


def names_checked(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """Make a call refuse a misspelt keyword argument by the nearest one that it has (user case U12)."""
    known = [name for name in signature(call).parameters if name != "self"]

    @wraps(call)
    def checked(*arguments: _P.args, **options: _P.kwargs) -> _T:
        unknown = next((name for name in options if name not in known), None)
        if unknown is None:
            return call(*arguments, **options)
        from difflib import SequenceMatcher  # only when something went wrong

        near = max(known, key=lambda name: SequenceMatcher(None, unknown, name).ratio())
        raise ArgumentError(f"There is no argument {unknown!r}; the nearest is {near!r}.", code="UNKNOWN_ARGUMENT")

    return checked


@dataclass(frozen=True)
class SearchRequest:
    """A question with its options, checked.

    Attributes:
        query: Without white space at the ends.
        max_results: None for the setting; likewise ``min_score``.
        since: First moment that may answer; None for no bound.
        until: Last moment that may answer.
        asof: Replaces now.
        deadline: Seconds for the whole search.
        max_chars: Budget over all snippets and citations.
        min_trust: Least trusted origin that may answer; None for all.
        explain_path: Also tell where this file was lost.
    """

    query: str
    max_results: int | None = None
    min_score: float | None = None
    min_confidence: float | None = None
    sources: frozenset[str] | None = None
    paths: tuple[str, ...] | None = None
    since: datetime | None = None
    until: datetime | None = None
    asof: datetime | None = None
    session_key: str | None = None
    deadline: float | None = None
    max_chars: int | None = None
    min_trust: Origin | None = None
    explain_path: str | None = None


@names_checked
def search_request(
    query: Any,
    *,
    max_results: Any = None,
    min_score: Any = None,
    min_confidence: Any = None,
    sources: Any = None,
    paths: Any = None,
    since: Any = None,
    until: Any = None,
    asof: Any = None,
    session_key: Any = None,
    deadline: Any = None,
    max_chars: Any = None,
    min_trust: Any = None,
    explain_path: Any = None,
) -> SearchRequest:
    """Check the arguments of a search.

    Raises:
        ArgumentError: One of them cannot be used; the message names it.
    """
    if not isinstance(query, str):
        raise ArgumentError(f"query must be text, not {type(query).__name__}.")
    return SearchRequest(
        # Half a surrogate pair, from a broken byte on a command line, is no text that can be looked for.
        query=query.encode("utf-8", "replace").decode().strip(),
        max_results=whole_number("max_results", max_results, least=1),
        min_score=_share("min_score", min_score),
        min_confidence=_share("min_confidence", min_confidence),
        sources=_sources(sources),
        paths=_globs(paths),
        since=moment("since", since),
        until=moment("until", until, end_of_day=True),
        asof=moment("asof", asof),
        session_key=text_argument("session_key", session_key, optional=True),
        deadline=_seconds("deadline", deadline),
        max_chars=whole_number("max_chars", max_chars, least=1),
        min_trust=_trust(min_trust),
        explain_path=text_argument("path", explain_path, optional=True),
    )


def whole_number(name: str, value: Any, *, least: int) -> int | None:
    """Check an optional whole number."""
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ArgumentError(f"{name} must be a whole number of at least {least}, not {value!r}.")
    return min(value, LARGEST_NUMBER)


def _share(name: str, value: Any) -> float | None:
    number = _number(name, value)
    if number is not None and not 0.0 <= number <= 1.0:
        raise ArgumentError(f"{name} must lie between 0 and 1, not {value!r}.")
    return number


def _trust(value: Any) -> Origin | None:
    if value is None or value in ORIGINS:
        return value
    raise ArgumentError(f"min_trust must be one of {', '.join(ORIGINS)}, not {value!r}.")


def _seconds(name: str, value: Any) -> float | None:
    number = _number(name, value)
    if number is not None and number <= 0.0:
        raise ArgumentError(f"{name} must be seconds above 0, not {value!r}.")
    return None if number is None else min(number, float(LARGEST_NUMBER))


def _number(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ArgumentError(f"{name} must be a number, not {value!r}.")
    return float(value)


def text_argument(name: str, value: Any, *, optional: bool = False) -> str | None:
    """Check a text argument."""
    if isinstance(value, str) or (optional and value is None):
        return value
    raise ArgumentError(f"{name} must be text, not {type(value).__name__}.")


def _sources(value: Any) -> frozenset[str] | None:
    if value is None:
        return None
    names = _strings("sources", value)
    unknown = [name for name in names if name not in SOURCES]
    if unknown or not names:
        raise ArgumentError(f"sources must name some of {', '.join(SOURCES)}, not {value!r}.")
    return frozenset(names)


def _globs(value: Any) -> tuple[str, ...] | None:
    return None if value is None else _strings("paths", value)


def _strings(name: str, value: Any) -> tuple[str, ...]:
    items: tuple[Any, ...]
    if isinstance(value, str):
        items = (value,)
    elif isinstance(value, Iterable):
        items = tuple(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    else:
        items = (value,)
    if not all(isinstance(item, str) for item in items):
        raise ArgumentError(f"{name} must be a list of text, not {value!r}.")
    return items


def moment(name: str, value: Any, *, end_of_day: bool = False) -> datetime | None:
    """Check a date, an aware datetime, or either as ISO text; give an aware UTC moment.

    A date stands for its first moment, or its last one with *end_of_day*.
    """
    if value is None:
        return None
    parsed = _parsed(name, value) if isinstance(value, str) else value
    if isinstance(parsed, datetime):
        if parsed.tzinfo is None:
            raise ArgumentError(f"{name} needs a time zone: {value!r} has none.", action="Add one, such as +00:00.")
        try:
            return parsed.astimezone(UTC)
        except OverflowError as error:
            raise ArgumentError(f"{name} lies outside the years 1 to 9999: {value!r}.") from error
    if isinstance(parsed, date):
        return datetime.combine(parsed, time.max if end_of_day else time.min, UTC)
    raise ArgumentError(f"{name} must be a date, a datetime with a time zone, or ISO text, not {value!r}.")


def _parsed(name: str, text: str) -> date | datetime:
    try:
        return date.fromisoformat(text) if len(text) <= 10 else datetime.fromisoformat(text)
    except ValueError as error:
        raise ArgumentError(
            f"{name} is no date: {text!r}.", action="Write it as 2026-06-30 or 2026-06-30T12:00:00+00:00."
        ) from error
