"""Which transcripts are being written at this moment, so that a question does not wait for them.

The chat that asks grows with every turn. While it is written to, a search leaves it for
later as long as it grew by little; the answer says so, and status counts it as pending.
Once it rests, or has grown by enough, it is indexed before the answer like any other file.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from clawmark.core.ports import DocumentRow
from clawmark.files import FoundFile, UnreadableNoteError, open_growing
from clawmark.sync.reconcile import Changes


@dataclass(frozen=True)
class LiveRules:
    """When a growing transcript may wait.

    Attributes:
        delta_bytes: Growth from which on it does not; 0 for any growth.
        delta_messages: New lines from which on it does not; 0 for any.
        settle_seconds: Rest after the last write from which on it does not.
    """

    delta_bytes: int = 100_000
    delta_messages: int = 50
    settle_seconds: float = 1.5


def only_live(changes: Changes, rules: LiveRules) -> bool:
    """Tell whether all that differs from the index are transcripts that may wait."""
    if changes.fresh or changes.gone or not changes.touched:
        return False
    now_ns = time.time_ns()  # against the times of files, which the system's clock gives
    return all(_may_wait(found, row, rules, now_ns) for found, row in changes.touched)


def _may_wait(found: FoundFile, row: DocumentRow, rules: LiveRules, now_ns: int) -> bool:
    growth = found.size - row.size
    if found.source != "sessions" or row.rejected is not None or not 0 < growth < rules.delta_bytes:
        return False
    if not 0 <= now_ns - found.mtime_ns < rules.settle_seconds * 1e9:
        return False
    try:
        with open_growing(found) as (handle, _):
            handle.seek(row.size)
            return handle.read(growth).count(b"\n") < rules.delta_messages
    except UnreadableNoteError:
        return False
