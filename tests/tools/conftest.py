"""Tools of a workspace, closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clawmark import Memory
from clawmark.tools import Tool, close_engines, create_memory_tools, memory_tools
from clawmark.tools.model import Session


@pytest.fixture
def zoo(note: Callable[[str, str], Path], workspace: Path) -> Path:
    note("MEMORY.md", "# Zoo\n\nThe zebra sleeps standing.\n")
    note("memory/2026-06-01.md", "# Monday\n\nFed the zebra two apples.\nThe lion slept.\n")
    return workspace


@pytest.fixture
def tools(open_memory: Callable[..., Memory]) -> Callable[..., dict[str, Tool]]:
    """Give the tools of the workspace by name; options are those of ``memory_tools``, then of ``Memory``."""

    def make(
        *, session_key: str | None = None, write: bool = False, limits: Any = None, **options: Any
    ) -> dict[str, Tool]:
        made = memory_tools(open_memory(**options), session_key=session_key, write=write, limits=limits)
        return {tool.name: tool for tool in made}

    return make


@pytest.fixture
def created(workspace: Path) -> Iterator[Callable[..., dict[str, Tool]]]:
    """Make the tools of a session by keyword; shared memories are closed at the end."""

    def make(config: dict[str, Any] | None = None, **options: Any) -> dict[str, Tool]:
        write = options.pop("write", False)
        session = Session(options.pop("workspace", workspace), **options)
        keyword = {"embedding": {"provider": "none"}, **(config or {})}
        return {tool.name: tool for tool in create_memory_tools(keyword, session, write=write)}

    yield make
    close_engines()
