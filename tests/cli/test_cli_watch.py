"""``clawmark watch`` as a process: what it says, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from terminal import COMMAND, KEYWORD, PATIENCE_SECONDS, clawmark
from waiting import eventually

Note = Callable[[str, str], Path]

_QUICK = {**KEYWORD, "CLAWMARK_SYNC__WATCH_DEBOUNCE_MS": "50"}


class Running:
    """A process whose output is gathered as it comes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.out: list[str] = []
        self.err: list[str] = []
        assert process.stdout is not None
        assert process.stderr is not None
        self._threads = [
            threading.Thread(target=lines.extend, args=(stream,))
            for lines, stream in ((self.out, process.stdout), (self.err, process.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def says(self, text: str) -> str:
        """Wait for a line on stderr that holds a text; give it."""
        return eventually(lambda: next((line for line in list(self.err) if text in line), ""))

    def end(self, number: signal.Signals) -> int:
        """Send a signal; give the exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_SECONDS)

    def finish(self) -> None:
        """End the process and the threads, whatever happened."""
        self.process.kill()
        self.process.wait(PATIENCE_SECONDS)
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()


@contextmanager
def watching(workspace: Path, *arguments: str, **env: str) -> Iterator[Running]:
    process = subprocess.Popen(
        [*COMMAND, "watch", "--workspace", str(workspace), *arguments],
        env={**os.environ, **_QUICK, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        bufsize=1,
    )
    running = Running(process)
    try:
        yield running
    finally:
        running.finish()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_says_what_it_does_and_ends_cleanly(workspace: Path, note: Note, number: signal.Signals) -> None:
    note("memory/a.md", "zebra")
    with watching(workspace) as running:
        running.says("watching 2 folders; Ctrl-C ends")
        running.says("Indexed: 1 added; 1 chunks")
        note("memory/b.md", "walrus")
        running.says("changed: memory/b.md")
        running.says("Indexed: 1 added, 1 unchanged; 2 chunks")
        assert running.end(number) == 0

    assert running.err[-1].endswith("stopped\n")
    assert running.out == []
    assert clawmark("search", "walrus", "--workspace", workspace).out.startswith("1. memory/b.md")


def test_a_signal_that_comes_twice_at_once_is_one(workspace: Path, note: Note) -> None:
    """As `timeout` and some supervisors send it: to the process, and to its group."""
    note("memory/a.md", "zebra")
    with watching(workspace) as running:
        running.says("Indexed: 1 added")
        running.process.send_signal(signal.SIGINT)
        assert running.end(signal.SIGINT) == 0

    assert running.err[-1].endswith("stopped\n")


def test_json_prints_one_object_per_sync(workspace: Path, note: Note) -> None:
    note("memory/a.md", "zebra")
    with watching(workspace, "--json") as running:
        running.says("Indexed: 1 added")
        note("memory/b.md", "walrus")
        running.says("Indexed: 1 added, 1 unchanged")
        assert running.end(signal.SIGINT) == 0

    syncs = [json.loads(line) for line in running.out]
    assert [(sync["trigger"], sync["added"], sync["unchanged"]) for sync in syncs] == [
        ("start", 1, 0),
        ("change", 1, 1),
    ]


def test_an_error_is_said_and_does_not_end_it(workspace: Path, note: Note) -> None:
    ignore = workspace / ".clawmarkignore"
    ignore.mkdir()
    note("memory/a.md", "zebra")
    with watching(workspace) as running:
        running.says("error: .clawmarkignore cannot be used")
        ignore.rmdir()
        running.says("Indexed: 1 added")
        assert running.end(signal.SIGINT) == 0


def test_with_watching_switched_off_it_warns_and_indexes_once(workspace: Path, note: Note) -> None:
    note("memory/a.md", "zebra")
    with watching(workspace, CLAWMARK_SYNC__WATCH="false") as running:
        running.says("warning: sync.watch is false")
        running.says("Indexed: 1 added")
        assert running.end(signal.SIGINT) == 0


def test_a_workspace_that_does_not_exist_is_wrong_usage(tmp_path: Path) -> None:
    ran = clawmark("watch", "--workspace", tmp_path / "nowhere")

    assert (ran.code, ran.out) == (2, "")
    assert "nowhere does not exist" in ran.err
