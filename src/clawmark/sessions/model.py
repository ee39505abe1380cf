"""The values that a transcript becomes.

A transcript is a JSONL file; line numbers are 1-based and count its lines, blank and
bad ones included.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Role = Literal["user", "assistant"]
Kind = Literal["interactive", "scheduled", "subagent", "unknown"]
# Who began the turn that a message belongs to; None: a person. "system" turns are always
# left out, the others unless the whole session is of their kind.
Turn = Literal["scheduled", "subagent", "system"]
AutomatedTurn = Literal["scheduled", "subagent"]


@dataclass(frozen=True)
class SessionLine:
    """One message of a conversation.

    Attributes:
        line: Line of the transcript that holds it, 1-based.
        role: Who says it.
        text: What is said, without tool output, thinking and injected blocks; it keeps
            its line breaks, is never blank and can always be encoded as UTF-8.
        timestamp: When, aware and in UTC; None when the transcript does not say.
    """

    line: int
    role: Role
    text: str
    timestamp: datetime | None = None


@dataclass(frozen=True)
class Session:
    """One transcript, reduced to what people and the agent said.

    Attributes:
        format: "openclaw", "claude-code", "codex", "plain", or "unknown" when no line
            was recognised.
        session_id: The id that the transcript gives, else one made from its name.
        kind: "interactive" with a person, "scheduled" (cron, heartbeat, dreaming),
            "subagent", or "unknown".
        started: Earliest time known, UTC.
        ended: Time of the last message, UTC.
        lines: The messages, in the order of the transcript.
        skipped_lines: JSON lines that hold no message of the conversation: headers, tool
            output, system and automated turns, messages that are only injected text.
        bad_lines: Lines that are not a JSON object.
        revises_earlier: In a later part: what it says decides otherwise about lines
            before it, so that the transcript must be read whole.
    """

    format: str
    session_id: str
    kind: Kind
    started: datetime | None = None
    ended: datetime | None = None
    lines: tuple[SessionLine, ...] = ()
    skipped_lines: int = 0
    bad_lines: int = 0
    revises_earlier: bool = False


@dataclass(frozen=True)
class SessionText:
    """A session as text for indexing; one entry of each tuple per line of the text.

    Attributes:
        text: The rendered lines, joined by newlines; "" for a session without messages.
        line_map: Line of the transcript, 1-based, never decreasing.
        roles: Who says it.
        timestamps: When, UTC, or None.
    """

    text: str = ""
    line_map: tuple[int, ...] = ()
    roles: tuple[Role, ...] = ()
    timestamps: tuple[datetime | None, ...] = ()


@dataclass(frozen=True)
class Entry:
    """What one JSON line says, as its format reads it, before anything is cleaned.

    Attributes:
        role: Who says it; None when the line holds no message.
        text: The message; text blocks joined by newlines.
        timestamp: Time of the line, UTC.
        session_id: Id of the session, "" when the line gives none.
        kind: Kind of the session, when the line tells it.
        turn: Set when the format marks the message as part of an automated turn.
        is_repeat: True for a line that repeats a message which the transcript also has
            in its main form.
        message_id: Id of the message, "" when the line gives none.
    """

    role: Role | None = None
    text: str = ""
    timestamp: datetime | None = None
    session_id: str = ""
    kind: Kind | None = None
    turn: Turn | None = None
    is_repeat: bool = False
    message_id: str = ""
