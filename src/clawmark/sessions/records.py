"""What all formats read alike from a JSON object: texts, blocks, times, roles, kinds."""

from __future__ import annotations

import math
import re
from collections.abc import Container, Iterable
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from clawmark.sessions.jsonl import Record
from clawmark.sessions.model import Kind, Role

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Epoch numbers from here on count milliseconds, then micro- and nanoseconds: as seconds
# 1e11 lies in the year 5138, as milliseconds in 1973.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_NUMBER = re.compile(r"\d{9,}(?:\.\d+)?")
_NOT_TOKEN = re.compile(r"[^a-z0-9]+")
_SCHEDULED = frozenset({"cron", "heartbeat", "scheduled", "dreaming", "automation"})
_SUBAGENT = frozenset({"subagent", "subagents", "sidechain"})


def text_of(value: Any) -> str:
    """Give a JSON string, "" for anything else."""
    return value if isinstance(value, str) else ""


def record_of(value: Any) -> Record:
    """Give a JSON object, an empty one for anything else."""
    return cast("Record", value) if isinstance(value, dict) else {}


def role_of(value: Any) -> Role | None:
    """Give the role of a message of the conversation, None for any other role."""
    match value:
        case "user" | "assistant":
            return value
        case _:
            return None


def content_text(content: Any, block_types: Container[str] = ("text",)) -> str:
    """Join the text of a message: a string, or a list of blocks of the given types."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [record_of(block) for block in cast("list[Any]", content)]
    texts = (text_of(block.get("text")) for block in blocks if text_of(block.get("type")) in block_types)
    return "\n".join(text for text in texts if text)


def timestamp_of(values: Iterable[Any]) -> datetime | None:
    """Give the first of *values* that is a time: ISO text, or epoch in s, ms, µs or ns.

    The result is aware and in UTC; ISO text without a zone counts as UTC. Zero and
    negative epochs are no times.
    """
    for value in values:
        moment = _moment(value)
        if moment is not None:
            return moment
    return None


def _moment(value: Any) -> datetime | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return _epoch(float(value)) if _NUMBER.fullmatch(value) else _iso(value)
    return _epoch(value) if isinstance(value, (int, float)) else None


def _epoch(number: float) -> datetime | None:
    try:
        if not (math.isfinite(number) and number > 0):
            return None
        unit = next((unit for limit, unit in _UNITS if number >= limit), 1.0)
        return _EPOCH + timedelta(seconds=number / unit)
    except OverflowError:
        return None


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def kind_of(values: Iterable[Any]) -> Kind | None:
    """Tell the kind of a session from names, keys and labels, by the words in them.

    >>> kind_of(["agent:main:cron:7f3a"])
    'scheduled'
    """
    for value in values:
        words = set(_NOT_TOKEN.split(text_of(value).lower()))
        if words & _SCHEDULED:
            return "scheduled"
        if words & _SUBAGENT:
            return "subagent"
        if words == {"interactive"}:
            return "interactive"
    return None
