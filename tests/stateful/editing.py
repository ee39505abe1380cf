"""Everything that can happen to the files and the settings, as rules of a machine."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from dying import Words
from ground import FOLDERS, FORMATS, LOGS, MORE_LOGS, NOTES, TRANSCRIPTS, Ground, lines_of
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from clawmark import Memory

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)

# "%" is a word of its own each time.
LINES = (
    "walrus harbour %",
    "kettle kettle lantern %",
    "# Heading of the meadow\n\norchard % pepper",
    "quarry % " + "meadow walrus " * 40,
    "- [ ] harbour %",
    "api_key = sk-1234567890abcdef%",
    "汉字 %",
    "汉字",
    "   ",
    "pepper",
)
RAW = (b"walrus \xff harbour\n", b"walrus\0harbour\n", b"\n \n", "walrus\r\nkettle\r\n\ufeffpepper".encode())
IGNORED = ("memory/a.md", "memory/sub/", "*.md\n!memory/b.md", "sessions/one.jsonl", "memory/2*", "nothing")
RECIPES = ({}, {"tokens": 48, "overlap": 12}, {"tokens": 48, "overlap": 0})
EXCLUDED = ((), ("memory/b.md",), ("memory/other/**", "sessions/two.jsonl"))
LOG_FOLDERS = ((LOGS, MORE_LOGS), (LOGS,), (), (MORE_LOGS, LOGS))
# The same question of another provider's model is never compared with the first's.
MODELS = ("words-1", "words-2")

notes = st.sampled_from(NOTES)
folders = st.sampled_from(FOLDERS)
transcripts = st.sampled_from(TRANSCRIPTS)
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("\n".join)
roles = st.sampled_from(("user", "user", "assistant"))


class EditedFiles(RuleBasedStateMachine):
    """A workspace, its settings, and what is done to them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="clawmark-model-"))
        self.workspace = self.folder / "ws"
        self.ground = Ground(self.workspace)
        self.options: dict[str, Any] = {"cache": True, "decay": False, "links": False, "logs": LOG_FOLDERS[0]}
        self.options |= {"recipe": {}, "exclude": ()}
        self.model = MODELS[0]
        self.embedder = Words(self.model)
        self.forgotten: set[str] = set()
        self.memory = self.open()

    def teardown(self) -> None:
        self.memory.close()
        shutil.rmtree(self.folder)

    def open(self, **options: Any) -> Memory:
        """Open the workspace as another process would, with the settings of the moment."""
        options.setdefault("embedder", Words(self.model))
        return Memory(self.workspace, config=self.config, clock=lambda: NOW, **options)

    @property
    def config(self) -> dict[str, Any]:
        chosen = self.options
        return {
            "chunking": chosen["recipe"],
            "files": {"exclude": list(chosen["exclude"]), "follow_links": chosen["links"]},
            "sessions": {"paths": list(chosen["logs"])},
            "cache": {"enabled": chosen["cache"]},
            "query": {"hybrid": {"temporal_decay": {"enabled": chosen["decay"]}}},
        }

    def reopen(self) -> None:
        self.memory.close()
        self.embedder = Words(self.model)
        self.memory = self.open(embedder=self.embedder)

    # Files

    @initialize(cache=st.booleans(), decay=st.booleans(), written=st.lists(st.tuples(notes, texts), max_size=5))
    def begin(self, written: list[tuple[str, str]], *, cache: bool, decay: bool) -> None:
        self.options |= {"cache": cache, "decay": decay}
        self.reopen()
        for path, text in written:
            self.write(path, text)

    @rule(path=notes, text=texts)
    def write(self, path: str, text: str) -> None:
        self.ground.put(path, self.ground.marked(text).encode())

    @rule(path=notes, data=st.sampled_from(RAW))
    def write_bytes(self, path: str, data: bytes) -> None:
        self.ground.put(path, data)

    @rule(path=notes)
    def edit_to_equal_size(self, path: str) -> None:
        data = self.ground.read(path)
        if b"mark" not in data:
            return
        self.ground.put(path, self._with_other_mark(data))

    @rule(path=notes)
    def edit_to_equal_size_and_time(self, path: str) -> None:
        """No stat shows it: the answer to it is a forced sync."""
        data = self.ground.read(path)
        if b"mark" not in data:
            return
        time_ns = (self.workspace / path).stat().st_mtime_ns
        self.ground.put(path, self._with_other_mark(data))
        self.ground.stamp(path, time_ns)
        self.memory.sync(force=True)

    def _with_other_mark(self, data: bytes) -> bytes:
        start = data.index(b"mark")
        return data[:start] + self.ground.marked("%").encode() + data[start + 9 :]

    @rule(path=st.one_of(notes, transcripts))
    def touch(self, path: str) -> None:
        if not self.ground.is_file(path):
            return
        self.ground.stamp(path)

    @rule(path=st.one_of(notes, transcripts, folders))
    def delete(self, path: str) -> None:
        if not os.path.lexists(self.workspace / path):
            return
        self.ground.clear(path)

    @rule(path=notes, other=notes)
    def rename(self, path: str, other: str) -> None:
        if not (path != other and self.ground.is_file(path)):
            return
        self.ground.move(path, other)

    @rule(path=notes, other=notes)
    def copy(self, path: str, other: str) -> None:
        if not (path != other and self.ground.is_file(path)):
            return
        self.ground.copy(path, other)

    @rule(path=notes, other=notes)
    def swap(self, path: str, other: str) -> None:
        if not (path != other and self.ground.is_file(path) and self.ground.is_file(other)):
            return
        self.ground.swap(path, other)

    @rule(path=notes, other=notes)
    def link_hard(self, path: str, other: str) -> None:
        if not (path != other and self.ground.is_file(path)):
            return
        self.ground.put(other, b"")
        (self.workspace / other).unlink()
        (self.workspace / other).hardlink_to(self.workspace / path)

    @rule(path=folders, other=folders)
    def rename_folder(self, path: str, other: str) -> None:
        if not (path != other and (self.workspace / path).is_dir()):
            return
        self.ground.move(path, other)

    @rule(path=notes, kind=st.sampled_from(("empty", "folder", "fifo", "dangling", "link")))
    def obstruct(self, path: str, kind: str) -> None:
        self.ground.obstruct(path, kind)

    @rule(back=st.booleans())
    def take_memory_away(self, *, back: bool) -> None:
        away = self.workspace / "away"
        if away.is_dir():
            self.ground.clear("memory")
            away.rename(self.workspace / "memory")
        elif (self.workspace / "memory").is_dir():
            (self.workspace / "memory").rename(away)
            if not back:
                (self.workspace / "memory").write_bytes(b"a file is in the way")

    @rule(path=notes, readable=st.booleans())
    def change_rights(self, path: str, *, readable: bool) -> None:
        """Root reads all the same; everybody else meets a file that cannot be read."""
        if not self.ground.is_file(path):
            return
        (self.workspace / path).chmod(0o644 if readable else 0o000)

    @rule(globs=st.sampled_from((*IGNORED, "")))
    def ignore(self, globs: str) -> None:
        self.ground.clear(".clawmarkignore")
        if globs:
            (self.workspace / ".clawmarkignore").write_text(globs, encoding="utf-8")

    # Sessions

    @rule(path=transcripts, form=st.sampled_from(sorted(FORMATS)), role=roles, text=texts)
    def append_message(self, path: str, form: str, role: str, text: str) -> None:
        self.ground.serial += 1
        records = FORMATS[form](role, self.ground.marked(text), self.ground.serial)
        self.ground.put(path, self.ground.read(path) + lines_of(records))

    @rule(path=transcripts, form=st.sampled_from(sorted(FORMATS)), text=texts, share=st.integers(1, 9))
    def append_half_a_message(self, path: str, form: str, text: str, share: int) -> None:
        line = lines_of(FORMATS[form]("user", self.ground.marked(text), 7))
        self.ground.put(path, self.ground.read(path) + line[: len(line) * share // 10])

    @rule(path=transcripts, kind=st.sampled_from(("scheduled", "header", "tool", "junk")))
    def append_other_line(self, path: str, kind: str) -> None:
        line = {
            "scheduled": lines_of(FORMATS["plain"]("user", "[cron:daily] walrus", 3)),
            "header": lines_of([{"type": "session", "id": "session-7", "timestamp": "2026-05-01T00:00:00Z"}]),
            "tool": lines_of([{"role": "tool", "text": "kettle"}]),
            "junk": b"{not json\n",
        }[kind]
        self.ground.put(path, self.ground.read(path) + line)

    @rule(path=transcripts, share=st.integers(0, 9))
    def truncate(self, path: str, share: int) -> None:
        data = self.ground.read(path)
        if not data:
            return
        self.ground.put(path, data[: len(data) * share // 10])

    @rule(path=transcripts)
    def rewrite_first_message(self, path: str) -> None:
        data = self.ground.read(path)
        if b"mark" not in data:
            return
        self.ground.put(path, self._with_other_mark(data))

    @rule(path=transcripts)
    def reset(self, path: str) -> None:
        """The agent puts the transcript aside and begins anew."""
        if not self.ground.is_file(path):
            return
        self.ground.serial += 1
        self.ground.move(path, f"{path}.reset.{self.ground.serial}")
        self.append_message(path, "openclaw", "user", "walrus %")

    @rule(path=transcripts, other=transcripts)
    def rename_transcript(self, path: str, other: str) -> None:
        if not (path != other and self.ground.is_file(path)):
            return
        self.ground.move(path, other)

    # Settings

    @rule(
        recipe=st.sampled_from(RECIPES),
        exclude=st.sampled_from(EXCLUDED),
        logs=st.sampled_from(LOG_FOLDERS),
        links=st.booleans(),
        model=st.sampled_from((*MODELS, MODELS[0])),
    )
    def reconfigure(self, model: str, **options: Any) -> None:
        self.options |= options
        self.model = model
        self.reopen()

    @rule()
    def open_again(self) -> None:
        self.reopen()

    # Forgetting

    @rule(path=notes)
    def forget(self, path: str) -> None:
        if self.memory.forget(path=path).error is None:
            self.forgotten.add(path)

    @rule(name=st.sampled_from(TRANSCRIPTS))
    def forget_session(self, name: str) -> None:
        self.memory.forget(session=PurePath(name).stem)

    @rule(path=notes)
    def forget_passage(self, path: str) -> None:
        self.memory.forget(chunk=f"{path}#L1-L2")

    @rule()
    @precondition(lambda self: self.forgotten)
    def restore(self) -> None:
        path = sorted(self.forgotten)[0]
        assert self.memory.forget(path=path, restore=True).error is None
        self.forgotten.remove(path)
