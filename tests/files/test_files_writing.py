"""Writing a memory file: whole, by one writer at a time, and only where memory is."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import ArgumentError, ClawmarkError, ConflictError, PathNotAllowedError
from clawmark.core.model import WriteReport
from clawmark.files import ExtraPath, FileRules, UnreadableNoteError, read_window
from clawmark.files.writing import append_note
from untouched import untouched

WriteNote = Callable[..., Path]
Append = Callable[..., WriteReport]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


# --- what is written ----------------------------------------------------------------------


def test_a_new_note_is_made_with_its_folders(ws: Path, append: Append) -> None:
    report = append("memory/2026/june/30.md", "The zebra sleeps.\n\nStanding.")

    content = b"The zebra sleeps.\n\nStanding.\n"
    assert (ws / "memory/2026/june/30.md").read_bytes() == content
    assert report == WriteReport(
        "memory/2026/june/30.md", 29, 0, sha(content), created=True, status="created", size=29, start_line=1, end_line=3
    )


def test_an_append_tells_the_lines_that_are_new(ws: Path, note: WriteNote, append: Append) -> None:
    note("memory/a.md", "One.\nTwo.")

    report = append("memory/a.md", "Three.\nFour.\n")

    content = b"One.\nTwo.\n\nThree.\nFour.\n"
    assert (ws / "memory/a.md").read_bytes() == content
    assert (report.status, report.start_line, report.end_line) == ("appended", 4, 5)
    assert (report.bytes_written, report.size, report.hash) == (15, len(content), sha(content))


def test_what_is_there_already_touches_nothing(ws: Path, note: WriteNote, append: Append, write: Append) -> None:
    data = note("MEMORY.md", "One.\n\nTwo.").read_bytes()

    with untouched(ws):
        again = append("MEMORY.md", "Two.  \r\n")
        same = write("MEMORY.md", data.decode(), sha(data))

    assert (again.status, again.duplicates_skipped, again.bytes_written) == ("unchanged", 1, 0)
    assert (same.status, same.hash, same.start_line) == ("unchanged", sha(data), None)


def test_rights_line_ends_and_byte_order_mark_stay(ws: Path, note: WriteNote, append: Append, write: Append) -> None:
    place = note("memory/a.md", b"\xef\xbb\xbfOne.\r\nTwo.\r\n")
    place.chmod(0o640)

    append("memory/a.md", "Three.\nFour.")
    assert place.read_bytes() == b"\xef\xbb\xbfOne.\r\nTwo.\r\n\r\nThree.\r\nFour.\r\n"
    write("memory/a.md", "New.\nText.", sha(place.read_bytes()))
    assert place.read_bytes() == b"\xef\xbb\xbfNew.\r\nText."
    assert stat.S_IMODE(place.stat().st_mode) == 0o640


def test_a_new_note_has_the_rights_that_the_user_gives_new_files(ws: Path, append: Append) -> None:
    before = os.umask(0o027)
    try:
        append("memory/a.md", "One.")
    finally:
        os.umask(before)

    assert stat.S_IMODE((ws / "memory/a.md").stat().st_mode) == 0o640


def test_no_two_contents_of_one_size_have_one_time(ws: Path, note: WriteNote, write: Append) -> None:
    """An index tells files by size and time; a clock ticks every few milliseconds only."""
    place = note("memory/a.md", "0000")
    seen = {place.stat().st_mtime_ns}
    digest = sha(b"0000")
    for number in range(1, 60):
        digest = write("memory/a.md", f"{number:04}", digest).hash
        seen.add(place.stat().st_mtime_ns)

    assert len(seen) == 60


def test_another_name_of_a_note_keeps_the_old_text(ws: Path, note: WriteNote, append: Append) -> None:
    """A hard link may lead anywhere, so it is not written through."""
    outside = note("../diary.md", "Secret.\n")
    (ws / "memory").mkdir()
    (ws / "memory/a.md").hardlink_to(outside)

    append("memory/a.md", "New.")

    assert outside.read_text(encoding="utf-8") == "Secret.\n"


# --- replacing ----------------------------------------------------------------------------


def test_a_note_is_replaced_only_by_who_knows_what_is_in_it(ws: Path, note: WriteNote, write: Append) -> None:
    """I03."""
    place = note("memory/a.md", "Old.\n")
    rules = FileRules(ws)
    first = read_window(rules, "memory/a.md").hash
    for wrong in (None, "0" * 64, ""):
        with pytest.raises(ConflictError) as caught:
            write("memory/a.md", "New.\n", wrong)
        assert caught.value.current_hash == first
        assert str(first) in caught.value.message
        assert place.read_bytes() == b"Old.\n"

    report = write("memory/a.md", "New.\n", str(first).upper())

    assert (report.status, report.hash) == ("written", read_window(rules, "memory/a.md").hash)
    with pytest.raises(ConflictError):
        write("memory/a.md", "Newer.\n", first)
    assert place.read_bytes() == b"New.\n"


def test_a_note_that_is_gone_is_not_what_was_expected(ws: Path, write: Append) -> None:
    with pytest.raises(ConflictError) as caught:
        write("memory/a.md", "New.\n", "0" * 64)

    assert caught.value.current_hash is None
    assert not (ws / "memory/a.md").exists()
    assert write("memory/a.md", "New.\n").created


# --- what is refused ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("notes.md", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("extra/a.md", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("sessions/a.jsonl", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("logs/a.jsonl", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("../ws-other/memory/a.md", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("memory/../../ws-other/a.md", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("/etc/a.md", "only MEMORY.md, USER.md and memory/**/*.md are written"),
        ("memory/a.txt", "not a Markdown file (*.md)"),
        ("memory", "not a Markdown file (*.md)"),
        ("memory/.hidden.md", "hidden file"),
        ("memory/.hidden/a.md", "hidden folder"),
        ("memory/node_modules/a.md", "junk folder"),
        ("memory/drafts/a.md", "excluded by [files] exclude"),
        ("memory/private/a.md", "excluded by .clawmarkignore"),
        ("memory/folder.md", "not a regular file (folder)"),
        ("memory/pipe.md", "not a regular file (FIFO)"),
        ("memory/%2e%2e/a.md", "it contains an encoded parent folder or NUL"),
        ("memory/a\0.md", "it contains a NUL character"),
        ("", "the path is empty"),
        ("memory/\udcff.md", "it is not valid UTF-8"),
    ],
)
def test_what_is_no_memory_of_the_workspace_is_not_written(
    ws: Path, note: WriteNote, append: Append, write: Append, path: str, reason: str
) -> None:
    note("extra/a.md")
    note(".clawmarkignore", "private/\n")
    note("memory/folder.md/x.md")
    os.mkfifo(ws / "memory/pipe.md")
    rules = {"extra_paths": (ExtraPath("extra"),), "session_paths": ("logs",), "exclude": ("drafts/",)}
    with untouched(ws.parent):
        for call in (append, write):
            with pytest.raises(PathNotAllowedError) as caught:
                call(path, "New.", **rules)
            assert caught.value.reason == reason
            assert caught.value.message.endswith(f"may not be written: {reason}.")
            assert caught.value.action
    assert not (ws / ".clawmark").exists()


@pytest.mark.parametrize("follow", [False, True])
@pytest.mark.parametrize(
    "path", ["memory/out/a.md", "memory/out/new.md", "memory/note.md", "memory/broken.md", "USER.md"]
)
def test_a_link_that_leaves_the_workspace_is_never_written_through(
    ws: Path, note: WriteNote, append: Append, path: str, follow: bool
) -> None:
    outside = note("../ws-other/a.md", "The neighbour's.\n").parent
    note("memory/a.md")
    (ws / "memory/out").symlink_to(outside)
    (ws / "memory/note.md").symlink_to(outside / "a.md")
    (ws / "memory/broken.md").symlink_to(outside / "b.md")
    (ws / "USER.md").symlink_to(outside / "a.md")

    with untouched(ws.parent), pytest.raises(PathNotAllowedError):
        append(path, "New.", follow_links=follow)


def test_a_memory_folder_that_is_a_link_is_not_written_into(ws: Path, note: WriteNote, append: Append) -> None:
    outside = note("../real/a.md").parent
    (ws / "memory").symlink_to(outside)

    with untouched(ws.parent), pytest.raises(PathNotAllowedError):
        append("memory/new.md", "New.")


def test_links_inside_the_workspace_are_followed_when_the_user_wants_it(
    ws: Path, note: WriteNote, append: Append
) -> None:
    real = note("vault/a.md", "Old.\n")
    (ws / "memory").mkdir()
    (ws / "memory/v").symlink_to(ws / "vault")
    (ws / "memory/n.md").symlink_to(real)

    first = append("memory/v/new.md", "New.", follow_links=True)
    second = append("memory/n.md", "New.", follow_links=True)

    assert (first.path, second.path) == ("memory/v/new.md", "memory/n.md")
    assert (ws / "vault/new.md").read_text(encoding="utf-8") == "New.\n"
    assert real.read_text(encoding="utf-8") == "Old.\n\nNew.\n"
    assert (ws / "memory/n.md").is_symlink()
    with pytest.raises(PathNotAllowedError):
        append("memory/v/new.md", "New.")


def test_a_workspace_behind_a_link_is_written_by_either_name(ws: Path, append: Append) -> None:
    """The way to the workspace is the user's own."""
    alias = ws.parent / "alias"
    alias.symlink_to(ws)
    lock = alias / ".clawmark/write.lock"
    for follow in (False, True):
        append_note(FileRules(alias, follow_links=follow), "memory/a.md", f"Via the link {follow}.", lock_path=lock)
    append(str(ws / "memory/a.md"), "Directly.")

    assert (ws / "memory/a.md").read_text(encoding="utf-8").count("\n\n") == 2


@pytest.mark.parametrize("content", [b"caf\xe9\n", b"a\0b\n", "Ünïcode".encode("utf-16")])
def test_a_file_that_is_no_text_is_left_as_it_is(
    ws: Path, note: WriteNote, append: Append, write: Append, content: bytes
) -> None:
    note("memory/a.md", content)

    with untouched(ws):
        with pytest.raises(UnreadableNoteError):
            append("memory/a.md", "New.")
        with pytest.raises(UnreadableNoteError):
            write("memory/a.md", "New.", sha(content))


@pytest.mark.parametrize("text", ["", " \n\n", "a\0b", "half \ud83d"])
def test_a_text_that_is_no_text_is_refused_before_anything_is_done(
    ws: Path, append: Append, write: Append, text: str
) -> None:
    for call in (append, write):
        with pytest.raises(ArgumentError):
            call("memory/a.md", text)

    assert list(ws.iterdir()) == []


def test_no_note_grows_beyond_what_is_indexed(ws: Path, note: WriteNote, append: Append, write: Append) -> None:
    note("memory/a.md", "x" * 90)
    note("memory/big.md", "y" * 200)

    with untouched(ws):
        for call, path in ((append, "memory/a.md"), (append, "memory/big.md"), (write, "memory/new.md")):
            with pytest.raises(ClawmarkError) as caught:
                call(path, "z" * 101, max_bytes=100)
            assert caught.value.code == "NOTE_TOO_LARGE"
            assert path in caught.value.message
    assert append("memory/a.md", "z" * 7, max_bytes=100).size == 100
