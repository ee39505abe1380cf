"""Which transcripts count."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.model import PathReason
from clawmark.files import (
    MAX_SESSION_BYTES,
    ChangedWhileReadingError,
    FileBytes,
    FileRules,
    FoundFile,
    Scan,
    UnreadableNoteError,
    locate,
    open_growing,
    read_bytes,
    scan_files,
)

WriteNote = Callable[..., Path]


def paths(scan: Scan) -> list[str]:
    return [file.path for file in scan.files]


def reasons(entries: tuple[PathReason, ...]) -> dict[str, str]:
    return {entry.path: entry.reason for entry in entries}


def sessions(rules: FileRules) -> Scan:
    return scan_files(rules, ("sessions",))


def test_a_transcript_stays_after_a_reset_and_its_copies_do_not_count(ws: Path, note: WriteNote) -> None:
    """T01."""
    for name in ("s1.jsonl", "s2.jsonl.reset.2026-06-01", "s3.jsonl.bak.1", "s4.jsonl.deleted.2026-06-01"):
        note(f"logs/{name}")
    for name in ("s5.checkpoint.0b7c.jsonl", "s6.trajectory.jsonl", "s7.jsonl.lock", "s8.jsonl.reset."):
        note(f"logs/{name}")
    for name in ("sessions.json", "notes.md", "s9.JSONL", ".s10.jsonl"):
        note(f"logs/{name}")

    scan = sessions(FileRules(ws, session_paths=("logs",)))

    assert paths(scan) == ["sessions/s1.jsonl", "sessions/s2.jsonl.reset.2026-06-01"]
    assert reasons(scan.skipped) == {
        "sessions/.s10.jsonl": "hidden file",
        "sessions/s3.jsonl.bak.1": "backup of a transcript",
        "sessions/s4.jsonl.deleted.2026-06-01": "deleted transcript",
        "sessions/s5.checkpoint.0b7c.jsonl": "checkpoint copy of a transcript",
        "sessions/s6.trajectory.jsonl": "trace of a run, not a transcript",
        "sessions/s7.jsonl.lock": "not named *.jsonl or *.jsonl.reset.*",
        "sessions/s8.jsonl.reset.": "not named *.jsonl or *.jsonl.reset.*",
    }


def test_the_count_of_files_leaves_out_what_is_listed_as_skipped(ws: Path, note: WriteNote) -> None:
    """S21."""
    for name in ("a", "b", "c"):
        note(f"memory/{name}.md")
    note("memory/empty.md", "")
    note("logs/s.checkpoint.3f.jsonl", "{}\n")

    scan = scan_files(FileRules(ws, session_paths=("logs",)), ("memory", "sessions"))

    assert len(scan.files) == 3
    assert reasons(scan.skipped) == {
        "memory/empty.md": "empty file",
        "sessions/s.checkpoint.3f.jsonl": "checkpoint copy of a transcript",
    }


def test_only_the_wanted_sources_are_walked(ws: Path, note: WriteNote) -> None:
    note("memory/a.md")
    note("memory/s.jsonl")
    rules = FileRules(ws, session_paths=("memory", "none"))

    both = scan_files(rules, ("sessions", "memory"))

    assert [(file.source, file.path) for file in both.files] == [
        ("memory", "memory/a.md"),
        ("sessions", "sessions/s.jsonl"),
    ]
    assert paths(sessions(rules)) == ["sessions/s.jsonl"]
    assert paths(scan_files(rules)) == ["memory/a.md"]
    assert (reasons(both.missing), scan_files(rules).missing) == ({"none": "does not exist"}, ())


def test_transcripts_in_folders_keep_their_folders(ws: Path, note: WriteNote) -> None:
    note("../state/logs/main/s.jsonl")
    note("../state/logs/top.jsonl")

    scan = sessions(FileRules(ws, session_paths=(str(ws.parent / "state/logs"),)))

    assert paths(scan) == ["sessions/main/s.jsonl", "sessions/top.jsonl"]


def test_two_folders_with_one_name_of_transcript_keep_both(ws: Path, note: WriteNote) -> None:
    for folder in ("one/logs", "two/logs", "three/logs"):
        note(f"{folder}/s.jsonl", folder)
    note("two/logs/only.jsonl")

    rules = FileRules(ws, session_paths=("one/logs", "./one/logs/", "two/logs", "three/logs", " "))
    scan = sessions(rules)

    assert {file.path: file.absolute.relative_to(ws).as_posix() for file in scan.files} == {
        "sessions/s.jsonl": "one/logs/s.jsonl",
        "sessions/logs/s.jsonl": "two/logs/s.jsonl",
        "sessions/logs-2/s.jsonl": "three/logs/s.jsonl",
        "sessions/only.jsonl": "two/logs/only.jsonl",
    }
    assert scan.skipped == ()
    for file in scan.files:
        assert locate(rules, "sessions", file.path) == file.absolute


def test_the_file_behind_a_transcript_that_is_gone_is_none(ws: Path, note: WriteNote) -> None:
    note("logs/s.jsonl")
    rules = FileRules(ws, session_paths=("logs",))

    assert locate(rules, "sessions", "sessions/logs/s.jsonl") is None
    assert locate(rules, "sessions", "sessions/t.jsonl") is None
    assert locate(rules, "sessions", "sessions/") is None


def test_the_bytes_of_a_transcript_come_as_they_are(ws: Path, note: WriteNote) -> None:
    place = note("logs/s.jsonl", b"\xef\xbb\xbf{}\r\n\0\xff")
    (file,) = sessions(FileRules(ws, session_paths=("logs",))).files

    assert read_bytes(file) == FileBytes(b"\xef\xbb\xbf{}\r\n\0\xff", 9, place.stat().st_mtime_ns)


def test_a_folder_inside_another_gives_each_transcript_once(ws: Path, note: WriteNote) -> None:
    note("logs/sub/s.jsonl")

    scan = sessions(FileRules(ws, session_paths=("logs", "logs/sub")))

    assert (paths(scan), scan.skipped) == (["sessions/sub/s.jsonl"], ())


def test_globs_judge_transcripts_by_their_stored_path(ws: Path, note: WriteNote) -> None:
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        note(f"logs/{name}")
    note(".clawmarkignore", "sessions/c.jsonl\n")

    scan = sessions(FileRules(ws, session_paths=("logs",), exclude=("/sessions/b*",)))

    assert paths(scan) == ["sessions/a.jsonl"]
    assert reasons(scan.skipped) == {
        "sessions/b.jsonl": "excluded by [files] exclude",
        "sessions/c.jsonl": "excluded by .clawmarkignore",
    }


@pytest.mark.parametrize(("size", "count"), [(MAX_SESSION_BYTES, 1), (MAX_SESSION_BYTES + 1, 0)])
def test_transcripts_have_a_limit_of_their_own(ws: Path, note: WriteNote, size: int, count: int) -> None:
    os.truncate(note("logs/s.jsonl", "{}"), size)

    scan = sessions(FileRules(ws, session_paths=("logs",), max_bytes=1))

    assert (len(scan.files), len(scan.skipped)) == (count, 1 - count)


def test_a_folder_of_transcripts_that_is_a_link_obeys_the_policy(ws: Path, note: WriteNote) -> None:
    note("../state/s.jsonl")
    (ws / "logs").symlink_to(ws.parent / "state")

    skipping = sessions(FileRules(ws, session_paths=("logs",)))
    following = sessions(FileRules(ws, session_paths=("logs",), follow_links=True))

    assert (paths(skipping), reasons(skipping.skipped)) == (
        [],
        {"logs": "symbolic link (links are not followed)"},
    )
    assert (paths(following), following.skipped) == (["sessions/s.jsonl"], ())


def test_a_transcript_where_a_folder_is_expected_is_skipped(ws: Path, note: WriteNote) -> None:
    note("s.jsonl")

    assert reasons(sessions(FileRules(ws, session_paths=("s.jsonl",))).skipped) == {"s.jsonl": "not a folder"}


# --- a transcript that is written to while it is read ---------------------------------------------


def test_what_is_appended_while_a_transcript_is_read_does_no_harm(ws: Path, note: WriteNote) -> None:
    place = note("logs/s.jsonl", "{}\n")
    (file,) = sessions(FileRules(ws, session_paths=("logs",))).files
    with open_growing(file) as (handle, state):
        place.write_text("{}\n{}\n", encoding="utf-8")
        content = handle.read(state.st_size)

    assert (content, state.st_size) == (b"{}\n", 3)


@pytest.mark.parametrize("text", ["", "[]\n"])
def test_what_is_rewritten_while_it_is_read_is_not_taken(ws: Path, note: WriteNote, text: str) -> None:
    place = note("logs/s.jsonl", "{}\n")
    (file,) = sessions(FileRules(ws, session_paths=("logs",))).files
    with pytest.raises(ChangedWhileReadingError):
        read_while_written(file, place, text)


def read_while_written(file: FoundFile, place: Path, text: str) -> None:
    with open_growing(file):
        place.write_text(text, encoding="utf-8")
        os.utime(place, (1, 1))


def test_a_transcript_that_is_gone_is_named(ws: Path, note: WriteNote) -> None:
    place = note("logs/s.jsonl", "{}\n")
    (file,) = sessions(FileRules(ws, session_paths=("logs",))).files
    place.unlink()
    with pytest.raises(UnreadableNoteError, match="ENOENT") as caught, open_growing(file):
        pass

    assert caught.value.path == "sessions/s.jsonl"
