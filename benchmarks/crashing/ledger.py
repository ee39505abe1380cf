"""What the journal of the writers says: which texts may answer when, and what must be in the index."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from crashing.world import Note, hash_of, shown


@dataclass
class Span:
    """A text that may be shown under a path.

    Attributes:
        text: As a search shows it.
        since: Monotonic seconds, when it was about to be written.
        until: When something returned after which it is gone for good.
        ending: Whether the next complete sync is that.
    """

    text: str
    since: float
    until: float | None = None
    ending: bool = False


class Ledger:
    """Follows the journal, event by event; after a kill the disk decides what was done."""

    def __init__(self, notes: list[Note]) -> None:
        self.notes = {note.number: note for note in notes}
        self.spans: dict[str, list[Span]] = {}
        self.complete: dict[str, str] = {}
        self.faults: list[str] = []
        self.done: Counter[str] = Counter()
        self.forgets: Counter[int] = Counter()
        self.open: dict[str, Any] | None = None
        self.recipe: list[int] | None = None
        self.first_sync: float | None = None
        for note in notes:
            self._show(note, 0.0)

    def follow(self, event: dict[str, Any]) -> None:
        if "fault" in event:
            self.faults.append(event["fault"])
        elif "synced" in event:
            self.settle(event["t"], event["synced"])
        elif "done" in event:
            self._finish(event)
        else:
            self._begin(event)

    def settle(self, now: float, kept: dict[str, str]) -> None:
        """Note that a complete sync has returned: what was replaced before it may not be shown any more."""
        if not kept:
            return
        self.complete = dict(kept)
        self.first_sync = self.first_sync or now
        for span in (span for spans in self.spans.values() for span in spans if span.ending):
            span.until, span.ending = now, False

    def _begin(self, event: dict[str, Any]) -> None:
        self.open = event
        self.recipe = event.get("recipe", self.recipe)
        note = self.notes.get(event.get("number", -1))
        for path in {event.get("before"), event.get("path"), note and note.path} - {None}:
            self.complete.pop(path, None)
        if event["do"] == "forget":
            self.forgets[event["number"]] += 1
        elif event["do"] == "restore" and note:
            self._show(note, event["t"])
        elif "text" in event:
            self._leave(event["before"])
            after = self._after(event)
            if after and not after.forgotten:
                self._show(after, event["t"])

    def _finish(self, event: dict[str, Any]) -> None:
        self.done[event["done"]] += 1
        assert self.open is not None, event
        self._apply(self.open, event["t"])
        self.open = None

    def _apply(self, event: dict[str, Any], now: float) -> None:
        if "text" in event:
            after = self._after(event)
            self.notes.pop(event["number"], None)
            if after:
                self.notes[after.number] = after
        elif event["do"] == "forget":
            note = self.notes[event["number"]]
            note.forgotten, note.edited = event["subject"], False
            self._end(note.path, now)
        elif event["do"] == "restore":
            self.notes[event["number"]].forgotten = None

    def _after(self, event: dict[str, Any]) -> Note | None:
        if event["path"] is None:
            return None
        before = self.notes.get(event["number"], Note(event["number"], event["path"], ""))
        edited = before.edited or before.text != event["text"]
        return replace(before, path=event["path"], text=event["text"], edited=edited)

    def _show(self, note: Note, now: float) -> None:
        self.spans.setdefault(note.path, []).append(Span(note.shown, now))

    def _leave(self, path: str) -> None:
        for span in self.spans.get(path, []):
            span.ending = span.until is None

    def _end(self, path: str, now: float) -> None:
        for span in self.spans.get(path, []):
            span.until, span.ending = span.until or now, False

    def resolve(self, disk: dict[str, str], subjects: set[str], now: float) -> str:
        """Find out what a writer that is dead has done of its last step; name the step.

        Args:
            disk: Path to text of all notes and sessions that are there.
            subjects: What the index has forgotten.
            now: Monotonic seconds.
        """
        event, self.open = self.open, None
        if event is not None:
            done = self._was_done(event, disk, subjects)
            if done:
                self._apply(event, now)
            elif "text" in event:
                self._take_back(event)
            elif event["do"] == "restore":
                self._end(self.notes[event["number"]].path, now)
        self._compare(disk, event)
        return event["do"] if event else "between"

    def _was_done(self, event: dict[str, Any], disk: dict[str, str], subjects: set[str]) -> bool:
        if event["do"] == "forget":
            return event["subject"] in subjects
        if event["do"] == "restore":
            return self.notes[event["number"]].forgotten not in subjects
        if "text" not in event:
            return False
        if event["path"] is None:
            return event["before"] not in disk
        return disk.get(event["path"]) == event["text"]

    def _take_back(self, event: dict[str, Any]) -> None:
        """What was about to be written never was; what it was to replace is still there."""
        note = self.notes.get(event["number"])
        if event["path"] is not None and not (note and note.forgotten):
            self.spans[event["path"]].pop()
        if note and not note.forgotten:
            # The last text of its path is the current one.
            self.spans[note.path][-1].ending = False

    def _compare(self, disk: dict[str, str], event: dict[str, Any] | None) -> None:
        expected = {note.path: note.text for note in self.notes.values()}
        for path in sorted(expected.keys() | disk.keys()):
            if expected.get(path) != disk.get(path):
                self.faults.append(f"{path} is not as any writer left it (half-written?); last step: {event}")

    def may_show(self, path: str, snippet: str, began: float, ended: float) -> bool:
        """Tell whether a text could be told under a path by a search that ran from *began* to *ended*."""
        return any(
            span.since <= ended and (span.until is None or span.until >= began) and snippet in span.text
            for span in self.spans.get(path, [])
        )

    def hidden_paths(self) -> list[str]:
        """Name the notes that are forgotten, as they are called now."""
        return [note.path for note in self.notes.values() if note.forgotten]


def hashes(notes: dict[int, Note]) -> dict[str, str]:
    """Give path and hash of each note that is to be in the index."""
    return {note.path: hash_of(note.text) for note in notes.values() if not note.forgotten}


__all__ = ["Ledger", "Span", "hashes", "shown"]
