"""Plain transcripts: one ``{"role", "text", "ts"}`` object per message.

The format to write for anyone whose program is not known here.
"""

from __future__ import annotations

from clawmark.sessions.jsonl import Record
from clawmark.sessions.model import Entry
from clawmark.sessions.records import content_text, kind_of, role_of, text_of, timestamp_of

NAME = "plain"
_TIME_FIELDS = ("ts", "timestamp", "time", "created_at", "createdAt")
_ID_FIELDS = ("session_id", "sessionId", "session")
_MESSAGE_ID_FIELDS = ("id", "message_id", "messageId")


def reads(record: Record) -> bool:
    """Tell whether a record is of this format."""
    if record.get("type") not in (None, "message", record.get("role")):
        return False
    return isinstance(record.get("role"), str) and ("text" in record or "content" in record)


def read(record: Record) -> Entry:
    """Read a message."""
    ids = [text_of(record.get(field)) for field in _ID_FIELDS]
    return Entry(
        role=role_of(record.get("role")),
        text=text_of(record.get("text")) or content_text(record.get("content")),
        timestamp=timestamp_of(record.get(field) for field in _TIME_FIELDS),
        session_id=next(filter(None, ids), ""),
        kind=kind_of([record.get("kind"), *ids]),
        message_id=next(filter(None, (text_of(record.get(field)) for field in _MESSAGE_ID_FIELDS)), ""),
    )
