"""Ctrl-C in the middle of an index: what is finished is kept, and the next run goes on."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clawmark import Memory
from clawmark.embedders.local import LocalEmbedder
from terminal import COMMAND, PATIENCE_SECONDS, clawmark
from untouched import untouched

Note = Callable[[str, str], Path]

_NOTES = 800
_LOCAL = {"CLAWMARK_EMBEDDING__PROVIDER": "local"}
# Tries to look at the index before the process must have begun.
_LOOKS = 6_000


@pytest.fixture
def many(workspace: Path) -> None:
    for number in range(_NOTES):
        text = f"Note {number}: the zebra of enclosure {number} ate {number % 7} apples and slept.\n"
        (workspace / "memory" / f"n{number}.md").write_text(text, encoding="utf-8")


def test_an_interrupted_index_keeps_what_is_finished_and_goes_on(many: None, workspace: Path) -> None:
    """Exit 130 and a message; over both runs each text is embedded once, but for one batch."""
    index = workspace / ".clawmark" / "index.sqlite"
    with untouched(workspace):
        process = subprocess.Popen(
            [*COMMAND, "index", "--workspace", str(workspace)],
            env={**os.environ, **_LOCAL},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            _wait_for_vectors(process, index)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=PATIENCE_SECONDS)
        finally:
            process.kill()
        kept = _count(index, "vectors")
        second = clawmark("index", "--workspace", workspace, "--json", env=_LOCAL)

    assert (process.returncode, out) == (130, "")
    assert "Interrupted" in err
    assert "Traceback" not in err
    assert 0 < kept < _NOTES
    report = second.json
    assert (second.code, report["chunks"], report["pending"]) == (0, _NOTES, 0)
    assert kept + report["textsEmbedded"] <= _NOTES + LocalEmbedder.max_batch_items
    assert report["unchanged"] == _NOTES
    assert clawmark("search", "--workspace", workspace, "enclosure 799", env=_LOCAL).code == 0


def test_an_interrupt_from_within_python_leaves_an_index_that_answers(note: Note, workspace: Path) -> None:
    """Ctrl-C raises KeyboardInterrupt where the program happens to be; here between two batches."""
    for number in range(200):
        note(f"memory/n{number}.md", f"The zebra number {number} sleeps, word{number}.\n")

    def interrupt(stage: str, done: int, total: int) -> None:
        if done >= 64:
            raise KeyboardInterrupt

    with Memory(workspace, embedder="none") as memory:
        with pytest.raises(KeyboardInterrupt):
            memory.sync(progress=interrupt)
        half = memory.status()
        assert 0 < half.files < 200
        assert half.state == "pending"
        report = memory.sync()
        assert (report.added, report.unchanged) == (200 - half.files, half.files)
        assert memory.search("word199").results[0].path == "memory/n199.md"


def _wait_for_vectors(process: subprocess.Popen[str], index: Path) -> None:
    for _ in range(_LOOKS):
        if _count(index, "vectors"):
            return
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"The index was finished, or never begun: {process.communicate()}")


def _count(index: Path, table: str) -> int:
    if not index.exists():
        return 0
    try:
        with closing(sqlite3.connect(f"file:{index}?mode=ro", uri=True)) as db:
            return db.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
    except sqlite3.OperationalError:
        return 0  # just being made
