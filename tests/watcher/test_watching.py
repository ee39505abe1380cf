"""``memory.watch()`` on real files: what is noticed, what is not, and what errors do."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from filelock import FileLock

from clawmark import AsyncMemory, Memory
from clawmark.core.model import SyncReport
from clawmark.files import FileRules
from clawmark.watcher import Followed, Timing, Watcher, WatchEvent
from moving_clock import MovingClock
from stub import StubEmbedder
from waiting import PATIENCE_SECONDS, QUICK, Heard, eventually

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def heard() -> Heard:
    return Heard()


def paths_of(memory: Memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query).results]


def quick(**more: object) -> dict[str, object]:
    """Settings under which nothing but the watcher indexes."""
    return {"sync": {**QUICK["sync"], "on_search": False}, **more}


# --- what is noticed ----------------------------------------------------------------------


def test_a_burst_of_new_notes_ends_in_one_sync(open_memory: Open, note: Note, heard: Heard) -> None:
    memory = open_memory(config={"sync": {"watch_debounce_ms": 1000}})
    with memory.watch(heard):
        heard.wait_for_sync("start")
        for number in range(50):
            note(f"memory/n{number}.md", f"zebra {number}")
        report = heard.wait_for_sync()

    assert report.added == 50
    assert len(heard.syncs) == 2


def test_notes_in_folders_made_after_the_start_are_found(open_memory: Open, note: Note, heard: Heard) -> None:
    memory = open_memory(config=quick())
    with memory.watch(heard):
        heard.wait_for_sync("start")
        note("memory/deep/er/est/a.md", "walrus")
        eventually(lambda: paths_of(memory, "walrus"))
        note("memory/deep/er/est/b.md", "narwhal")
        eventually(lambda: paths_of(memory, "narwhal"))


def test_a_memory_folder_made_after_the_start_is_watched(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    (workspace / "memory").rmdir()
    memory = open_memory(config=quick())
    with memory.watch(heard):
        heard.wait_for_sync("start")
        note("memory/a.md", "walrus")
        eventually(lambda: paths_of(memory, "walrus"))
        note("memory/a.md", "narwhal")
        eventually(lambda: paths_of(memory, "narwhal"))


def test_an_extra_path_that_appears_later_is_watched(open_memory: Open, tmp_path: Path, heard: Heard) -> None:
    """A mount sends no event."""
    extra = tmp_path / "mounted"
    memory = open_memory(config=quick(files={"extra_paths": [str(extra)]}))
    with memory.watch(heard):
        heard.wait_for_sync("start")
        ready = tmp_path / "ready"
        ready.mkdir()
        (ready / "a.md").write_text("walrus", encoding="utf-8")
        ready.rename(extra)
        eventually(lambda: paths_of(memory, "walrus"))
        (extra / "b.md").write_text("narwhal", encoding="utf-8")
        eventually(lambda: paths_of(memory, "narwhal"))


def test_a_folder_that_is_deleted_and_made_again_is_watched_again(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config=quick())
    with memory.watch(heard):
        heard.wait_for_sync("start")
        shutil.rmtree(workspace / "memory")
        eventually(lambda: not paths_of(memory, "walrus"))
        note("memory/a.md", "walrus again")
        eventually(lambda: paths_of(memory, "walrus"))
        note("memory/a.md", "narwhal")
        eventually(lambda: paths_of(memory, "narwhal"))


def test_a_workspace_that_goes_is_an_error_and_is_taken_up_when_it_is_back(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config=quick(store={"url": f"sqlite:///{workspace.parent / 'index.sqlite'}"}))
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        workspace.rename(workspace.with_name("away"))
        eventually(lambda: watcher.status()["state"] == "failed")
        assert watcher.status()["error"].code == "WORKSPACE_NOT_FOUND"
        workspace.with_name("away").rename(workspace)
        note("memory/b.md", "narwhal")
        eventually(lambda: paths_of(memory, "narwhal"))
        assert paths_of(memory, "walrus") == ["memory/a.md"]
        assert eventually(lambda: watcher.status()["error"] is None)


def test_a_transcript_that_grows_is_indexed(open_memory: Open, workspace: Path, heard: Heard) -> None:
    chat = workspace / "chats" / "june.jsonl"
    chat.parent.mkdir()
    chat.write_text('{"role": "user", "text": "Where is the ladder?"}\n', encoding="utf-8")
    memory = open_memory(config=quick(sessions={"paths": ["chats"]}))
    with memory.watch(heard):
        heard.wait_for_sync("start")
        with chat.open("a", encoding="utf-8") as file:
            file.write('{"role": "assistant", "text": "In the boat shed."}\n')
        eventually(lambda: paths_of(memory, "boat shed"))
    changed = heard.wait_for(lambda event: event.kind == "changed")
    assert changed.paths == ("sessions/june.jsonl",)


def test_changes_of_junk_hidden_and_other_files_start_no_sync(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    """The note at the end is a fence: whatever came before it was seen before it."""
    for folder in (".git", "node_modules/x", "memory/.git", "memory/__pycache__"):
        (workspace / folder).mkdir(parents=True)
    memory = open_memory(config=QUICK)
    with memory.watch(heard):
        heard.wait_for_sync("start")
        for path in (".git/a.md", "node_modules/x/a.md", "memory/.git/a.md", "memory/__pycache__/a.md"):
            note(path, "junk")
        for path in ("memory/.a.md.swp", "memory/.hidden.md", "memory/a.txt", "README.md", "memory/a.md~"):
            note(path, "junk")
        memory.sync()
        note("memory/fence.md", "walrus")
        report = heard.wait_for_sync()

    changed = [event.paths for event in heard.events if event.kind == "changed"]
    assert set().union(*changed) == {"memory/fence.md"}
    assert (len(heard.syncs), report.added) == (2, 1)


# --- polling, and no watching -------------------------------------------------------------


def test_polling_can_be_asked_for(open_memory: Open, note: Note, heard: Heard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WATCHFILES_FORCE_POLLING", "true")
    memory = open_memory(config=quick())
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        assert watcher.status()["way"] == "polling"
        note("memory/a.md", "walrus")
        eventually(lambda: paths_of(memory, "walrus"))


_WITHOUT_CAPACITY = """
import os, resource, sys
from clawmark import Memory
from waiting import Heard, eventually
from pathlib import Path

heard = Heard()
config = {"sync": {"watch_debounce_ms": 50, "on_search": False}}
with Memory(sys.argv[1], embedder="none", config=config) as memory:
    import watchfiles
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    highest = max(map(int, os.listdir("/dev/fd")))
    resource.setrlimit(resource.RLIMIT_NOFILE, (highest, hard))
    with memory.watch(heard) as watcher:
        heard.wait_for(lambda event: event.kind == "started")
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        eventually(lambda: memory.search("walrus").results)
        Path(sys.argv[1], "memory", "n7.md").write_text("narwhal")
        eventually(lambda: memory.search("narwhal").results)
        status = watcher.status()
print(status["way"], status["warning"].code, heard.notices)
"""


def test_without_descriptors_for_watching_there_is_one_warning_and_polling(workspace: Path, note: Note) -> None:
    """S12: four hundred notes, one warning. The first sync fails as well; neither ends the watcher."""
    for number in range(400):
        note(f"memory/n{number}.md", f"otter {number}")
    note("memory/a.md", "walrus")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _WITHOUT_CAPACITY, str(workspace)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=2 * PATIENCE_SECONDS,
    )

    assert (done.stdout, done.stderr) == ("polling WATCH_POLLING ['WATCH_POLLING']\n", "")


def test_with_watching_switched_off_there_is_a_first_sync_and_a_notice(
    open_memory: Open, note: Note, heard: Heard
) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config={"sync": {"watch": False}})
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        assert heard.notices == ["WATCH_OFF"]
        assert watcher.status()["way"] == "interval"
        note("memory/b.md", "narwhal")
        eventually(lambda: paths_of(memory, "narwhal"))  # a search looks for itself, once a second


@pytest.mark.parametrize(
    ("timing", "trigger"),
    [(Timing(interval=0.02, reconcile=0.0), "interval"), (Timing(reconcile=0.02), "reconcile")],
)
def test_time_alone_starts_a_sync(workspace: Path, heard: Heard, timing: Timing, trigger: str) -> None:
    watcher = Watcher(
        Followed(FileRules(workspace), ("memory",)),
        lambda progress: SyncReport(),
        timing=timing,
        clock=lambda: datetime.now(UTC),
        on_event=heard,
    )
    watcher.start()
    heard.wait_for_sync(trigger)
    watcher.stop()


# --- errors -------------------------------------------------------------------------------


def test_a_provider_that_is_down_is_asked_again(open_memory: Open, note: Note, heard: Heard) -> None:
    down = threading.Event()
    down.set()

    def refuse(texts: object) -> None:
        if down.is_set():
            raise ConnectionError("the provider is down")

    note("memory/a.md", "walrus")
    stub = StubEmbedder(on_documents=refuse)
    memory = open_memory(config=quick(), embedder=stub, clock=MovingClock(step=1.0))
    with memory.watch(heard):
        first = heard.wait_for_sync("start")
        assert first.partial
        assert paths_of(memory, "walrus") == ["memory/a.md"]  # by its words
        down.clear()
        again = heard.wait_for(lambda event: event.trigger == "retry" and event.report and not event.report.partial)

    assert again.report is not None
    assert (again.report.pending, again.report.texts_embedded) == (0, 1)


def test_a_sync_of_another_process_is_waited_for(open_memory: Open, workspace: Path, note: Note, heard: Heard) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config=quick())
    (workspace / ".clawmark").mkdir()
    with FileLock(workspace / ".clawmark" / "sync.lock"):
        watching = memory.watch(heard)
        watcher = watching.__enter__()
        eventually(lambda: watcher.status()["state"] == "waiting")
        assert not watcher.wait_until_ready(0)
    assert watcher.wait_until_ready(PATIENCE_SECONDS)
    assert paths_of(memory, "walrus") == ["memory/a.md"]
    watching.__exit__(None, None, None)


def test_a_mistake_in_a_sync_or_a_listener_does_not_end_the_watching(
    open_memory: Open, note: Note, heard: Heard
) -> None:
    broken = threading.Event()
    broken.set()

    def clock() -> datetime:
        if broken.is_set():
            raise RuntimeError("the clock fell")
        return datetime(2026, 6, 30, 12, 0, tzinfo=UTC)

    def listener(event: WatchEvent) -> None:
        heard(event)
        raise ValueError("a bad listener")

    note("memory/a.md", "walrus")
    memory = open_memory(config=quick(), clock=clock)
    with memory.watch(listener) as watcher:
        heard.wait_for(lambda event: event.notice and event.notice.code == "WATCH_FAILED")
        broken.clear()
        eventually(lambda: paths_of(memory, "walrus"))
        eventually(lambda: watcher.status()["state"] == "idle")


# --- starting and ending ------------------------------------------------------------------


class Gate(StubEmbedder):
    """Holds every batch until it is opened."""

    def __init__(self) -> None:
        self.entered, self.opened = threading.Event(), threading.Event()
        super().__init__(max_batch_items=4, on_documents=self._hold)

    def _hold(self, texts: object) -> None:
        self.entered.set()
        assert self.opened.wait(PATIENCE_SECONDS)


def test_closing_waits_for_the_sync_that_is_running(open_memory: Open, note: Note, heard: Heard) -> None:
    for number in range(20):
        note(f"memory/n{number}.md", f"zebra {number}")
    gate = Gate()
    memory = open_memory(embedder=gate)
    with memory.watch(heard):
        assert gate.entered.wait(PATIENCE_SECONDS)
        closing = threading.Thread(target=memory.close)
        closing.start()
        closing.join(0.05)
        assert closing.is_alive()
        gate.opened.set()
        closing.join(PATIENCE_SECONDS)

    assert heard.wait_for_sync("start").texts_embedded == 20
    assert heard.events[-1].kind == "stopped"


def test_a_watcher_that_may_not_finish_ends_after_the_batch_in_hand(
    open_memory: Open, note: Note, heard: Heard
) -> None:
    for number in range(20):
        note(f"memory/n{number}.md", f"zebra {number}")
    gate = Gate()
    memory = open_memory(embedder=gate)
    with memory.watch(heard) as watcher:
        assert gate.entered.wait(PATIENCE_SECONDS)
        stopping = threading.Thread(target=watcher.stop, kwargs={"finish": False})
        stopping.start()
        gate.opened.set()
        stopping.join(PATIENCE_SECONDS)

    assert heard.syncs == []
    report = memory.sync()
    assert 0 < report.texts_embedded < 20  # what was finished is kept
    assert report.pending == 0


def test_a_second_watch_joins_the_first(open_memory: Open, note: Note, heard: Heard) -> None:
    memory = open_memory(config=quick())
    with memory.watch(heard) as first:
        with memory.watch() as second:
            assert second is first
        note("memory/a.md", "walrus")
        eventually(lambda: paths_of(memory, "walrus"))
    assert first.status()["state"] == "stopped"
    assert memory.status().watch is None
    with memory.watch() as third:
        assert third is not first
        assert third.wait_until_ready(PATIENCE_SECONDS)


def test_status_says_what_the_watcher_does(open_memory: Open, note: Note, heard: Heard) -> None:
    note("MEMORY.md", "# Facts")
    memory = open_memory(config=QUICK)
    assert memory.status().watch is None
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        note("memory/a.md", "walrus")
        heard.wait_for_sync()
        eventually(lambda: watcher.status()["state"] == "idle")
        watch = memory.status().to_dict()["watch"]

    assert watch == {
        "state": "idle",
        "way": "events",
        "roots": ["MEMORY.md", "memory"],
        "folders": 2,
        "lastEvent": "2026-06-30T12:00:00+00:00",
        "lastSync": "2026-06-30T12:00:00+00:00",
        "error": None,
        "warning": None,
    }


def test_on_an_event_loop_the_same(workspace: Path, note: Note, heard: Heard) -> None:
    async def follow() -> list[str]:
        async with AsyncMemory(workspace, embedder="none", config=quick()) as memory:
            async with memory.watch(heard) as watcher:
                assert await asyncio.to_thread(watcher.wait_until_ready, PATIENCE_SECONDS)
                note("memory/a.md", "walrus")
                await asyncio.to_thread(heard.wait_for_sync)
                response = await memory.search("walrus")
            assert watcher.status()["state"] == "stopped"
        return [result.path for result in response.results]

    assert asyncio.run(follow()) == ["memory/a.md"]
