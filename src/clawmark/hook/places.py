"""Where the memory of an event lies: workspace, settings, index."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawmark.core.digest import content_hash
from clawmark.hook.choices import Choices, load_choices
from clawmark.hook.silence import Silence

_NAME = "clawmark"
_SQLITE = "sqlite:///"


@dataclass(frozen=True)
class Place:
    """One agent's memory on the disk.

    Attributes:
        workspace: The folder with ``MEMORY.md`` and ``memory/``.
        agent: Owner of the index.
        choices: Effective settings.
        index: The index file; it exists.
    """

    workspace: Path
    agent: str
    choices: Choices
    index: Path


def find_place(event: Mapping[str, Any], environ: Mapping[str, str], options: Mapping[str, str]) -> Place:
    """Find the memory that an event is about.

    Raises:
        Silence: There is none, it is switched off, or it has no index.
    """
    named = options.get("workspace") or environ.get("CLAWMARK_WORKSPACE")
    workspace = Path(named).expanduser().absolute() if named else nearest(event.get("cwd"))
    if workspace is None:
        raise Silence("no folder above holds MEMORY.md or memory/")
    config = options.get("config") or environ.get("CLAWMARK_CONFIG")
    config_file, cache = user_folders(environ)
    choices = load_choices(workspace, config, config_file, environ)
    if not choices.enabled:
        raise Silence("enabled is false")
    agent = options.get("agent") or environ.get("CLAWMARK_AGENT") or "main"
    return Place(workspace, agent, choices, _index(workspace, choices.store_url, cache))


def user_folders(environ: Mapping[str, str]) -> tuple[Path, Path]:
    """Give the user's configuration file and cache folder, as ``config.folders`` does.

    By hand, because the library for it is not in the standard one; the tests compare both.
    """
    if home := environ.get("CLAWMARK_HOME"):
        return Path(home).expanduser().absolute() / "config.toml", Path(home).expanduser().absolute() / "cache"
    user = Path("~").expanduser()
    if sys.platform == "win32":
        local = Path(environ.get("LOCALAPPDATA") or user / "AppData" / "Local") / _NAME
        return local / "config.toml", local / "Cache"
    if sys.platform == "darwin":
        library = user / "Library"
        return library / "Application Support" / _NAME / "config.toml", library / "Caches" / _NAME
    config = Path(environ.get("XDG_CONFIG_HOME", "").strip() or user / ".config")
    return config / _NAME / "config.toml", Path(environ.get("XDG_CACHE_HOME", "").strip() or user / ".cache") / _NAME


def nearest(cwd: Any) -> Path | None:
    """Give the nearest folder that holds a memory, as ``files.find_workspace`` does without its imports."""
    start = Path(cwd if isinstance(cwd, str) and cwd else ".").absolute()
    for folder in (start, *start.parents):
        if _is(folder / "MEMORY.md", stat.S_ISREG) or _is(folder / "memory", stat.S_ISDIR):
            return folder
    return None


def _is(path: Path, kind: Any) -> bool:
    try:
        return kind(path.stat().st_mode)
    except OSError:
        return False


def _index(workspace: Path, url: str | None, cache: Path) -> Path:
    if url and not url.startswith(_SQLITE):
        raise Silence("the index is not an SQLite file")
    places = _named(workspace, url) if url else _usual(workspace, cache)
    found = next((place for place in places if _is(place, stat.S_ISREG) and os.access(place, os.R_OK)), None)
    if found is None:
        raise Silence("there is no index; run `clawmark index`")
    return found


def _named(workspace: Path, url: str) -> Iterator[Path]:
    yield workspace / Path(url.removeprefix(_SQLITE)).expanduser()


def _usual(workspace: Path, cache: Path) -> Iterator[Path]:
    """Give the index in the workspace, then the one of a workspace that may not be written."""
    # A link could have come with a clone and lead anywhere.
    if not (workspace / ".clawmark").is_symlink():
        yield workspace / ".clawmark" / "index.sqlite"
    name = content_hash(str(workspace.resolve()).encode("utf-8", "surrogateescape"))[:16]
    yield cache / "indexes" / name / "index.sqlite"
