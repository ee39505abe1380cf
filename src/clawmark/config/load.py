"""The layers of configuration, each value with the place it came from.

Weakest first: defaults, the user's file, the workspace's file, the environment,
``config=``, arguments.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clawmark.config.schema import assemble, checked, fields_by_key, flatten, unknown
from clawmark.config.settings import HybridSettings, Settings
from clawmark.config.trust import only_trusted
from clawmark.core.errors import ConfigError
from clawmark.core.model import Notice

WORKSPACE_FILE = "clawmark.toml"
PREFIX = "CLAWMARK_"
# Names of the environment that choose things before there is a configuration.
RESERVED = frozenset({"CLAWMARK_HOME", "CLAWMARK_WORKSPACE", "CLAWMARK_AGENT", "CLAWMARK_CONFIG"})
SHOWN_MULTIPLIER = 4


@dataclass(frozen=True)
class LoadedSettings:
    """The effective settings.

    Attributes:
        settings: Checked values.
        origins: Dotted key to the place that set it; "default" otherwise.
        warnings: Settings that were ignored, and why.
    """

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[Notice, ...]


def user_config_file(environ: Mapping[str, str]) -> Path:
    """Give the user's own configuration file, which is trusted."""
    return _home(environ, "user_config_path") / "config.toml"


def user_cache_dir(environ: Mapping[str, str]) -> Path:
    """Give the folder for what can be made again: vectors, indexes of read-only workspaces."""
    home = environ.get("CLAWMARK_HOME")
    return Path(home) / "cache" if home else _home(environ, "user_cache_path")


def _home(environ: Mapping[str, str], name: str) -> Path:
    if environ.get("CLAWMARK_HOME"):
        return Path(environ["CLAWMARK_HOME"])
    import platformdirs

    return getattr(platformdirs, name)("clawmark", appauthor=False)


def load_settings(
    *,
    workspace: Path | None,
    config: Path | str | Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    user_file: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedSettings:
    """Read all layers and check every value.

    Args:
        workspace: Its ``clawmark.toml`` is read, and not trusted; None for no workspace.
        config: A TOML file, or tables in its shape; both are trusted.
        environ: Environment variables; None for those of the process.
        user_file: The user's file; None for the usual place.
        overrides: Values by dotted key that win over all.

    Raises:
        ConfigError: A file cannot be read, a key is unknown, a value cannot be used.
    """
    environ = os.environ if environ is None else environ
    values: dict[str, Any] = {}
    origins = dict.fromkeys(fields_by_key(), "default")
    warnings: tuple[Notice, ...] = ()

    def add(layer: Mapping[str, Any], place: str) -> None:
        for key, value in layer.items():
            values[key] = checked(key, value, place)
            origins[key] = place

    user_file = user_file or user_config_file(environ)
    if user_file.is_file():
        add(flatten(_read(user_file), str(user_file)), f"user file {user_file}")
    if workspace is not None and (workspace / WORKSPACE_FILE).is_file():
        path = workspace / WORKSPACE_FILE
        layer, warnings = only_trusted(flatten(_read(path), str(path)), workspace, path, user_file)
        add(layer, WORKSPACE_FILE)
    for name, (key, value) in _from_environment(environ).items():
        add({key: value}, f"environment {name}")
    if isinstance(config, (str, Path)):
        add(flatten(_read(Path(config), required=True), str(config)), f"config {config}")
    elif config is not None:
        add(flatten(config, "config"), "config")
    add(dict(overrides or {}), "argument")
    return LoadedSettings(_finished(assemble(values), origins), origins, warnings)


def describe(loaded: LoadedSettings) -> list[tuple[str, Any, str]]:
    """List (key, value, origin) of every setting; secrets are only said to be set."""
    return [(key, _shown(key, _value_at(loaded.settings, key)), origin) for key, origin in loaded.origins.items()]


def _shown(key: str, value: Any) -> Any:
    if fields_by_key()[key].bounds.secret:
        return "(set)" if value else None
    return SHOWN_MULTIPLIER if key.endswith("candidate_multiplier") and value is None else value


def _value_at(settings: Settings, key: str) -> Any:
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, name if hasattr(value, name) else f"{name}_")
    return value


def _finished(settings: Settings, origins: Mapping[str, str]) -> Settings:
    """Bring values that depend on each other into line."""
    chunking = settings.chunking
    settings = replace(settings, chunking=replace(chunking, overlap=min(chunking.overlap, chunking.tokens - 1)))
    settings = replace(settings, query=replace(settings.query, hybrid=_balanced(settings.query.hybrid)))
    if settings.sessions.paths and origins["sources"] == "default":
        settings = replace(settings, sources=("memory", "sessions"))
    return settings


def _balanced(hybrid: HybridSettings) -> HybridSettings:
    total = hybrid.vector_weight + hybrid.text_weight
    if total == 0.0:
        return replace(hybrid, vector_weight=0.7, text_weight=0.3)
    if abs(total - 1.0) < 1e-9:
        return hybrid
    return replace(hybrid, vector_weight=hybrid.vector_weight / total, text_weight=hybrid.text_weight / total)


def _read(path: Path, *, required: bool = False) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        if not required:
            return {}
        raise ConfigError(
            f"The configuration {path} does not exist.", code="NO_CONFIG", action="Check the path."
        ) from error
    except OSError as error:
        message = f"The configuration {path} cannot be read: {error.strerror}."
        raise ConfigError(message, code="NO_CONFIG", action="Check its permissions.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} is not TOML: {error}.", code="BAD_TOML", action="Correct that line.") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, tuple[str, Any]]:
    found: dict[str, tuple[str, Any]] = {}
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in RESERVED:
            continue
        key = name.removeprefix(PREFIX).lower().replace("__", ".")
        if key not in fields_by_key():
            raise unknown(key, f"the environment ({name})")
        found[name] = (key, _toml_value(environ[name]) if _is_structured(key, environ[name]) else environ[name])
    return found


def _is_structured(key: str, text: str) -> bool:
    """Text settings are taken as they are, so that a key of digits stays text."""
    return "str" not in str(fields_by_key()[key].kind) or text.startswith(("[", "{", '"'))


def _toml_value(text: str) -> Any:
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
