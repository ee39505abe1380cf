"""What reading on needs of the lines that were read before: facts, no text.

Reading a later part with the facts of the earlier one gives what reading all at once
gives. The facts are small, whatever the length of the transcript, and can be written
down as JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from clawmark.sessions.model import AutomatedTurn, Kind, Turn

# Facts of another version are not read on from: its parsers may have judged otherwise.
PARSER_VERSION = 1


@dataclass(frozen=True)
class Earlier:
    """What is known of a transcript before one of its lines.

    Attributes:
        format: Format of the first line that was recognised, "" before it.
        session_id: Id that the transcript gives, "" before it does.
        named_kind: Kind that a header gives.
        header_time: Time of the first line that is no message.
        turn: Who began the turn that goes on.
        last_message: Digest of the last message, "" for none: the line may be repeated.
        has_main: A message in its main form was read.
        has_repeats: A message was read that is left out once a main form appears.
        has_person: A person asked something.
        asked: First automated turn of a user message.
        answered: First automated turn of an answer.
        kind: Kind under which lines were kept or left out.
        started: Earliest time of a message that was kept.
        ended: Latest one.
    """

    format: str = ""
    session_id: str = ""
    named_kind: Kind | None = None
    header_time: datetime | None = None
    turn: Turn | None = None
    last_message: str = ""
    has_main: bool = False
    has_repeats: bool = False
    has_person: bool = False
    asked: AutomatedTurn | None = None
    answered: AutomatedTurn | None = None
    kind: Kind = "unknown"
    started: datetime | None = None
    ended: datetime | None = None

    @property
    def has_automated(self) -> bool:
        """Tell whether lines were kept or left out because of the kind of the session."""
        return self.asked is not None or self.answered is not None

    def to_json(self) -> dict[str, Any]:
        """Give the facts that are not at their defaults, JSON-ready."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in values.items()
            if value != _NOTHING_YET[name]
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Earlier:
        """Undo ``to_json``.

        Raises:
            ValueError: A time is none.
            TypeError: A name is unknown.
        """
        times = {name: datetime.fromisoformat(values[name]) for name in _TIMES if name in values}
        facts: dict[str, Any] = {**values, **times}
        return cls(**facts)


_TIMES = ("header_time", "started", "ended")
_NOTHING_YET: dict[str, Any] = {field.name: field.default for field in fields(Earlier)}
