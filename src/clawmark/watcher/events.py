"""What a watcher tells to whoever listens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from clawmark.core.model import Notice, SyncReport

Way = Literal["events", "polling", "interval"]
Trigger = Literal["start", "change", "interval", "reconcile", "retry"]


@dataclass(frozen=True)
class WatchEvent:
    """One thing that a watcher did or saw.

    Attributes:
        kind: "started" (watching began, or its way changed), "changed" (files differ; a
            sync follows when they have settled), "synced", "notice", "stopped".
        trigger: What started the sync; None for other kinds.
        paths: Paths that changed, as results carry them.
        report: What the sync did.
        notice: What is worth knowing, with the next step.
        way: How changes are noticed: "events", "polling", or "interval" (not at all).
        folders: Number of folders that are watched.
    """

    kind: Literal["started", "changed", "synced", "notice", "stopped"]
    trigger: Trigger | None = None
    paths: tuple[str, ...] = ()
    report: SyncReport | None = None
    notice: Notice | None = None
    way: Way = "events"
    folders: int = 0
