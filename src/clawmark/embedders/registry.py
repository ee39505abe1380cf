"""From a provider's name to an embedder: one resolver for every path."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clawmark.core.digest import content_hash
from clawmark.core.errors import ConfigError, EmbeddingError
from clawmark.core.ports import Embedder
from clawmark.core.scoring import IDENTITY_MAP, CosineMap
from clawmark.embedders.ledger import Ledger

if TYPE_CHECKING:
    from clawmark.embedders.dialect import Dialect
    from clawmark.embedders.local import LocalEmbedder

ENTRY_POINTS = "clawmark.embedders"
NONE = "none"
AUTO = "auto"
LOCAL = "local"
LOCAL_MODEL = "use-multilingual-v3"
# Remote providers by module and class, in the order in which "auto" tries them.
_DIALECTS = {
    "openai": ("openai", "OpenAi"),
    "gemini": ("gemini", "Gemini"),
    "voyage": ("voyage", "Voyage"),
    "mistral": ("mistral", "Mistral"),
    "ollama": ("ollama", "Ollama"),
}
REMOTE_PROVIDERS = tuple(_DIALECTS)
# A server on this machine may not run, and costs time to ask: it is chosen by name only.
_AUTOMATIC = ("openai", "gemini", "voyage", "mistral")


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True)
class Surroundings:
    """What a remote embedder shares with others, and how it tells time.

    Attributes:
        ledger: Learned limits.
        clock: Gives now.
        told: Told (provider, model, texts, tokens) of each answer that is paid for.
        pause: Waits between tries; None for real waiting.
    """

    ledger: Ledger = field(default_factory=lambda: Ledger(None))
    clock: Callable[[], datetime] = _utc_now
    told: Callable[[str, str, int, int], None] = lambda provider, model, texts, tokens: None
    pause: Callable[[float], None] | None = None


def make_embedder(
    provider: str,
    settings: Any,
    environ: Mapping[str, str],
    around: Surroundings | None = None,
    cache_folder: Path | None = None,
) -> Embedder | None:
    """Make the embedder of a provider; None for "none".

    Args:
        provider: Name from the configuration, not "auto".
        settings: The ``[embedding]`` table, None for its defaults; a plug-in's factory gets it.
        environ: Environment variables, for keys.
        around: What a remote one shares with others.
        cache_folder: Where models leave what starts them faster; None for nowhere.

    Raises:
        ConfigError: No provider has this name, or it has no such model.
        EmbeddingError: The provider is known but cannot work here; code NO_PROVIDER_KEY
            when its key is missing.
    """
    check_provider(provider, settings)
    if provider == NONE:
        return None
    if provider == LOCAL:
        embedder = _local()
        embedder.cache_folder = embedder.cache_folder or cache_folder
        return embedder
    if provider in _DIALECTS:
        return _remote(dialect_of(provider), settings, environ, around or Surroundings())
    return _entry_point(provider).load()(settings)


@cache
def _local() -> LocalEmbedder:
    """Give the one local embedder of the process: its model is 150 MB, and it holds no state."""
    from clawmark.embedders.local import LocalEmbedder

    return LocalEmbedder()


@cache
def dialect_of(provider: str) -> Dialect:
    """Give the dialect of a remote provider."""
    module, name = _DIALECTS[provider]
    return getattr(import_module(f"clawmark.embedders.{module}"), name)()


def is_remote(provider: str) -> bool:
    """Tell whether a provider is one that is asked over HTTP."""
    return provider in _DIALECTS


def chosen_provider(provider: str, settings: Any, environ: Mapping[str, str]) -> str:
    """Give the provider that a name stands for: "auto" is the first that has a key, else the fallback.

    Nothing is sent anywhere to find out.
    """
    if provider != AUTO:
        return provider
    from clawmark.embedders.secrets import find_key

    found = next((name for name in _AUTOMATIC if find_key(dialect_of(name), None, environ)), None)
    fallback = getattr(settings, "fallback", NONE)
    return found or (LOCAL if fallback in {NONE, AUTO} else fallback)


def check_provider(provider: str, settings: Any = None) -> None:
    """Refuse a name that no provider has, or a model that it has not, before any work.

    Raises:
        ConfigError: Which of them, and what to use instead.
    """
    if provider in {NONE, AUTO}:
        return
    if provider == LOCAL:
        _check_model(provider, getattr(settings, "model", None), [LOCAL_MODEL])
    elif provider in _DIALECTS:
        dialect = dialect_of(provider)
        model = _model_name(dialect, settings)
        if not (dialect.open_ended or getattr(settings, "base_url", None)):
            _check_model(provider, model, sorted(dialect.models))
            _check_dimensions(dialect, model, settings)
    else:
        _entry_point(provider)


def provider_error(provider: str, settings: Any, environ: Mapping[str, str]) -> EmbeddingError | None:
    """Tell why a provider cannot start, where that is known at once; no model is loaded, nothing is asked."""
    if provider not in _DIALECTS:
        return None
    from clawmark.embedders.secrets import find_key

    dialect = dialect_of(provider)
    if dialect.key_optional or getattr(settings, "base_url", None):
        return None
    return None if find_key(dialect, getattr(settings, "api_key", None), environ) else _key_missing(dialect)


def address_of(provider: str, settings: Any) -> str:
    """Give the address that a remote provider is asked at."""
    dialect = dialect_of(provider)
    return dialect.endpoint(getattr(settings, "base_url", None) or dialect.base_url)


def model_of(provider: str, settings: Any) -> str:
    """Give the model that a remote provider is asked for."""
    return _model_name(dialect_of(provider), settings)


def account_of(provider: str, settings: Any, environ: Mapping[str, str]) -> str:
    """Give a name for a provider at an address with a key, that tells neither address nor key."""
    if provider not in _DIALECTS:
        return provider
    from clawmark.embedders.secrets import find_key

    dialect = dialect_of(provider)
    key = find_key(dialect, getattr(settings, "api_key", None), environ) or ""
    return f"{provider}/{content_hash(f'{address_of(dialect.name, settings)}{chr(0)}{key}'.encode())[:16]}"


def _model_name(dialect: Dialect, settings: Any) -> str:
    model = (getattr(settings, "model", None) or "").strip() or dialect.default_model
    if getattr(settings, "base_url", None) and not dialect.open_ended:
        return model  # behind a gateway, "openai/…" may be a name of its own
    prefix = next((prefix for prefix in dialect.name_prefixes if model.startswith(prefix)), "")
    return model.removeprefix(prefix)


def _check_model(provider: str, model: str | None, known: list[str]) -> None:
    if model is None or model in known:
        return
    import difflib

    near = difflib.get_close_matches(model, known, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    remote = " A newer one can be used with [embedding] base_url." if provider in _DIALECTS else ""
    raise ConfigError(
        f"Provider {provider} has no model called {model!r}.",
        code="UNKNOWN_MODEL",
        action=f"{hint}Known: {', '.join(known)}.{remote}",
    )


def _check_dimensions(dialect: Dialect, model: str, settings: Any) -> None:
    facts = dialect.models.get(model.partition(":")[0])
    wanted = getattr(settings, "dimensions", None)
    if wanted is None or facts is None or facts.resizable or wanted == facts.dimensions:
        return
    raise ConfigError(
        f"{dialect.name}/{model} has vectors of {facts.dimensions} numbers, never of {wanted}.",
        code="BAD_SETTING",
        action="Remove [embedding] dimensions, or choose another model.",
    )


def _remote(dialect: Dialect, settings: Any, environ: Mapping[str, str], around: Surroundings) -> Embedder:
    from clawmark.embedders.remote import RemoteEmbedder
    from clawmark.embedders.secrets import find_key, scrubbed, secrets_of
    from clawmark.embedders.transport import Transport

    own_address = bool(getattr(settings, "base_url", None))
    key = find_key(dialect, getattr(settings, "api_key", None), environ)
    if key is None and not (dialect.key_optional or own_address):
        raise _key_missing(dialect)
    model = _model_name(dialect, settings)
    # What a server behind another address calls by the same name need not be the same model.
    facts = dialect.models.get(model.partition(":")[0]) if dialect.open_ended or not own_address else None
    wanted = getattr(settings, "dimensions", None)
    extra: dict[str, str] = dict(getattr(settings, "headers", None) or {})
    address = address_of(dialect.name, settings)
    transport = Transport(address, {**dialect.headers(key), **extra}, dialect.name)
    secrets = secrets_of(key, extra, address)
    pause = {} if around.pause is None else {"pause": around.pause}
    return RemoteEmbedder(
        dialect,
        transport,
        model,
        facts=facts,
        dimensions=wanted if facts is None or facts.resizable else None,
        timeout=getattr(settings, "timeout", None),
        ledger=around.ledger,
        key=account_of(dialect.name, settings, environ),
        clock=around.clock,
        clean=lambda text: scrubbed(text, secrets),
        told=lambda texts, tokens: around.told(dialect.name, model, texts, tokens),
        **pause,
    )


def _key_missing(dialect: Dialect) -> EmbeddingError:
    return EmbeddingError(
        f"no key for provider {dialect.name}",
        code="NO_PROVIDER_KEY",
        action=f"Set {dialect.key_variables[0]}, or [embedding] api_key in your own configuration file.",
    )


def _entry_point(provider: str) -> Any:
    # Looking up entry points costs 50 to 200 ms, so only for names that are not built in.
    from importlib.metadata import entry_points

    found = entry_points(group=ENTRY_POINTS)
    for entry in found:
        if entry.name == provider:
            return entry
    names = sorted({LOCAL, NONE, AUTO, *_DIALECTS, *(entry.name for entry in found)})
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
