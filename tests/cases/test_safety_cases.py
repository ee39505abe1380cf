"""Paths, punctuation and special files: what a question or a path may hold, and what it may reach."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmark import Memory, PathNotAllowedError
from terminal import KEYWORD, clawmark, clawmark_process, python
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

# Every way to name a note of the neighbour; {0} is its folder.
_OUTSIDE = (
    "../ws-other/x.md",
    "../ws-other/memory/x.md",
    "{0}/x.md",
    "{0}/memory/x.md",
    "memory/../../ws-other/x.md",
    "memory/../../ws-other/memory/x.md",
    "memory/a.md/../../../ws-other/x.md",
    "./../ws-other/x.md",
    "memory/%2e%2e/%2e%2e/ws-other/x.md",
    "%2e%2e/ws-other/x.md",
    "memory/..%2f..%2fws-other/x.md",
    "memory\\..\\..\\ws-other\\x.md",
    "/etc/passwd",
    "~/x.md",
    "file://{0}/x.md",
    "",
)


@pytest.fixture
def neighbour(workspace: Path, note: Note) -> Path:
    """A folder whose path begins like the workspace's, with notes of its own."""
    note("memory/a.md", "Our own zebra.\n")
    other = workspace.with_name("ws-other")
    (other / "memory").mkdir(parents=True)
    for path in ("x.md", "memory/x.md"):
        (other / path).write_text("The neighbour's swordfish.\n", encoding="utf-8")
    return other


@pytest.mark.parametrize("path", [*_OUTSIDE, "memory/a\0b.md", "../ws-other/x.md\0.md"])
def test_a_path_next_to_the_workspace_is_refused(neighbour: Path, open_memory: Open, path: str) -> None:
    """X01: components are compared, never the beginning of a text."""
    with pytest.raises(PathNotAllowedError) as caught:
        open_memory().get(path.format(neighbour))

    assert caught.value.code == "MEMORY_PATH_NOT_ALLOWED"
    assert caught.value.action
    assert "swordfish" not in str(caught.value)


@pytest.mark.parametrize("path", _OUTSIDE)
def test_the_command_line_refuses_the_same_paths(neighbour: Path, workspace: Path, path: str) -> None:
    """X01: exit 1, the reason on stderr, nothing on stdout; with --json the error object."""
    text = clawmark("get", "--workspace", workspace, "--", path.format(neighbour))
    data = clawmark("get", "--workspace", workspace, "--json", "--", path.format(neighbour))

    assert (text.code, text.out) == (1, "")
    assert text.err.startswith("error: ")
    assert "\nhint: " in text.err
    assert data.code == 1
    assert data.json["error"].keys() == {"code", "message", "action"}
    assert data.json["error"]["code"] == "MEMORY_PATH_NOT_ALLOWED"


_WATCHED_READS = """
import json, os, sys
from clawmark import Memory, PathNotAllowedError
opened = []
sys.addaudithook(lambda event, details: opened.append(str(details[0])) if event == "open" else None)
workspace, *paths = sys.argv[1:]
with Memory(workspace) as memory:
    refused = 0
    for path in paths:
        try:
            memory.get(path)
        except PathNotAllowedError:
            refused += 1
    allowed = memory.get("memory/a.md").text
seen = [path for path in opened if os.path.realpath(path).startswith(os.path.realpath(workspace))]
print(json.dumps({"refused": refused, "allowed": allowed, "opened": seen}))
"""


def test_a_refused_file_is_never_opened(neighbour: Path, workspace: Path) -> None:
    """X01: the refusal comes before the file, not after reading it."""
    paths = [path.format(neighbour) for path in _OUTSIDE]
    seen = python(_WATCHED_READS, workspace, *paths)

    assert seen["refused"] == len(paths)
    assert seen["allowed"].strip() == "Our own zebra."
    assert [path for path in seen["opened"] if "ws-other" in path] == []
    assert str(workspace / "memory" / "a.md") in seen["opened"]


def test_a_link_to_the_neighbour_is_no_way_out(neighbour: Path, workspace: Path, open_memory: Open) -> None:
    """X01: neither as a file nor as a folder, whether links are followed or not."""
    (workspace / "memory" / "file.md").symlink_to(neighbour / "x.md")
    (workspace / "memory" / "folder").symlink_to(neighbour / "memory")
    for follow in (False, True):
        memory = open_memory(config={"files": {"follow_links": follow}})
        for path in ("memory/file.md", "memory/folder/x.md"):
            with pytest.raises(PathNotAllowedError):
                memory.get(path)
        assert memory.search("swordfish").results == ()
        assert {item.path for item in memory.status().skipped} == {"memory/file.md", "memory/folder"}


_LITERALS = (
    "k=60",
    "hello.world",
    "#682",
    "Min-K%Prob",
    "o'brien",
    '"unbalanced',
    "NEAR(",
    "col:val",
    "-x",
    "what is the budget, roughly?",
    "x^2 OR y",
    "(a OR b) AND NOT c",
    "rank:1 {foo bar}",
    "terms_1 MATCH 'x'; DROP TABLE chunks; --",
    "50%_off",
    "a+b",
    "\\",
)


@pytest.fixture
def punctuated(note: Note) -> dict[str, str]:
    """One note per question, which holds the question as it is, and others that do not."""
    for number in range(5):
        note(f"memory/other{number}.md", f"Nothing of that kind here, number {number}.\n")
    paths = {literal: f"memory/n{number:02}.md" for number, literal in enumerate(_LITERALS)}
    for literal, path in paths.items():
        note(path, f"They wrote {literal} on the board.\n")
    return paths


@pytest.mark.parametrize("literal", [literal for literal in _LITERALS if literal != "\\"])
def test_punctuation_in_a_question_is_no_syntax(
    punctuated: dict[str, str], open_memory: Open, workspace: Path, literal: str
) -> None:
    """X06: no exception, no lost leg, and the note that holds it is found."""
    response = open_memory().search(literal)
    ran = clawmark("search", "--workspace", workspace, "--json", "--", literal)

    assert (response.error, response.warnings, response.mode) == (None, (), "keyword")
    assert punctuated[literal] in [result.path for result in response.results]
    assert ran.code == 0
    assert [result["path"] for result in ran.json["results"]] == [result.path for result in response.results]


@pytest.mark.parametrize(
    "question", ["a AND", "*", "(", "\\", '"', "''", "--", "AND OR NOT", "???", "\0", "\ud800", "a " * 10_000, "，。！"]
)
def test_a_question_without_a_word_of_its_own_says_so(
    punctuated: dict[str, str], open_memory: Open, question: str
) -> None:
    """X06, U03: no exception; nothing is found, and why."""
    response = open_memory().search(question)

    assert response.error is None
    assert response.results == ()
    assert [notice.code for notice in response.warnings] == ["NOTHING_TO_SEARCH"]


def test_broken_bytes_on_the_command_line_are_no_words(note: Note, workspace: Path) -> None:
    """X06: what a terminal could not encode arrives as half a pair of surrogates."""
    note("memory/a.md", "The zebra sleeps.\n")
    ran = clawmark_process("search", "zebra \udcff", "--json", "--workspace", workspace)

    assert (ran.code, ran.json["error"]) == (0, None)
    assert [result["path"] for result in ran.json["results"]] == ["memory/a.md"]


@pytest.mark.parametrize("question", ["zebra " * 10_000, "zebra" * 10_000, "zebra " + "é" * 50_000, "斑马" * 20_000])
def test_a_huge_question_is_answered(note: Note, open_memory: Open, question: str) -> None:
    """X06: its words count, its length does not hurt."""
    note("memory/a.md", "The zebra 斑马 sleeps.\n")
    response = open_memory().search(question)

    assert response.error is None
    if question.split()[0] in ("zebra", "斑马" * 20_000):
        assert [result.path for result in response.results] == ["memory/a.md"]


@pytest.fixture
def special(workspace: Path, note: Note) -> list[str]:
    """A FIFO, a socket, a link to a device and a folder, all named like notes, beside a real one."""
    note("memory/a.md", "The zebra sleeps.\n")
    folder = workspace / "memory"
    os.mkfifo(folder / "fifo.md")
    (folder / "zero.md").symlink_to("/dev/zero")
    (folder / "tty.md").symlink_to("/dev/tty")
    (folder / "folder.md").mkdir()
    here = Path.cwd()
    os.chdir(folder)  # the path of a socket may have a hundred characters
    try:
        server = socket.socket(socket.AF_UNIX)
        server.bind("socket.md")
        server.close()
    finally:
        os.chdir(here)
    return [f"memory/{name}.md" for name in ("fifo", "socket", "zero", "tty", "folder")]


@pytest.mark.parametrize("follow", [False, True])
def test_a_device_in_the_memory_folder_is_refused_at_once(special: list[str], workspace: Path, follow: bool) -> None:
    """X07: only regular files are read; a process that waited would be killed by this test."""
    env = {"CLAWMARK_FILES__FOLLOW_LINKS": str(follow).lower()}
    for path in special:
        ran = clawmark_process("get", "--workspace", workspace, "--json", path, env=env)
        assert ran.code == 1, path
        assert ran.json["error"]["code"] == "MEMORY_PATH_NOT_ALLOWED", path


@pytest.mark.parametrize("follow", [False, True])
def test_special_files_are_listed_and_do_not_keep_the_notes_from_being_indexed(
    special: list[str], workspace: Path, follow: bool
) -> None:
    """X07: indexing never opens them either."""
    env = {"CLAWMARK_FILES__FOLLOW_LINKS": str(follow).lower()}
    with untouched(workspace):
        report = clawmark_process("index", "--workspace", workspace, "--json", env=env)
        found = clawmark_process("search", "--workspace", workspace, "--json", "zebra", env=env)

    assert (report.code, found.code) == (0, 0)
    assert report.json["added"] == 1
    reasons: dict[str, Any] = {item["path"]: item["reason"] for item in report.json["skipped"]}
    assert {"memory/fifo.md", "memory/socket.md", "memory/zero.md", "memory/tty.md"} <= reasons.keys()
    assert "FIFO" in reasons["memory/fifo.md"]
    assert [result["path"] for result in found.json["results"]] == ["memory/a.md"]


def test_a_pipe_that_takes_the_place_of_a_note_is_not_waited_for(
    note: Note, workspace: Path, open_memory: Open
) -> None:
    """X07: the kind of a file is looked at again when it is opened."""
    note("memory/a.md", "The zebra sleeps.\n")
    note("memory/b.md", "The zebra eats.\n")
    assert open_memory().sync().added == 2
    (workspace / "memory" / "a.md").unlink()
    os.mkfifo(workspace / "memory" / "a.md")

    ran = clawmark_process("search", "--workspace", workspace, "--json", "zebra", env=KEYWORD)

    assert [result["path"] for result in ran.json["results"]] == ["memory/b.md"]
