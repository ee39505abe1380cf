"""Shared by all tests: a workspace to write notes into, a fixed clock, a home of their own."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

from clawmark import Memory

# The same examples on every run; `make soak` looks further.
settings.register_profile("steady", derandomize=True)
settings.load_profile("steady")

NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def _models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inflated weights of the local model are 76 MB: one copy for all tests."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, _models: Path) -> None:
    """No test reads or writes the settings and caches of the person who runs it."""
    home = tmp_path_factory.mktemp("home")
    (home / "cache").mkdir()
    (home / "cache" / "models").symlink_to(_models)
    monkeypatch.setenv("CLAWMARK_HOME", str(home))
    for name in ("CLAWMARK_WORKSPACE", "CLAWMARK_AGENT", "CLAWMARK_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty workspace."""
    folder = tmp_path / "ws"
    (folder / "memory").mkdir(parents=True)
    return folder


@pytest.fixture
def note(workspace: Path) -> Callable[[str, str], Path]:
    """Write a note below the workspace."""

    def write(path: str, text: str) -> Path:
        file = workspace / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return file

    return write


@pytest.fixture
def open_memory(workspace: Path) -> Iterator[Callable[..., Memory]]:
    """Open the workspace; the clock stands at 2026-06-30 12:00 UTC; closed at the end."""
    with ExitStack() as stack:

        def opener(**options: Any) -> Memory:
            options.setdefault("clock", lambda: NOW)
            options.setdefault("embedder", "none")
            return stack.enter_context(Memory(options.pop("workspace", workspace), **options))

        yield opener
