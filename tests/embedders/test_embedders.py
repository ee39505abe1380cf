"""The embedders that come with clawmark, and the stubs of the tests, under the contract of all embedders."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from clawmark.core.errors import ConfigError, EmbeddingError
from clawmark.core.ports import Embedder
from clawmark.embedders.gate import GatedEmbedder
from clawmark.embedders.local import LocalEmbedder
from clawmark.embedders.registry import cosine_map, make_embedder
from clawmark.sync.embedding import checked
from clawmark.testing import EmbedderContract
from stub import StubEmbedder, WordHashEmbedder

# Loading takes a second, and nothing is loaded before the first text.
_LOCAL = LocalEmbedder()


class TestLocalEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return _LOCAL

    def test_what_means_the_same_is_nearer_than_what_does_not(self, embedder: Embedder) -> None:
        question = embedder.embed_query("Where do we keep the key?")
        near, far, chinese = embedder.embed_documents(
            [
                "The key hangs in the cabinet behind the door.",
                "Quarterly revenue grew by four percent.",
                "钥匙挂在门后的柜子里。",
            ]
        )

        assert question @ near > question @ far + 0.2
        assert question @ chinese > question @ far + 0.2

    def test_the_first_text_may_come_from_many_threads_at_once(self, embedder: Embedder) -> None:
        fresh = LocalEmbedder()
        with ThreadPoolExecutor(4) as pool:
            vectors = list(pool.map(fresh.embed_query, ["two cranes"] * 4))

        for vector in vectors:
            np.testing.assert_allclose(vector, embedder.embed_query("two cranes"), atol=1e-5)


class TestStubEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return StubEmbedder({"key": 0.8, "cranes": 0.3})

    def test_a_document_lies_at_the_cosine_of_the_table(self) -> None:
        stub = StubEmbedder({"key": 0.8, "cranes": 0.3}, otherwise=0.1)
        question = stub.embed_query("anything")

        assert stub.embed_documents(["a key", "cranes", "neither"]) @ question == pytest.approx([0.8, 0.3, 0.1])

    def test_its_calls_and_texts_are_counted(self) -> None:
        stub = StubEmbedder()
        stub.embed_documents(["a", "b"])
        stub.embed_query("c")

        assert (stub.document_calls, stub.query_calls, stub.calls, stub.texts) == (1, 1, 2, ["a", "b"])


class TestWordHashEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return WordHashEmbedder()


def test_no_provider_is_no_embedder() -> None:
    """P06: keyword mode is a choice, not a failure."""
    assert make_embedder("none", None, {}) is None


def test_the_local_provider_needs_no_key() -> None:
    assert isinstance(make_embedder("local", None, {}), LocalEmbedder)


def test_a_provider_without_its_key_names_the_variable_and_shows_no_other_secret() -> None:
    """P13: what is missing is said, and where to put it."""
    with pytest.raises(EmbeddingError) as caught:
        make_embedder("openai", None, {"GEMINI_API_KEY": "sk-never-shown"})

    assert caught.value.code == "NO_PROVIDER_KEY"
    assert caught.value.message == "no key for provider openai"
    assert "OPENAI_API_KEY" in caught.value.action
    assert "sk-never-shown" not in f"{caught.value!r} {caught.value.action}"


def test_an_unknown_provider_names_the_nearest() -> None:
    with pytest.raises(ConfigError) as caught:
        make_embedder("locla", None, {})

    assert caught.value.code == "UNKNOWN_PROVIDER"
    assert "'locla'" in caught.value.message
    assert "'local'" in caught.value.action


def test_the_map_of_a_known_embedder_rises_and_one_of_an_unknown_is_the_identity() -> None:
    """The vector score is a monotone map of the cosine, in [0, 1]."""
    known = cosine_map(LocalEmbedder.provider, LocalEmbedder.model)
    scores = [known(step / 100) for step in range(-100, 101)]

    assert scores == sorted(scores)
    assert (min(scores) >= 0.0, max(scores) <= 1.0) == (True, True)
    assert [cosine_map("nobody", "nothing")(cosine) for cosine in (-0.5, 0.25, 1.0)] == [0.0, 0.25, 1.0]


def test_an_embedder_is_not_entered_more_often_at_once_than_it_declares() -> None:
    """P11: calls are counted inside; a barrier lets a second one in only if the gate does."""
    inside, most = 0, 0
    lock = threading.Lock()

    def enter(text: str) -> None:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        for _ in range(1000):
            text.upper()
        with lock:
            inside -= 1

    gated = GatedEmbedder(StubEmbedder(on_query=enter))
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(gated.embed_query, ["a"] * 64))

    assert most == 1
    assert len(vectors) == 64


def test_vectors_too_long_to_measure_are_refused() -> None:
    with pytest.raises(EmbeddingError):
        checked(np.full((1, 4), 1e30, dtype=np.float32), 1)
