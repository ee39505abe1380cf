"""Writing a memory file when the system refuses, another writer hangs, or the last one was killed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ClawmarkError
from clawmark.core.model import WriteReport
from clawmark.files import FileRules, scan_files
from clawmark.files.locking import only_writer
from terminal import python
from untouched import untouched

WriteNote = Callable[..., Path]
Append = Callable[..., WriteReport]

_REFUSED = """
import json, os, resource, sys
from pathlib import Path
from clawmark.core.errors import ClawmarkError
from clawmark.files import FileRules
from clawmark.files.writing import append_note
how, ws = sys.argv[1], Path(sys.argv[2])
# Loads all that is loaded late: nobody may not read this Python.
append_note(FileRules(ws / "warm"), "USER.md", "Warm.", lock_path=ws / "warm" / "w.lock")
if how == "full":
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))  # as on a full disk, a write ends in the middle
if how == "nobody" and os.geteuid() == 0:
    os.setgroups([])
    os.setuid(65534)
said = {}
for path in sys.argv[3:]:
    try:
        append_note(FileRules(ws), path, "New text. " * 500, lock_path=Path(os.environ["LOCK"]))
    except ClawmarkError as error:
        said[path] = [error.code, error.message, error.action]
print(json.dumps(said))
"""


def test_on_a_full_disk_the_old_note_stays_whole_and_nothing_else_is_left(
    ws: Path, note: WriteNote, lock: Path
) -> None:
    place = note("memory/a.md", "Old.\n")

    said = python(_REFUSED, "full", ws, "memory/a.md", "memory/new.md", env={"LOCK": str(lock)})

    assert [said["memory/a.md"][0], said["memory/new.md"][0]] == ["WRITE_FAILED", "WRITE_FAILED"]
    assert said["memory/a.md"][1] == "memory/a.md cannot be written: EFBIG: File too large."
    assert said["memory/a.md"][2]
    assert place.read_text(encoding="utf-8") == "Old.\n"
    assert [entry.name for entry in (ws / "memory").iterdir()] == ["a.md"]


@pytest.fixture
def open_way(tmp_path: Path) -> None:
    """Another user may come as far as the workspace."""
    for folder in (tmp_path, *list(tmp_path.parents)[:3]):
        if folder.stat().st_uid == os.geteuid() and folder != Path("/"):
            folder.chmod(0o755)


@pytest.mark.usefixtures("open_way")
def test_without_permission_nothing_changes_and_the_reason_is_said(ws: Path, note: WriteNote) -> None:
    """A folder or a note that is write-protected is protected from us, too."""
    note("memory/open/a.md", "Old.\n").chmod(0o444)
    note("memory/closed/a.md", "Old.\n").chmod(0o666)
    (ws / "memory/open").chmod(0o777)
    (ws / "memory/closed").chmod(0o555)
    locks = ws / "locks"
    locks.mkdir()
    locks.chmod(0o777)
    paths = ("memory/open/a.md", "memory/closed/a.md", "memory/closed/new.md")

    with untouched(ws / "memory"):
        said = python(_REFUSED, "nobody", ws, *paths, env={"LOCK": str(locks / "write.lock")})

    assert {path: words[0] for path, words in said.items()} == dict.fromkeys(paths, "WRITE_FAILED")
    assert all("EACCES" in words[1] and path in words[1] for path, words in said.items())


def test_a_folder_that_is_a_file_is_named(note: WriteNote, append: Append) -> None:
    note("memory/a.md")

    with pytest.raises(ClawmarkError, match=r"memory/a\.md/b\.md cannot be written: ENOTDIR"):
        append("memory/a.md/b.md", "New.")


def test_a_writer_that_does_not_end_is_not_waited_for_for_ever(lock: Path) -> None:
    entered, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with only_writer(lock):
            entered.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait()
    try:
        with pytest.raises(ClawmarkError) as caught, only_writer(lock, wait_seconds=0.05):
            pass
    finally:
        leave.set()
        thread.join()

    assert caught.value.code == "WRITE_BUSY"
    assert str(lock) in caught.value.message


# --- what a killed writer leaves ----------------------------------------------------------


def test_what_a_killed_writer_left_is_removed_by_the_next(
    ws: Path, note: WriteNote, append: Append, lock: Path
) -> None:
    left = [
        note(f"{folder}.clawmark-write-0123456789abcdef.tmp", "Half a no")
        for folder in ("", "memory/", "memory/deep/er/")
    ]
    others = [note("memory/.clawmark-write-mine.tmp"), note("memory/deep/x.tmp")]
    append("MEMORY.md", "One.")
    assert all(place.exists() for place in left)
    lock.with_suffix(".open").touch()

    append("MEMORY.md", "Two.")

    assert not any(place.exists() for place in left)
    assert all(place.exists() for place in others)
    assert not lock.with_suffix(".open").exists()


def test_the_remains_of_a_writer_are_no_notes(ws: Path, note: WriteNote) -> None:
    note("memory/.clawmark-write-0123456789abcdef.tmp", "Half a no")

    scan = scan_files(FileRules(ws))

    assert (scan.files, scan.skipped) == ((), ())


def test_a_link_in_the_place_of_a_writers_mark_leads_nowhere(ws: Path, append: Append, lock: Path) -> None:
    """An index folder may have come with a clone."""
    lock.parent.mkdir()
    lock.with_suffix(".open").symlink_to(ws.parent / "outside")

    assert append("MEMORY.md", "One.").created
    assert not (ws.parent / "outside").exists()
