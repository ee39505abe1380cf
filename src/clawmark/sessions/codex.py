"""Codex CLI rollouts: ``session_meta``, then ``response_item`` and ``event_msg`` records.

Messages stand in the file twice: as ``response_item``, what the model saw, and as
``event_msg``, what the screen showed. The first is read; the second is a repeat that
counts only in files that have nothing else. Rollouts of the first versions have the
messages at the top level. Layout as found in public descriptions of the format.
"""

from __future__ import annotations

from typing import Any

from clawmark.sessions.jsonl import Record
from clawmark.sessions.model import Entry, Role
from clawmark.sessions.records import content_text, kind_of, record_of, role_of, text_of, timestamp_of

NAME = "codex"
_WRAPPERS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})
_TEXT_BLOCKS = frozenset({"input_text", "output_text", "text"})
_EVENT_ROLES: dict[str, Role] = {"user_message": "user", "agent_message": "assistant"}


def reads(record: Record) -> bool:
    """Tell whether a record is of this format."""
    kind = record.get("type")
    if isinstance(kind, str):
        if kind in _WRAPPERS:
            return isinstance(record.get("payload"), dict)
        return kind == "message" and isinstance(record.get("content"), list) and "role" in record
    return record.get("record_type") == "state" or ("instructions" in record and "id" in record)


def read(record: Record) -> Entry:
    """Read a header, a message, or a repeat of one."""
    payload = record_of(record.get("payload"))
    times = [record.get("timestamp"), payload.get("timestamp")]
    match record.get("type"):
        case "session_meta":
            return _read_header(payload, times)
        case "response_item":
            return _read_message(payload, times)
        case "event_msg":
            role = _EVENT_ROLES.get(text_of(payload.get("type")))
            text = text_of(payload.get("message"))
            return Entry(role=role, text=text, timestamp=timestamp_of(times), is_repeat=True)
        case "message":
            return _read_message(record, times)
        case None if "instructions" in record:
            return _read_header(record, times)
        case _:
            return Entry()


def _read_message(item: Record, times: list[Any]) -> Entry:
    if item.get("type") != "message":
        return Entry()
    text = content_text(item.get("content"), _TEXT_BLOCKS)
    return Entry(
        role=role_of(item.get("role")), text=text, timestamp=timestamp_of(times), message_id=text_of(item.get("id"))
    )


def _read_header(header: Record, times: list[Any]) -> Entry:
    sources = [header.get("thread_source"), header.get("source")]
    # A sub-agent's source is an object with the key "subagent".
    names = [*sources, *(key for source in sources for key in record_of(source))]
    return Entry(session_id=text_of(header.get("id")), timestamp=timestamp_of(times), kind=kind_of(names))
