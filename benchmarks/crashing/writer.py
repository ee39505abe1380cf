"""The process that is killed: it changes notes and sessions, and keeps the index behind them.

    python -m crashing.writer FOLDER

Each step is noted in ``journal.jsonl`` before it is done, and again when it is done; "ready" and "batch" on the
standard output tell its killer when to strike.
"""

from __future__ import annotations

import hashlib
import io
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

from clawmark import Memory
from crashing.world import (
    MARK,
    Journal,
    Note,
    Plan,
    WordEmbedder,
    config,
    edited_text,
    hash_of,
    line,
    messages,
    note_text,
)

BATCH_SECONDS = 0.004
FEWEST, MOST = 14, 32
# Calls at which the state on the disk changes: a writer that is told so dies just before or behind one of them.
RARE_CALLS = frozenset(("replace", "rename", "fsync", "unlink"))
DEADLY_CALLS = RARE_CALLS | {"execute", "executemany", "write", "open", "mkdir", "truncate", "flock"}
OUTSIDE = (sqlite3.Connection, sqlite3.Cursor, io.IOBase)


class Writer:
    """Does random steps until it is killed."""

    def __init__(self, folder: Path) -> None:
        self.plan = Plan.load(folder)
        self.workspace = folder / "ws"
        self.rng = Random(self.plan.seed)
        self.journal = Journal(folder / "journal.jsonl")
        self.embedded = Journal(folder / "embedded.jsonl")
        self.recipe = self.plan.recipe
        self.made = 0
        self.examined = False
        self.memory = self._open()

    def run(self) -> None:
        steps = self._steps()
        if self.plan.calls:
            first = self.rng.choice(
                [self.forget, self.restore, self.append, self.write] if self.plan.rare else [*steps]
            )
            die_after(self.plan.calls, RARE_CALLS if self.plan.rare else DEADLY_CALLS)
            first()
        while True:
            step = self.rng.choices(list(steps), weights=list(steps.values()))[0]
            changed = step()
            if changed and self.rng.random() < 0.7:
                self.sync()

    def _steps(self) -> dict[Callable[[], bool], int]:
        return {
            self.edit: 12, self.create: 6, self.delete: 4, self.rename: 6, self.append: 8, self.write: 6, self.talk: 10,
            self.forget: 6, self.restore: 6, self.sync: 6, self.force: 6, self.rebuild: 8,
        }  # fmt: skip

    def _open(self) -> Memory:
        settings = config(self.recipe, cache=self.plan.cache)
        return Memory(self.workspace, config=settings, embedder=WordEmbedder(self._count, BATCH_SECONDS))

    def _count(self, texts: Any) -> None:
        keys = [hashlib.sha256(text.encode()).hexdigest()[:20] for text in texts]
        notes = [sorted({int(number) for number in MARK.findall(text)}) for text in texts]
        self.embedded.note(life=self.plan.life, recipe=self.recipe, keys=keys, notes=notes)
        os.write(1, b"batch\n")

    def _step(self, do: str, act: Callable[[], Any], **told: Any) -> Any:
        self.journal.note(do=do, **told)
        result = act()
        self.journal.note(done=do)
        return result

    def _change(self, do: str, note: Note, act: Callable[[], Any], **after: Any) -> bool:
        """Do what gives a note another text or path, or takes it away (path None)."""
        told = {"path": note.path, "text": note.text, **after}
        self._step(do, act, number=note.number, before=note.path, **told)
        note.edited |= note.text != told["text"]
        note.path, note.text = told["path"] or note.path, told["text"]
        return True

    def _pick(self, *, session: bool = False, forgotten: bool | None = None) -> Note | None:
        found = [note for note in self.plan.notes if note.is_session == session]
        if forgotten is not None:
            found = [note for note in self.plan.notes if bool(note.forgotten) == forgotten]
        return self.rng.choice(found) if found else None

    def _editable(self) -> Note | None:
        """A note; not one that is forgotten under another name, of which only its text is kept out."""
        note = self._pick()
        return None if note and note.forgotten not in (None, f"path:{note.path}") else note

    def _version(self) -> str:
        self.made += 1
        return f"{self.plan.life}x{self.made}"

    def edit(self) -> bool:
        note = self._editable()
        if note is None:
            return False
        # An edit can move the borders of chunks back to where they were: only the cache knows those texts still.
        whole = not self.plan.cache or self.rng.random() < 0.4
        version = self._version()
        text = note_text(self.rng, note.number, version) if whole else ""
        text = text or edited_text(self.rng, note.text, note.number, version)
        return self._change("edit", note, lambda: self._save(note.path, text), text=text)

    def create(self) -> bool:
        if len(self.plan.notes) >= MOST:
            return False
        version = self._version()
        number = self.plan.life * 1000 + self.made
        note = Note(number, f"memory/{self.rng.choice(('', 'work/', 'home/'))}{number}.md", "")
        text = note_text(self.rng, number, version)
        self.plan.notes.append(note)
        return self._change("create", note, lambda: self._save(note.path, text), text=text)

    def delete(self) -> bool:
        note = self._pick()
        if note is None or note.forgotten or len(self.plan.notes) <= FEWEST:
            return False
        self.plan.notes.remove(note)
        return self._change("delete", note, (self.workspace / note.path).unlink, path=None)

    def rename(self) -> bool:
        note = self._pick()
        if note is None or (note.forgotten and note.edited):
            return False
        if not self.plan.cache:
            # A file that has changed and is called otherwise at once is a new one to a sync.
            self.sync()
        path = f"memory/{self.rng.choice(('', 'moved/'))}{note.number}-{self._version()}.md"
        target = self.workspace / path
        target.parent.mkdir(exist_ok=True)
        return self._change("rename", note, lambda: (self.workspace / note.path).rename(target), path=path)

    def append(self) -> bool:
        note = self._editable()
        if note is None:
            return False
        block = f"- {line(self.rng, note.number, self._version())}\n"
        return self._change("append", note, lambda: self.memory.append(note.path, block), text=f"{note.text}\n{block}")

    def write(self) -> bool:
        note = self._editable()
        if note is None:
            return False
        text, known = note_text(self.rng, note.number, self._version()), hash_of(note.text)
        return self._change("write", note, lambda: self.memory.write(note.path, text, expected_hash=known), text=text)

    def talk(self) -> bool:
        note = self._pick(session=True)
        if note is None:
            return False
        added = messages(self.rng, note.number, self._version())
        return self._change("talk", note, lambda: self._add(note.path, added), text=note.text + added)

    def forget(self) -> bool:
        note = self._pick(forgotten=False)
        if note is None or sum(bool(note.forgotten) for note in self.plan.notes) > FEWEST // 3:
            return False
        kind = "session" if note.is_session else "path"
        subject = f"{kind}:{note.path}"
        report = self._step(
            "forget", lambda: self.memory.forget(**{kind: note.path}), number=note.number, subject=subject
        )
        # A note that no sync has seen is forgotten by its name all the same; nothing else may fail.
        self._blame("forget", report.error)
        note.forgotten, note.edited = subject, False
        return False

    def restore(self) -> bool:
        note = self._pick(forgotten=True)
        if note is None:
            return False
        kind, _, name = str(note.forgotten).partition(":")
        report = self._step("restore", lambda: self.memory.forget(**{kind: name}, restore=True), number=note.number)
        self._blame("restore", report.error)
        note.forgotten = None
        return True

    def sync(self) -> bool:
        return self._sync("sync")

    def force(self) -> bool:
        return self._sync("force", force=True)

    def rebuild(self) -> bool:
        """Index with chunks of another size; half of the time go on with what was being built."""
        self.memory.close()
        if self.plan.fresh and self.rng.random() < 0.7:
            self.recipe = self.plan.fresh.pop()
        self.memory = self._open()
        return self._sync("rebuild")

    def _sync(self, do: str, *, force: bool = False) -> bool:
        report = self._step(do, lambda: self.memory.sync(force=force), recipe=self.recipe)
        complete = not (report.error or report.partial or report.failed or report.pending)
        self._blame(do, None if complete else report.to_dict())
        kept = {note.path: hash_of(self._read(note.path)) for note in self.plan.notes if not note.forgotten}
        self.journal.note(synced=kept if complete else {}, by=do)
        if not self.examined:
            self._examine()
        return False

    def _examine(self) -> None:
        """After the first sync of a life nothing that the last one left may be wrong any more."""
        self.examined = True
        report = self._step("doctor", self.memory.doctor)
        self._blame("doctor", [f"{finding.code}: {finding.message}" for finding in report.findings])

    def _blame(self, do: str, what: Any) -> None:
        if what:
            self.journal.note(fault=f"{do} in life {self.plan.life}: {what}")

    def _save(self, path: str, text: str) -> None:
        """Save as editors do: a new file beside the old one takes its name."""
        place = self.workspace / path
        place.parent.mkdir(exist_ok=True)
        beside = place.with_name(f"{place.name}~")
        beside.write_text(text, encoding="utf-8")
        beside.replace(place)

    def _add(self, path: str, text: str) -> None:
        with (self.workspace / path).open("ab", buffering=0) as file:
            file.write(text.encode())

    def _read(self, path: str) -> str:
        return (self.workspace / path).read_bytes().decode()


def die_after(calls: int, deadly: frozenset[str]) -> None:
    """Kill this process just before, or behind, the n-th call that changes something outside it."""
    left = calls

    def watch(frame: FrameType, event: str, called: Any) -> None:
        nonlocal left
        if event in ("c_call", "c_return") and called.__name__ in deadly:
            owner = called.__self__
            left -= isinstance(owner, OUTSIDE) or getattr(owner, "__name__", "") in ("posix", "fcntl")
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.setprofile(watch)


def main() -> None:
    writer = Writer(Path(sys.argv[1]))
    os.write(1, b"ready\n")
    writer.run()


if __name__ == "__main__":
    main()
