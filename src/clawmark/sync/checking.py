"""After a pass: does the index agree with itself, and has every chunk what it needs?"""

from __future__ import annotations

from collections.abc import Sequence

from clawmark.core.model import ErrorInfo
from clawmark.core.ports import Store
from clawmark.sync.embedding import EmbeddingOutcome

INCONSISTENT_ACTION = "Run `clawmark index --force`, or `clawmark doctor --fix`."


def check(store: Store, agent: str, missing: int, outcome: EmbeddingOutcome) -> ErrorInfo | None:
    """Name what is wrong with what was written; None when nothing is.

    Args:
        store: Where it was written.
        agent: Its owner.
        missing: Chunks without a vector.
        outcome: What embedding did: those that it refused are listed as failed already.
    """
    messages = [fault.message for fault in store.faults(agent)]
    if outcome.tried and not outcome.stopped and missing > outcome.refused:
        messages.append(f"{missing - outcome.refused} chunks have no vector although all were embedded.")
    return inconsistency(messages)


def inconsistency(messages: Sequence[str]) -> ErrorInfo | None:
    """Give the error of an index whose rows contradict each other; None when nothing is wrong."""
    if not messages:
        return None
    message = f"The index does not agree with itself: {' '.join(messages)}"
    return ErrorInfo("INDEX_INCONSISTENT", message, INCONSISTENT_ACTION)
