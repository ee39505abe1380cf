"""Where the user's own settings and the user's cache are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

HOME_VARIABLE = "CLAWMARK_HOME"
_NAME = "clawmark"


def user_config_file(environ: Mapping[str, str]) -> Path:
    """Give the user's own configuration file, which is trusted; it need not exist.

    ``$CLAWMARK_HOME/config.toml`` where that variable is set, else in the folder that the
    system has for settings.
    """
    home = _own_home(environ)
    if home is None:
        import platformdirs

        home = platformdirs.user_config_path(_NAME, appauthor=False)
    return home / "config.toml"


def user_cache_dir(environ: Mapping[str, str]) -> Path:
    """Give the folder for what can be made again: vectors, indexes of read-only workspaces.

    ``$CLAWMARK_HOME/cache`` where that variable is set, else the system's cache folder.
    """
    home = _own_home(environ)
    if home is not None:
        return home / "cache"
    import platformdirs

    return platformdirs.user_cache_path(_NAME, appauthor=False)


def expanded(path: str | Path) -> Path:
    """Replace a ``~`` at the start of a path, when a home folder is known."""
    try:
        return Path(path).expanduser()
    except RuntimeError:  # no such user: the path is then reported as missing
        return Path(path)


def _own_home(environ: Mapping[str, str]) -> Path | None:
    named = environ.get(HOME_VARIABLE)
    return expanded(named).absolute() if named else None
