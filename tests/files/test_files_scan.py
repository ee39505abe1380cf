"""Which files of a workspace count, and what is said of the others."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ConfigError, PathNotAllowedError, WorkspaceNotFoundError
from clawmark.core.model import PathReason
from clawmark.files import ExtraPath, FileRules, Scan, resolve_note, scan_files

WriteNote = Callable[..., Path]


def paths(scan: Scan) -> list[str]:
    return [file.path for file in scan.files]


def reasons(entries: tuple[PathReason, ...]) -> dict[str, str]:
    return {entry.path: entry.reason for entry in entries}


def test_the_root_files_and_everything_markdown_below_memory_count(ws: Path, note: WriteNote) -> None:
    for path in ("MEMORY.md", "USER.md", "memory/a.md", "memory/x/y/z.md", "memory/会议.md"):
        note(path)
    for path in ("README.md", "memory.md", "memory/a.txt", "memory/B.MD", "memory/md", "notes/n.md"):
        note(path)

    scan = scan_files(FileRules(ws))

    assert paths(scan) == ["MEMORY.md", "USER.md", "memory/a.md", "memory/x/y/z.md", "memory/会议.md"]
    assert (scan.skipped, scan.unreadable, scan.missing) == ((), (), ())


def test_a_found_file_carries_the_state_of_the_disk(ws: Path, note: WriteNote) -> None:
    place = note("memory/a.md", "twelve bytes")
    state = place.stat()

    (file,) = scan_files(FileRules(ws)).files

    assert (file.source, file.absolute, file.size) == ("memory", place, 12)
    assert (file.mtime_ns, file.inode, file.device) == (state.st_mtime_ns, state.st_ino, state.st_dev)


def test_a_workspace_without_any_memory_is_empty_and_nothing_is_missing(ws: Path) -> None:
    assert scan_files(FileRules(ws)) == Scan()


def test_a_workspace_that_is_gone_is_an_error_and_not_an_empty_one(ws: Path, note: WriteNote) -> None:
    with pytest.raises(WorkspaceNotFoundError, match="nowhere"):
        scan_files(FileRules(ws / "nowhere"))
    with pytest.raises(WorkspaceNotFoundError):
        scan_files(FileRules(note("MEMORY.md")))


def test_a_relative_workspace_is_found(ws: Path, note: WriteNote) -> None:
    note("MEMORY.md")

    with contextlib.chdir(ws.parent):
        scan = scan_files(FileRules(Path("ws")))

    assert [file.absolute for file in scan.files] == [ws / "MEMORY.md"]


def test_hidden_and_junk_folders_are_one_line_each_whatever_they_hold(ws: Path, note: WriteNote) -> None:
    note("memory/a.md")
    for folder in (".work", ".git", "node_modules", ".Venv", "VENV", "__pycache__", ".tox", ".openclaw-repair"):
        note(f"memory/sub/{folder}/deep/x.md")
        note(f"memory/sub/{folder}/y.md")
    note("memory/.hidden.md")
    note("memory/.DS_Store")

    scan = scan_files(FileRules(ws))

    assert paths(scan) == ["memory/a.md"]
    assert reasons(scan.skipped) == {
        "memory/.hidden.md": "hidden file",
        "memory/sub/.work": "hidden folder",
        "memory/sub/.git": "junk folder",
        "memory/sub/node_modules": "junk folder",
        "memory/sub/.Venv": "junk folder",
        "memory/sub/VENV": "junk folder",
        "memory/sub/__pycache__": "junk folder",
        "memory/sub/.tox": "junk folder",
        "memory/sub/.openclaw-repair": "junk folder",
    }


def test_an_excluded_report_is_left_out_with_the_setting_that_did_it(ws: Path, note: WriteNote) -> None:
    """S24."""
    for path in ("memory/.work/x.md", "memory/reports/r.md", "memory/a.md"):
        note(path)

    scan = scan_files(FileRules(ws, exclude=("memory/reports/**",)))

    assert paths(scan) == ["memory/a.md"]
    assert reasons(scan.skipped) == {
        "memory/.work": "hidden folder",
        "memory/reports/r.md": "excluded by [files] exclude",
    }


def test_only_matches_of_include_count_once_there_is_one(ws: Path, note: WriteNote) -> None:
    for path in ("MEMORY.md", "memory/a.md", "memory/people/p.md"):
        note(path)

    scan = scan_files(FileRules(ws, include=("memory/people/", "MEMORY.md")))

    assert paths(scan) == ["MEMORY.md", "memory/people/p.md"]
    assert reasons(scan.skipped) == {"memory/a.md": "not in [files] include"}


def test_the_ignore_file_has_gitignore_syntax(ws: Path, note: WriteNote) -> None:
    note(".clawmarkignore", b"\xef\xbb\xbf# drafts\r\n*.draft.md\r\n/memory/old/*\r\n!/memory/old/keep.md\r\n\r\n")
    for path in ("memory/a.draft.md", "memory/old/x.md", "memory/old/keep.md", "memory/sub/memory/old/y.md"):
        note(path)

    scan = scan_files(FileRules(ws))

    assert paths(scan) == ["memory/old/keep.md", "memory/sub/memory/old/y.md"]
    assert reasons(scan.skipped) == {
        "memory/a.draft.md": "excluded by .clawmarkignore",
        "memory/old/x.md": "excluded by .clawmarkignore",
    }


@pytest.mark.parametrize("kind", ["folder", "fifo", "loop", "huge", "bad glob"])
def test_an_ignore_file_that_cannot_be_used_stops_the_scan(ws: Path, note: WriteNote, kind: str) -> None:
    """What it excludes must not be indexed only because the list is broken."""
    place = ws / ".clawmarkignore"
    if kind == "folder":
        place.mkdir()
    elif kind == "fifo":
        os.mkfifo(place)
    elif kind == "loop":
        place.symlink_to(place)
    else:
        note(".clawmarkignore", "#" * 1_000_001 if kind == "huge" else "a\n!\n")

    with pytest.raises(ConfigError, match=r"\.clawmarkignore"):
        scan_files(FileRules(ws))


def test_a_glob_that_cannot_be_used_is_named_with_its_setting(ws: Path) -> None:
    with pytest.raises(ConfigError, match=r"'!' in \[files\] exclude"):
        scan_files(FileRules(ws, exclude=("a", "!")))


def test_an_empty_file_is_skipped(ws: Path, note: WriteNote) -> None:
    note("memory/empty.md", "")

    assert reasons(scan_files(FileRules(ws)).skipped) == {"memory/empty.md": "empty file"}


def test_a_note_above_the_limit_is_skipped_with_both_sizes(ws: Path, note: WriteNote) -> None:
    note("memory/at.md", "x" * 2_000)
    note("memory/above.md", "x" * 2_001)

    scan = scan_files(FileRules(ws, max_bytes=2_000))

    assert paths(scan) == ["memory/at.md"]
    assert reasons(scan.skipped) == {"memory/above.md": "larger than the limit (2,001 of 2,000 bytes)"}


def test_what_is_no_regular_file_is_skipped_and_the_rest_goes_on(ws: Path, note: WriteNote) -> None:
    """S14."""
    ok = note("memory/ok.md")
    (ws / "memory/link.md").symlink_to(ok)
    os.mkfifo(ws / "memory/pipe.md")
    (ws / "MEMORY.md").mkdir()
    with contextlib.chdir(ws / "memory"), socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.md")

    scan = scan_files(FileRules(ws))

    assert paths(scan) == ["memory/ok.md"]
    assert reasons(scan.skipped) == {
        "MEMORY.md": "not a regular file (folder)",
        "memory/link.md": "symbolic link (links are not followed)",
        "memory/pipe.md": "not a regular file (FIFO)",
        "memory/socket.md": "not a regular file (socket)",
    }


def test_a_file_called_memory_is_no_folder_of_notes(ws: Path, note: WriteNote) -> None:
    note("memory")

    assert reasons(scan_files(FileRules(ws)).skipped) == {"memory": "not a folder"}


def test_a_hard_link_is_one_file_under_its_first_name(ws: Path, note: WriteNote) -> None:
    """S15."""
    place = note("MEMORY.md")
    note("notes/n.md")
    (ws / "memory").mkdir()
    (ws / "memory/alias.md").hardlink_to(place)
    (ws / "notes/alias.md").hardlink_to(place)

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("notes"),)))

    assert paths(scan) == ["MEMORY.md", "notes/n.md"]
    assert reasons(scan.skipped) == {
        "memory/alias.md": "same file as MEMORY.md",
        "notes/alias.md": "same file as MEMORY.md",
    }


def test_a_name_that_is_no_utf8_is_skipped_and_printable(ws: Path, note: WriteNote) -> None:
    for name in (b"\xff.md", b"caf\xe9/x.md"):
        note(f"memory/{os.fsdecode(name)}")

    scan = scan_files(FileRules(ws))

    assert paths(scan) == []
    assert reasons(scan.skipped) == {
        "memory/\\xff.md": "name is not valid UTF-8",
        "memory/caf\\xe9": "name is not valid UTF-8",
    }


def test_a_folder_that_cannot_be_listed_is_named_and_hides_what_it_holds(ws: Path, note: WriteNote) -> None:
    """A path of more than 4,096 bytes can be made step by step, but not listed."""
    note("memory/a.md")
    (ws / "memory/deep").mkdir()
    handle = os.open(ws / "memory/deep", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=handle)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = below
    os.close(handle)

    scan = scan_files(FileRules(ws))
    shutil.rmtree(ws / "memory/deep")

    (entry,) = scan.unreadable
    assert paths(scan) == ["memory/a.md"]
    assert entry.path.startswith("memory/deep/d")
    assert entry.reason == "ENAMETOOLONG: File name too long"
    assert scan.may_hide(f"{entry.path}/x.md")
    assert not scan.may_hide("memory/deep/x.md")


_AS_NOBODY = """
import json, os, sys
from pathlib import Path
from clawmark.files import ExtraPath, FileRules, UnreadableNoteError, read_note, resolve_note, scan_files
if os.geteuid() == 0:
    os.setuid(65534)
rules = FileRules(Path(sys.argv[1]), extra_paths=(ExtraPath("locked/extra"),), session_paths=("locked/sessions",))
scan = scan_files(rules, ("memory", "sessions"))
def reason_of(call):
    try:
        call()
    except UnreadableNoteError as error:
        return error.reason
(secret,) = [file for file in scan.files if file.path == "memory/secret.md"]
print(json.dumps({
    "files": [file.path for file in scan.files],
    "unreadable": {entry.path: entry.reason for entry in scan.unreadable},
    "missing": len(scan.missing),
    "read": reason_of(lambda: read_note(secret)),
    "resolve": reason_of(lambda: resolve_note(rules, "memory/closed/x.md")),
}))
"""


def test_what_may_not_be_looked_at_is_unreadable_and_never_missing() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        for path in (
            "memory/a.md",
            "memory/secret.md",
            "memory/closed/x.md",
            "memory/listed/y.md",
            "locked/extra/e.md",
        ):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text("A fact.\n")
        for path in ("memory/secret.md", "memory/closed", "locked"):
            (folder / path).chmod(0)
        (folder / "memory/listed").chmod(0o444)
        answer = subprocess.run(
            [sys.executable, "-c", _AS_NOBODY, name],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            check=True,
            capture_output=True,
            text=True,
        )
        for path in ("memory/closed", "memory/listed", "locked"):
            (folder / path).chmod(0o755)

    denied = "EACCES: Permission denied"
    assert json.loads(answer.stdout) == {
        "files": ["memory/a.md", "memory/secret.md"],
        "unreadable": {
            "locked/extra": denied,
            "memory/closed": denied,
            "memory/listed/y.md": denied,
            "sessions": f"{denied} (locked/sessions)",
        },
        "missing": 0,
        "read": denied,
        "resolve": denied,
    }


def test_what_is_listed_may_be_read_and_what_is_skipped_may_not(ws: Path, note: WriteNote) -> None:
    """One rule for both, except that `get` opens large and empty files too."""
    for path in ("MEMORY.md", "memory/a.md", "memory/.h.md", "memory/.w/x.md", "memory/out/o.md"):
        note(path)
    for path in ("x/p.md", "x/other.md", "x/node_modules/n.md", "../far/f.md", "plain.md"):
        note(path)
    (ws / "memory/l.md").symlink_to(ws / "plain.md")
    rules = FileRules(ws, extra_paths=(ExtraPath("x", "p*"), ExtraPath("../far")), exclude=("memory/out",))
    everything = [os.path.relpath(place, ws) for place in ws.parent.rglob("*.md")]

    allowed: list[str] = []
    for path in everything:
        with contextlib.suppress(PathNotAllowedError):
            resolve_note(rules, path)
            allowed.append(path)

    assert len(everything) == 11
    assert sorted(allowed) == paths(scan_files(rules)) == ["../far/f.md", "MEMORY.md", "memory/a.md", "x/p.md"]
