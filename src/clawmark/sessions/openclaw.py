"""OpenClaw transcripts: a ``session`` header, then ``message`` records.

Everything else (``custom``, ``compaction``, ``model_change``, …) is bookkeeping, and
messages of other roles are tool output. Source: recall-spec 7.4.
"""

from __future__ import annotations

from clawmark.sessions.jsonl import Record
from clawmark.sessions.model import Entry
from clawmark.sessions.records import content_text, kind_of, record_of, role_of, text_of, timestamp_of

NAME = "openclaw"
_KIND_FIELDS = ("kind", "sessionKey", "key", "id", "trigger")
_OTHER_TYPES = frozenset(
    {
        "branch_summary",
        "compaction",
        "custom",
        "custom_message",
        "label",
        "leaf",
        "model_change",
        "session_info",
        "thinking_level_change",
    }
)


def reads(record: Record) -> bool:
    """Tell whether a record is of this format."""
    kind = record.get("type")
    if kind == "message":
        return isinstance(record.get("message"), dict)
    return kind == "session" or (isinstance(kind, str) and kind in _OTHER_TYPES)


def read(record: Record) -> Entry:
    """Read a header or a message."""
    if record.get("type") == "session":
        return Entry(
            session_id=text_of(record.get("id")),
            kind=kind_of(record.get(field) for field in _KIND_FIELDS),
            timestamp=timestamp_of([record.get("timestamp")]),
        )
    if record.get("type") != "message":
        return Entry()
    message = record_of(record.get("message"))
    return Entry(
        role=role_of(message.get("role")),
        text=content_text(message.get("content")),
        timestamp=timestamp_of([record.get("timestamp"), message.get("timestamp")]),
        message_id=text_of(record.get("id")),
    )
