"""Workspaces, notes and settings that cannot be used: a clear error or a listed skip, and the rest still works."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmark import ClawmarkError, Memory, PathNotAllowedError
from terminal import KEYWORD, clawmark
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

_COMMANDS = (
    ["index"],
    ["index", "--force"],
    ["search", "zebra", "--max-results", "500"],
    ["explain", "zebra"],
    ["explain", "zebra", "--path", "memory/good.md"],
    ["status"],
    ["status", "--deep"],
    ["get", "memory/good.md"],
    ["config"],
)
_COMMAND_NAMES = [" ".join(words) for words in _COMMANDS]


@pytest.mark.parametrize("words", _COMMANDS, ids=_COMMAND_NAMES)
@pytest.mark.parametrize("kind", ["missing", "a file", "below a file", "too long"])
def test_a_workspace_that_is_no_folder_is_a_usage_error_of_every_command(
    tmp_path: Path, words: list[str], kind: str
) -> None:
    """Exit 2, the path and the next step on stderr; with --json the error object; nothing is created."""
    (tmp_path / "file").write_text("x", encoding="utf-8")
    place = {
        "missing": tmp_path / "missing",
        "a file": tmp_path / "file",
        "below a file": tmp_path / "file" / "ws",
        "too long": tmp_path / ("x" * 300),
    }[kind]
    with untouched(tmp_path):
        text = clawmark(*words, "--workspace", place)
        data = clawmark(*words, "--workspace", place, "--json")

    assert (text.code, text.out, data.code) == (2, "", 2)
    assert text.err.startswith("error: ")
    assert str(place) in text.err
    assert data.json.keys() == {"error"}
    assert data.json["error"].keys() == {"code", "message", "action"}
    assert data.json["error"]["code"] == "WORKSPACE_NOT_FOUND"
    assert data.json["error"]["action"]


@pytest.mark.parametrize("workspace", ["", "nowhere/at/all", None, 7, "a\0b"], ids=repr)
def test_a_workspace_that_does_not_exist_is_a_wrong_argument_in_python(workspace: Any) -> None:
    """A ClawmarkError that is also a ValueError."""
    with pytest.raises(ClawmarkError) as caught:
        Memory(workspace)

    assert isinstance(caught.value, ValueError)
    assert caught.value.code == "WORKSPACE_NOT_FOUND"


def test_a_workspace_that_vanishes_is_an_error_and_not_one_without_notes(
    note: Note, workspace: Path, open_memory: Open
) -> None:
    """An unmounted disk: no empty answer, no folder made anew, and everything is found when it is back."""
    note("memory/good.md", "The zebra sleeps.\n")
    memory = open_memory()
    assert memory.search("zebra").results
    away = workspace.with_name("away")
    workspace.rename(away)
    for call in (lambda: memory.search("zebra"), lambda: memory.explain("zebra"), memory.status):
        with pytest.raises(ClawmarkError) as caught:
            call()
        assert caught.value.code == "WORKSPACE_NOT_FOUND"
    for report in (memory.sync(), memory.sync(force=True)):
        assert report.error is not None
        assert report.error.code == "WORKSPACE_NOT_FOUND"
        assert (report.partial, report.removed) == (True, 0)

    assert not workspace.exists()
    away.rename(workspace)
    assert memory.sync().unchanged == 1
    assert [result.path for result in memory.search("zebra").results] == ["memory/good.md"]


# Content of a note, and a part of the reason why it is not indexed; None when it is.
_CONTENTS: dict[str, tuple[bytes, str | None]] = {
    "latin-1": ("Das Zebra schläft zebra.\n".encode("latin-1"), "not UTF-8"),
    "utf-16": ("The zebra sleeps.\n".encode("utf-16"), "not UTF-8"),
    "gbk": ("斑马 zebra 在睡觉。\n".encode("gbk"), "not UTF-8"),
    "cut character": ("The zebra sleeps 😀".encode()[:-2], "not UTF-8"),
    "surrogate": (b"zebra \xed\xa0\x80\n", "not UTF-8"),
    "NUL": (b"The zebra\0sleeps.\n", "NUL"),
    "only NUL": (b"\0" * 5_000, "NUL"),
    "empty": (b"", "empty file"),
    "blank": (b" \n\t\r\n \n", "blank"),
    "only BOM": (b"\xef\xbb\xbf", "blank"),
    "BOM": (b"\xef\xbb\xbfThe zebra sleeps.\n", None),
    "CRLF": (b"First line.\r\n\r\nThe zebra sleeps.\r\nLast line.\r\n", None),
    "CR": (b"First line.\rThe zebra sleeps.\r", None),
    "no newline": (b"The zebra sleeps.", None),
    "control characters": (b"The zebra \x07\x1b[31m sleeps \x7f.\n", None),
    "one huge line": (b"zebra " * 50_000, None),
    "many empty lines": (b"\n" * 20_000 + b"The zebra sleeps.\n", None),
    "only punctuation": (b"*** --- !!!\n", None),
    "line separators": ("The zebra\u2028sleeps\u0085here.\x0b\x0c\n".encode(), None),
    "open fence": (b"```\nThe zebra sleeps.\n", None),
    "broken front matter": (b"---\ntitle: [unclosed\n  : : :\nThe zebra sleeps.\n", None),
    "binary": (bytes(range(256)) * 20, "not UTF-8"),
}


@pytest.mark.parametrize("name", _CONTENTS)
def test_a_bad_note_is_listed_and_a_good_one_beside_it_works(
    note: Note, workspace: Path, open_memory: Open, name: str
) -> None:
    """Every operation, at both doors; no file is changed by any of them."""
    content, reason = _CONTENTS[name]
    note("memory/good.md", "The good zebra sleeps.\n")
    (workspace / "memory" / "bad.md").write_bytes(content)
    with untouched(workspace):
        report = open_memory().sync()
    _check_report(report.to_dict(), reason)

    for words in _COMMANDS:
        with untouched(workspace):
            ran = clawmark(*words, "--workspace", workspace, "--json")
        assert ran.code == 0, words
        if words[0] == "index":
            _check_report(ran.json, reason)
        if words[0] == "search":
            assert "memory/good.md" in [result["path"] for result in ran.json["results"]]
        if words == ["status"]:
            assert (ran.json["state"], ran.json["failed"]) == ("fresh", [])
    for path in ("memory/bad.md", "memory/good.md"):
        with untouched(workspace):
            window = open_memory().get(path, max_chars=500)
        assert window.status == "ok"
        assert len(window.text) <= 500


def _check_report(report: dict[str, Any], reason: str | None) -> None:
    assert (report["error"], report["failed"], report["partial"]) == (None, [], False)
    skipped = {item["path"]: item["reason"] for item in report["skipped"]}
    if reason is None:
        assert skipped == {}
        return
    assert skipped.keys() == {"memory/bad.md"}
    assert reason in skipped["memory/bad.md"]


def test_a_byte_order_mark_and_windows_line_ends_are_no_part_of_what_is_shown(
    workspace: Path, open_memory: Open
) -> None:
    """Line numbers are those of the file, in results and in `get`."""
    content = b"\xef\xbb\xbf# Zoo\r\n\r\nFirst.\r\nThe zebra sleeps.\r\nLast.\r\n"
    place = workspace / "memory" / "a.md"
    place.write_bytes(content)
    (result,) = open_memory().search("zebra").results
    window = open_memory().get("memory/a.md", from_line=4, lines=1)
    whole = open_memory().get("memory/a.md")

    assert result.start_line <= 4 <= result.end_line
    assert "\r" not in result.snippet + whole.text
    assert "\ufeff" not in result.snippet + whole.text
    assert (window.text, window.total_lines) == ("The zebra sleeps.", 5)
    assert place.read_bytes() == content


@pytest.mark.parametrize("seconds", [-(2**31), 2**33, 15_032_385_535], ids=["1901", "2242", "2446"])
def test_a_note_with_an_absurd_time_is_a_note(note: Note, workspace: Path, open_memory: Open, seconds: int) -> None:
    """A broken clock or archive cannot break a search; with decay such a note is just old, or new."""
    note("memory/good.md", "The good zebra sleeps.\n")
    os.utime(note("memory/odd.md", "The odd zebra sleeps.\n"), (seconds, seconds))
    memory = open_memory(config={"query": {"hybrid": {"temporal_decay": {"enabled": True}}}})
    with untouched(workspace):
        response = memory.search("zebra", since="1900-01-01", asof="2026-06-30")

        assert {result.path for result in response.results} == {"memory/good.md", "memory/odd.md"}
        assert memory.sync().unchanged == 2
        assert memory.status().state == "fresh"
    assert clawmark("search", "--workspace", workspace, "zebra").code == 0


def test_odd_names_are_listed_or_indexed_and_never_fatal(note: Note, workspace: Path, open_memory: Open) -> None:
    """Names that are options, have spaces, lines, quotes or no text at all; folders and links named like notes."""
    folder = workspace / "memory"
    for name in ("-x.md", "a b.md", "two\nlines.md", "it's.md", "100%.md", "日记.md", "e\u0301.md", "%41.md"):
        note(f"memory/{name}", "The zebra sleeps.\n")
    (folder / "folder.md").mkdir()
    (folder / "dangling.md").symlink_to("nowhere")
    (folder / "loop.md").symlink_to("loop.md")
    Path(os.fsdecode(os.fsencode(folder) + b"/broken\xff.md")).write_text("A zebra.\n", encoding="utf-8")
    with untouched(workspace):
        report = clawmark("index", "--workspace", workspace, "--json")
        found = clawmark("search", "--workspace", workspace, "--json", "zebra", "--max-results", "20")
        text = clawmark("status", "--workspace", workspace)

    assert (report.code, report.json["added"], found.code, text.code) == (0, 8, 0, 0)
    assert {item["path"] for item in report.json["skipped"]} == {
        "memory/broken\\xff.md",
        "memory/dangling.md",
        "memory/loop.md",
    }
    for result in found.json["results"]:
        assert open_memory().get(result["path"]).text == "The zebra sleeps."


def test_a_folder_in_the_place_of_memory_md_is_listed(note: Note, workspace: Path, open_memory: Open) -> None:
    """And `memory` as a file does not hide `MEMORY.md`."""
    note("memory/good.md", "The zebra sleeps.\n")
    (workspace / "MEMORY.md").mkdir()
    report = open_memory().sync()

    assert (report.added, report.error, report.failed) == (1, None, ())
    with pytest.raises(PathNotAllowedError):
        open_memory().get("MEMORY.md")

    shutil.rmtree(workspace / "memory")
    (workspace / "MEMORY.md").rmdir()
    note("memory", "I am a file.\n")
    note("MEMORY.md", "The zebra sleeps.\n")
    moved = open_memory().sync()
    assert (moved.moved, moved.removed, moved.error) == (1, 0, None)


# Reads with the rights of nobody: everything is imported and tried out as the owner first.
_AS_NOBODY = """
import json, os, sys
from clawmark import ClawmarkError, Memory
from clawmark.cli.app import app
from click.testing import CliRunner
scratch, workspace = sys.argv[1:]

def work(folder):
    with Memory(folder) as memory:
        report, response, status = memory.sync(), memory.search("zebra"), memory.status(deep=True)
        try:
            memory.get("memory/locked/secret.md")
            read = "ok"
        except ClawmarkError as error:
            read = [error.code, error.message]
    command = CliRunner().invoke(app, ["index", "--workspace", folder, "--json"])
    json.loads(command.stdout)
    text = CliRunner().invoke(app, ["search", "zebra", "--workspace", folder])
    return {"report": report.to_dict(), "response": response.to_dict(), "status": status.to_dict(), "read": read,
            "index": [command.exit_code, json.loads(command.stdout)], "search": [text.exit_code, text.output]}

work(scratch)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(json.dumps(work(workspace)))
"""


@pytest.fixture
def shared(tmp_path: Path) -> Iterator[Path]:
    """A folder that other users can reach; the one of pytest is for its owner only."""
    folder = Path(tempfile.mkdtemp(prefix="clawmark-"))
    folder.chmod(0o777)
    yield folder
    for place in folder.rglob("*"):
        if place.is_dir():
            place.chmod(0o777)
    shutil.rmtree(folder)


def _as_nobody(shared: Path, workspace: Path) -> dict[str, Any]:
    scratch = shared / "scratch"
    (scratch / "memory").mkdir(parents=True)
    (scratch / "memory" / "a.md").write_text("The zebra sleeps.\n", encoding="utf-8")
    home = shared / "home"
    home.mkdir()
    home.chmod(0o777)
    done = subprocess.run(
        [sys.executable, "-c", _AS_NOBODY, str(scratch), str(workspace)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **KEYWORD, "CLAWMARK_HOME": str(home)},
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return json.loads(done.stdout)


def _locked_workspace(shared: Path, *, writable: bool) -> Path:
    workspace = shared / "ws"
    locked = workspace / "memory" / "locked"
    locked.mkdir(parents=True)
    (workspace / "memory" / "good.md").write_text("The zebra sleeps.\n", encoding="utf-8")
    (locked / "secret.md").write_text("The zebra hides.\n", encoding="utf-8")
    (workspace / "memory" / "shut.md").write_text("The zebra is shut.\n", encoding="utf-8")
    (workspace / "memory" / "shut.md").chmod(0o000)
    locked.chmod(0o000)
    workspace.chmod(0o777 if writable else 0o555)
    return workspace


@pytest.mark.parametrize("writable", [True, False], ids=["writable", "read-only"])
def test_what_may_not_be_read_is_listed_with_path_and_cause(shared: Path, writable: bool) -> None:
    """A folder and a file without permission: the other notes are indexed, the command exits 1."""
    workspace = _locked_workspace(shared, writable=writable)
    with untouched(workspace):
        seen = _as_nobody(shared, workspace)

    report = seen["report"]
    assert (report["added"], report["partial"], report["error"]) == (1, True, None)
    reasons = {item["path"]: item["reason"] for item in report["failed"]}
    assert reasons.keys() == {"memory/locked", "memory/shut.md"}
    assert all("EACCES" in reason for reason in reasons.values())
    assert [result["path"] for result in seen["response"]["results"]] == ["memory/good.md"]
    assert seen["response"]["error"] is None
    assert seen["status"]["state"] == "failed"
    assert {item["path"] for item in seen["status"]["failed"]} == reasons.keys()
    assert seen["read"][0] == "NOTE_UNREADABLE"
    assert "EACCES" in seen["read"][1]
    assert seen["index"][0] == 1
    assert {item["path"] for item in seen["index"][1]["failed"]} == reasons.keys()
    assert seen["search"][0] == 0
    assert "memory/good.md" in seen["search"][1]
    assert Path(seen["status"]["indexPath"]).is_relative_to(workspace if writable else shared / "home")


@pytest.mark.parametrize(
    ("file", "text", "near"),
    [
        ("clawmark.toml", "[query]\nmin_scor = 0.4\n", "query.min_score"),
        ("clawmark.toml", "[query]\nmin_score = 4\n", "between 0 and 1"),
        ("clawmark.toml", "[query\n", "line 1"),
    ],
    ids=["unknown", "out of range", "not TOML"],
)
def test_a_broken_settings_file_is_an_error_that_names_it(
    note: Note, workspace: Path, file: str, text: str, near: str
) -> None:
    """U12: the nearest setting, the range, or the line; exit 2; notes are not touched."""
    note("memory/good.md", "The zebra sleeps.\n")
    note(file, text)
    with untouched(workspace):
        ran = clawmark("search", "--workspace", workspace, "--json", "zebra")

    assert ran.code == 2
    assert near in ran.json["error"]["message"]
    assert file in ran.json["error"]["message"]
    assert ran.json["error"]["action"]


def test_a_broken_ignore_file_stops_indexing_and_is_said_in_every_answer(note: Note, workspace: Path) -> None:
    """What it may have kept out must not be indexed; what is indexed still answers."""
    note("memory/good.md", "The zebra sleeps.\n")
    assert clawmark("index", "--workspace", workspace).code == 0
    note(".clawmarkignore", "memory/[z-a].md\n")
    note("memory/new.md", "A new zebra.\n")
    with untouched(workspace):
        report = clawmark("index", "--workspace", workspace, "--json")
        found = clawmark("search", "--workspace", workspace, "--json", "zebra")
        status = clawmark("status", "--workspace", workspace, "--json")

    assert (report.code, report.json["added"]) == (1, 0)
    for told in (report.json["error"], *found.json["warnings"]):
        assert ".clawmarkignore" in told["message"]
        assert told["action"]
    assert (found.code, found.json["stale"]) == (0, True)
    assert [result["path"] for result in found.json["results"]] == ["memory/good.md"]
    assert (status.code, status.json.keys()) == (2, {"error"})
