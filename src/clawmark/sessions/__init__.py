"""Chat transcripts: JSONL of several programs to sessions, and sessions to text.

Values in, values out: reading files, masking secrets and choosing chunks happen on other
floors.
"""

from __future__ import annotations

from clawmark.sessions.earlier import PARSER_VERSION, Earlier
from clawmark.sessions.jsonl import complete_prefix, split_jsonl
from clawmark.sessions.model import Kind, Role, Session, SessionLine, SessionText
from clawmark.sessions.rendering import WRAP_WIDTH, remap_lines, render_line, session_text, wrap_message
from clawmark.sessions.transcript import SessionReading, parse_session

__all__ = [
    "PARSER_VERSION",
    "WRAP_WIDTH",
    "Earlier",
    "Kind",
    "Role",
    "Session",
    "SessionLine",
    "SessionReading",
    "SessionText",
    "complete_prefix",
    "parse_session",
    "remap_lines",
    "render_line",
    "session_text",
    "split_jsonl",
    "wrap_message",
]
