"""``Memory``: the one class that users learn."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from clawmark.config import LoadedSettings
from clawmark.core.errors import ArgumentError, StoreError
from clawmark.core.model import (
    DoctorReport,
    ErrorInfo,
    ForgetReport,
    ReadResult,
    SearchResponse,
    Status,
    SyncReport,
    WriteReport,
)
from clawmark.engine import places
from clawmark.engine.arguments import names_checked, search_request, text_argument, whole_number
from clawmark.engine.foundation import Foundation
from clawmark.engine.transcripts import read_lines
from clawmark.engine.upkeep import forced_pass
from clawmark.files import scan_files
from clawmark.sync import Progress

if TYPE_CHECKING:
    from clawmark.engine.spending import CostReport, Estimate
    from clawmark.engine.triggers import Listener
    from clawmark.watcher import Watcher


class Memory(Foundation):
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
            run = partial(self._pass, force=force, progress=progress)
            report = forced_pass(self._place.store, self._place.agent, run) if force else run()
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
        min_trust: str | None = None,
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
            min_trust: Least trusted origin that may answer, such as "agent".

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
            min_trust=min_trust,
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
    def recall_context(self, prompt: str, *, max_chars: int = 4_000) -> str:
        """Give what the notes surely say about a prompt that asks about the past, to put beside it.

        Args:
            prompt: What the user wrote.
            max_chars: Budget over the whole block.

        Returns:
            One block of quoted passages with place, date and origin, trusted as ``[trust]
            inject_min`` demands; "" when the prompt asks nothing of the kind, nothing is
            confident, or the search fails.

        Raises:
            ArgumentError: An argument cannot be used.
        """
        text_argument("prompt", prompt)
        whole_number("max_chars", max_chars, least=1)
        from clawmark.engine.recalling import recall_block

        return recall_block(prompt, self._prepared, least=self._settings.trust.inject_min, max_chars=max_chars)

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
        return read_lines(self._place.rules, path, masked=self._settings.sessions.redact, **window)

    def files(self) -> tuple[str, ...]:
        """List the stored paths of the files that count as memory, as they are on the disk now."""
        return tuple(file.path for file in scan_files(self._place.rules, self._place.sources).files)

    @names_checked
    def append(self, path: str, text: str) -> WriteReport:
        """Put text behind a memory file, made if need be; blocks that it holds already are left out.

        Args:
            path: MEMORY.md, USER.md, or a Markdown file in memory/; no other may be written.
            text: Markdown, not blank.

        Raises:
            ClawmarkError: It was not written; the file is as it was.
        """
        return self._pen.append(path, text)

    @names_checked
    def write(self, path: str, text: str, *, expected_hash: str | None = None) -> WriteReport:
        """Make a memory file hold a text, if it still is what the caller has read.

        Args:
            path: As for ``append``.
            text: Markdown, not blank.
            expected_hash: ``hash`` of the reading before; None for a new file.

        Raises:
            ConflictError: The file is another; ``current_hash`` names what is there.
        """
        return self._pen.write(path, text, expected_hash=expected_hash)

    def status(self, *, deep: bool = False) -> Status:
        """Compare the index with the files; no model is loaded.

        Args:
            deep: Also measure the parts of the index.
        """
        from clawmark.engine.statusing import Provider, status_of

        provider = Provider(self._providing.current, self._providing.error())
        cache = self._cache.stats() if self._cache else None
        found = status_of(self._place, provider=provider, deep=deep, cache=cache)
        from clawmark.engine.spending import with_costs

        return with_costs(replace(found, watch=self._triggers.status()), self._providing)

    def estimate(self) -> Estimate | None:
        """Estimate what the first index with a remote provider costs; None when there is nothing to ask for."""
        from clawmark.engine.spending import first_estimate

        return first_estimate(self._providing, self._place)

    def costs(self, *, days: int = 30) -> CostReport:
        """Give what embedding has cost the user, in all workspaces.

        Args:
            days: How many days to look back, >= 1.
        """
        from clawmark.engine.spending import cost_report

        return cost_report(self._providing, whole_number("days", days, least=1) or 1)

    def load_model(self) -> None:
        """Make the model ready in the background; searches answer by keyword meanwhile, and say so."""
        self._providing.load()

    def start_session(self, session_key: str) -> None:
        """Begin a sync in the background when a session begins; never raises for what the sync meets.

        Args:
            session_key: The session; a second call with it does nothing.
        """
        text_argument("session_key", session_key)
        self._triggers.start_session(session_key)

    def watch(self, on_event: Listener | None = None) -> AbstractContextManager[Watcher]:
        """Follow the files while a ``with`` block lasts: a first sync, then one for each change that has settled.

        Args:
            on_event: Told each ``WatchEvent``, on the watcher's thread.
        """
        return self._triggers.watch(on_event)

    @names_checked
    def forget(
        self,
        *,
        path: str | None = None,
        session: str | None = None,
        chunk: str | None = None,
        dry_run: bool = False,
        restore: bool = False,
    ) -> ForgetReport:
        """Take something out of the index and keep it out; no file is changed.

        Args:
            path: A file, as results name it; also what has the same content.
            session: A session by id, file name or ``sessions/FILE``, with its archives.
            chunk: A passage by its place, such as ``memory/a.md#L5-L9``.
            dry_run: Only tell what would be removed.
            restore: Let it be indexed again instead.

        Raises:
            ArgumentError: Not exactly one of the three is named, or the place is none.
        """
        from clawmark.engine.forgetting import forget, restored, subject_of

        call = restored if restore else forget
        report = call(self._place, subject_of(path, session, chunk), dry_run=dry_run)
        if not dry_run and report.error is None:
            # What remains of a file that was forgotten in part is indexed at once.
            self._freshener.forget_check()
            self._freshener.check()
        return report

    def doctor(self, *, fix: bool = False) -> DoctorReport:
        """Look for everything that can be wrong with the index; each finding names its repair.

        Args:
            fix: Carry out the repairs that lose nothing.
        """
        from clawmark.engine.doctor import Checkup, diagnose

        other = places.index_of_read_only(self._workspace, self._environ)
        embedder = partial(self._providing.for_query, None)
        checkup = Checkup(self._place, self.status, self._loaded.warnings, embedder, other, self._clock())
        return diagnose(checkup, self.sync if fix else None)

    def finish_before_answering(self) -> None:
        """Never leave work running behind an answer: for processes that end with it."""
        self._freshener.allow_background = False
