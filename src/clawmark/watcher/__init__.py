"""Watching: changes of the files start a sync when they have settled. What a sync is, this room is told."""

from clawmark.watcher.events import WatchEvent
from clawmark.watcher.ground import Followed
from clawmark.watcher.schedule import Timing
from clawmark.watcher.watcher import Watcher

__all__ = ["Followed", "Timing", "WatchEvent", "Watcher"]
