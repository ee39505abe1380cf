"""Real folders and files for the tests of the config room."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmark.config import LoadedSettings, load_settings
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of the user's own file; the real one is never read."""
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def ws(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    return folder


@pytest.fixture
def load(home: Path, ws: Path) -> Load:
    """Load with the files of the test and an environment that holds nothing else."""

    def run(
        config: Any = None, *, environ: Mapping[str, str] | None = None, overrides: Mapping[str, Any] | None = None
    ) -> LoadedSettings:
        variables = {"CLAWMARK_HOME": str(home), "PATH": "/bin", **(environ or {})}
        return load_settings(workspace=ws, config=config, environ=variables, overrides=overrides)

    return run


@pytest.fixture
def refused(load: Load) -> Refused:
    """Load what cannot be used, and give the error."""

    def run(*args: Any, **options: Any) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            load(*args, **options)
        return caught.value

    return run


@pytest.fixture
def user_file(home: Path) -> Path:
    return home / "config.toml"


@pytest.fixture
def workspace_file(ws: Path) -> Path:
    return ws / "clawmark.toml"
