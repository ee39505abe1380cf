"""The memories that the tools of one process share: one per agent, workspace and settings."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawmark.config import LoadedSettings, Settings, load_settings
from clawmark.engine.memory import Memory
from clawmark.tools.model import Session

Config = Path | str | Mapping[str, Any] | None

_open: dict[tuple[str, str, Settings], Memory] = {}
_lock = threading.Lock()


def settings_of(config: Config, session: Session) -> LoadedSettings:
    """Load the settings that a session's memory has.

    Raises:
        ConfigError: One of them cannot be used.
    """
    workspace = Path(session.workspace).expanduser().absolute()
    return load_settings(workspace=workspace, config=config)


def shared_memory(config: Config, session: Session, settings: Settings) -> Memory:
    """Give the one open memory of an agent, a workspace and some settings.

    Raises:
        WorkspaceNotFoundError: The workspace is not a folder.
    """
    workspace = os.path.realpath(Path(session.workspace).expanduser())
    key = (workspace, session.owner, settings)
    with _lock:
        if key not in _open:
            _open[key] = Memory(session.workspace, session.owner, config)
        return _open[key]


def close_engines() -> None:
    """Close every shared memory; the next call opens its own again."""
    with _lock:
        memories = list(_open.values())
        _open.clear()
    for memory in memories:
        memory.close()
