"""What a ``Memory`` stands on: its settings, its index, its embedder, its triggers.

Opens everything once, runs passes, and prepares searches; ``Memory`` adds the methods
that users learn.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clawmark.config import load_settings
from clawmark.core.errors import ArgumentError, ClawmarkError
from clawmark.core.model import ErrorInfo, SearchResponse, SyncReport
from clawmark.core.ports import Embedder, Store
from clawmark.core.scoring import CosineMap
from clawmark.core.tokens import query_terms
from clawmark.embedders.gate import GatedEmbedder
from clawmark.embedders.registry import NONE, check_provider, cosine_map, make_embedder, provider_error
from clawmark.engine import places, rules
from clawmark.engine.arguments import SearchRequest
from clawmark.engine.disk import Disk
from clawmark.engine.freshness import Freshener, Freshness
from clawmark.engine.searching import Search, Surroundings, nothing_to_search
from clawmark.engine.triggers import Triggers
from clawmark.engine.writing import Pen
from clawmark.files import matcher, strays_message
from clawmark.sync import Progress, Workplace, synchronise

# Longer than any small pass; an index that is being built takes minutes.
QUICK_LOCK_SECONDS = 1.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Foundation:
    """See ``Memory``, which documents the arguments."""

    def __init__(
        self,
        workspace: str | os.PathLike[str],
        agent: str = "main",
        config: Path | str | Mapping[str, Any] | None = None,
        embedder: Embedder | str | None = None,
        store: Store | str | None = None,
        clock: Callable[[], datetime] | None = None,
    ) -> None:
        if not isinstance(agent, str) or not agent.strip():  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"agent must be a name, not {agent!r}.")
        self._workspace = places.existing_workspace(workspace)
        self._environ = dict(os.environ)
        self._loaded = load_settings(workspace=self._workspace, config=config, environ=self._environ)
        self._settings = self._loaded.settings
        self._given = embedder if embedder is not None and not isinstance(embedder, str) else None
        self._use_provider(embedder)
        self._clock = clock or _utc_now
        self._fold_case = places.folds_case(self._workspace)
        self._embedder_lock = threading.Lock()
        self._cache = places.embedding_cache(self._settings, self._environ)
        opened = places.open_store(self._workspace, store, self._settings, self._environ)
        self._place = Workplace(
            store=opened,
            agent=agent,
            rules=places.file_rules(self._workspace, self._settings),
            sources=self._settings.sources,
            recipe=places.recipe(self._settings),
            cache=self._cache,
            lock_path=places.lock_path(opened),
            clock=self._clock,
        )
        live = places.live_rules(self._settings)
        self._freshener = Freshener(self._place, self._quick_pass, embeds=self._provider != NONE, live=live)
        self._pen = Pen(
            self._place.rules, self._freshener, environ=self._environ, indexes=self._settings.sync.on_search
        )
        self._triggers = Triggers(self._place, self._settings, self._freshener, self._quick_pass)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop watching, wait for running work, and release the index."""
        self._triggers.close()
        self._freshener.wait()
        self._place.store.close()
        if self._cache is not None:
            self._cache.close()

    def _use_provider(self, embedder: Embedder | str | None) -> None:
        """Let an argument replace the configured provider; one place decides for all paths."""
        if self._given is not None and not isinstance(self._given, Embedder):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ArgumentError(f"embedder must be an Embedder or the name of a provider, not {self._given!r}.")
        if isinstance(embedder, str):
            provider = embedder
        elif embedder is not None:
            provider = embedder.provider
        else:
            provider = self._settings.embedding.provider
        if self._given is None:
            check_provider(provider)
        self._provider = provider
        self._settings = replace(self._settings, embedding=replace(self._settings.embedding, provider=provider))

    def _provider_error(self) -> ClawmarkError | None:
        """Tell why the provider cannot start, as far as that is known without loading it."""
        if self._given is not None:
            return None
        return provider_error(self._provider, self._settings.embedding, self._environ)

    def _embedder(self) -> Embedder | None:
        with self._embedder_lock:
            return self._gated_embedder

    @cached_property
    def _gated_embedder(self) -> Embedder | None:
        made = self._given or make_embedder(
            self._provider, self._settings.embedding, self._environ, places.models_folder(self._environ)
        )
        return None if made is None else GatedEmbedder(made)

    def _pass(self, *, force: bool = False, progress: Progress | None = None) -> SyncReport:
        return synchronise(self._place, self._embedder, force=force, progress=progress)

    def _quick_pass(self, progress: Progress | None = None) -> SyncReport:
        """A pass that nobody asked for: one of another process is not waited for."""
        wait = QUICK_LOCK_SECONDS
        return synchronise(self._place, self._embedder, progress=progress, wait_seconds=wait, explicit=False)

    def _search(self, request: SearchRequest) -> SearchResponse:
        started = time.perf_counter()
        response = self._answer(request)
        return replace(response, took_ms=round((time.perf_counter() - started) * 1000, 3))

    def _answer(self, request: SearchRequest) -> SearchResponse:
        prepared = self._prepared(request)
        if isinstance(prepared, SearchResponse):
            return prepared
        if request.explain_path is None:
            return prepared.run()
        from clawmark.engine.explaining import explain_path

        return explain_path(prepared, request.explain_path)

    def _prepared(self, request: SearchRequest) -> Search | SearchResponse:
        """Give a search that is ready to run, or the answer when there is nothing to run."""
        self._check_sources(request)
        if not self._settings.enabled:
            error = ErrorInfo("MEMORY_DISABLED", "Memory search is disabled.", "Set enabled = true.")
            return SearchResponse(citations=self._settings.citations.mode, error=error)
        started = time.monotonic()
        terms = query_terms(request.query)
        blank = nothing_to_search(request, terms, self._settings)
        if blank is not None:
            return blank
        # A workspace that was unmounted must not look like one without notes.
        places.existing_workspace(self._workspace)
        fresh = self._fresh(request)
        if request.deadline is not None:
            left = request.deadline - (time.monotonic() - started)
            request = replace(request, deadline=max(left, 0.001))
        return Search(self._surroundings(fresh), request, terms)

    def _fresh(self, request: SearchRequest) -> Freshness:
        if not self._settings.sync.on_search:
            return Freshness()
        # The other half of the deadline is for the question itself.
        return self._freshener.check(None if request.deadline is None else request.deadline / 2)

    def _check_sources(self, request: SearchRequest) -> None:
        off = sorted((request.sources or frozenset()) - set(self._settings.sources))
        if off:
            raise ArgumentError(
                f"The source {off[0]!r} is not enabled.",
                code="SOURCE_NOT_ENABLED",
                action="Set [sessions] paths, or sources, in the configuration.",
            )

    def _surroundings(self, fresh: Freshness) -> Surroundings:
        return Surroundings(
            store=self._place.store,
            agent=self._place.agent,
            settings=self._settings,
            sources=frozenset(self._settings.sources),
            decay=rules.decay_settings(self._settings),
            embedder=self._embedder,
            cosine_map=_map_of,
            disk=Disk(self._place.rules, rules.trust_rules(self._settings)),
            matches=matcher,
            now=self._clock(),
            strays=partial(strays_message, self._place.rules),
            fold_case=self._fold_case,
            stale=fresh.stale,
            notices=(*self._loaded.warnings, *fresh.notices),
        )


def _map_of(embedder: Embedder) -> CosineMap:
    return cosine_map(embedder.provider, embedder.model)
