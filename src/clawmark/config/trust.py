"""What a ``clawmark.toml`` that came with a workspace may decide.

A workspace may be a clone of somebody else's repository: its file may tune ranking and
leave files out, and never name a command, a URL, a key, a model or a place outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clawmark.core.model import Notice

_FREE_TABLES = ("query.", "chunking.", "citations.")
_FREE_KEYS = frozenset({"files.include", "files.exclude"})


def only_trusted(
    layer: Mapping[str, Any], workspace: Path, path: Path, user_file: Path
) -> tuple[dict[str, Any], tuple[Notice, ...]]:
    """Keep what a workspace's file may set, and give a warning for each of the rest."""
    kept: dict[str, Any] = {}
    warnings: list[Notice] = []
    for key, value in layer.items():
        if _allowed(key, value, workspace):
            kept[key] = value
        else:
            message = f"{path} may not set {key}: it came with the workspace and is not trusted."
            action = f"Set it in {user_file}, or with --config."
            warnings.append(Notice("UNTRUSTED_SETTING", message, action))
    return kept, tuple(warnings)


def _allowed(key: str, value: Any, workspace: Path) -> bool:
    if key.startswith(_FREE_TABLES) or key in _FREE_KEYS:
        return True
    if key == "sessions.paths":
        return isinstance(value, list) and all(_inside(item, workspace) for item in value)  # pyright: ignore[reportUnknownVariableType]
    return key == "embedding.provider" and value == "none"


def _inside(value: Any, workspace: Path) -> bool:
    if not isinstance(value, str) or value.startswith("~") or "\0" in value:
        return False
    return (workspace / value).resolve().is_relative_to(workspace.resolve())
