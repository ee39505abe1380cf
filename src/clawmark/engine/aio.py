"""``AsyncMemory``: the same calls for code that runs on an event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from clawmark.core.model import DoctorReport, ForgetReport, ReadResult, SearchResponse, Status, SyncReport, WriteReport
from clawmark.core.ports import Embedder, Store
from clawmark.engine.memory import Memory
from clawmark.sync import Progress

if TYPE_CHECKING:
    from clawmark.engine.spending import CostReport, Estimate
    from clawmark.engine.triggers import Listener
    from clawmark.watcher import Watcher

_T = TypeVar("_T")


class AsyncMemory:
    """``Memory`` on threads: SQLite and numpy release the interpreter, the loop stays free.

    Arguments, results and errors are those of ``Memory``; the object is an
    asynchronous context manager.
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
        self._memory = Memory(workspace, agent, config, embedder, store, clock)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """See ``Memory.close``."""
        await self._run(self._memory.close)

    async def sync(self, *, force: bool = False, progress: Progress | None = None) -> SyncReport:
        """See ``Memory.sync``; *progress* is called from another thread."""
        return await self._run(self._memory.sync, force=force, progress=progress)

    async def search(self, query: str, **options: Any) -> SearchResponse:
        """See ``Memory.search``."""
        return await self._run(self._memory.search, query, **options)

    async def explain(self, query: str, **options: Any) -> SearchResponse:
        """See ``Memory.explain``."""
        return await self._run(self._memory.explain, query, **options)

    async def recall_context(self, prompt: str, **options: Any) -> str:
        """See ``Memory.recall_context``."""
        return await self._run(self._memory.recall_context, prompt, **options)

    async def get(self, path: str, **options: Any) -> ReadResult:
        """See ``Memory.get``."""
        return await self._run(self._memory.get, path, **options)

    async def files(self) -> tuple[str, ...]:
        """See ``Memory.files``."""
        return await self._run(self._memory.files)

    async def append(self, path: str, text: str) -> WriteReport:
        """See ``Memory.append``."""
        return await self._run(self._memory.append, path, text)

    async def write(self, path: str, text: str, *, expected_hash: str | None = None) -> WriteReport:
        """See ``Memory.write``."""
        return await self._run(self._memory.write, path, text, expected_hash=expected_hash)

    async def status(self, *, deep: bool = False) -> Status:
        """See ``Memory.status``."""
        return await self._run(self._memory.status, deep=deep)

    async def estimate(self) -> Estimate | None:
        """See ``Memory.estimate``."""
        return await self._run(self._memory.estimate)

    async def costs(self, *, days: int = 30) -> CostReport:
        """See ``Memory.costs``."""
        return await self._run(self._memory.costs, days=days)

    async def load_model(self) -> None:
        """See ``Memory.load_model``."""
        await self._run(self._memory.load_model)

    async def start_session(self, session_key: str) -> None:
        """See ``Memory.start_session``."""
        await self._run(self._memory.start_session, session_key)

    @asynccontextmanager
    async def watch(self, on_event: Listener | None = None) -> AsyncGenerator[Watcher]:
        """See ``Memory.watch``; *on_event* is called from another thread."""
        watching = self._memory.watch(on_event)
        watcher = await self._run(watching.__enter__)
        try:
            yield watcher
        finally:
            await self._run(watching.__exit__, None, None, None)

    async def forget(self, **options: Any) -> ForgetReport:
        """See ``Memory.forget``."""
        return await self._run(self._memory.forget, **options)

    async def doctor(self, *, fix: bool = False) -> DoctorReport:
        """See ``Memory.doctor``."""
        return await self._run(self._memory.doctor, fix=fix)

    async def _run(self, call: Callable[..., _T], *arguments: Any, **options: Any) -> _T:
        return await asyncio.to_thread(partial(call, *arguments, **options))
