"""Which embedder a memory works with, and why it is not the configured one.

One place decides for every path: index, search, estimate and status.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from clawmark.config import EmbeddingSettings, Settings
from clawmark.core.errors import ArgumentError, EmbeddingError
from clawmark.core.model import SyncReport
from clawmark.core.ports import Embedder
from clawmark.embedders.circuit import LASTING, Circuit
from clawmark.embedders.gate import GatedEmbedder
from clawmark.embedders.guard import Guard, GuardedEmbedder, Manner
from clawmark.embedders.ledger import LEDGER_FILE, Ledger, Pause
from clawmark.embedders.meter import Budget, Meter, prices
from clawmark.embedders.registry import (
    LOCAL,
    NONE,
    Surroundings,
    account_of,
    address_of,
    check_provider,
    chosen_provider,
    dialect_of,
    is_remote,
    make_embedder,
    model_of,
    provider_error,
)
from clawmark.engine.places import models_folder
from clawmark.sync import Progress, same_space

_NO_KEY = "NO_PROVIDER_KEY"


def settings_for(
    settings: Settings, embedder: Embedder | str | None, origin: str, environ: Mapping[str, str]
) -> Settings:
    """Let an argument replace the configured provider, and "auto" become a name.

    Args:
        settings: As loaded.
        embedder: The argument of ``Memory``.
        origin: What set ``embedding.provider``.
        environ: Environment variables, for keys.

    Raises:
        ArgumentError: The argument is neither an embedder nor a name.
        ConfigError: No provider, or fallback, has this name, or it has no such model.
    """
    table = settings.embedding
    if isinstance(embedder, str):
        if origin != "default" and embedder != table.provider:
            table = plain_table(table, embedder)
        table = replace(table, provider=embedder)
    elif embedder is None:
        pass
    elif isinstance(embedder, Embedder):  # pyright: ignore[reportUnnecessaryIsInstance]
        return replace(settings, embedding=replace(table, provider=embedder.provider))
    else:
        raise ArgumentError(f"embedder must be an Embedder or the name of a provider, not {embedder!r}.")
    table = replace(table, provider=chosen_provider(table.provider, table, environ))
    check_provider(table.provider, table)
    check_provider(table.fallback)
    return replace(settings, embedding=table)


def plain_table(table: EmbeddingSettings, provider: str) -> EmbeddingSettings:
    """Give the table for another provider: model, address and key belong to the one they were set for."""
    return replace(table, provider=provider, model=None, dimensions=None, base_url=None, api_key=None, headers={})


def continued(first: SyncReport, second: SyncReport) -> SyncReport:
    """Give the report of a pass that a second one, with another embedder, went on with."""
    return replace(
        first,
        failed=second.failed,
        pending=second.pending,
        texts_embedded=first.texts_embedded + second.texts_embedded,
        partial=second.partial,
        error=second.error,
        took_ms=first.took_ms + second.took_ms,
    )


class Providing:
    """Makes the embedder when it is first needed, and its fallback when it cannot work.

    Args:
        settings: Effective settings; the provider is a name, not "auto".
        given: An embedder that the user made.
        environ: Environment variables, for keys.
        cache_folder: Where usage and failures are shared with other processes.
        clock: Gives now.
    """

    def __init__(
        self,
        settings: Settings,
        given: Embedder | None,
        environ: Mapping[str, str],
        cache_folder: Path,
        clock: Callable[[], datetime],
    ) -> None:
        self._table = settings.embedding
        self._given = given
        self._environ = environ
        self._clock = clock
        budget = Budget(self._table.budget.daily_tokens, self._table.budget.daily_cost)
        # What a user's own embedder costs is the user's affair, unless there is a budget to keep.
        alone = given is not None and budget == Budget()
        self.ledger = Ledger(None if alone else cache_folder / LEDGER_FILE)
        self._budget = budget
        self._own_failures = Ledger(None)
        self._lock = threading.RLock()
        self._made: list[Any] = []
        self._keyless: str | None = None
        self.reason: str | None = None

    @cached_property
    def meter(self) -> Meter:
        """What is counted and limited; the price list is read when somebody is to pay."""
        return Meter(self.ledger, self._clock, prices({**self._free(), **self._table.prices}), self._budget)

    @property
    def wanted(self) -> str:
        """Name of the provider that should answer."""
        return self._table.provider

    @property
    def current(self) -> str | None:
        """Name of the provider that works now, without loading it; None in keyword mode."""
        if not self.embeds:
            return None
        if self._falls_back and (self._start_error() is not None or self._rests_for_long()):
            return self._table.fallback
        return self.wanted

    def error(self) -> EmbeddingError | None:
        """Tell why no provider can start, as far as that is known without loading one."""
        return None if self._falls_back else self._start_error()

    def _start_error(self) -> EmbeddingError | None:
        return None if self._given is not None else provider_error(self.wanted, self._table, self._environ)

    @property
    def embeds(self) -> bool:
        """Whether anything is embedded at all."""
        return self.wanted != NONE

    def for_pass(self, *, explicit: bool, instead: bool = False, progress: Progress | None = None) -> Embedder | None:
        """Give the embedder for indexing.

        Args:
            explicit: Somebody asked for the pass and waits: the wanted provider is tried
                although it rests, and a rate limit is waited for.
            instead: The wanted provider has just failed; its fallback goes on.
            progress: Told how long is waited.
        """
        insists = explicit and not instead
        guard = self._chosen(insists=insists)
        if guard is None:
            return None
        manner = Manner(patient=explicit, insists=insists)
        return GuardedEmbedder(guard, replace(manner, told=progress) if progress else manner)

    def for_query(self, space: Mapping[str, Any] | None) -> Embedder | None:
        """Give the embedder for a question: the one whose vectors the index holds."""
        guard = self._chosen(insists=False)
        if guard is None:
            return None
        if self._falls_back and space is not None and space["provider"] == self._table.fallback:
            other = self._fallback_guard
            if other is not None and other is not guard and same_space(dict(space), other.embedder):
                self.reason = "the vectors of the index are those of the fallback"
                guard = other
        return GuardedEmbedder(guard)

    def falls_back_after(self, code: str) -> bool:
        """Tell whether a failure of the wanted provider is one for its fallback: waiting does not mend it."""
        return self._falls_back and code in LASTING

    def pause(self) -> Pause | None:
        """Give the pause of the wanted provider, over or not; None when it works."""
        if not self.embeds or self.wanted == LOCAL:
            return None
        return self._circuit.last()

    @property
    def timeout(self) -> float | None:
        """Seconds for a request of passages; None when there are no requests."""
        if self._table.timeout is not None or not is_remote(self.wanted):
            return self._table.timeout
        return dialect_of(self.wanted).document_seconds

    def is_due(self) -> bool:
        """Tell whether the wanted provider rested after a failure and may be tried again."""
        pause = self.pause()
        return pause is not None and pause.until <= self._circuit.now()

    def load(self) -> None:
        """Make the model ready in the background."""
        guard = self._chosen(insists=False)
        if guard is not None and not guard.loading:
            guard.loading = True
            threading.Thread(target=guard.load, name="clawmark-load", daemon=True).start()

    def close(self) -> None:
        """Release connections and the ledger; an embedder that was given is its owner's."""
        for embedder in self._made:
            close = getattr(embedder, "close", None)
            if close is not None:
                close()
        self._own_failures.close()
        self.ledger.close()

    @property
    def _falls_back(self) -> bool:
        return self._table.fallback not in {NONE, self.wanted}

    def _chosen(self, *, insists: bool) -> Guard | None:
        """Give the wanted embedder, or its fallback while it cannot work."""
        with self._lock:
            if self._keyless is None and not (self._falls_back and not insists and self._rests_for_long()):
                guard = self._wanted_or_keyless()
                if self._keyless is None:
                    self.reason = None
                    return guard
            return self._fallback_guard

    def _wanted_or_keyless(self) -> Guard | None:
        try:
            return self._wanted_guard
        except EmbeddingError as error:
            if error.code != _NO_KEY or not self._falls_back:
                raise
            self._keyless = self.reason = error.message
            return None

    def _rests_for_long(self) -> bool:
        pause = self.pause()
        if pause is None or pause.code not in LASTING or pause.until <= self._circuit.now():
            return False
        self.reason = pause.reason
        return True

    @cached_property
    def _circuit(self) -> Circuit:
        if self._given is not None:
            # What a user made may be one of many of the same name: its failures are its own.
            return Circuit(self._own_failures, self.wanted, self.wanted, self._clock)
        return self._circuit_of(self.wanted, self._table)

    @cached_property
    def _wanted_guard(self) -> Guard | None:
        if self._given is None:
            return self._guard_of(self.wanted, self._table)
        gated = GatedEmbedder(self._given)
        return Guard(gated) if self.wanted == LOCAL else Guard(gated, self._circuit, self.meter)

    @cached_property
    def _fallback_guard(self) -> Guard | None:
        name = self._table.fallback
        return self._guard_of(name, plain_table(self._table, name))

    def _guard_of(self, name: str, table: EmbeddingSettings) -> Guard | None:
        around = Surroundings(self.ledger, self._clock, self._count)
        made = make_embedder(name, table, self._environ, around, models_folder(self._environ))
        if made is None:
            return None
        if name == LOCAL:
            return Guard(GatedEmbedder(made))
        self._made.append(made)
        circuit = self._circuit if name == self.wanted else self._circuit_of(name, table)
        return Guard(GatedEmbedder(made), circuit, self.meter, counts=not is_remote(name))

    def _circuit_of(self, name: str, table: EmbeddingSettings) -> Circuit:
        return Circuit(self.ledger, account_of(name, table, self._environ), name, self._clock)

    def _count(self, provider: str, model: str, texts: int, tokens: int) -> None:
        self.meter.count(provider, model, requests=1, texts=texts, tokens=tokens)

    def count_cached(self, provider: str, model: str, texts: int) -> None:
        """Count texts whose vectors the cache had."""
        self.meter.count_cached(provider, model, texts)

    def is_billed(self, provider: str) -> bool:
        """Tell whether texts leave this machine for a provider that may ask money for them."""
        if self._given is not None or not is_remote(provider):
            return False
        from clawmark.embedders.transport import is_loopback

        table = self._table if provider == self.wanted else plain_table(self._table, provider)
        return not is_loopback(address_of(provider, table))

    def _free(self) -> dict[str, float]:
        """Give the price of what runs on this machine."""
        if not is_remote(self.wanted) or self.is_billed(self.wanted):
            return {}
        return {f"{self.wanted}/{model_of(self.wanted, self._table)}": 0.0}
