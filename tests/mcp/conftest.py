"""A small workspace for the tests of the MCP server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mcp_process import HttpServer, http_server


@pytest.fixture
def zoo(note: Callable[[str, str], Path], workspace: Path) -> Path:
    note("MEMORY.md", "# Zoo\n\nThe zebra sleeps standing.\n")
    note("memory/2026-06-01.md", "# Monday\n\nFed the zebra two apples.\nThe lion slept.\n")
    return workspace


@pytest.fixture
def served(zoo: Path) -> Iterator[HttpServer]:
    with http_server(zoo) as server:
        yield server
