"""What every embedder must do, whatever makes its vectors."""

from __future__ import annotations

import multiprocessing
import sys
import threading
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from clawmark.core.errors import InputTooLongError
from clawmark.core.ports import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

TEXTS = (
    "The deploy key hangs in the cabinet behind the door.",
    "Two cranes stand at the northern lock, waiting for fish.",
    "Quarterly budget: 40,000 for tools, the rest for travel.",
    "Call the landlord about the heating before Friday.",
    "zebra",
)
# Smallest cosine that counts as the same vector: batches may be summed in another order.
SAME = 0.9999
_PATIENCE_SECONDS = 120


class EmbedderContract:
    """Subclass it, and override the fixture ``embedder``; give one instance to all if it is slow to load."""

    @pytest.fixture
    def embedder(self) -> Embedder:
        """Give the embedder; override it."""
        raise NotImplementedError("Override the fixture `embedder`.")

    def test_it_is_an_embedder_with_sensible_limits(self, embedder: Embedder) -> None:
        """Names are not blank, limits are at least one."""
        assert isinstance(embedder, Embedder)
        assert embedder.provider.strip()
        assert embedder.model.strip()
        assert min(embedder.max_input_tokens, embedder.max_batch_items, embedder.concurrency) >= 1

    def test_documents_become_one_row_each(self, embedder: Embedder) -> None:
        """(texts, dimensions) float32, every number finite, no row without direction."""
        vectors = embedder.embed_documents(TEXTS)
        assert vectors.shape == (len(TEXTS), embedder.dimensions)
        assert vectors.dtype == np.float32
        assert np.isfinite(vectors).all()
        assert (np.linalg.norm(vectors, axis=1) > 0).all()

    def test_a_question_is_one_vector_of_the_same_space(self, embedder: Embedder) -> None:
        """(dimensions,), finite, and long as the rows of documents."""
        vector = embedder.embed_query("where is the deploy key?")
        assert vector.shape == (embedder.embed_documents(TEXTS[:1]).shape[1],)
        assert np.isfinite(vector).all()
        assert np.linalg.norm(vector) > 0

    def test_the_same_text_has_the_same_vector_every_time(self, embedder: Embedder) -> None:
        """As a document and as a question."""
        np.testing.assert_array_equal(embedder.embed_documents(TEXTS), embedder.embed_documents(TEXTS))
        np.testing.assert_array_equal(embedder.embed_query(TEXTS[0]), embedder.embed_query(TEXTS[0]))

    def test_a_text_has_the_same_vector_alone_and_in_a_batch(self, embedder: Embedder) -> None:
        """Neighbours, and their lengths, do not matter."""
        alone = [embedder.embed_documents([text])[0] for text in TEXTS]
        _assert_same(embedder.embed_documents(TEXTS), alone)
        _assert_same(embedder.embed_documents([TEXTS[4], TEXTS[0] * 20])[:1], alone[4:])

    def test_rows_are_in_the_order_of_the_texts(self, embedder: Embedder) -> None:
        """However the batch is sorted inside."""
        straight = embedder.embed_documents(TEXTS)
        _assert_same(embedder.embed_documents(TEXTS[::-1])[::-1], straight)

    def test_a_full_batch_is_answered(self, embedder: Embedder) -> None:
        """As many rows as the embedder says that it takes (at most 256 are tried)."""
        size = min(embedder.max_batch_items, 256)
        texts = [f"{TEXTS[number % len(TEXTS)]} Number {number}." for number in range(size)]
        vectors = embedder.embed_documents(texts)
        assert vectors.shape[0] == size
        _assert_same(vectors[-1:], embedder.embed_documents(texts[-1:]))

    @pytest.mark.parametrize(
        "text",
        ["", " \n\t", "\0", "a\0b", "\ud83d", "ends in \udfff", "\ufffe\uffff", "😀" * 50, "ﷺ", "x" * 4_000],
        ids=["empty", "blank", "NUL", "NUL-inside", "high", "low", "non-characters", "emoji", "ligature", "one-word"],
    )
    def test_an_odd_text_is_answered_and_does_not_disturb_its_neighbours(self, embedder: Embedder, text: str) -> None:
        """Finite numbers for it, the usual ones for the others; also as a question."""
        vectors = embedder.embed_documents([TEXTS[0], text, TEXTS[1]])
        assert vectors.shape[0] == 3
        assert np.isfinite(vectors).all()
        _assert_same(vectors[[0, 2]], embedder.embed_documents(TEXTS[:2]))
        assert np.isfinite(embedder.embed_query(text)).all()

    def test_a_text_above_the_limit_is_answered_or_refused_by_name(self, embedder: Embedder) -> None:
        """Any other error would be taken for a failure of the provider."""
        words = "crane heron egret "
        text = words * (min(embedder.max_input_tokens, 20_000) * 4 // len(words) + 1)
        try:
            vectors = embedder.embed_documents([text])
        except InputTooLongError:
            return
        assert vectors.shape[0] == 1
        assert np.isfinite(vectors).all()

    def test_threads_may_share_it(self, embedder: Embedder) -> None:
        """Each gets its own answer."""
        expected = embedder.embed_documents(TEXTS)
        answers: dict[int, NDArray[Any]] = {}

        def ask(number: int) -> None:
            answers[number] = embedder.embed_documents(TEXTS[number:])

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(len(TEXTS))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(len(TEXTS)):
            _assert_same(answers[number], expected[number:])

    def test_it_works_in_a_process_that_was_forked_after_its_first_use(self, embedder: Embedder) -> None:
        """Servers fork their workers; an engine whose threads did not come along would hang."""
        expected = embedder.embed_documents(TEXTS)
        if sys.platform == "win32":
            return  # nothing forks there
        _assert_same(_embedded_in_a_fork(embedder, TEXTS), expected)
        _assert_same(embedder.embed_documents(TEXTS), expected)


def _assert_same(found: Any, expected: Any) -> None:
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape
    lengths = np.linalg.norm(found, axis=1) * np.linalg.norm(expected, axis=1)
    cosines = np.einsum("ij,ij->i", found, expected) / lengths
    assert cosines.min() >= SAME, cosines


def _embedded_in_a_fork(embedder: Embedder, texts: Sequence[str]) -> NDArray[Any]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(embedder.embed_documents(texts)))
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads: that it works is what is tested here.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    try:
        assert receiver.poll(_PATIENCE_SECONDS), "The forked process hangs."
        return receiver.recv()
    finally:
        process.kill()
        process.join()
        receiver.close()
