"""One pass at a time over all processes: a lock of the operating system, which dies with its process."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from clawmark.core.errors import StoreBusyError, StoreError


@contextmanager
def one_at_a_time(lock_path: Path | None, seconds: float) -> Generator[None]:
    """Hold the lock; nothing to hold when the store needs none.

    Args:
        lock_path: The file; what is left of a dead process is no lock.
        seconds: How long another process is waited for.

    Raises:
        StoreBusyError: The other one is not done yet.
        StoreError: The file cannot be made or opened.
    """
    if lock_path is None:
        yield
        return
    from filelock import FileLock, Timeout  # only who writes pays for it

    lock = FileLock(lock_path, timeout=seconds)
    try:
        lock_path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout as error:
        raise StoreBusyError(
            f"Another process is indexing (lock {lock_path}).", action="Try again when it has finished."
        ) from error
    except OSError as error:
        message = f"The index folder {lock_path.parent} cannot be used: {error.strerror or error}."
        raise StoreError(message, code="INDEX_PERMISSION", action="Check the path and its permissions.") from error
    try:
        yield
    finally:
        lock.release()


def is_locked(lock_path: Path | None) -> bool:
    """Tell whether a pass is running, in this process or another; no file is made."""
    if lock_path is None or not lock_path.is_file():
        return False
    try:
        with one_at_a_time(lock_path, 0.0):
            return False
    except StoreBusyError:
        return True
    except StoreError:
        return False  # it cannot be opened: the next sync says so
