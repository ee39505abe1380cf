"""What is watched, and how: the folders of the moment, the system's events for them, or polling."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from clawmark.core.model import Notice
from clawmark.files import FileRules, Source, WatchPlan, scan_files, watch_plan
from clawmark.watcher.events import WatchEvent, Way
from clawmark.watcher.sources import (
    ChangeSource,
    EventSource,
    NoCapacityError,
    PollSource,
    QuietSource,
    polling_is_wanted,
)

# A new folder is often the first of many: they are taken up together.
_REPLAN_SECONDS = 0.25
# A root that is mounted is no event; a few stats a second find it.
_ROOTS_SECONDS = 1.0
_OPEN_TRIES = 5


@dataclass(frozen=True)
class Followed:
    """What is watched.

    Attributes:
        rules: Which files are memory.
        sources: Sources that are on.
        events: False watches nothing: syncs start by time only.
    """

    rules: FileRules
    sources: Sequence[Source]
    events: bool = True


class Ground:
    """The folders under watch; follows what appears, goes and is replaced.

    Args:
        followed: What is watched.
        stop: Ends a wait early.
        tell: Told when the way of watching changes.
    """

    def __init__(self, followed: Followed, stop: threading.Event, tell: Callable[[WatchEvent], None]) -> None:
        self._followed = followed
        self._stop = stop
        self._tell = tell
        self._plan: WatchPlan | None = None
        self._source: ChangeSource | None = None
        self._told: Way | None = None
        self._replan_at: float | None = None
        self._roots_at = 0.0
        self.warning: Notice | None = None

    @property
    def plan(self) -> WatchPlan:
        """The folders, and the rules that judge changes in them."""
        if self._plan is None:
            self._plan = self._planned()
        return self._plan

    @property
    def way(self) -> Way | None:
        """How changes are noticed; None while nothing is open."""
        return self._source.way if self._source else None

    @property
    def is_settled(self) -> bool:
        """Tell whether the watches are those that the folders ask for."""
        return self._source is not None and self._replan_at is None

    def places(self) -> tuple[str, ...]:
        """Name the roots that are watched."""
        return self._plan.places if self._plan else ()

    def folders(self) -> int:
        """Count the folders that are watched."""
        return len(self._plan.folders) if self._plan else 0

    def open(self) -> None:
        """Watch what there is to watch now; what changed meanwhile is for the next sync to find."""
        self._replan_at = None
        self.close()
        self._use(self._opened())

    def close(self) -> None:
        """Release the watches."""
        source, self._source = self._source, None
        if source is not None:
            source.close()

    def wait(self) -> list[str]:
        """Wait a moment; give the paths whose change may matter."""
        if self._source is None:
            self.open()
            return [self.plan.workspace]
        try:
            changed = self._source.wait()
        except (StopIteration, OSError, RuntimeError):  # the watches are lost: the next round opens new ones
            self.close()
            return []
        return self._that_matter(changed)

    def follow(self, now: float) -> list[str]:
        """Take up folders that are new, and roots that have come or gone; give the paths to look at."""
        if self._replan_at is not None and now >= self._replan_at:
            self.open()
        if now < self._roots_at or not self._followed.events:
            return []
        self._roots_at = now + _ROOTS_SECONDS
        if not self.plan.is_outdated():
            return []
        self.open()
        return [self.plan.workspace]

    def catch_up(self) -> None:
        """Take up new folders at once: a sync is about to look at them."""
        if self._replan_at is not None:
            self.open()

    def renew(self) -> list[str]:
        """See whether a folder was missed, or whether the system can watch again; give the paths to look at."""
        if self.way == "events" and self._planned().folders != self.plan.folders:
            self.open()
            return [self.plan.workspace]
        if self.way != "polling" or polling_is_wanted():
            return []
        try:
            source = self._event_source()
        except NoCapacityError:
            return []
        self.warning = None
        self._use(source)
        return [self.plan.workspace]

    def _use(self, source: ChangeSource) -> None:
        self._source = source
        if source.way != self._told:
            self._told = source.way
            self._tell(WatchEvent("started", way=source.way, folders=self.folders()))

    def _that_matter(self, changed: set[str]) -> list[str]:
        if self.way == "polling":
            return sorted(changed)
        matters = {path: self.plan.judge(path) for path in sorted(changed)}
        if "folder" in matters.values() and self._replan_at is None:
            self._replan_at = time.monotonic() + _REPLAN_SECONDS
        return [path for path, matter in matters.items() if matter]

    def _planned(self) -> WatchPlan:
        return watch_plan(self._followed.rules, self._followed.sources)

    def _opened(self) -> ChangeSource:
        if not self._followed.events:
            self._plan = self._planned()
            self._say(_OFF)
            return QuietSource(self._stop)
        try:
            if not polling_is_wanted():
                return self._event_source()
        except NoCapacityError as error:
            self._say(_no_capacity(error))
        self._plan = self._planned()
        return PollSource(partial(scan_files, self._followed.rules, self._followed.sources), self._stop)

    def _event_source(self) -> EventSource:
        """Watch all folders; one that is made while the watches are set up is not missed."""
        for _ in range(_OPEN_TRIES):
            plan = self._planned()
            try:
                source = EventSource(plan.folders, self._stop)
            except FileNotFoundError:
                continue
            if self._planned().folders == plan.folders:
                self._plan = plan
                return source
            source.close()
        raise NoCapacityError("folders come and go faster than they can be watched")

    def _say(self, notice: Notice) -> None:
        """Warn, once until watching works again."""
        if self.warning is None:
            self.warning = notice
            self._tell(WatchEvent("notice", notice=notice))


_OFF = Notice(
    "WATCH_OFF",
    "sync.watch is false: files are indexed now and every sync.interval_minutes, their changes are not followed.",
    "Set sync.watch = true.",
)


def _no_capacity(error: NoCapacityError) -> Notice:
    return Notice(
        "WATCH_POLLING",
        f"The system cannot watch the folders ({error}); files are compared every few seconds instead.",
        "Raise fs.inotify.max_user_watches and max_user_instances, or name fewer folders.",
    )
