"""Status: three states that can be believed, the same numbers everywhere, reasons that outlive a process."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from filelock import FileLock

from clawmark import AsyncMemory, Memory
from clawmark.core.errors import EmbeddingError
from stub import StubEmbedder, WordHashEmbedder
from terminal import clawmark, clawmark_process

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

MESSAGE = {"type": "message", "timestamp": "2026-06-01T08:00:00Z", "message": {"role": "user", "content": "An egret."}}


def test_files_that_appeared_while_nobody_looked_are_pending_by_name(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """S02: a fourth note and a transcript, seen by a new process."""
    for name in "abc":
        note(f"memory/{name}.md", f"A heron called {name}.")
    config = {"sessions": {"paths": ["chats"]}}
    (workspace / "chats").mkdir()
    with Memory(workspace, embedder="none", config=config) as memory:
        memory.sync()
        assert memory.status().state == "fresh"
    note("memory/d.md", "A heron called d.")
    note("chats/s1.jsonl", json.dumps(MESSAGE))

    status = open_memory(config=config).status()
    assert (status.state, status.pending, status.files, status.eligible) == ("pending", 2, 3, 5)
    assert status.reason is not None
    assert "memory/d.md, sessions/s1.jsonl" in status.reason


def test_the_last_note_leaves_nothing_behind(note: Note, open_memory: Open) -> None:
    """S04: an empty folder that can be read removes its rows."""
    file = note("memory/a.md", "A heron.")
    memory = open_memory(embedder=WordHashEmbedder())
    memory.sync()
    file.unlink()
    memory.sync()

    status = memory.status()
    assert (status.files, status.chunks, status.eligible, status.pending) == (0, 0, 0, 0)
    assert memory.search("heron").results == ()
    with closing(sqlite3.connect(status.index_path)) as db:
        assert [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("chunks", "vectors")] == [0, 0]


def test_a_configured_folder_is_listed_as_missing_until_it_is_there(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """S11."""
    note("memory/a.md", "A heron.")
    memory = open_memory(config={"files": {"extra_paths": ["extra"]}})
    assert [item.to_dict() for item in memory.sync().skipped] == [{"path": "extra", "reason": "does not exist"}]
    assert [item.path for item in memory.status().skipped] == ["extra"]

    note("extra/new.md", "An egret.")
    assert memory.sync().added == 1
    assert (memory.status().skipped, memory.search("egret").results[0].path) == ((), "extra/new.md")


def test_links_and_pipes_are_listed_with_a_reason_and_stop_nothing(
    workspace: Path, note: Note, open_memory: Open, tmp_path: Path
) -> None:
    """S13, S14, S15: what is left out is named; a second name of a file is one file."""
    ok = note("memory/ok.md", "A heron.")
    real = tmp_path / "real"
    real.mkdir()
    (real / "x.md").write_text("An egret.", encoding="utf-8")
    (workspace / "extra").symlink_to(real)
    (workspace / "memory/link.md").symlink_to(ok)
    os.mkfifo(workspace / "memory/pipe.md")
    os.link(ok, workspace / "memory/second.md")
    memory = open_memory(config={"files": {"extra_paths": ["extra"]}})
    report, status = memory.sync(), memory.status()

    assert (report.error, report.added, status.state, status.files) == (None, 1, "fresh", 1)
    assert {item.path for item in status.skipped} == {"extra", "memory/link.md", "memory/pipe.md", "memory/second.md"}
    assert all(item.reason for item in status.skipped)
    assert report.skipped == status.skipped


def test_eligible_and_indexed_agree_when_nothing_is_left_to_do(note: Note, open_memory: Open) -> None:
    """S21: an empty note and a copy of a transcript are shown apart."""
    for name in "abc":
        note(f"memory/{name}.md", f"A heron called {name}.")
    note("memory/empty.md", " \n")
    note("chats/s1.jsonl.bak.1", json.dumps(MESSAGE))
    memory = open_memory(config={"sessions": {"paths": ["chats"]}})
    memory.sync()

    status = memory.status()
    assert (status.files, status.eligible, status.state) == (3, 3, "fresh")
    assert sorted(item.path for item in status.skipped) == ["memory/empty.md", "sessions/s1.jsonl.bak.1"]


def test_plain_and_deep_form_say_the_same(note: Note, open_memory: Open) -> None:
    note("memory/a.md", "A heron.")
    memory = open_memory(embedder=WordHashEmbedder())
    memory.sync()
    plain, deep = memory.status().to_dict(), memory.status(deep=True).to_dict()

    parts = plain.pop("bytesByPart"), deep.pop("bytesByPart")
    assert plain == deep
    assert set(parts[0]) == {"file"}
    assert parts[0].items() <= parts[1].items()


def test_a_failure_keeps_its_reason_and_time_over_restarts_until_it_is_over(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    def refuse(texts: object) -> None:
        raise EmbeddingError("The service is on fire.")

    note("memory/a.md", "A heron.")
    with Memory(workspace, embedder=StubEmbedder(on_documents=refuse)) as memory:
        memory.sync()
    status = clawmark("status", "--workspace", workspace, "--json").json
    assert status["state"] == "failed"
    assert "on fire" in status["reason"]
    assert status["lastSync"] in status["reason"]

    memory = open_memory(embedder=StubEmbedder())
    memory.sync()
    assert memory.status().state == "fresh"


def test_a_provider_that_cannot_start_is_seen_before_anything_was_tried(
    workspace: Path, note: Note, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model is loaded and nothing is asked for it."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    note("memory/a.md", "A heron.")
    with Memory(workspace, embedder=WordHashEmbedder()) as memory:
        memory.sync()
    status = open_memory(embedder="openai").status()

    assert (status.state, status.mode) == ("failed", "keyword")
    assert status.reason is not None
    assert "OPENAI_API_KEY" in status.reason


def test_a_status_beside_a_running_sync_says_that_one_runs(workspace: Path, note: Note, open_memory: Open) -> None:
    note("memory/a.md", "A heron.")
    memory = open_memory()
    memory.sync()
    note("memory/b.md", "An egret.")
    with FileLock(workspace / ".clawmark" / "sync.lock"):
        running = memory.status()
    idle = memory.status()

    assert (running.state, idle.state) == ("pending", "pending")
    assert running.reason == f"{idle.reason}; a sync is running"


def test_a_status_from_another_process_while_one_embeds_counts_what_is_done(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """It waits for nothing, and tells words that are there from vectors that are not."""
    for number in range(40):
        note(f"memory/n{number}.md", f"Heron number {number}.")
    go, arrived = threading.Event(), threading.Event()

    def wait(texts: object) -> None:
        arrived.set()
        assert go.wait(60)

    memory = open_memory(embedder=StubEmbedder(on_documents=wait))
    working = threading.Thread(target=memory.sync)
    working.start()
    assert arrived.wait(60)
    provider = {"CLAWMARK_EMBEDDING__PROVIDER": "local"}
    status = clawmark_process("status", "--json", "--workspace", workspace, env=provider).json
    go.set()
    working.join()

    assert (status["state"], status["files"], status["chunks"], status["pending"]) == ("pending", 40, 40, 40)
    assert "a sync is running" in status["reason"]
    assert memory.status().state == "fresh"


def test_full_text_that_does_not_answer_is_told(note: Note, open_memory: Open) -> None:
    note("memory/a.md", "A heron.")
    memory = open_memory()
    memory.sync()
    assert memory.status().fts == {"available": True}
    with closing(sqlite3.connect(memory.status().index_path)) as db, db:
        db.execute("UPDATE terms_1_data SET block = x'ff00ff00ff00'")

    assert memory.status().fts == {"available": False}


def test_a_note_that_changes_all_the_time_holds_up_nothing_else(workspace: Path, note: Note, open_memory: Open) -> None:
    """S25: one pass ends, everything else is there."""
    for number in range(60):
        note(f"memory/n{number}.md", f"Heron number {number}.")
    moving = note("memory/moving.md", "An ibis 0.")
    stop = threading.Event()

    def rewrite() -> None:
        turn = 0
        while not stop.wait(0.002):
            turn += 1
            moving.write_text(f"An ibis {turn}.", encoding="utf-8")

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        memory = open_memory()
        report = memory.sync(force=True)
    finally:
        stop.set()
        writer.join()
    assert report.error is None
    assert memory.status().files >= 60
    memory.sync()
    assert (memory.status().state, memory.status().files) == ("fresh", 61)


def test_two_processes_index_and_search_without_a_lock_error(workspace: Path, note: Note, open_memory: Open) -> None:
    """L01, L02: one writes all the time, the other asks and syncs, and sees new notes."""
    for number in range(40):
        note(f"memory/n{number}.md", f"Heron number {number}.")
    clawmark_process("index", "--workspace", workspace)
    script = (
        "import sys; from clawmark import Memory\n"
        "with Memory(sys.argv[1], embedder='none') as memory:\n"
        "    print([memory.sync(force=True).error for _ in range(15)])\n"
    )
    writer = subprocess.Popen(
        [sys.executable, "-c", script, str(workspace)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    memory = open_memory()
    answers = [memory.search("heron number 7") for _ in range(60)]
    reports = [memory.sync() for _ in range(3)]
    note("memory/new.md", "An egret.")
    found = memory.search("egret").results or memory.search("egret").results
    output = writer.communicate(timeout=120)[0]

    assert output.strip() == str([None] * 15)
    assert [answer.error for answer in answers] == [None] * 60
    assert all(answer.results for answer in answers)
    assert [report.error for report in reports] == [None] * 3
    assert memory.sync().error is None
    assert found or memory.search("egret").results


def test_many_syncs_at_once_end_without_a_lock_error(workspace: Path, note: Note) -> None:
    """L12: they take turns."""
    for number in range(10):
        note(f"memory/n{number}.md", f"Heron number {number}, word{number}.")

    async def run() -> tuple[list[object], int]:
        async with AsyncMemory(workspace, embedder="none") as memory:
            reports = await asyncio.gather(*(memory.sync() for _ in range(64)))
            response = await memory.search("heron", max_results=20)
            return [report.error for report in reports], len(response.results)

    assert asyncio.run(run()) == ([None] * 64, 10)


def test_opening_asking_and_closing_leaves_nothing_open(workspace: Path, note: Note) -> None:
    """L16: no thread, no open file, no byte more, after twenty times."""
    note("memory/a.md", "A heron.")

    def cycle() -> tuple[int, int, int]:
        with Memory(workspace, embedder=WordHashEmbedder()) as memory:
            assert memory.search("heron").results
            size = (memory.status().bytes_by_part or {})["file"]
        return len(named_in(Path("/proc/self/fd"))), len(named_in(Path("/proc/self/task"))), size

    first = cycle()
    assert [cycle() for _ in range(20)] == [first] * 20


def named_in(folder: Path) -> list[Path]:
    """List what Linux knows of this process; nothing elsewhere."""
    return list(folder.iterdir()) if folder.is_dir() else []


def test_an_empty_index_is_called_so_with_its_place(workspace: Path, tmp_path: Path, note: Note) -> None:
    """I09: and the same settings give the same answer from any folder."""
    note("memory/a.md", "A heron.")
    here = clawmark_process("search", "heron", "--json", "--workspace", workspace)
    there = clawmark_process("search", "heron", "--json", "--workspace", workspace, cwd=tmp_path)
    assert [{**ran.json, "tookMs": 0} for ran in (here, there)] == [{**here.json, "tookMs": 0}] * 2
    empty = tmp_path / "empty"
    (empty / "memory").mkdir(parents=True)
    clawmark("index", "--workspace", empty)
    ran = clawmark("search", "heron", "--workspace", empty)

    assert ran.out.startswith("The index is empty (")
    assert str(empty) in ran.out
