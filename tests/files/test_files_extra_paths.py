"""Extra paths: more files and folders that belong to the memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ConfigError
from clawmark.core.model import PathReason
from clawmark.files import ExtraPath, FileRules, Scan, scan_files

WriteNote = Callable[..., Path]


def paths(scan: Scan) -> list[str]:
    return [file.path for file in scan.files]


def reasons(entries: tuple[PathReason, ...]) -> dict[str, str]:
    return {entry.path: entry.reason for entry in entries}


def test_a_folder_added_under_extra_paths_counts_wherever_it_lies(ws: Path, note: WriteNote) -> None:
    note("notes/n.md")
    note("notes/n.txt")
    note("../shared/team/s.md")
    note("single.md")
    extras = (ExtraPath(" notes "), ExtraPath("../shared"), ExtraPath("single.md"), ExtraPath("  "))

    scan = scan_files(FileRules(ws, extra_paths=extras))

    assert paths(scan) == ["../shared/team/s.md", "notes/n.md", "single.md"]
    assert scan.skipped == ()


def test_the_order_and_spelling_of_extra_paths_change_nothing(ws: Path, note: WriteNote) -> None:
    note("notes/n.md")
    note("notes/sub/s.md")
    note("memory/m.md")
    places = ("notes", "./notes/", str(ws / "notes"), "notes/../notes/sub", ".", "memory", "..")
    extras = tuple(ExtraPath(place) for place in places)

    forward = scan_files(FileRules(ws, extra_paths=extras))
    backward = scan_files(FileRules(ws, extra_paths=extras[::-1]))

    assert forward == backward
    assert paths(forward) == ["memory/m.md", "notes/n.md", "notes/sub/s.md"]
    assert forward.skipped == ()


def test_the_home_folder_is_expanded(ws: Path, note: WriteNote, monkeypatch: pytest.MonkeyPatch) -> None:
    note("../home/notes/n.md")
    monkeypatch.setenv("HOME", str(ws.parent / "home"))

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("~/notes"),)))

    assert paths(scan) == ["../home/notes/n.md"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (None, ["x/a.md", "x/p/b.md", "x/p/q/c.md"]),
        (" ", ["x/a.md", "x/p/b.md", "x/p/q/c.md"]),
        ("*.md", ["x/a.md"]),
        ("**/*.md", ["x/a.md", "x/p/b.md", "x/p/q/c.md"]),
        ("./p/**", ["x/p/b.md", "x/p/q/c.md"]),
        ("*/[bc].md", ["x/p/b.md"]),
        ("**/**/q/?.md", ["x/p/q/c.md"]),
        ("*.txt", []),
    ],
)
def test_the_pattern_of_an_extra_path_is_a_glob_below_it(
    ws: Path, note: WriteNote, pattern: str | None, expected: list[str]
) -> None:
    for path in ("x/a.md", "x/p/b.md", "x/p/q/c.md"):
        note(path)

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("x", pattern),)))

    assert paths(scan) == expected
    assert scan.skipped == ()


def test_two_patterns_of_one_extra_path_add_up(ws: Path, note: WriteNote) -> None:
    for path in ("x/a.md", "x/b.md", "x/c.md"):
        note(path)

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("x", "a*"), ExtraPath("x", "b*"))))

    assert paths(scan) == ["x/a.md", "x/b.md"]


def test_a_hidden_folder_counts_when_a_setting_names_it(ws: Path, note: WriteNote) -> None:
    note(".notes/n.md")
    note(".notes/.drafts/d.md")

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("."), ExtraPath(".notes"))))

    assert paths(scan) == [".notes/n.md"]
    assert reasons(scan.skipped) == {".notes/.drafts": "hidden folder"}


def test_an_extra_file_that_is_no_markdown_is_skipped(ws: Path, note: WriteNote) -> None:
    note("x.txt")

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("x.txt"),)))

    assert reasons(scan.skipped) == {"x.txt": "not a Markdown file (*.md)"}


def test_a_configured_path_is_missing_until_it_is_created(ws: Path, note: WriteNote) -> None:
    """S11."""
    rules = FileRules(ws, extra_paths=(ExtraPath("extra"), ExtraPath("../other/x.md")))

    before = scan_files(rules)
    note("extra/new.md")
    after = scan_files(rules)

    assert reasons(before.missing) == {"extra": "does not exist", "../other/x.md": "does not exist"}
    assert reasons(after.missing) == {"../other/x.md": "does not exist"}
    assert paths(after) == ["extra/new.md"]


def test_a_configured_path_with_nul_is_a_wrong_setting(ws: Path) -> None:
    with pytest.raises(ConfigError, match="NUL"):
        scan_files(FileRules(ws, extra_paths=(ExtraPath("a\0b"),)))
