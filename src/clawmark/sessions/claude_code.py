"""Claude Code transcripts: one record per message, many records that are none.

A ``user`` record is often not the user's: tool results, meta notes, compaction
summaries and notices of the program carry that type too. Layout as found in public
descriptions of the format (it has no official one).
"""

from __future__ import annotations

from clawmark.sessions.jsonl import Record
from clawmark.sessions.model import Entry
from clawmark.sessions.records import content_text, record_of, role_of, text_of, timestamp_of

NAME = "claude-code"
_NOT_SAID = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")


def reads(record: Record) -> bool:
    """Tell whether a record is of this format."""
    kind = record.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("user", "assistant"):
        return isinstance(record.get("message"), dict)
    return any(isinstance(record.get(field), str) for field in ("sessionId", "leafUuid", "messageId"))


def read(record: Record) -> Entry:
    """Read a message, or only the session id of a record that holds none."""
    message = record_of(record.get("message"))
    session_id = text_of(record.get("sessionId"))
    if not _is_said(record, message):
        return Entry(session_id=session_id)
    return Entry(
        role=role_of(record.get("type")),
        text=content_text(message.get("content")),
        timestamp=timestamp_of([record.get("timestamp")]),
        session_id=session_id,
        turn="subagent" if record.get("isSidechain") is True else None,
        message_id=text_of(record.get("uuid")),
    )


def _is_said(record: Record, message: Record) -> bool:
    if record.get("type") != message.get("role", record.get("type")):
        return False
    if any(record.get(field) is True for field in _NOT_SAID) or message.get("model") == "<synthetic>":
        return False
    origin = text_of(record_of(record.get("origin")).get("kind"))
    return origin in ("", "human")
