"""Real workspaces for the tests of the files room."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

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
