"""Whatever is done to the files: after a sync the index is what a fresh one would be.

The short form runs with the other tests; ``make soak`` tries more, others each time:
``SOAK=1000`` in the environment says how many.
"""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from comparing import INDEX, QUERIES, answers_of, assert_is_on_disk, fresh_index, numbers_of, rows_of
from dying import Words, killed_sync
from ground import FOLDERS, FORMATS, LOGS, NOTES, TRANSCRIPTS, Ground, lines_of
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule, run_state_machine_as_test

from clawmark import Memory, SyncReport

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)
# No name that begins with CLAWMARK_: those are settings.
SOAK = int(os.environ.get("SOAK", "0"))
PROFILE = settings(
    max_examples=SOAK or 40,
    stateful_step_count=40 if SOAK else 25,
    derandomize=not SOAK,
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)

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
# The same question of another provider's model is never compared with the first's.
MODELS = ("words-1", "words-2")
UNEMBEDDED = {"NO_VECTORS", "VECTORS_PENDING", "VECTOR_SPACE_MISMATCH"}

notes = st.sampled_from(NOTES)
folders = st.sampled_from(FOLDERS)
transcripts = st.sampled_from([f"{LOGS}/{name}" for name in TRANSCRIPTS])
texts = st.lists(st.sampled_from(LINES), min_size=1, max_size=6).map("\n".join)
roles = st.sampled_from(("user", "user", "assistant"))


class Interrupted(BaseException):
    """Stands for whatever ends a process in the middle."""


class FilesAndIndex(RuleBasedStateMachine):
    """Edits files, and asks the index about them."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="clawmark-model-"))
        self.workspace = self.folder / "ws"
        self.ground = Ground(self.workspace)
        self.options: dict[str, Any] = {"recipe": {}, "exclude": (), "logs": True, "cache": True, "decay": False}
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
            "files": {"exclude": list(chosen["exclude"])},
            "sessions": {"paths": [LOGS] if chosen["logs"] else []},
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
        self.sync(force=True)

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
        logs=st.sampled_from((True, True, False)),
        model=st.sampled_from((*MODELS, MODELS[0])),
    )
    def reconfigure(self, recipe: dict[str, int], exclude: tuple[str, ...], model: str, *, logs: bool) -> None:
        self.options |= {"recipe": recipe, "exclude": exclude, "logs": logs}
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
        self.memory.forget(session=name.removesuffix(".jsonl"))

    @rule(path=notes)
    def forget_passage(self, path: str) -> None:
        self.memory.forget(chunk=f"{path}#L1-L2")

    @rule()
    @precondition(lambda self: self.forgotten)
    def restore(self) -> None:
        path = sorted(self.forgotten)[0]
        assert self.memory.forget(path=path, restore=True).error is None
        self.forgotten.remove(path)

    # Asking

    @rule(force=st.sampled_from((False, False, False, True)))
    def sync(self, *, force: bool) -> None:
        self.check_sync(self.memory.sync(force=force))

    @rule(after=st.integers(0, 2), force=st.booleans())
    def sync_that_is_interrupted(self, after: int, *, force: bool) -> None:
        left = after

        def stop() -> None:
            nonlocal left
            if not left:
                raise Interrupted
            left -= 1

        self.embedder.before = stop
        with suppress(Interrupted):
            self.memory.sync(force=force)
        self.reopen()

    @precondition(lambda self: SOAK)
    @rule(stage=st.sampled_from(("reading", "embedding")), after=st.integers(0, 2), force=st.booleans())
    def sync_that_is_killed(self, stage: str, after: int, *, force: bool) -> None:
        died = killed_sync(self.workspace, self.config, self.model, stage=stage, after=after, force=force)
        assert died in (0, -signal.SIGKILL)

    @rule(path=notes, text=texts)
    def sync_while_a_note_is_written(self, path: str, text: str) -> None:
        """What is written during the sync is found by the next, or by the next search."""
        self.embedder.before = lambda: self._once(path, text)
        report = self.memory.sync()
        self.embedder.before = None
        assert report.error is None, report.error
        self.search(QUERIES[0])

    def _once(self, path: str, text: str) -> None:
        self.embedder.before = None
        self.write(path, text)

    @rule(query=st.sampled_from(QUERIES))
    def search(self, query: str) -> None:
        self._is_true(self.memory, query)

    @rule(query=st.sampled_from(QUERIES))
    def search_by_keyword(self, query: str) -> None:
        with self.open(embedder="none") as memory:
            self._is_true(memory, query)

    @rule()
    def search_anew(self) -> None:
        """A first search looks at the files, and indexes before it answers."""
        self.reopen()
        response = self.memory.search(QUERIES[0])
        assert (response.stale, response.error) == (False, None)
        assert_is_on_disk(self.workspace, response)
        status = self.memory.status()
        if (status.state, status.eligible, status.last_sync) == ("pending", 0, None):
            return  # nothing to index, and no index
        if UNEMBEDDED & {notice.code for notice in response.warnings}:
            return  # what a search by keyword has indexed waits for the next sync, and the answer says so
        assert status.state == ("failed" if status.failed else "fresh"), status.reason
        self.check_against_a_fresh_index()

    @rule()
    def believe_the_status(self) -> None:
        status = self.memory.status()
        if status.state == "fresh":
            assert status.eligible == status.files
            report = self.memory.sync()
            assert (report.added, report.changed, report.removed, report.moved) == (0, 0, 0, 0)
            self.check_sync(report)

    def check_sync(self, report: SyncReport) -> None:
        assert report.error is None, report.error
        status = self.memory.status()
        assert (status.files, status.chunks) == (status.eligible - len(self._unread(status)), report.chunks)
        assert {item.path for item in report.skipped} == {item.path for item in status.skipped}
        assert status.state == ("failed" if report.failed else "fresh"), status.reason
        self.check_against_a_fresh_index()

    @staticmethod
    def _unread(status: Any) -> list[Any]:
        return [item for item in status.failed if not item.reason.startswith("embedding failed")]

    def check_against_a_fresh_index(self) -> None:
        with fresh_index(self.workspace, self.folder / "fresh", self.open) as fresh:
            assert rows_of(self.workspace / INDEX) == rows_of(self.folder / "fresh" / "fresh.sqlite")
            assert numbers_of(self.memory) == numbers_of(fresh)
            assert answers_of(self.memory) == answers_of(fresh)
            store = f"sqlite:///{self.folder / 'fresh' / 'fresh.sqlite'}"
            with self.open(embedder="none") as words, self.open(embedder="none", store=store) as fresh_words:
                assert answers_of(words) == answers_of(fresh_words)

    def _is_true(self, memory: Memory, query: str) -> None:
        response = memory.search(query, max_results=50, min_score=0.0)
        assert response.error is None, response.error
        assert_is_on_disk(self.workspace, response)
        assert self.forgotten.isdisjoint(result.path for result in response.results)

    @invariant()
    def nothing_answers_that_is_not_there(self) -> None:
        """Without a look at the files before: within the second after the last one there is none."""
        self._is_true(self.memory, "walrus mark")


def test_after_each_sync_the_index_equals_a_fresh_one_and_no_search_tells_what_is_gone() -> None:
    run_state_machine_as_test(FilesAndIndex, settings=PROFILE)
