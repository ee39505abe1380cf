"""The layers of configuration in their order, each value with the place it came from.

Weakest first: defaults, the user's file, the workspace's file, the environment,
``config=``, arguments.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from clawmark.config.folders import expanded, user_config_file
from clawmark.config.layers import WORKSPACE_FILE, Given, from_config, from_environment, from_file, from_tables
from clawmark.config.places import Place, Spot
from clawmark.config.schema import all_keys, assemble, fields_by_key
from clawmark.config.settings import HybridSettings, Settings
from clawmark.config.trust import only_allowed
from clawmark.config.values import checked
from clawmark.core.model import Notice

DEFAULT = "default"


@dataclass(frozen=True)
class LoadedSettings:
    """The effective settings, and how they came about.

    Attributes:
        settings: Checked values.
        origins: Every dotted key to what set it: "default", "user file PATH",
            "clawmark.toml", "environment CLAWMARK_NAME", "config PATH", "config" for a
            mapping, or "argument".
        warnings: What a workspace's own file wanted and may not set.
    """

    settings: Settings
    origins: dict[str, str]
    warnings: tuple[Notice, ...]


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
        user_file: The user's file, which is trusted and need not exist; None for the
            usual place.
        overrides: Values by dotted key that win over all.

    Raises:
        ConfigError: A key is unknown (UNKNOWN_SETTING), a value has the wrong type or lies
            outside its range (BAD_SETTING), a file is not TOML (BAD_TOML), is missing
            (CONFIG_NOT_FOUND) or cannot be read (CONFIG_UNREADABLE).
    """
    environ = os.environ if environ is None else environ
    trusted = user_config_file(environ) if user_file is None else user_file
    kept, warnings = _workspace_layer(workspace, config, trusted)
    layers: tuple[Iterable[Given], ...] = (
        from_file(trusted, Place(f"user file {trusted}", str(trusted))),
        kept,
        from_environment(environ),
        from_config(config),
        from_tables(overrides or {}, Place("argument", "the arguments")),
    )
    values, origins = _merged(layers)
    return LoadedSettings(_finished(assemble(values), named=bool(values.get("sources"))), origins, warnings)


def _workspace_layer(workspace: Path | None, config: Any, trusted: Path) -> tuple[list[Given], tuple[Notice, ...]]:
    path = None if workspace is None else workspace / WORKSPACE_FILE
    # Whoever hands over the workspace's own file trusts it; then nothing of it is ignored.
    if workspace is None or path is None or _is_same(path, config):
        return [], ()
    return only_allowed(from_file(path, Place(WORKSPACE_FILE, str(path))), workspace, path=path, trusted=trusted)


def _is_same(path: Path, config: Any) -> bool:
    if not isinstance(config, (str, Path)) or "\0" in str(config):
        return False
    return os.path.realpath(expanded(config)) == os.path.realpath(path)


def _merged(layers: Iterable[Iterable[Given]]) -> tuple[dict[str, Any], dict[str, str]]:
    """Check every value, also one that a stronger layer replaces, and let the strongest win."""
    fields = fields_by_key()
    values: dict[str, Any] = {}
    origins = dict.fromkeys(all_keys(), DEFAULT)
    for layer in layers:
        for key, value, place in layer:
            field = fields[key]
            values[key] = checked(field, value, Spot(key, place.name, field.bounds.secret or field.bounds.url))
            origins[key] = place.origin
    return values, origins


def _finished(settings: Settings, *, named: bool) -> Settings:
    """Bring values that depend on each other into line."""
    chunking = settings.chunking
    settings = replace(
        settings,
        chunking=replace(chunking, overlap=min(chunking.overlap, chunking.tokens - 1)),
        query=replace(settings.query, hybrid=_balanced(settings.query.hybrid)),
    )
    if named:
        return settings
    return replace(settings, sources=("memory", "sessions") if settings.sessions.paths else ("memory",))


def _balanced(hybrid: HybridSettings) -> HybridSettings:
    """Make the weights sum to 1; nothing at all is as if nothing was said."""
    total = hybrid.vector_weight + hybrid.text_weight
    if total == 0.0:
        return replace(hybrid, vector_weight=0.7, text_weight=0.3)
    # Dividing by a sum that is 1 but for rounding would move the weights by a last digit.
    if abs(total - 1.0) < 1e-9:
        return hybrid
    return replace(hybrid, vector_weight=hybrid.vector_weight / total, text_weight=hybrid.text_weight / total)
