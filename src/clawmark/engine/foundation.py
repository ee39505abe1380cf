"""What a ``Memory`` stands on: its settings, its index, its embedder, its triggers.

Opens everything once, runs passes, and prepares searches; ``Memory`` adds the methods
that users learn.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clawmark.config import load_settings, user_cache_dir
from clawmark.core.errors import ArgumentError
from clawmark.core.model import ErrorInfo, SearchResponse, SyncReport
from clawmark.core.ports import Embedder, Store
from clawmark.core.scoring import CosineMap
from clawmark.core.tokens import query_terms
from clawmark.embedders.registry import cosine_map
from clawmark.engine import places, rules
from clawmark.engine.arguments import SearchRequest
from clawmark.engine.disk import Disk
from clawmark.engine.freshness import Freshener, Freshness
from clawmark.engine.providing import Providing, continued, settings_for
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
        origin = self._loaded.origins["embedding.provider"]
        self._settings = settings_for(self._loaded.settings, embedder, origin, self._environ)
        self._clock = clock or _utc_now
        self._fold_case = places.folds_case(self._workspace)
        given = None if isinstance(embedder, str) else embedder
        self._providing = Providing(self._settings, given, self._environ, user_cache_dir(self._environ), self._clock)
        self._cache = places.embedding_cache(self._settings, self._environ, self._providing.count_cached)
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
        self._freshener = Freshener(
            self._place,
            self._quick_pass,
            embeds=self._providing.embeds,
            live=places.live_rules(self._settings),
            due=self._providing.is_due,
        )
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
        self._providing.close()
        if self._cache is not None:
            self._cache.close()

    def _pass(self, *, force: bool = False, progress: Progress | None = None) -> SyncReport:
        """A pass that somebody asked for; when the provider fails for good, the fallback goes on."""
        embedder = partial(self._providing.for_pass, explicit=True, progress=progress)
        report = synchronise(self._place, embedder, force=force, progress=progress)
        if report.error is None or not self._providing.falls_back_after(report.error.code):
            return report
        return continued(report, synchronise(self._place, partial(embedder, instead=True), progress=progress))

    def _quick_pass(self, progress: Progress | None = None) -> SyncReport:
        """A pass that nobody asked for: one of another process is not waited for."""
        from clawmark.engine.spending import unasked_embedder

        embedder = partial(unasked_embedder, self._providing, self._place)
        wait = QUICK_LOCK_SECONDS
        return synchronise(self._place, embedder, progress=progress, wait_seconds=wait, explicit=False)

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
            embedder=self._providing.for_query,
            instead=lambda: self._providing.reason,
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
