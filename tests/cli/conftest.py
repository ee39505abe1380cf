"""A small workspace for the tests of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def zoo(note: Callable[[str, str], Path], workspace: Path) -> Path:
    note("MEMORY.md", "# Zoo\n\nThe zebra sleeps standing.\n")
    note("memory/2026-06-01.md", "# Monday\n\nFed the zebra two apples.\nThe lion slept.\n")
    note("memory/birds.md", "Two cranes stand at the lock.\n")
    return workspace
