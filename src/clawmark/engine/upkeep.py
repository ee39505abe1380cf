"""Making an index anew where it cannot be mended, by what the store can do."""

from __future__ import annotations

from collections.abc import Callable

from clawmark.core.errors import StoreCorruptError
from clawmark.core.model import SyncReport
from clawmark.core.ports import Store


def forced_pass(store: Store, agent: str, run: Callable[[], SyncReport]) -> SyncReport:
    """Mend what contradicts itself, make a damaged index anew, and read every file again.

    Args:
        store: The index; what it has forgotten outlives it.
        agent: Whose rows are mended.
        run: One pass that reads every file.
    """
    mend(store, agent)
    report = run()
    if report.error is not None and report.error.code == StoreCorruptError.default_code:
        reset(store)
        report = run()
    return report


def mend(store: Store, agent: str) -> None:
    """Make rows agree; a file that is damaged itself is removed."""
    if is_damaged(store):
        reset(store)
        return
    try:
        store.repair(agent)
    except StoreCorruptError:
        reset(store)


def is_damaged(store: Store) -> bool:
    """Tell whether a part of the file is broken, where the store can say so."""
    return getattr(store, "is_damaged", bool)()


def reset(store: Store) -> None:
    """Throw the index away, where the store can."""
    getattr(store, "reset", bool)()
