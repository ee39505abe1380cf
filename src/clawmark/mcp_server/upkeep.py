"""Keeps the index of a running server fresh: a sync at the start, then the watcher where there is one."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager
from typing import Any, cast

from clawmark.core.errors import ClawmarkError
from clawmark.core.log import logger
from clawmark.engine.memory import Memory

# Work that has not stopped by then is left behind: a sync that is cut off loses nothing.
_STOP_SECONDS = 2.0


class _Stopped(Exception):  # noqa: N818 - a request, not an error
    """Ends a sync between two of its steps."""


class Upkeep:
    """Runs beside the server, in a thread of its own; a failure of it never ends the server.

    May be started and stopped more than once, as the servers of a process are.

    Attributes:
        progress: Stage, done and total of the sync that is running.
        finished_stages: Number of its stages before this one.
    """

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._wanted = threading.Event()
        self._synced = threading.Event()
        self._thread: threading.Thread | None = None
        self.progress = ("", 0, 0)
        self.finished_stages = 0
        self._is_first = False

    @property
    def making_the_first_index(self) -> bool:
        """Tell whether there is nothing to answer from yet, and a sync is about to change that."""
        return self._is_first and not self._synced.is_set()

    def start(self) -> None:
        """Begin."""
        if not self._memory.settings.settings.sync.on_session_start:
            self._synced.set()
            return
        self._wanted.clear()
        self._synced.clear()
        self._is_first = True
        self._thread = threading.Thread(target=self._work, name="clawmark-upkeep", daemon=True)
        self._thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for the first sync, but no longer than so many seconds."""
        self._synced.wait(seconds)

    def stop(self) -> None:
        """End, within two seconds."""
        self._wanted.set()
        if self._thread is not None:
            self._thread.join(_STOP_SECONDS)

    def _work(self) -> None:
        try:
            self._is_first = not self._memory.status().chunks
            self._memory.sync(progress=self._told)
            self._synced.set()
            self._watch()
        except _Stopped:
            pass
        except ClawmarkError as error:  # each call reports the same for itself
            logger(__name__).warning("the index is not kept fresh: %s", error.message)
        except Exception:  # noqa: BLE001 - the outermost frame of a thread: searches still look for themselves
            logger(__name__).exception("the index is not kept fresh")
        finally:
            self._synced.set()

    def _watch(self) -> None:
        watch = getattr(self._memory, "watch", None)
        if watch is None or not self._memory.settings.settings.sync.watch:
            return
        with cast("AbstractContextManager[Any]", watch()):
            self._wanted.wait()

    def _told(self, stage: str, done: int, total: int) -> None:
        if self._wanted.is_set():
            raise _Stopped
        if stage != self.progress[0]:
            self.finished_stages += bool(self.progress[0])
        self.progress = (stage, done, total)
