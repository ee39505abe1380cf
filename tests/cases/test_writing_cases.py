"""Writing memory: nothing is lost, nothing is there twice, and the next question finds it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark import AsyncMemory, ClawmarkError, ConflictError, Memory
from clawmark.core.errors import ArgumentError, WorkspaceNotFoundError
from terminal import KEYWORD, PATIENCE_SECONDS, python
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

DAY = "memory/2026-06-30.md"
TEMPORARIES = "**/.clawmark-write-*"


# --- appending ----------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["A\nB", "A\n\nB"])
def test_a_block_that_is_there_already_is_not_saved_again(open_memory: Open, workspace: Path, text: str) -> None:
    """I01."""
    memory = open_memory()
    memory.append(DAY, "A")

    report = memory.append(DAY, text)

    assert (workspace / DAY).read_text(encoding="utf-8").split() == ["A", "B"]
    assert (report.status, report.duplicates_skipped) == ("appended", 1)
    again = memory.append(DAY, text)
    assert again.status == "unchanged"
    assert again.duplicates_skipped > 0
    assert again.hash == report.hash


_WRITER = """
import sys
from clawmark import Memory
workspace, path, name = sys.argv[1:]
with Memory(workspace) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(50):
        memory.append(path, f"Line {number} of writer {name}.")
"""


def test_twenty_writers_lose_no_line_and_tear_none(workspace: Path) -> None:
    """I02: 20 processes, 50 appends each."""
    writers = [_start(_WRITER, workspace, DAY, str(name)) for name in range(20)]
    try:
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        said = [writer.communicate("go\n", timeout=PATIENCE_SECONDS) for writer in _all_told(writers)]
    finally:
        for writer in writers:
            writer.kill()

    assert [(writer.returncode, err) for writer, (_, err) in zip(writers, said, strict=True)] == [(0, "")] * 20
    lines = (workspace / DAY).read_text(encoding="utf-8").splitlines()
    expected = [f"Line {number} of writer {name}." for number in range(50) for name in range(20)]
    assert sorted(filter(None, lines)) == sorted(expected)
    for name in range(20):
        own = [line for line in lines if line.endswith(f" writer {name}.")]
        assert own == [f"Line {number} of writer {name}." for number in range(50)]
    assert list(workspace.glob(TEMPORARIES)) == []


def _all_told(writers: list[subprocess.Popen[str]]) -> list[subprocess.Popen[str]]:
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    return writers


def _start(script: str, *arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **KEYWORD},
    )


def test_threads_of_one_memory_lose_no_line(open_memory: Open, workspace: Path) -> None:
    memory = open_memory()
    threads = [
        threading.Thread(target=lambda name=name: [memory.append(DAY, f"{name}: {number}.") for number in range(20)])
        for name in "abcd"
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set((workspace / DAY).read_text(encoding="utf-8").split("\n\n"))) == 80


# --- replacing ----------------------------------------------------------------------------


def test_a_note_is_replaced_only_with_the_hash_of_what_was_read(open_memory: Open, note: Note) -> None:
    """I03."""
    file = note(DAY, "The plan of June.\n")
    memory = open_memory()
    read = memory.get(DAY)
    with pytest.raises(ConflictError) as without:
        memory.write(DAY, "The plan of July.\n")
    assert without.value.current_hash == read.hash
    assert without.value.action

    report = memory.write(DAY, "The plan of July.\n", expected_hash=read.hash)

    assert (report.status, report.hash) == ("written", memory.get(DAY).hash)
    with pytest.raises(ConflictError) as stale:
        memory.write(DAY, "The plan of August.\n", expected_hash=read.hash)
    assert stale.value.current_hash == report.hash
    assert file.read_text(encoding="utf-8") == "The plan of July.\n"


_EDITOR = """
import json, sys
from pathlib import Path
from clawmark import ConflictError, Memory
workspace, path, how = sys.argv[1:]
file, edits = Path(workspace, path), ["Edited by hand.\\n"]
def edit(event, arguments):
    # Just before the new file takes its place, an editor that knows no lock saves the note.
    if event == "os.chmod" and edits:
        file.write_text(file.read_text() + edits.pop())
with Memory(workspace) as memory:
    read = memory.get(path)
    sys.addaudithook(edit)
    try:
        if how == "append":
            print(json.dumps(memory.append(path, "Appended.").status))
        else:
            memory.write(path, "New.\\n", expected_hash=read.hash)
    except ConflictError as error:
        print(json.dumps([error.current_hash, memory.get(path).hash]))
"""


def test_a_note_that_an_editor_saves_in_between_is_not_overwritten(note: Note, workspace: Path) -> None:
    file = note(DAY, "Old.\n\n")

    assert python(_EDITOR, workspace, DAY, "append") == "appended"
    assert file.read_text(encoding="utf-8") == "Old.\n\nEdited by hand.\n\nAppended.\n"
    current, read = python(_EDITOR, workspace, DAY, "write")
    assert current == read
    assert file.read_text(encoding="utf-8").endswith("Appended.\nEdited by hand.\n")


# --- the index follows --------------------------------------------------------------------


def test_the_next_search_finds_what_was_written_and_not_what_it_replaced(open_memory: Open, note: Note) -> None:
    """The last look at the files was less than a second ago; it no longer counts."""
    note("MEMORY.md", "The zebra sleeps.\n")
    memory = open_memory()
    assert memory.search("okapi").results == ()

    report = memory.append(DAY, "The okapi is called Ines.")
    assert report.indexed
    assert [result.path for result in memory.search("okapi").results] == [DAY]

    memory.write(DAY, "The tapir is called Ines.\n", expected_hash=report.hash)
    assert memory.search("okapi").results == ()
    assert memory.search("tapir").results[0].snippet == "The tapir is called Ines."


def test_a_report_says_when_a_sync_is_needed(open_memory: Open, note: Note) -> None:
    note("MEMORY.md", "The zebra sleeps.\n")
    memory = open_memory(config={"sync": {"on_search": False}})
    memory.sync()

    report = memory.append(DAY, "The okapi is called Ines.")

    assert not report.indexed
    assert memory.search("okapi").results == ()
    memory.sync()
    assert memory.search("okapi").results[0].path == DAY


def test_a_secret_is_written_as_it_is_and_shown_by_no_search(open_memory: Open, workspace: Path) -> None:
    """X05."""
    secret = "sk-" + "a1B2" * 10
    memory = open_memory()

    memory.append(DAY, f"The okapi's API_KEY={secret}")

    assert secret in (workspace / DAY).read_text(encoding="utf-8")
    (result,) = memory.search("okapi").results
    assert secret not in str(memory.search("okapi").to_dict())
    assert result.path == DAY


def test_the_calls_are_the_same_on_an_event_loop(workspace: Path) -> None:
    async def session() -> list[str]:
        async with AsyncMemory(workspace, embedder="none") as memory:
            first = await memory.append(DAY, "The okapi is called Ines.")
            second = await memory.write(DAY, "The tapir is called Ines.\n", expected_hash=first.hash)
            with pytest.raises(ConflictError):
                await memory.write(DAY, "Nobody.", expected_hash=first.hash)
            found = await memory.search("tapir")
            return [first.status, second.status, found.results[0].path]

    assert asyncio.run(session()) == ["created", "written", DAY]


# --- a process that dies ------------------------------------------------------------------

_DYING = """
import os, signal, sys
from clawmark import Memory
workspace, path, last = sys.argv[1:]
def die(event, arguments):
    at_temporary = event == "open" and ".clawmark-write" in str(arguments[0])
    if event == last and (event != "open" or at_temporary):
        os.kill(os.getpid(), signal.SIGKILL)
with Memory(workspace) as memory:
    sys.addaudithook(die)
    memory.append(path, "The okapi is called Ines.")
"""


@pytest.mark.parametrize("last", ["open", "os.chmod", "os.rename"])
@pytest.mark.parametrize("path", [DAY, "memory/deep/down/a.md"])
def test_a_writer_that_dies_at_its_last_step_leaves_the_old_note(
    open_memory: Open, note: Note, workspace: Path, last: str, path: str
) -> None:
    """kill -9 before the temporary file is made, when it is full, and before it takes the note's name."""
    file = note(path, "The zebra sleeps.\n")
    dying = _start(_DYING, workspace, path, last)
    dying.communicate(timeout=PATIENCE_SECONDS)

    assert dying.returncode == -signal.SIGKILL
    assert file.read_bytes() == b"The zebra sleeps.\n"
    assert len(list(workspace.glob(TEMPORARIES))) == (last != "open")
    memory = open_memory()
    report = memory.sync()
    assert (report.added, report.skipped, report.failed) == (1, (), ())
    assert memory.search("okapi").results == ()
    memory.append("MEMORY.md", "The tapir is new.")
    assert list(workspace.glob(TEMPORARIES)) == []


_LOOPING = """
import itertools, sys
from clawmark import Memory
workspace, path, run = sys.argv[1:]
with Memory(workspace) as memory:
    for number in itertools.count():
        memory.append(path, f"begin {run}.{number}\\n" + f"text of {run}.{number}\\n" * 1000 + f"end {run}.{number}")
        print(number, flush=True)
"""
_KILLS = 10


def test_a_note_is_whole_blocks_whenever_its_writer_is_killed(open_memory: Open, workspace: Path) -> None:
    """kill -9 at moments that nobody chose; a reader looks all the time."""
    file, done, torn = workspace / DAY, threading.Event(), list[str]()
    reader = threading.Thread(target=_watch, args=(file, done, torn))
    reader.start()
    try:
        told = [_killed_after(run, workspace) for run in range(_KILLS)]
    finally:
        done.set()
        reader.join()

    assert torn == []
    blocks = file.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
    assert [block for block in blocks if not _is_whole(block)] == []
    # What was reported is there, in order; at most one more of each run was finished unheard.
    names = [block.partition("\n")[0].removeprefix("begin ") for block in blocks]
    for run, count in enumerate(told):
        own = [name for name in names if name.startswith(f"{run}.")]
        assert own == [f"{run}.{number}" for number in range(len(own))]
        assert count <= len(own) <= count + 1
    memory = open_memory()
    memory.append("MEMORY.md", "The tapir is new.")
    assert list(workspace.glob(TEMPORARIES)) == []
    assert memory.sync().skipped == ()


def _killed_after(run: int, workspace: Path) -> int:
    """Kill a writer while it works, after a number of its appends; give how many it reported."""
    writer = _start(_LOOPING, workspace, DAY, str(run))
    assert writer.stdout is not None
    heard = [writer.stdout.readline() for _ in range(1 + run % 4)]
    writer.kill()
    rest, err = writer.communicate(timeout=PATIENCE_SECONDS)
    assert (writer.returncode, err) == (-signal.SIGKILL, "")
    return len(heard) + rest.count("\n")


def _watch(file: Path, done: threading.Event, torn: list[str]) -> None:
    while not done.is_set():
        if file.exists():
            blocks = file.read_text(encoding="utf-8").removesuffix("\n").split("\n\n")
            torn += [block for block in blocks if not _is_whole(block)]


def _is_whole(block: str) -> bool:
    first, *middle, last = block.split("\n")
    name = first.removeprefix("begin ")
    return last == f"end {name}" and middle == [f"text of {name}"] * 1000


# --- what a call refuses ------------------------------------------------------------------


def test_a_workspace_that_is_gone_is_not_made_anew(open_memory: Open, workspace: Path) -> None:
    memory = open_memory()
    workspace.rename(workspace.with_name("moved"))

    with pytest.raises(WorkspaceNotFoundError):
        memory.append(DAY, "New.")

    assert not workspace.exists()


@pytest.mark.parametrize(
    "call",
    [
        lambda memory: memory.append(DAY, None),
        lambda memory: memory.append(DAY, b"bytes"),
        lambda memory: memory.append(None, "New."),
        lambda memory: memory.append(DAY, ""),
        lambda memory: memory.write(DAY, "New.", expected_hash=7),
        lambda memory: memory.write(DAY, "New.", expected="a"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_done(
    open_memory: Open, workspace: Path, call: Callable[[Memory], object]
) -> None:
    memory = open_memory()

    with untouched(workspace), pytest.raises(ArgumentError):
        call(memory)


def test_an_index_folder_that_came_as_a_link_is_not_written_through(open_memory: Open, workspace: Path) -> None:
    outside = workspace.with_name("outside")
    outside.mkdir()
    (workspace / ".clawmark").symlink_to(outside)

    report = open_memory().append(DAY, "The okapi is called Ines.")

    assert report.created
    assert list(outside.iterdir()) == []


def test_every_refusal_is_one_kind_of_error_with_a_next_step(open_memory: Open, note: Note) -> None:
    note(DAY, "Old.\n")
    memory = open_memory(config={"files": {"max_bytes": 10}})
    errors: list[ClawmarkError] = []
    for path, text in ((DAY, ""), (DAY, "x" * 11), ("../a.md", "New."), ("memory/a.txt", "New.")):
        with pytest.raises(ClawmarkError) as caught:
            memory.append(path, text)
        errors.append(caught.value)

    codes = ["BAD_ARGUMENT", "NOTE_TOO_LARGE", "MEMORY_PATH_NOT_ALLOWED", "MEMORY_PATH_NOT_ALLOWED"]
    assert [error.code for error in errors] == codes
    assert all(error.action for error in errors)
    assert json.dumps(memory.append("memory/b.md", "New.").to_dict())
