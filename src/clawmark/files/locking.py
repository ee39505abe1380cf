"""One writer of a workspace's files at a time, over all its processes."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmark.core.errors import ClawmarkError

# A write takes milliseconds; a queue of a hundred writers is through long before.
WAIT_SECONDS = 30.0


@contextmanager
def only_writer(lock_path: Path, *, wait_seconds: float = WAIT_SECONDS) -> Generator[bool]:
    """Hold the writer's lock of a workspace; the system releases it when the process dies.

    Args:
        lock_path: The lock file; its folder is made.
        wait_seconds: How long another writer is waited for.

    Yields:
        True when the writer before died at work, and may have left something behind.

    Raises:
        ClawmarkError: Another writer has kept the lock for too long.
        OSError: The lock cannot be made.
    """
    from filelock import FileLock, Timeout  # only who writes pays for it

    _make_folder(lock_path.parent)
    try:
        with FileLock(lock_path, timeout=wait_seconds), _at_work(lock_path) as interrupted:
            yield interrupted
    except Timeout as error:
        raise ClawmarkError(
            f"Another process is writing to this workspace (lock {lock_path}).",
            code="WRITE_BUSY",
            action="Try again; if it stays so, look for a process that hangs.",
        ) from error


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        return
    (folder / ".gitignore").write_text("*\n", encoding="utf-8")


@contextmanager
def _at_work(lock_path: Path) -> Generator[bool]:
    """Leave a mark for the time of the work: who finds one knows that the work was not finished."""
    mark = lock_path.with_suffix(".open")
    interrupted = os.path.lexists(mark)
    if interrupted:
        mark.unlink()  # a link could have come with a clone
    mark.touch(exist_ok=False)
    try:
        yield interrupted
    finally:
        with suppress(OSError):
            mark.unlink(missing_ok=True)
