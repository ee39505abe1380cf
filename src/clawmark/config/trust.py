"""What a ``clawmark.toml`` that came with a workspace may decide.

A workspace may be a clone of somebody else's repository: its file may tune ranking and
leave files out, and never name a command, a URL, a key, a model or a place outside.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PureWindowsPath
from typing import Any, cast

from clawmark.config.layers import Given
from clawmark.core.model import Notice

_FREE_TABLES = ("query.", "chunking.", "citations.")
_FREE_KEYS = frozenset({"files.include", "files.exclude"})
_SESSION_PATHS = "sessions.paths"
_PROVIDER = "embedding.provider"


def only_allowed(
    layer: Iterable[Given], workspace: Path, *, path: Path, trusted: Path
) -> tuple[list[Given], tuple[Notice, ...]]:
    """Keep what a workspace's file may set, and give a notice for each of the rest.

    Args:
        layer: What the file says.
        workspace: The folder that holds it.
        path: The file, for the notices.
        trusted: The user's own file, which may set everything.
    """
    kept: list[Given] = []
    notices: list[Notice] = []
    for given in layer:
        value, reason = _allowed(given.key, given.value, workspace)
        if value is not None:
            kept.append(given._replace(value=value))
        if reason:
            notices.append(
                Notice(
                    "UNTRUSTED_SETTING",
                    f"{given.key} in {path} is ignored: {reason}.",
                    f"If you want it, set {given.key} in {trusted}, or in a file named with --config.",
                )
            )
    return kept, tuple(notices)


def _allowed(key: str, value: Any, workspace: Path) -> tuple[Any, str]:
    """Give what may be kept of a value, None for nothing, and the reason against the rest."""
    if key.startswith(_FREE_TABLES) or key in _FREE_KEYS:
        return value, ""
    if key == _SESSION_PATHS and isinstance(value, list):
        return _inside_only(cast("list[Any]", value), workspace)
    if key == _PROVIDER:
        return (value, "") if value == "none" else (None, 'a workspace\'s own file may only set it to "none"')
    return None, "a workspace's own file is not trusted with it"


def _inside_only(paths: list[Any], workspace: Path) -> tuple[list[Any] | None, str]:
    # What is no text at all stays in, and is an error of type like anywhere else.
    inside = [path for path in paths if not isinstance(path, str) or _stays_inside(path, workspace)]
    outside = ", ".join(repr(path) for path in paths if path not in inside)
    kept = inside if inside or not paths else None
    return kept, f"not a folder inside the workspace: {outside}" if outside else ""


def _stays_inside(path: str, workspace: Path) -> bool:
    """Tell whether a relative path leads below the workspace, by its text and through its links."""
    text = path.strip()
    # A drive or a backslash is absolute, or a step up, on one system and a name on another.
    if "\0" in text or text.startswith("~") or PureWindowsPath(text).anchor or "\\" in text:
        return False
    root = os.path.realpath(workspace)
    # The folders are walked by the normalised text, so that is what must stay inside.
    plain = os.path.normpath(Path(root, text))
    return _is_below(plain, root) and _is_below(os.path.realpath(plain), root)


def _is_below(path: str, root: str) -> bool:
    return Path(path).is_relative_to(root)
