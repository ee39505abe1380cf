"""From a provider's name to an embedder: one resolver for every path."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmark.core.errors import ConfigError, EmbeddingError
from clawmark.core.ports import Embedder
from clawmark.core.scoring import IDENTITY_MAP, CosineMap

if TYPE_CHECKING:
    from clawmark.embedders.local import LocalEmbedder

ENTRY_POINTS = "clawmark.embedders"
NONE = "none"
# Names that the contract reserves, with the environment variable of their key.
REMOTE_KEYS = {
    "openai": "OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "voyage": "VOYAGE_API_KEY",
    "mistral": "MISTRAL_API_KEY",
    "ollama": None,
}


def make_embedder(
    provider: str, settings: Any, environ: dict[str, str], cache_folder: Path | None = None
) -> Embedder | None:
    """Make the embedder of a provider; None for "none".

    Args:
        provider: Name from the configuration.
        settings: The ``[embedding]`` table; a plug-in's factory gets it.
        environ: Environment variables, for keys.
        cache_folder: Where models leave what starts them faster; None for nowhere.

    Raises:
        ConfigError: No provider has this name.
        EmbeddingError: The provider is known but cannot work here; code NO_PROVIDER_KEY
            when its key is missing.
    """
    if provider == NONE:
        return None
    if provider == "local":
        embedder = _local()
        embedder.cache_folder = embedder.cache_folder or cache_folder
        return embedder
    if provider in REMOTE_KEYS:
        raise _remote_unavailable(provider, settings, environ)
    return _plugin(provider, settings)


@cache
def _local() -> LocalEmbedder:
    """Give the one local embedder of the process: its model is 150 MB, and it holds no state."""
    from clawmark.embedders.local import LocalEmbedder

    return LocalEmbedder()


def check_provider(provider: str) -> None:
    """Refuse a name that no provider has, before any work.

    Raises:
        ConfigError: No provider has this name.
    """
    if provider not in {"local", NONE, *REMOTE_KEYS}:
        _entry_point(provider)


def provider_error(provider: str, settings: Any, environ: dict[str, str]) -> EmbeddingError | None:
    """Tell why a provider cannot start, where that is known at once; no model is loaded, nothing is asked."""
    return _remote_unavailable(provider, settings, environ) if provider in REMOTE_KEYS else None


def _remote_unavailable(provider: str, settings: Any, environ: dict[str, str]) -> EmbeddingError:
    variable = REMOTE_KEYS[provider]
    if variable and not getattr(settings, "api_key", None) and not environ.get(variable):
        return EmbeddingError(
            f"no key for provider {provider}",
            code="NO_PROVIDER_KEY",
            action=f"Set {variable}, or [embedding] api_key in your own configuration file.",
        )
    return EmbeddingError(
        f"provider {provider} is not part of this version",
        code="PROVIDER_MISSING",
        action='Use provider = "local", or install a plug-in that offers it.',
    )


def _plugin(provider: str, settings: Any) -> Embedder:
    return _entry_point(provider).load()(settings)


def _entry_point(provider: str) -> Any:
    # Looking up entry points costs 50 to 200 ms, so only for names that are not built in.
    from importlib.metadata import entry_points

    found = entry_points(group=ENTRY_POINTS)
    for entry in found:
        if entry.name == provider:
            return entry
    names = sorted({"local", NONE, *REMOTE_KEYS, *(entry.name for entry in found)})
    import difflib

    near = difflib.get_close_matches(provider, names, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise ConfigError(
        f"No embedding provider is called {provider!r}.",
        code="UNKNOWN_PROVIDER",
        action=f"{hint}Known: {', '.join(names)}.",
    )


@cache
def _maps() -> dict[str, CosineMap]:
    text = Path(__file__).with_name("cosine_maps.json").read_text(encoding="utf-8")
    return {
        name: CosineMap(tuple((float(x), float(y)) for x, y in entry["points"]), entry["source"])
        for name, entry in json.loads(text).items()
    }


def cosine_map(provider: str, model: str) -> CosineMap:
    """Give the map from cosine to vector score of an embedder; the identity when unknown."""
    return _maps().get(f"{provider}/{model}", IDENTITY_MAP)
