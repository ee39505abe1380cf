"""When, and in which conversation, something that was found was said."""

from __future__ import annotations

from datetime import UTC, datetime

from clawmark.core.model import Spoken
from clawmark.core.ports import Candidate, DocumentRow


def spoken_in(item: Candidate) -> Spoken | None:
    """Give the conversation that a chunk comes from; None for a file."""
    if item.source != "sessions":
        return None
    said_ms = item.time_ms if item.spoken_ms is None else item.spoken_ms
    time = None if said_ms is None else _moment(said_ms / 1000)
    return Spoken(item.session, item.kind, item.speaker, time)


def own_time(item: Candidate | DocumentRow) -> datetime | None:
    """Give a session's own time, a file's modification time."""
    return _moment(item.mtime_ns / 1e9 if item.time_ms is None else item.time_ms / 1000)


def _moment(seconds: float) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None  # no calendar has it: a broken clock, or a damaged index
