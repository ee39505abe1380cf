"""Which paths may be read, and what is said of the others."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ConfigError, PathNotAllowedError
from clawmark.files import ExtraPath, FileRules, find_workspace, locate, matcher, read_window, resolve_note

WriteNote = Callable[..., Path]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("MEMORY.md", "MEMORY.md"),
        (" USER.md\n", "USER.md"),
        ("./memory/./a.md", "memory/a.md"),
        ("memory//sub/../a.md", "memory/a.md"),
        ("memory/../MEMORY.md", "MEMORY.md"),
        ("../ws/memory/a.md", "memory/a.md"),
        ("memory/not/there.md", "memory/not/there.md"),
        ("memory/a.md/below.md", "memory/a.md/below.md"),
        ("memory/100%25 sure.md", "memory/100%25 sure.md"),
        ("memory/..dots...md", "memory/..dots...md"),
        ("memory/会议 🎉.md", "memory/会议 🎉.md"),
        (f"memory/{'x' * 300}.md", f"memory/{'x' * 300}.md"),
    ],
)
def test_a_path_of_memory_leads_to_its_file(ws: Path, note: WriteNote, path: str, place: str) -> None:
    note("memory/a.md")

    if "..dots" in path:
        with pytest.raises(PathNotAllowedError, match="hidden file"):
            resolve_note(FileRules(ws), path)
    else:
        assert resolve_note(FileRules(ws), path) == ws / place


def test_an_absolute_path_inside_is_allowed(ws: Path, note: WriteNote) -> None:
    place = note("memory/a.md")

    assert resolve_note(FileRules(ws), str(place)) == place


@pytest.mark.parametrize(
    "path",
    [
        "../ws-other/x.md",
        "{parent}/ws-other/x.md",
        "memory/../../ws-other/x.md",
        "memory/../secrets.md",
        "secrets.md",
        "memory",
        "memory/",
        "memoryx/x.md",
        "docs/memory/x.md",
        "DREAMS.md",
        "memory.md",
        "user.md",
        "/etc/passwd",
        "/",
        "..",
        ".",
        "~/memory/x.md",
        "MEMORY.md/x.md",
        "memory\\..\\..\\ws-other\\x.md",
        "memory/x.txt",
        "memory/x",
        "memory/x.MD",
    ],
)
def test_a_path_outside_of_memory_is_refused(ws: Path, note: WriteNote, path: str) -> None:
    """X01: next to the workspace is not inside it."""
    note("../ws-other/x.md", "secret")
    note("secrets.md", "secret")
    note("memory/x.txt", "secret")

    with pytest.raises(PathNotAllowedError, match=r"may not be read: not ") as caught:
        read_window(FileRules(ws), path.format(parent=ws.parent))
    assert caught.value.code == "MEMORY_PATH_NOT_ALLOWED"
    assert caught.value.action


@pytest.mark.parametrize(
    "path",
    [
        "",
        "  \n",
        "memory/\0.md",
        "memory/x.md\0.txt",
        "memory/\udcff.md",
        "memory/%2e%2e/%2E%2e/ws-other/x.md",
        "memory/.%2e/x.md",
        "memory/..%2f..%2fws-other%2fx.md",
        "memory/..%5c..%5cws-other.md",
        "memory/%252e%252e/x.md",
        "memory/a%2e%2eb.md",
        "memory/x%00.md",
    ],
)
def test_a_path_that_hides_its_meaning_is_refused(ws: Path, path: str) -> None:
    (ws / "memory").mkdir()

    with pytest.raises(PathNotAllowedError):
        resolve_note(FileRules(ws), path)


def test_only_regular_files_are_opened(ws: Path) -> None:
    """X07."""
    (ws / "memory/folder.md").mkdir(parents=True)
    os.mkfifo(ws / "memory/pipe.md")
    (ws / "memory/zero.md").symlink_to("/dev/zero")
    with contextlib.chdir(ws / "memory"), socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")

    for path, reason in {
        "memory/folder.md": r"not a regular file \(folder\)",
        "memory/pipe.md": r"not a regular file \(FIFO\)",
        "memory/socket.md": r"not a regular file \(socket\)",
        "memory/zero.md": "links are not followed",
    }.items():
        with pytest.raises(PathNotAllowedError, match=reason):
            read_window(FileRules(ws), path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("memory/.work/x.md", "hidden folder"),
        ("memory/.x.md", "hidden file"),
        ("memory/node_modules/x.md", "junk folder"),
        ("memory/reports/x.md", r"excluded by \[files\] exclude"),
        ("memory/draft.md", r"excluded by \.clawmarkignore"),
        ("memory/other/x.md", r"not in \[files\] include"),
    ],
)
def test_what_is_kept_out_of_the_index_is_not_read_either(ws: Path, note: WriteNote, path: str, reason: str) -> None:
    note(path)
    note(".clawmarkignore", "draft.md\n")
    rules = FileRules(ws, include=("memory/*", "!memory/other"), exclude=("memory/reports/**",))

    with pytest.raises(PathNotAllowedError, match=reason):
        read_window(rules, path)


def test_a_file_below_an_extra_path_is_allowed_as_far_as_its_pattern(ws: Path, note: WriteNote) -> None:
    for path in ("x/a.md", "x/sub/b.md", "../far/f.md", "one.md", "x/a.txt"):
        note(path, path)
    rules = FileRules(ws, extra_paths=(ExtraPath("x", "*.md"), ExtraPath("../far"), ExtraPath("one.md")))

    for path in ("x/a.md", "../far/f.md", "one.md", str(ws.parent / "far/f.md")):
        assert read_window(rules, path).text.endswith(path.removeprefix(str(ws.parent)))
    for path in ("x/sub/b.md", "x/a.txt", "../far-other/x.md", "x"):
        with pytest.raises(PathNotAllowedError):
            read_window(rules, path)


def test_a_second_extra_path_may_allow_what_the_first_does_not(ws: Path, note: WriteNote) -> None:
    note("x/sub/b.md", "b")
    rules = FileRules(ws, extra_paths=(ExtraPath("x", "*.md"), ExtraPath("x/sub")))

    assert read_window(rules, "x/sub/b.md").text == "b"


@pytest.mark.parametrize("path", ["MEMORY.md", "memory/a.md", "../far/f.md"])
def test_the_file_behind_a_stored_path_is_found_without_a_check(ws: Path, path: str) -> None:
    assert locate(FileRules(ws), "memory", path) == (ws / path).resolve()


def test_globs_on_paths_are_those_of_gitignore() -> None:
    assert matcher(("memory/people/",), "memory/people/a.md")
    assert matcher(("*.md",), "../far/f.md")
    assert not matcher(("/a.md", "!a.md"), "a.md")
    assert not matcher((), "a.md")
    with pytest.raises(ConfigError, match="'!'"):
        matcher(("!",), "a.md")


def test_the_workspace_is_the_nearest_parent_with_memory(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md")
    note("projects/p/memory/a.md")
    note("projects/q/deep/x.txt")

    assert find_workspace(ws) == ws
    assert find_workspace(ws / "projects/p") == ws / "projects/p"
    assert find_workspace(ws / "projects/p/memory") == ws / "projects/p"
    assert find_workspace(ws / "projects/q/deep") == ws
    assert find_workspace(ws / "projects/q/deep/x.txt") == ws
    assert find_workspace(ws / "not/there") == ws


def test_the_working_folder_is_a_start(ws: Path, note: WriteNote) -> None:
    note("memory/a.md")

    with contextlib.chdir(ws / "memory"):
        assert find_workspace(Path()) == ws


def test_without_any_memory_there_is_no_workspace(ws: Path) -> None:
    (ws / "MEMORY.md").mkdir()
    (ws / "memory").write_text("a file")

    assert find_workspace(ws) is None
    assert find_workspace(ws / ("x" * 300)) is None
