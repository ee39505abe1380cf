"""Whatever is done to the files: after a sync the index is what a fresh one would be.

The short form runs with the other tests; ``make soak`` tries more, others each time:
``SOAK=1000`` in the environment says how many.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Any

from comparing import INDEX, QUERIES, answers_of, assert_is_on_disk, differences, fresh_index, numbers_of, rows_of
from dying import killed_sync
from editing import EditedFiles, notes, texts
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule, run_state_machine_as_test

from clawmark import Memory, SyncReport

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

UNEMBEDDED = {"NO_VECTORS", "VECTORS_PENDING", "VECTOR_SPACE_MISMATCH"}


class Interrupted(BaseException):
    """Stands for whatever ends a process in the middle."""


def same(one: Any, other: Any) -> None:
    """Check that two values are equal; if not, the message names each difference."""
    found = differences(one, other)
    assert not found, "\n".join(found)


class FilesAndIndex(EditedFiles):
    """Asks the index about the files."""

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
        assert_is_on_disk(self.workspace, response, follow_links=self.options["links"])
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
            rows, fresh_rows = rows_of(self.workspace / INDEX), rows_of(self.folder / "fresh" / "fresh.sqlite")
            same(rows, fresh_rows)
            same(numbers_of(self.memory), numbers_of(fresh))
            same(answers_of(self.memory), answers_of(fresh))
            store = f"sqlite:///{self.folder / 'fresh' / 'fresh.sqlite'}"
            with self.open(embedder="none") as words, self.open(embedder="none", store=store) as fresh_words:
                same(answers_of(words), answers_of(fresh_words))

    def _is_true(self, memory: Memory, query: str) -> None:
        response = memory.search(query, max_results=50, min_score=0.0)
        assert response.error is None, response.error
        assert_is_on_disk(self.workspace, response, follow_links=self.options["links"])
        assert self.forgotten.isdisjoint(result.path for result in response.results)

    @invariant()
    def nothing_answers_that_is_not_there(self) -> None:
        """Without a look at the files before: within the second after the last one there is none."""
        self._is_true(self.memory, "walrus mark")


def test_after_each_sync_the_index_equals_a_fresh_one_and_no_search_tells_what_is_gone() -> None:
    run_state_machine_as_test(FilesAndIndex, settings=PROFILE)
