"""``append`` and ``write``: a memory file is changed as a whole, by one writer at a time, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmark.core.digest import content_hash
from clawmark.core.errors import ClawmarkError, ConflictError
from clawmark.core.model import WriteReport, WriteStatus
from clawmark.core.writing import WritePlan, check_text, plan_append, plan_write
from clawmark.files.locking import only_writer
from clawmark.files.names import error_text, printable
from clawmark.files.replacing import (
    ChangedMeanwhileError,
    Content,
    Folder,
    open_folder,
    read_content,
    remove_temporaries,
    replace_file,
)
from clawmark.files.rules import MEMORY_FOLDER, FileRules
from clawmark.files.targets import Target, writable_target
from clawmark.files.text import text_of

# Another program that saves the same file at the same moment is given way this often.
_ATTEMPTS = 20
_ACTION = "Look at the free space, and at the rights of the file and its folder; the file is as it was."

_Plan = Callable[[Content | None], WritePlan]


def append_note(rules: FileRules, path: str, text: str, *, lock_path: Path) -> WriteReport:
    """Put the blocks of a text that a memory file does not hold behind it; see ``plan_append``.

    Args:
        rules: What counts as memory.
        path: As for ``writable_target``; the file and its folders are made.
        text: Markdown, not blank.
        lock_path: The workspace's lock of writers.

    Raises:
        ArgumentError: The text cannot be part of a note.
        PathNotAllowedError: The path is not one that may be written.
        UnreadableNoteError: The file is not text.
        ClawmarkError: The system refuses, the file would be too large, or another writer
            does not come to an end.
    """
    check_text(text)
    target = writable_target(rules, path)
    return _changed(rules, target, lambda before: plan_append(before.data if before else b"", text), lock_path)


def write_note(
    rules: FileRules, path: str, text: str, *, expected_hash: str | None = None, lock_path: Path
) -> WriteReport:
    """Make a memory file hold a text; see ``plan_write``.

    Args:
        rules: What counts as memory.
        path: As for ``append_note``.
        text: Markdown, not blank.
        expected_hash: SHA-256 (hex) of the file that is to be replaced; None for a new one.
        lock_path: The workspace's lock of writers.

    Raises:
        ConflictError: The file has other content than expected, or must not exist, or does not.
        ClawmarkError: As for ``append_note``.
    """
    check_text(text)
    target = writable_target(rules, path)

    def plan(before: Content | None) -> WritePlan:
        _check_expected(target.stored, before, expected_hash)
        return plan_write(before.data if before else None, text)

    return _changed(rules, target, plan, lock_path, status="written")


def _check_expected(stored: str, before: Content | None, expected: str | None) -> None:
    current = content_hash(before.data) if before else None
    if current == (expected.lower() if expected is not None else None):
        return
    if current is None:
        message, action = f"{stored} does not exist, but was expected to.", "Leave out the expected hash to make it."
    elif expected is None:
        message = f"{stored} exists; its hash is {current}."
        action = "Read it, and give its hash as expected_hash to replace it; or append."
    else:
        message = f"{stored} has changed: its hash is {current}, not {expected}."
        action = "Read it again before you replace it."
    raise ConflictError(message, current_hash=current, action=action)


def _changed(
    rules: FileRules, target: Target, plan: _Plan, lock_path: Path, *, status: WriteStatus = "appended"
) -> WriteReport:
    with _explained(target.stored), only_writer(lock_path) as interrupted:
        if interrupted:
            _clean(target)
        with open_folder(target.base, target.folders) as folder:
            for _ in range(_ATTEMPTS):
                with suppress(ChangedMeanwhileError):
                    return _change(rules, target, folder, plan, status)
            raise _busy(target.stored, read_content(folder, target.name, most=rules.max_bytes))


def _change(rules: FileRules, target: Target, folder: Folder, plan: _Plan, status: WriteStatus) -> WriteReport:
    before = read_content(folder, target.name, most=rules.max_bytes)
    if before is not None:
        _check_size(target.stored, before.state.st_size, rules.max_bytes)
        text_of(before.data, target.stored)
    planned = plan(before)
    _check_size(target.stored, len(planned.content), rules.max_bytes)
    if planned.start_line is None:
        return _report(target.stored, planned, before, "unchanged")
    replace_file(folder, target.name, planned.content, before)
    return _report(target.stored, planned, before, status if before else "created")


def _check_size(stored: str, size: int, most: int) -> None:
    if size > most:
        raise ClawmarkError(
            f"{stored} would be larger than the limit ({size:,} of {most:,} bytes), and so not be indexed.",
            code="NOTE_TOO_LARGE",
            action="Write to another file, or raise [files] max_bytes.",
        )


def _report(stored: str, planned: WritePlan, before: Content | None, status: WriteStatus) -> WriteReport:
    size = len(planned.content)
    old = len(before.data) if before and status == "appended" else 0
    return WriteReport(
        path=stored,
        bytes_written=0 if status == "unchanged" else size - old,
        duplicates_skipped=planned.skipped,
        hash=content_hash(planned.content),
        created=status == "created",
        status=status,
        size=size,
        start_line=planned.start_line,
        end_line=planned.end_line,
    )


def _clean(target: Target) -> None:
    """Remove what a writer that was killed has left, here and wherever a note may be."""
    base = Path(target.base)
    remove_temporaries(base.resolve(), below=False)
    remove_temporaries(base / MEMORY_FOLDER, below=True)
    remove_temporaries(base.joinpath(*target.folders), below=False)


def _busy(stored: str, current: Content | None) -> ConflictError:
    return ConflictError(
        f"{stored} is being written by another program all the time; nothing was changed.",
        current_hash=content_hash(current.data) if current else None,
        action="Try again when it has finished.",
    )


@contextmanager
def _explained(stored: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        message = f"{printable(stored)} cannot be written: {error_text(error)}."
        raise ClawmarkError(message, code="WRITE_FAILED", action=_ACTION) from error
