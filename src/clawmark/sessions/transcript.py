"""One transcript to one session: formats told apart line by line, echoes left out.

Streaming: a line is parsed, read and forgotten, so memory follows what was said, not the
size of the tool output. No files, no clock; secrets are masked elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from clawmark.sessions import claude_code, codex, openclaw, plain
from clawmark.sessions.injected import encodable, said_text, turn_of
from clawmark.sessions.jsonl import Record, parse_record
from clawmark.sessions.model import Entry, Kind, Role, Session, SessionLine, Turn
from clawmark.sessions.records import kind_of

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Claude Code names the transcripts of sub-agents "agent-<hex>.jsonl".
_SUBAGENT_FILE = re.compile(r"agent-[0-9a-f]{6,}", re.IGNORECASE)


_FORMATS: tuple[tuple[str, Callable[[Record], bool], Callable[[Record], Entry]], ...] = tuple(
    (module.NAME, module.reads, module.read) for module in (openclaw, claude_code, codex, plain)
)


def parse_session(data: Iterable[tuple[int, bytes]], *, name: str, earlier: Session | None = None) -> Session:
    """Read a transcript, or a later part of one, into a session.

    Never fails: a line that cannot be read is counted and passed over.

    Args:
        data: Numbered lines, 1-based, as ``split_jsonl`` gives them; read once.
        name: File name or path of the transcript; gives the id and the kind when the
            transcript does not.
        earlier: The session as parsed from the lines before *data*. The result then
            holds only the new lines, with the id, kind, format and start of *earlier*.

    Source:
        recall-spec 7.4; user cases T07, T09, T10.
    """
    reading = _Reading(earlier)
    for number, raw in data:
        reading.add(number, raw)
    return reading.session(name)


_NOTHING = Session(format="unknown", session_id="", kind="unknown")


@dataclass(frozen=True)
class _Draft:
    """A message that is a line of the session unless its turn turns out automated."""

    line: SessionLine
    turn: Turn | None
    is_repeat: bool


@dataclass
class _Reading:
    """What is known of a transcript while its lines come in."""

    earlier: Session | None
    format: str = ""
    session_id: str = ""
    kind: Kind | None = None
    header_time: datetime | None = None
    turn: Turn | None = None
    records: int = 0
    bad_lines: int = 0
    has_main_messages: bool = False
    drafts: list[_Draft] = field(default_factory=list["_Draft"])

    def add(self, number: int, raw: bytes) -> None:
        if not raw.strip():
            return
        record = parse_record(raw)
        if record is None:
            self.bad_lines += 1
            return
        self.records += 1
        for name, reads, read in _FORMATS:
            if reads(record):
                self.format = self.format or name
                self._take(number, read(record))
                return

    def _take(self, number: int, entry: Entry) -> None:
        self.session_id = self.session_id or encodable(entry.session_id)
        self.kind = self.kind or entry.kind
        if entry.role is None:
            self.header_time = self.header_time or entry.timestamp
            return
        self.has_main_messages |= not entry.is_repeat
        text = said_text(entry.text, entry.role)
        if text:
            line = SessionLine(line=number, role=entry.role, text=text, timestamp=entry.timestamp)
            self.drafts.append(_Draft(line, self._turn_of(entry, text, entry.role), entry.is_repeat))

    def _turn_of(self, entry: Entry, text: str, role: Role) -> Turn | None:
        if entry.turn is not None:
            return entry.turn
        if role == "user":
            self.turn = turn_of(text)
        return self.turn

    def session(self, name: str) -> Session:
        drafts = [draft for draft in self.drafts if not draft.is_repeat or self._may_repeat()]
        kind = self._kind(name, drafts)
        lines = tuple(draft.line for draft in drafts if draft.turn in (None, kind))
        times = [line.timestamp for line in lines if line.timestamp is not None]
        starts = times if self.header_time is None else [*times, self.header_time]
        before = self.earlier or _NOTHING
        return Session(
            format=self.format or "unknown" if before.format == "unknown" else before.format,
            session_id=before.session_id or _session_id(name, self.session_id),
            kind=kind,
            started=before.started or min(starts, default=None),
            ended=max(times, default=before.ended or self.header_time),
            lines=lines,
            skipped_lines=self.records - len(lines),
            bad_lines=self.bad_lines,
        )

    def _may_repeat(self) -> bool:
        # In a later part the main form of a repeat may be still to come.
        return self.earlier is None and not self.has_main_messages

    def _kind(self, name: str, drafts: list[_Draft]) -> Kind:
        if self.earlier is not None and self.earlier.kind != "unknown":
            return self.earlier.kind
        return self.kind or _kind_of_name(name) or _kind_of_turns(drafts)


def _session_id(name: str, found: str) -> str:
    # A resumed Claude Code session starts with records of the session that it continues:
    # a file named by a UUID knows its own id better.
    stem = _stem(name)
    return stem if _UUID.fullmatch(stem) else found or stem


def _stem(name: str) -> str:
    base = re.split(r"[/\\]", encodable(name))[-1]
    return base.partition(".jsonl")[0] or base


def _kind_of_name(name: str) -> Kind | None:
    # The file name only: a folder called "cron" says nothing about a conversation.
    stem = _stem(name)
    return "subagent" if _SUBAGENT_FILE.fullmatch(stem) else kind_of([stem])


def _kind_of_turns(drafts: list[_Draft]) -> Kind:
    """Call a session with one turn of a person theirs; else it is what its turns are."""
    asked: list[Turn | None] = [draft.turn for draft in drafts if draft.line.role == "user"]
    if None in asked:
        return "interactive"
    answered: list[Turn | None] = [draft.turn for draft in drafts if draft.line.role == "assistant"]
    for turn in asked + answered:
        if turn is not None and turn != "system":
            return turn
    return "unknown"
