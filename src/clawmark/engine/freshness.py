"""Before a search: are the files still what the index holds?

One walk of stats, at most once a second, and none while a watcher sees every change. Small
changes are indexed before the answer; large ones go on in the background and the answer is
marked stale.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clawmark.core.errors import ClawmarkError, StoreBusyError, StoreError
from clawmark.core.model import Notice, SyncReport
from clawmark.sync import Changes, LiveRules, Workplace, find_changes, only_live

if TYPE_CHECKING:
    from clawmark.watcher import Watcher

# The last look at the files counts for this long (design, section 5).
CHECK_SECONDS = 1.0
# What a reader can wait for: about 4 s with the local embedder, 0.3 s without.
SMALL_BYTES_WITH_VECTORS = 256_000
SMALL_BYTES_KEYWORD = 2_000_000
SMALL_FILES = 500
# Chunks to embed that a killed pass has left: as long as the bytes above.
SMALL_CHUNKS = 160
# A pass that has just begun, as at the start of a session, mostly finds nothing: it is waited for so long.
BRIEF_SECONDS = 0.25


@dataclass(frozen=True)
class Freshness:
    """What a check found: whether the answer will lag behind the files, and what to say."""

    stale: bool = False
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class _Look:
    """A look at the files: when it began and ended (monotonic seconds), and what it found."""

    began: float
    ended: float
    found: Freshness


class Freshener:
    """Keeps one index fresh for the searches of one process.

    Args:
        place: The index and the files.
        synchronise: Runs one pass and gives its report.
        embeds: Whether a pass may have to embed.
        live: When a transcript that is being written may wait.
        due: Whether a provider that failed may be tried again.
    """

    def __init__(
        self,
        place: Workplace,
        synchronise: Callable[[], SyncReport],
        *,
        embeds: bool,
        live: LiveRules,
        due: Callable[[], bool] = lambda: False,
    ) -> None:
        self._place = place
        self._synchronise = synchronise
        self._due = due
        self._embeds = embeds
        self._small_bytes = SMALL_BYTES_WITH_VECTORS if embeds else SMALL_BYTES_KEYWORD
        self._live = live
        self._lock = threading.Lock()
        self._last: _Look | None = None
        self._background: threading.Thread | None = None
        self._started_at = 0.0
        self._is_bare = False
        self.allow_background = True
        self.watcher: Watcher | None = None

    def check(self, patience: float | None = None) -> Freshness:
        """Look at the files, unless that was done within the last second.

        Args:
            patience: Seconds to wait for small changes to be indexed; None for as long as it takes.
        """
        with self._lock:
            if not self._is_quiet(patience):
                return Freshness(stale=True, notices=(_running(),))
            known = self._known()
            if known is not None:
                return known
            began = time.monotonic()
            found = self._look(patience)
            # Where no file counts yet, a look costs nothing, and the first note is waited for.
            self._last = None if self._is_bare else _Look(began, time.monotonic(), found)
            return found

    def note(self, report: SyncReport, began: float) -> None:
        """Take a pass of the watcher for a look at the files.

        Args:
            report: What it did.
            began: Monotonic seconds.
        """
        if report.error is None:
            self._last = _Look(began, time.monotonic(), _outcome(report))

    def forget_check(self) -> None:
        """Make the next search look again: the index has just been written."""
        self._last = None

    @property
    def running(self) -> bool:
        """Tell whether a pass is running in the background."""
        return self._background is not None and self._background.is_alive()

    def begin(self) -> None:
        """Run a pass in the background, unless a search is looking at the files, or a pass is running."""
        if self._lock.acquire(blocking=False):
            try:
                self.start()
                self.forget_check()
            finally:
                self._lock.release()

    def start(self) -> None:
        """Run a pass in the background, unless one is running."""
        if not self.running:
            self._started_at = time.monotonic()
            self._background = threading.Thread(target=self._synchronise, name="clawmark-sync", daemon=False)
            self._background.start()

    def wait(self) -> None:
        """Wait for the pass in the background."""
        if self._background is not None:
            self._background.join()

    def _is_quiet(self, patience: float | None) -> bool:
        """Tell whether no pass is running; one that has just begun is waited for a moment."""
        brief = BRIEF_SECONDS if patience is None else min(patience, BRIEF_SECONDS)
        if self._background is not None:
            self._background.join(max(0.0, self._started_at + brief - time.monotonic()))
        return not self.running and (self.watcher is None or self.watcher.wait_while_syncing(brief))

    def _known(self) -> Freshness | None:
        """Give what a look has found that still holds, or that may not be repeated yet."""
        last = self._last
        if last is None:
            return None
        if self.watcher is not None and self.watcher.covers(last.began):
            return last.found
        changed = self.watcher is not None and self.watcher.changed_since(last.began)
        return None if changed or time.monotonic() - last.ended >= CHECK_SECONDS else last.found

    def _look(self, patience: float | None) -> Freshness:
        self._is_bare = False
        try:
            changes = find_changes(self._place)
        except StoreError:
            return Freshness()  # the search itself meets the same fault and reports it
        except ClawmarkError as error:
            return Freshness(stale=True, notices=(Notice(error.code, error.message, error.action),))
        self._is_bare = not changes.scan.files
        if not changes:
            if self.allow_background and self._due():
                self.start()  # what a provider's failure left without a vector
            return Freshness()
        if only_live(changes, self._live):
            return Freshness(stale=True, notices=(_growing(changes),))
        if self._is_small(changes) and patience is None:
            return _outcome(self._synchronise())
        if self.allow_background:
            self.start()
            return self._wait_for(changes, patience)
        count = len(changes.paths)
        notice = Notice("INDEX_BEHIND", f"{count} files are not indexed as they are now.", "Run `clawmark index`.")
        return Freshness(stale=True, notices=(notice,))

    def _wait_for(self, changes: Changes, patience: float | None) -> Freshness:
        if self._is_small(changes) and self._background is not None:
            self._background.join(patience)
            if not self.running:
                return Freshness()
        return Freshness(stale=True, notices=(_running(),))

    def _is_small(self, changes: Changes) -> bool:
        if self._embeds and changes.waiting > SMALL_CHUNKS:
            return False
        return changes.bytes_to_read <= self._small_bytes and len(changes.paths) <= SMALL_FILES


def _running() -> Notice:
    return Notice("SYNC_RUNNING", "Changed files are being indexed; this answer may lack them.", "Ask again soon.")


def _growing(changes: Changes) -> Notice:
    names = ", ".join(changes.paths[:3])
    message = f"Being written right now, the newest messages are not indexed yet: {names}."
    return Notice("SESSION_GROWING", message, "Ask again in a moment, or run `clawmark index`.")


def _outcome(report: SyncReport) -> Freshness:
    notices: list[Notice] = []
    if report.error is not None and report.error.code == StoreBusyError.default_code:
        return Freshness(stale=True, notices=(_running(),))
    if report.error is not None:
        notices.append(Notice(report.error.code, report.error.message, report.error.action))
    if report.failed:
        first = report.failed[0]
        message = f"{len(report.failed)} files could not be indexed, such as {first.path}: {first.reason}"
        notices.append(Notice("FILES_FAILED", message, "Run `clawmark status`."))
    stale = report.error is not None and not report.chunks
    return Freshness(stale=stale, notices=tuple(notices))
