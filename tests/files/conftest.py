"""Real workspaces for the tests of the files room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.model import WriteReport
from clawmark.files import FileRules
from clawmark.files.writing import append_note, write_note

WriteNote = Callable[..., Path]


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    """An empty workspace with room for neighbours."""
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def note(ws: Path) -> WriteNote:
    """Write a file of the workspace, folders included; text or bytes."""

    def write(path: str, content: str | bytes = "A fact.\n") -> Path:
        place = ws / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content if isinstance(content, bytes) else content.encode())
        return place

    return write


@pytest.fixture
def lock(ws: Path) -> Path:
    """The lock of those who write to the workspace."""
    return ws / ".clawmark" / "write.lock"


@pytest.fixture
def append(ws: Path, lock: Path) -> Callable[..., WriteReport]:
    """Append to a file of the workspace; rules by name."""

    def call(path: str, text: str, **rules: object) -> WriteReport:
        return append_note(FileRules(ws, **rules), path, text, lock_path=lock)  # pyright: ignore[reportArgumentType]

    return call


@pytest.fixture
def write(ws: Path, lock: Path) -> Callable[..., WriteReport]:
    """Write a file of the workspace; rules by name."""

    def call(path: str, text: str, expected_hash: str | None = None, **rules: object) -> WriteReport:
        chosen = FileRules(ws, **rules)  # pyright: ignore[reportArgumentType]
        return write_note(chosen, path, text, expected_hash=expected_hash, lock_path=lock)

    return call
