"""What agents have forgotten, in the index and in a small file beside it.

The index is derived and may be thrown away or made anew; what was forgotten cannot be
derived from the files. So a new index takes its tombstones from the file beside it.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from clawmark.core.errors import StoreError
from clawmark.core.forgetting import Tombstone

_COLUMNS = "kind, value, subject"
_FORMAT = 1


def tombstones_of(db: sqlite3.Connection, agent: str) -> frozenset[Tombstone]:
    """Give the tombstones of an agent."""
    rows = db.execute(f"SELECT {_COLUMNS} FROM tombstones WHERE agent = ?", (agent,))
    return frozenset(Tombstone(*row) for row in rows)


def put_tombstones(db: sqlite3.Connection, agent: str, tombstones: Collection[Tombstone]) -> None:
    """Add tombstones of an agent."""
    db.executemany(
        f"INSERT OR IGNORE INTO tombstones (agent, {_COLUMNS}) VALUES (?, ?, ?, ?)",
        [(agent, stone.kind, stone.value, stone.subject) for stone in tombstones],
    )


def remove_tombstones(db: sqlite3.Connection, agent: str, tombstones: Collection[Tombstone]) -> None:
    """Drop tombstones of an agent."""
    db.executemany(
        "DELETE FROM tombstones WHERE agent = ? AND kind = ? AND value = ? AND subject = ?",
        [(agent, stone.kind, stone.value, stone.subject) for stone in tombstones],
    )


def copy_path(index: Path) -> Path:
    """Give the file beside an index that keeps its tombstones."""
    return index.with_name(f"{index.name}.forgotten.json")


def write_copy(db: sqlite3.Connection, index: Path) -> None:
    """Write the tombstones of all agents beside the index: the whole file, or the old one.

    Raises:
        StoreError: The file cannot be written; nothing is forgotten then.
    """
    path = copy_path(index)
    # One name for all: only one process at a time is in a transaction, and what a killed
    # one has left is overwritten.
    temporary = path.with_name(f"{path.name}.tmp")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            json.dump({"format": _FORMAT, "tombstones": _all_rows(db)}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        message = f"What is forgotten cannot be noted in {path}: {error.strerror or error}."
        raise StoreError(message, code="INDEX_PERMISSION", action="Check the path and its permissions.") from error


def read_copy(index: Path) -> list[list[str]]:
    """Give the rows of the file beside an index; none when there is no such file.

    Raises:
        StoreError: It cannot be read: an index made without it would bring back what was forgotten.
    """
    path = copy_path(index)
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return [_checked(row) for row in data["tombstones"]]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"What was forgotten cannot be read from {path}: {error}.",
            code="FORGOTTEN_UNREADABLE",
            action="Restore that file, or delete it: everything forgotten may then be indexed again.",
        ) from error


def load_copy(db: sqlite3.Connection, index: Path) -> None:
    """Fill the table of a new index from the file beside it, within the caller's transaction."""
    rows = read_copy(index)
    db.executemany(f"INSERT OR IGNORE INTO tombstones (agent, {_COLUMNS}) VALUES (?, ?, ?, ?)", rows)


def copy_differs(db: sqlite3.Connection, index: Path) -> bool:
    """Tell whether the file beside an index lacks, or adds, something."""
    return sorted(read_copy(index)) != sorted(_all_rows(db))


def _all_rows(db: sqlite3.Connection) -> list[list[str]]:
    rows: Iterable[Any] = db.execute(f"SELECT agent, {_COLUMNS} FROM tombstones ORDER BY agent, kind, value, subject")
    return [list(row) for row in rows]


def _checked(row: Any) -> list[str]:
    if not isinstance(row, list) or len(row) != 4 or not all(isinstance(cell, str) for cell in row):  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
        raise ValueError(f"{row!r} is no tombstone")
    return row  # pyright: ignore[reportUnknownVariableType]
