"""Proof that notes are only read: their bytes before and after."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# A sparse file of 500 MB is told by its beginning, its size and its time.
_MOST_BYTES = 1_000_000


def snapshot(folder: Path) -> dict[str, str]:
    """Give a digest of everything below a folder but the index: kind, rights, time and content."""
    found: dict[str, str] = {}
    for parent, names, files in os.walk(folder):
        names[:] = [name for name in names if name != ".clawmark"]
        for name in (*names, *files):
            place = Path(parent, name)
            found[str(place.relative_to(folder))] = _digest(place)
    return found


@contextmanager
def untouched(folder: Path) -> Iterator[None]:
    """Check that a block changes nothing below a folder but the index."""
    before = snapshot(folder)
    yield
    assert snapshot(folder) == before


def _digest(place: Path) -> str:
    state = place.lstat()
    content = b""
    if stat.S_ISREG(state.st_mode):
        with place.open("rb") as file:
            content = hashlib.sha256(file.read(_MOST_BYTES)).digest()
    elif stat.S_ISLNK(state.st_mode):
        content = os.fsencode(place.readlink())
    times = state.st_mtime_ns if not stat.S_ISDIR(state.st_mode) else 0
    return f"{state.st_mode:o} {state.st_size if content else 0} {times} {content.hex()}"
