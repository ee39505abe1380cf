"""What every store must do, whatever keeps its rows."""

from __future__ import annotations

import pytest

from clawmark.core.ports import Store
from clawmark.testing.store_agents import StoreAgents
from clawmark.testing.store_documents import StoreDocuments
from clawmark.testing.store_growth import StoreGrowth
from clawmark.testing.store_search import StoreSearch
from clawmark.testing.store_sentences import StoreSentences
from clawmark.testing.store_statistics import StoreStatistics
from clawmark.testing.store_upkeep import StoreUpkeep


class StoreContract(
    StoreDocuments, StoreGrowth, StoreSearch, StoreSentences, StoreStatistics, StoreAgents, StoreUpkeep
):
    """Subclass it, and override the fixture ``store`` to give an empty store."""

    @pytest.fixture
    def store(self) -> Store:
        """Give an empty store; override it as a fixture that closes the store behind the test."""
        raise NotImplementedError("Override the fixture `store`.")

    def test_it_is_a_store(self, store: Store) -> None:
        """Every method and property of the Protocol is there."""
        for name in ("location", "reading", "writing", "agents", "identities", "faults", "repair", "close"):
            assert hasattr(store, name), name
        assert isinstance(store.location, str)
        assert store.location

    def test_closing_twice_is_closing_once(self, store: Store) -> None:
        """A context manager and its owner may both close."""
        store.close()
        store.close()
