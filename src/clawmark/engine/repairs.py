"""The repairs of ``clawmark doctor --fix``: each loses nothing that is not made again."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Protocol

from clawmark.core.forgetting import Forgotten
from clawmark.core.model import SyncReport
from clawmark.engine.upkeep import mend
from clawmark.sync import Workplace
from clawmark.sync.purging import hidden_rows, remove_all


class Synchronise(Protocol):
    """Runs one pass."""

    def __call__(self, *, force: bool = False) -> SyncReport:
        """Make the index equal to the files; with *force* read all of them, into a new index if need be."""
        ...


def repair_all(names: Collection[str], place: Workplace, synchronise: Synchronise) -> None:
    """Carry out repairs by name, what must be sound first before the others, and one pass behind them.

    Args:
        names: What findings ask for.
        place: The index and the files.
        synchronise: Runs the pass.
    """
    for name, repair in _REPAIRS.items():
        if name in names:
            repair(place)
    synchronise(force="rebuild" in names)


def _mend(place: Workplace) -> None:
    mend(place.store, place.agent)


def _write_copy(place: Workplace) -> None:
    getattr(place.store, "write_copy", bool)()


def _purge(place: Workplace) -> None:
    """Remove what tombstones hide, from every generation."""
    store, agent = place.store, place.agent
    for identity in store.identities(agent):
        with store.reading(agent, identity) as reader:
            hidden = {row.id for row in hidden_rows(reader, Forgotten(reader.tombstones()))}
        with store.writing(agent, identity) as writer:
            remove_all(writer, hidden)
    getattr(store, "erase_traces", bool)()


def _shorten_journal(place: Workplace) -> None:
    getattr(place.store, "shorten_journal", bool)()


def _mend_cache(place: Workplace) -> None:
    if place.cache is not None:
        place.cache.mend()


_REPAIRS: dict[str, Callable[[Workplace], None]] = {
    "mend": _mend,
    "copy": _write_copy,
    "purge": _purge,
    "journal": _shorten_journal,
    "cache": _mend_cache,
}
