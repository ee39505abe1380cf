"""A workspace that a machine edits: notes and transcripts with times that never repeat."""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

NOTES = (
    "MEMORY.md",
    "memory/a.md",
    "memory/b.md",
    "memory/2026-06-01.md",
    "memory/sub/a.md",
    "memory/sub/d.md",
    "memory/other/e.md",
)
FOLDERS = ("memory/sub", "memory/other", "memory/far", "memory/.hidden")
LOGS = "logs"
# A second folder of transcripts: of two with one name, one is called after its folder.
MORE_LOGS = "more"
UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"
TRANSCRIPTS = (
    *(f"{LOGS}/{name}.jsonl" for name in ("one", "two", "cron-three", UUID)),
    *(f"{MORE_LOGS}/{name}.jsonl" for name in ("one", "two")),
)
WORDS = ("walrus", "harbour", "kettle", "lantern", "meadow", "orchard", "pepper", "quarry")
# Long before the clock of the tests stands, so that nothing looks changed a moment ago.
_FIRST_TIME_NS = 1_770_000_000_000_000_000
_STEP_NS = 60_000_000_000

Message = Callable[[str, str, int], list[dict[str, Any]]]


def _openclaw(role: str, text: str, number: int) -> list[dict[str, Any]]:
    message = {"role": role, "content": [{"type": "text", "text": text}]}
    return [{"type": "message", "id": f"m{number}", "timestamp": _moment(number), "message": message}]


def _claude_code(role: str, text: str, number: int) -> list[dict[str, Any]]:
    message = {"role": role, "content": text}
    return [{"type": role, "sessionId": "claude-1", "timestamp": _moment(number), "message": message}]


def _codex(role: str, text: str, number: int) -> list[dict[str, Any]]:
    """Give a message twice, as it stands in the file: what the model saw, and what the screen showed."""
    block = {"type": "input_text" if role == "user" else "output_text", "text": text}
    said = {"type": "message", "role": role, "content": [block]}
    shown = {"type": "user_message" if role == "user" else "agent_message", "message": text}
    return [
        {"timestamp": _moment(number), "type": "response_item", "payload": said},
        {"timestamp": _moment(number), "type": "event_msg", "payload": shown},
    ]


def _plain(role: str, text: str, number: int) -> list[dict[str, Any]]:
    return [{"role": role, "text": text, "ts": _moment(number)}]


FORMATS: dict[str, Message] = {"openclaw": _openclaw, "claude": _claude_code, "codex": _codex, "plain": _plain}


class Ground:
    """The files; every change gets a time of its own, as a file system with fine clocks gives it."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace
        self.serial = 0
        (workspace / "memory").mkdir(parents=True)
        (workspace / LOGS).mkdir()
        (workspace / MORE_LOGS).mkdir()

    def marked(self, text: str) -> str:
        """Put a word that no other text has into each place for it."""
        while "%" in text:
            self.serial += 1
            text = text.replace("%", f"mark{self.serial:05}", 1)
        return text

    def put(self, path: str, data: bytes) -> None:
        """Write a file, whatever stands in its way."""
        place = self.workspace / path
        for parent in [*place.parents][::-1]:
            if parent.is_relative_to(self.workspace) and os.path.lexists(parent) and not parent.is_dir():
                parent.unlink()
        place.parent.mkdir(parents=True, exist_ok=True)
        self.clear(path)
        place.write_bytes(data)
        self.stamp(path)

    def stamp(self, path: str, time_ns: int | None = None) -> None:
        """Give a file a time: a new one unless it is named."""
        self.serial += 1
        moment = _FIRST_TIME_NS + self.serial * _STEP_NS if time_ns is None else time_ns
        os.utime(self.workspace / path, ns=(moment, moment))

    def clear(self, path: str) -> None:
        """Remove a file, a folder with what is in it, or a link."""
        place = self.workspace / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        elif os.path.lexists(place):
            place.unlink()

    def is_file(self, path: str) -> bool:
        """Tell whether a regular file is there, and no link."""
        return is_regular(self.workspace / path)

    def read(self, path: str) -> bytes:
        """Give the bytes of a file; none when there is no regular file."""
        return (self.workspace / path).read_bytes() if self.is_file(path) else b""

    def move(self, path: str, other: str) -> None:
        """Rename a file or a folder; a target that is in the way goes."""
        place = self.workspace / other
        if place.is_relative_to(self.workspace / path) or not self._may_hold(place):
            return
        self.clear(other)
        place.parent.mkdir(parents=True, exist_ok=True)
        (self.workspace / path).rename(place)

    def copy(self, path: str, other: str) -> None:
        """Copy a file with its time, as a restored backup has it."""
        data, time_ns = self.read(path), (self.workspace / path).stat().st_mtime_ns
        self.put(other, data)
        self.stamp(other, time_ns)

    def swap(self, path: str, other: str) -> None:
        """Let two files change names."""
        self.move(path, "between")
        self.move(other, path)
        self.move("between", other)

    def obstruct(self, path: str, kind: str) -> None:
        """Put something that cannot be read in place of a note."""
        self.put(path, b"")
        if kind == "empty":
            return
        self.clear(path)
        place = self.workspace / path
        if kind == "folder":
            place.mkdir()
        elif kind == "fifo":
            os.mkfifo(place)
        elif kind == "dangling":
            place.symlink_to(self.workspace / "nowhere.md")
        else:
            # To a file with exactly the state that the index knows of this name, if there was one.
            target = self.workspace / "outside.md"
            target.write_bytes(self.marked("walrus outside % of the notes\n").encode())
            self.stamp("outside.md")
            place.symlink_to(target)

    def _may_hold(self, place: Path) -> bool:
        parents = (parent for parent in place.parents if parent.is_relative_to(self.workspace))
        return all(parent.is_dir() or not os.path.lexists(parent) for parent in parents)


def is_regular(place: Path, *, follow_links: bool = False) -> bool:
    """Tell whether a regular file is at a place."""
    try:
        return stat.S_ISREG(place.stat(follow_symlinks=follow_links).st_mode)
    except OSError:
        return False


def lines_of(records: list[dict[str, Any]]) -> bytes:
    """Spell records as JSONL."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def _moment(number: int) -> str:
    return f"2026-05-{1 + number % 28:02}T{number % 24:02}:{number % 60:02}:00Z"
