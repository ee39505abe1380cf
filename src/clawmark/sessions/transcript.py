"""One transcript to one session: formats told apart line by line, echoes left out.

Streaming: a line is parsed, read and forgotten, so memory follows what was said, not the
size of the tool output. No files, no clock; secrets are masked elsewhere.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from clawmark.core.digest import content_key
from clawmark.sessions import claude_code, codex, openclaw, plain
from clawmark.sessions.earlier import Earlier
from clawmark.sessions.injected import encodable, said_text, turn_of
from clawmark.sessions.jsonl import Record, parse_record
from clawmark.sessions.model import AutomatedTurn, Entry, Kind, Role, Session, SessionLine, Turn
from clawmark.sessions.records import kind_of

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Claude Code names the transcripts of sub-agents "agent-<hex>.jsonl".
_SUBAGENT_FILE = re.compile(r"agent-[0-9a-f]{6,}", re.IGNORECASE)


_FORMATS: tuple[tuple[str, Callable[[Record], bool], Callable[[Record], Entry]], ...] = tuple(
    (module.NAME, module.reads, module.read) for module in (openclaw, claude_code, codex, plain)
)


def parse_session(data: Iterable[tuple[int, bytes]], *, name: str, earlier: Earlier | None = None) -> Session:
    """Read a transcript, or a later part of one, into a session; see ``SessionReading``.

    Never fails: a line that cannot be read is counted and passed over.

    Source:
        recall-spec 7.4; user cases T07, T09, T10.
    """
    return SessionReading(data, name=name, earlier=earlier).session


@dataclass(frozen=True)
class _Draft:
    """A message that is a line of the session unless its turn turns out automated.

    Attributes:
        before: What was known before its line.
    """

    line: SessionLine
    turn: Turn | None
    is_repeat: bool
    before: Earlier


class SessionReading:
    """A transcript as it was read: the session, and where reading can go on later.

    Args:
        data: Numbered lines, 1-based, as ``split_jsonl`` gives them; read once.
        name: File name or path of the transcript; gives the id and the kind when the
            transcript does not.
        earlier: What is known from the lines before *data*. The session then holds
            only the new lines; all else is what reading from the beginning gives,
            unless the session says that it ``revises_earlier``.
    """

    def __init__(self, data: Iterable[tuple[int, bytes]], *, name: str, earlier: Earlier | None = None) -> None:
        self._name = name
        self._is_later_part = earlier is not None
        self._earlier = earlier or Earlier()
        self._known = self._earlier
        self._records = 0
        self._bad_lines = 0
        self._drafts: list[_Draft] = []
        for number, raw in data:
            self._add(number, raw)

    @cached_property
    def session(self) -> Session:
        """The lines that were said, and what is known of the session as a whole."""
        known, before = self._known, self._earlier
        lines = tuple(draft.line for draft in self._kept)
        started, ended = _span(lines, before.started, before.ended)
        return Session(
            format=known.format or "unknown",
            session_id=_session_id(self._name, known.session_id),
            kind=self._kind,
            started=min((time for time in (started, known.header_time) if time), default=None),
            ended=ended or known.header_time,
            lines=lines,
            skipped_lines=self._records - len(lines),
            bad_lines=self._bad_lines,
            revises_earlier=self._is_later_part and self._revises_earlier(),
        )

    def before(self, line: int) -> Earlier:
        """Give what was known before a line of the transcript that holds a message, to read on from there.

        Args:
            line: Its number; one after the last gives what is known at the end.
        """
        at = bisect_left(self._drafts, line, key=lambda draft: draft.line.line)
        drafts = [draft for draft in self._drafts[:at] if self._counts(draft)]
        lines = [draft.line for draft in drafts if draft.turn in (None, self._kind)]
        started, ended = _span(lines, self._earlier.started, self._earlier.ended)
        known = self._drafts[at].before if at < len(self._drafts) else self._known
        known = _with_turns(replace(known, kind=self._kind), drafts, self._earlier)
        repeats = self._earlier.has_repeats or any(draft.is_repeat for draft in drafts)
        return replace(known, has_repeats=repeats, started=started, ended=ended)

    @cached_property
    def _kept(self) -> list[_Draft]:
        return [draft for draft in self._drafts if self._counts(draft) and draft.turn in (None, self._kind)]

    @cached_property
    def _kind(self) -> Kind:
        drafts = [draft for draft in self._drafts if self._counts(draft)]
        turns = _with_turns(self._known, drafts, self._earlier)
        return turns.named_kind or _kind_of_name(self._name) or _kind_of_turns(turns)

    def _counts(self, draft: _Draft) -> bool:
        return not draft.is_repeat or not self._known.has_main

    def _revises_earlier(self) -> bool:
        before = self._earlier
        # A line that is read again may also stand in the end of a chunk that is kept.
        repeats = before.has_repeats or any(draft.is_repeat for draft in self._drafts)
        if repeats and not before.has_main and self._known.has_main:
            return True
        turns = before.has_automated or any(draft.turn is not None for draft in self._drafts)
        return turns and before.kind != self._kind

    def _add(self, number: int, raw: bytes) -> None:
        if not raw.strip():
            return
        record = parse_record(raw)
        if record is None:
            self._bad_lines += 1
            return
        self._records += 1
        for name, reads, read in _FORMATS:
            if reads(record):
                self._take(number, name, read(record))
                return

    def _take(self, number: int, format_name: str, entry: Entry) -> None:
        before = self._known
        self._learn(format_name, entry)
        text = said_text(entry.text, entry.role) if entry.role is not None else ""
        if entry.role is None or not text:
            return
        digest = _digest(entry, text)
        if digest and digest == before.last_message:
            return
        line = SessionLine(line=number, role=entry.role, text=text, timestamp=entry.timestamp)
        turn = self._turn_of(entry, text, entry.role)
        self._known = replace(self._known, last_message=digest)
        self._drafts.append(_Draft(line, turn, entry.is_repeat, before))

    def _learn(self, format_name: str, entry: Entry) -> None:
        known = self._known
        learned = replace(
            known,
            format=known.format or format_name,
            session_id=known.session_id or encodable(entry.session_id),
            named_kind=known.named_kind or entry.kind,
            header_time=known.header_time or (entry.timestamp if entry.role is None else None),
            has_main=known.has_main or (entry.role is not None and not entry.is_repeat),
        )
        # Most lines teach nothing: one object then serves them all.
        self._known = known if learned == known else learned

    def _turn_of(self, entry: Entry, text: str, role: Role) -> Turn | None:
        if entry.turn is not None:
            return entry.turn
        if role == "user":
            self._known = replace(self._known, turn=turn_of(text))
        return self._known.turn


def _digest(entry: Entry, text: str) -> str:
    """Name a message, to know a line that was written twice; "" when nothing tells two alike apart."""
    if not entry.message_id and entry.timestamp is None:
        return ""
    parts = (entry.message_id, str(entry.timestamp), str(entry.role), str(entry.is_repeat), text)
    return content_key("\0".join(parts).encode("utf-8", "replace")).hex()


def _span(
    lines: Sequence[SessionLine], started: datetime | None, ended: datetime | None
) -> tuple[datetime | None, datetime | None]:
    """Give the earliest and the latest time of lines, and of what was before them."""
    times = [time for time in (started, ended, *(line.timestamp for line in lines)) if time is not None]
    return min(times, default=None), max(times, default=None)


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


def _with_turns(known: Earlier, drafts: Sequence[_Draft], before: Earlier) -> Earlier:
    """Add to what is known who asked and who was answered in some messages, and before them."""
    asked: list[Turn | None] = [draft.turn for draft in drafts if draft.line.role == "user"]
    answered: list[Turn | None] = [draft.turn for draft in drafts if draft.line.role == "assistant"]
    return replace(
        known,
        has_person=before.has_person or None in asked,
        asked=before.asked or _automated(asked),
        answered=before.answered or _automated(answered),
    )


def _automated(turns: Iterable[Turn | None]) -> AutomatedTurn | None:
    return next((turn for turn in turns if turn is not None and turn != "system"), None)


def _kind_of_turns(turns: Earlier) -> Kind:
    """Call a session with one turn of a person theirs; else it is what its turns are."""
    return "interactive" if turns.has_person else turns.asked or turns.answered or "unknown"
