"""What users of other recall systems met while their files were watched (user-cases.md)."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clawmark import Memory
from moving_clock import MovingClock
from stub import StubEmbedder
from terminal import clawmark_process
from waiting import PATIENCE_SECONDS, QUICK, Heard, eventually

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

# Nothing but the watcher indexes.
WATCHER_ONLY = {"sync": {**QUICK["sync"], "on_search": False}}


@pytest.fixture
def heard() -> Heard:
    return Heard()


def paths_of(memory: Memory, query: str) -> list[str]:
    return sorted(result.path for result in memory.search(query, max_results=300).results)


def test_deleted_and_renamed_notes_leave_no_ghosts(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    """S03: a move of unchanged text costs no embedding."""
    for name in "abc":
        note(f"memory/{name}.md", f"zebra {name}")
    embedder = StubEmbedder({"zebra": 0.9})
    memory = open_memory(config=WATCHER_ONLY, embedder=embedder)
    with memory.watch(heard):
        heard.wait_for_sync("start")
        before = len(embedder.texts)
        (workspace / "memory/a.md").unlink()
        (workspace / "memory/b.md").rename(workspace / "memory/d.md")
        eventually(lambda: paths_of(memory, "zebra") == ["memory/c.md", "memory/d.md"])
        status = eventually(lambda: memory.status() if memory.status().state == "fresh" else None)

    assert (status.files, status.chunks) == (2, 2)
    assert len(embedder.texts) == before


def test_between_two_syncs_a_deleted_note_never_answers_and_an_edited_one_is_stale(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    """S05: the watcher has not looked yet, for its debounce is long."""
    gone, edited = note("memory/a.md", "zebra one"), note("memory/b.md", "zebra two")
    memory = open_memory(config={"sync": {"watch_debounce_ms": 3_600_000, "on_search": False}})
    with memory.watch(heard):
        heard.wait_for_sync("start")
        gone.unlink()
        edited.write_text("zebra two, or three", encoding="utf-8")
        heard.wait_for(lambda event: "memory/b.md" in event.paths)
        response = memory.search("zebra")

    assert [(result.path, result.stale) for result in response.results] == [("memory/b.md", True)]
    assert response.stale


def test_waiting_work_is_no_failure_and_a_failure_ends_with_the_next_success(
    open_memory: Open, note: Note, heard: Heard
) -> None:
    """S06: pending, failed with the reason, fresh; no advice to repair anything that only waits."""
    down = threading.Event()

    def refuse(texts: object) -> None:
        if down.is_set():
            raise ConnectionError("the provider is down")

    # Pauses are by the injected clock: one that moves on with each look at it.
    stub = StubEmbedder(on_documents=refuse)
    memory = open_memory(config=WATCHER_ONLY, embedder=stub, clock=MovingClock(step=1.0))
    note("memory/a.md", "zebra")
    pending = memory.status()
    assert (pending.state, memory.search("zebra").error) == ("pending", None)
    assert "repair" not in f"{pending.reason}"
    assert "rebuild" not in f"{pending.reason}"
    down.set()
    with memory.watch(heard):
        heard.wait_for_sync("start")
        failed = memory.status()
        assert failed.state == "failed"
        assert "the provider is down" in f"{failed.reason}"
        down.clear()
        heard.wait_for_sync("retry")
        assert eventually(lambda: memory.status().state == "fresh")


def test_extra_notes_that_the_command_line_indexed_stay_when_the_watcher_syncs(
    workspace: Path, tmp_path: Path, note: Note, heard: Heard
) -> None:
    """S08, S09: every trigger lists the same files; a change of one note removes no other."""
    extra = tmp_path / "extra"
    extra.mkdir()
    for name in ("x", "y"):
        (extra / f"{name}.md").write_text(f"zebra {name}", encoding="utf-8")
    note("memory/a.md", "zebra a")
    file = tmp_path / "mine.toml"
    file.write_text(f'files.extra_paths = ["{extra.as_posix()}"]\nsync.watch_debounce_ms = 50\n', encoding="utf-8")
    assert clawmark_process("index", "--workspace", workspace, "--config", file).code == 0

    with Memory(workspace, embedder="none", config=file) as memory, memory.watch(heard):
        assert heard.wait_for_sync("start").unchanged == 3
        note("memory/a.md", "zebra b")
        assert heard.wait_for_sync().changed == 1
        assert paths_of(memory, "zebra") == ["../extra/x.md", "../extra/y.md", "memory/a.md"]


def test_notes_that_were_there_before_the_watcher_are_found(open_memory: Open, note: Note) -> None:
    """S10: a reconcile comes first."""
    for name in "abc":
        note(f"memory/{name}.md", f"zebra {name}")
    memory = open_memory(config=WATCHER_ONLY)
    with memory.watch() as watcher:
        assert watcher.wait_until_ready(PATIENCE_SECONDS)
        assert len(paths_of(memory, "zebra")) == 3


def test_fifty_edits_leave_no_old_vector(open_memory: Open, note: Note) -> None:
    """S23."""
    memory = open_memory(embedder=StubEmbedder())
    for number in range(50):
        note("memory/a.md", f"zebra number {number}")
        memory.sync()
    status = memory.status()

    assert status.vector == {"vectors": 1, "dimensions": 256}
    assert (status.chunks, status.files) == (1, 1)


@contextmanager
def audited() -> Iterator[list[str]]:
    """Note the files that Python code opens, and ``listing`` for each folder listed, on this thread."""
    noted: list[str] = []
    here, on = threading.get_ident(), [True]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if on[0] and threading.get_ident() == here and event in ("open", "os.scandir", "os.listdir"):
            noted.append(str(arguments[0]) if event == "open" else "listing")

    sys.addaudithook(hook)  # stays for the process, silent once it is off
    try:
        yield noted
    finally:
        on[0] = False


def walks_nothing(memory: Memory) -> bool:
    with audited() as noted:
        response = memory.search("zebra")
    assert (response.stale, len(response.results)) == (False, 1)
    return "listing" not in noted


def test_while_a_watcher_lives_a_search_walks_no_folder(open_memory: Open, note: Note, heard: Heard) -> None:
    """F08: there is nothing to look for that it would not have seen."""
    note("memory/a.md", "zebra")
    memory = open_memory(config=QUICK)
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        eventually(lambda: watcher.status()["state"] == "idle")
        eventually(lambda: walks_nothing(memory))
        assert all(walks_nothing(memory) for _ in range(20))
        with audited() as noted:
            memory.sync()
        assert "listing" in noted
        note("memory/b.md", "zebra too")
        eventually(lambda: paths_of(memory, "zebra") == ["memory/a.md", "memory/b.md"])


def test_fifty_unchanged_syncs_open_no_note(open_memory: Open, workspace: Path, note: Note) -> None:
    """F08: size and time first; content only when they differ."""
    for number in range(300):
        note(f"memory/n{number}.md", f"zebra {number}")
    memory = open_memory()
    memory.sync()
    with audited() as noted:
        assert all(memory.sync().unchanged == 300 for _ in range(50))

    assert [path for path in noted if path.endswith(".md")] == []


def test_the_ignored_files_beside_the_notes_cost_no_descriptors(
    open_memory: Open, workspace: Path, note: Note, heard: Heard
) -> None:
    """F09: 20,000 files in a virtual environment, in 400 folders, and 50 notes."""
    for folder in range(400):
        packages = workspace / "extra" / ".venv" / f"p{folder}"
        packages.mkdir(parents=True)
        for number in range(50):
            (packages / f"{number}.py").touch()
    for number in range(50):
        note(f"extra/n{number}.md", f"zebra {number}")
    memory = open_memory(config={**WATCHER_ONLY, "files": {"extra_paths": ["extra"]}})
    memory.sync()
    before = _handles()
    with memory.watch(heard) as watcher:
        heard.wait_for_sync("start")
        assert _handles() - before < 200
        assert watcher.status()["folders"] == 3
        note("extra/n7.md", "walrus")
        eventually(lambda: paths_of(memory, "walrus") == ["extra/n7.md"])


def _handles() -> int:
    """Count open descriptors, and on Linux the watches behind them too."""
    descriptors = list(Path("/dev/fd").iterdir())
    watches = 0
    for descriptor in descriptors:
        try:
            watches += Path(f"/proc/self/fdinfo/{descriptor.name}").read_text(encoding="utf-8").count("inotify wd")
        except OSError:
            continue  # the listing itself, or another system
    return len(descriptors) + watches


def test_notes_added_one_after_another_are_embedded_once_each(open_memory: Open, note: Note, heard: Heard) -> None:
    """F11: linear work."""
    embedder = StubEmbedder()
    memory = open_memory(config=WATCHER_ONLY, embedder=embedder)
    with memory.watch(heard):
        heard.wait_for_sync("start")
        for number in range(200):
            note(f"memory/n{number}.md", f"zebra {number}")
        eventually(lambda: memory.status().files == 200 and memory.status().state == "fresh")

    assert len(embedder.texts) <= 220


def test_searches_syncs_and_a_watcher_at_once_meet_no_error(open_memory: Open, note: Note, heard: Heard) -> None:
    """L08: every connection can do what the first one could."""
    note("memory/a.md", "zebra")
    memory = open_memory(config=QUICK, embedder=StubEmbedder({"zebra": 0.9}))
    faults: list[object] = []

    def ask() -> None:
        for _ in range(20):
            response = memory.search("zebra")
            faults.extend(filter(None, (response.error, response.fallback)))

    def sync() -> None:
        for force in (False, True) * 4:
            report = memory.sync(force=force)
            faults.extend(filter(None, (report.error, *report.failed)))

    with memory.watch(heard):
        threads = [threading.Thread(target=work) for work in (ask, ask, sync, ask)]
        for thread in threads:
            thread.start()
        for number in range(20):
            note(f"memory/n{number}.md", f"zebra {number}")
        for thread in threads:
            thread.join(PATIENCE_SECONDS)
        eventually(lambda: len(paths_of(memory, "zebra")) == 21)

    assert faults == []
