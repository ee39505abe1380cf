"""For the user cases: a provider with known cosines that the command line can name."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from asking import install_table_provider, table_provider


@pytest.fixture
def table_env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, float]], dict[str, str]]:
    """Install the plug-in ``table``; give the environment that chooses it with a table of cosines."""
    folder = install_table_provider(tmp_path / "plugins")
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])
    return table_provider
