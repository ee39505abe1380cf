"""The settings that a hook heeds; they are read only where somebody set something.

Loading the configuration takes a third of a hook's time, and most people have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from clawmark.core.decay import DecaySettings
from clawmark.core.errors import ConfigError
from clawmark.core.trust import Origin, TrustRule
from clawmark.hook.silence import Silence

if TYPE_CHECKING:
    from clawmark.config.settings import Settings

_PREFIX = "CLAWMARK_"
# Variables that are no settings: ``config.naming.RESERVED``.
NO_SETTINGS = frozenset({"CLAWMARK_HOME", "CLAWMARK_WORKSPACE", "CLAWMARK_AGENT", "CLAWMARK_CONFIG"})


@dataclass(frozen=True)
class Choices:
    """What the configuration says to a hook; the defaults are those of the settings."""

    enabled: bool = True
    sources: tuple[str, ...] = ("memory",)
    max_results: int = 6
    follow_links: bool = False
    max_bytes: int = 10_000_000
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    session_paths: tuple[str, ...] = ()
    store_url: str | None = None
    trust: tuple[TrustRule, ...] = ()
    inject_min: Origin = "tool"
    decay: DecaySettings = field(default_factory=DecaySettings)


def load_choices(workspace: Path, config: str | None, user_file: Path, environ: Mapping[str, str]) -> Choices:
    """Read the configuration of a workspace, if there is any.

    Args:
        workspace: Its ``clawmark.toml`` is not trusted.
        config: A trusted TOML file; None for none.
        user_file: The user's own file; it need not exist.
        environ: Environment variables.

    Raises:
        Silence: A setting cannot be used.
    """
    named = any(name.startswith(_PREFIX) and name not in NO_SETTINGS for name in environ)
    if not (named or config or user_file.exists() or (workspace / "clawmark.toml").exists()):
        return Choices()
    from clawmark.config.load import load_settings

    trusted = Path(config) if config else None
    try:
        loaded = load_settings(workspace=workspace, config=trusted, environ=environ, user_file=user_file)
    except ConfigError as error:
        raise Silence(error.message) from error
    return choices_of(loaded.settings)


def choices_of(settings: Settings) -> Choices:
    """Take from the settings what a hook heeds."""
    from clawmark.engine.rules import decay_settings, trust_rules

    return Choices(
        enabled=settings.enabled,
        sources=settings.sources,
        max_results=settings.query.max_results,
        follow_links=settings.files.follow_links,
        max_bytes=settings.files.max_bytes,
        include=settings.files.include,
        exclude=settings.files.exclude,
        session_paths=settings.sessions.paths,
        store_url=settings.store.url,
        trust=trust_rules(settings),
        inject_min=settings.trust.inject_min,
        decay=decay_settings(settings),
    )
