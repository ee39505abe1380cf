"""``Memory``: the one class that users learn."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from clawmark.config import LoadedSettings, load_settings, user_cache_dir
from clawmark.core.errors import ArgumentError, StoreCorruptError, StoreError
from clawmark.core.model import ErrorInfo, ReadResult, SearchResponse, Status, SyncReport
from clawmark.core.ports import Embedder, Store
from clawmark.core.scoring import CosineMap
from clawmark.core.tokens import query_terms
from clawmark.embedders.registry import cosine_map
from clawmark.engine import places
from clawmark.engine.arguments import SearchRequest, names_checked, search_request, text_argument, whole_number
from clawmark.engine.disk import Disk
from clawmark.engine.freshness import Freshener, Freshness
from clawmark.engine.providing import Providing, continued, settings_for
from clawmark.engine.searching import Search, Surroundings, nothing_to_search
from clawmark.engine.spending import CostReport, Estimate, cost_report, first_estimate, unasked_embedder, with_costs
from clawmark.files import matcher, read_window, strays_message
from clawmark.sync import Progress, Workplace, synchronise

# Longer than any small pass; an index that is being built takes minutes.
QUICK_LOCK_SECONDS = 1.0


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Memory:
    """The memory of one agent: a folder of Markdown, and an index that follows it.

    A context manager; ``close`` waits for running work. May be used from several
    threads.

    Args:
        workspace: The folder with ``MEMORY.md`` and ``memory/``.
        agent: Owner of the index; one never sees another's.
        config: None for the user's and the workspace's files and the environment; a
            path to a TOML file, or a mapping in its shape. Both are trusted.
        embedder: None for the configured one; an ``Embedder``; the name of a
            provider; "none" for keyword mode.
        store: None for SQLite in the workspace; a ``Store``; a URL.
        clock: The only source of "now": gives an aware UTC datetime.

    Raises:
        WorkspaceNotFoundError: The workspace is not a folder.
        ConfigError: A setting cannot be used.
    """

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
        cache_folder = user_cache_dir(self._environ)
        self._providing = Providing(self._settings, given, self._environ, cache_folder, self._clock)
        self._cache = places.embedding_cache(self._settings, self._environ, self._providing.meter.count_cached)
        rules = places.file_rules(self._workspace, self._settings)
        opened = places.open_store(self._workspace, store, self._settings, self._environ)
        self._place = Workplace(
            store=opened,
            agent=agent,
            rules=rules,
            sources=self._settings.sources,
            recipe=places.recipe(self._settings),
            cache=self._cache,
            lock_path=_lock_path(opened),
            clock=self._clock,
        )
        self._freshener = Freshener(
            self._place, self._quick_pass, embeds=self._providing.embeds, due=self._providing.is_due
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Wait for running work and release the index."""
        self._freshener.wait()
        self._place.store.close()
        self._providing.close()
        if self._cache is not None:
            self._cache.close()

    @property
    def settings(self) -> LoadedSettings:
        """The effective settings, and where each came from."""
        return self._loaded

    def sync(self, *, force: bool = False, progress: Progress | None = None) -> SyncReport:
        """Make the index equal to the files.

        Args:
            force: Read every file again; a damaged index is made anew.
            progress: Told (stage, done, total).

        Returns:
            What was done; failures are listed in it, not raised.
        """
        self._freshener.wait()
        try:
            report = self._forced(progress) if force else self._pass(progress=progress)
        except StoreError as error:
            report = SyncReport(partial=True, error=ErrorInfo(error.code, error.message, error.action))
        self._freshener.forget_check()
        return report

    @names_checked
    def search(
        self,
        query: str,
        *,
        max_results: int | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
        sources: Sequence[str] | None = None,
        paths: Sequence[str] | None = None,
        since: Any = None,
        until: Any = None,
        asof: Any = None,
        session_key: str | None = None,
        deadline: float | None = None,
        max_chars: int | None = None,
    ) -> SearchResponse:
        """Find the passages that answer a question, best first.

        Args:
            query: The question, or words, or an identifier.
            max_results: Most results, >= 1; None for the setting (6).
            min_score: Threshold on the score in [0, 1]; given here, it is strict: no
                keyword-only hit below it fills a free place.
            min_confidence: Threshold on the confidence; results without one pass.
            sources: Some of "memory", "sessions"; None for all that are on.
            paths: Gitignore-style globs on result paths.
            since: First date that may answer (undated evergreen files always may): a
                date, an aware datetime, or ISO text.
            until: Last date, included.
            asof: Replaces now for decay and dates.
            session_key: The chat that asks; decides whether citations are shown.
            deadline: Seconds for the question; when the vector leg is late, the
                answer is by keyword.
            max_chars: Budget over all snippets and citations.

        Raises:
            ArgumentError: An argument cannot be used.
        """
        request = search_request(
            query,
            max_results=max_results,
            min_score=min_score,
            min_confidence=min_confidence,
            sources=sources,
            paths=paths,
            since=since,
            until=until,
            asof=asof,
            session_key=session_key,
            deadline=deadline,
            max_chars=max_chars,
        )
        return self._search(request)

    def explain(self, query: str, *, path: str | None = None, **search_options: Any) -> SearchResponse:
        """Search, or tell with *path* where that file was lost, and why.

        Args:
            query: As for ``search``.
            path: Stored path of a file; the answer then holds its best chunk with its
                numbers, and a warning that names the stage that held it back.
            **search_options: As for ``search``.

        Raises:
            ArgumentError: An argument cannot be used.
        """
        plain = path.removeprefix("./") if isinstance(path, str) else path
        return self._search(search_request(query, explain_path=plain, **search_options))

    @names_checked
    def get(
        self,
        path: str,
        *,
        from_line: int = 1,
        lines: int = 120,
        max_chars: int = 12_000,
        cursor: str | None = None,
    ) -> ReadResult:
        """Read a window of a memory file.

        Args:
            path: As in a result, or an absolute path of such a file.
            from_line: First line, >= 1.
            lines: Most lines, >= 1.
            max_chars: Most characters, >= 1.
            cursor: From the read before, to go on inside a line longer than the budget.

        Raises:
            PathNotAllowedError: The path is not one of the memory files.
            ArgumentError: A number is below its minimum, or the cursor is outdated.
        """
        text_argument("path", path)
        text_argument("cursor", cursor, optional=True)
        for name, value in (("from_line", from_line), ("lines", lines), ("max_chars", max_chars)):
            if value is None or whole_number(name, value, least=1) is None:  # pyright: ignore[reportUnnecessaryComparison]
                raise ArgumentError(f"{name} must be a whole number of at least 1, not None.")
        window: dict[str, Any] = {"from_line": from_line, "lines": lines, "max_chars": max_chars, "cursor": cursor}
        if path.startswith("sessions/"):
            from clawmark.engine.transcripts import read_transcript

            masked = self._settings.sessions.redact
            return read_transcript(self._place.rules, path, masked=masked, **window)
        return read_window(self._place.rules, path, **window)

    def status(self, *, deep: bool = False) -> Status:
        """Compare the index with the files; no model is loaded.

        Args:
            deep: Also measure the parts of the index.
        """
        from clawmark.engine.statusing import status_of

        provider = self._providing.wanted if self._providing.embeds else None
        cache = self._cache.stats() if self._cache else None
        return with_costs(status_of(self._place, provider=provider, deep=deep, cache=cache), self._providing)

    def estimate(self) -> Estimate | None:
        """Estimate what the first index with a remote provider costs; None when there is nothing to ask for."""
        return first_estimate(self._providing, self._place)

    def costs(self, *, days: int = 30) -> CostReport:
        """Give what embedding has cost the user, in all workspaces.

        Args:
            days: How many days to look back, >= 1.
        """
        return cost_report(self._providing, whole_number("days", days, least=1) or 1)

    def load_model(self) -> None:
        """Make the model ready in the background; searches answer by keyword meanwhile, and say so."""
        self._providing.load()

    def finish_before_answering(self) -> None:
        """Never leave work running behind an answer: for processes that end with it."""
        self._freshener.allow_background = False

    def _pass(self, *, force: bool = False, progress: Progress | None = None) -> SyncReport:
        """A pass that somebody asked for; when the provider fails for good, the fallback goes on."""
        embedder = partial(self._providing.for_pass, explicit=True, progress=progress)
        report = synchronise(self._place, embedder, force=force, progress=progress)
        if report.error is None or not self._providing.falls_back_after(report.error.code):
            return report
        return continued(report, synchronise(self._place, partial(embedder, instead=True), progress=progress))

    def _forced(self, progress: Progress | None) -> SyncReport:
        """Read every file again, into a new index when the old one is damaged."""
        if getattr(self._place.store, "is_damaged", bool)():
            self._reset_store()
        report = self._pass(force=True, progress=progress)
        if report.error is not None and report.error.code == StoreCorruptError.default_code:
            self._reset_store()
            report = self._pass(force=True, progress=progress)
        return report

    def _quick_pass(self) -> SyncReport:
        """A pass on the way to an answer: one of another process is not waited for."""
        embedder = partial(unasked_embedder, self._providing, self._place)
        return synchronise(self._place, embedder, wait_seconds=QUICK_LOCK_SECONDS, explicit=False)

    def _reset_store(self) -> None:
        reset = getattr(self._place.store, "reset", None)
        if reset is not None:
            reset()

    def _search(self, request: SearchRequest) -> SearchResponse:
        started = time.perf_counter()
        response = self._answer(request)
        return replace(response, took_ms=round((time.perf_counter() - started) * 1000, 3))

    def _answer(self, request: SearchRequest) -> SearchResponse:
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
        search = Search(self._surroundings(fresh), request, terms)
        if request.explain_path is None:
            return search.run()
        from clawmark.engine.explaining import explain_path

        return explain_path(search, request.explain_path)

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
            decay=places.decay_settings(self._settings),
            embedder=self._providing.for_query,
            instead=lambda: self._providing.reason,
            cosine_map=_map_of,
            disk=Disk(self._place.rules),
            matches=matcher,
            now=self._clock(),
            strays=partial(strays_message, self._place.rules),
            fold_case=self._fold_case,
            stale=fresh.stale,
            notices=(*self._loaded.warnings, *fresh.notices),
        )


def _map_of(embedder: Embedder) -> CosineMap:
    return cosine_map(embedder.provider, embedder.model)


def _lock_path(store: Store) -> Path | None:
    path = getattr(store, "path", None)
    return path.with_name("sync.lock") if isinstance(path, Path) else None
