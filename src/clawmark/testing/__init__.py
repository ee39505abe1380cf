"""Contract suites for plug-ins: subclass one in a test module, and give it what to test.

class TestMyStore(StoreContract):
    @pytest.fixture
    def store(self, tmp_path):
        store = MyStore(tmp_path)
        yield store
        store.close()

Needs pytest and numpy, nothing else.
"""

from __future__ import annotations

import pytest

# Before they are imported, so that a failed check shows its values.
pytest.register_assert_rewrite(
    "clawmark.testing.embedder_contract",
    "clawmark.testing.store_agents",
    "clawmark.testing.store_contract",
    "clawmark.testing.store_documents",
    "clawmark.testing.store_growth",
    "clawmark.testing.store_search",
    "clawmark.testing.store_statistics",
    "clawmark.testing.store_upkeep",
)

from clawmark.testing.embedder_contract import EmbedderContract  # noqa: E402 - see above
from clawmark.testing.store_contract import StoreContract  # noqa: E402 - see above

__all__ = ["EmbedderContract", "StoreContract"]
