"""Contract of a store: chunks whose sentences have vectors of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from clawmark.core.codes import encode
from clawmark.core.ports import Filter, Store
from clawmark.testing.samples import EVERYTHING, IDENTITY, SPACE, chunk_ids, embed, put, unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

_DIMENSIONS = 256
_SPACE = {**SPACE, "dimensions": _DIMENSIONS, "sentences": 1}
# A bit a number: what a cosine may be off at 256 dimensions.
_NEARLY = 0.15


class StoreSentences:
    """The best sentence of a chunk is what ranks it."""

    def test_a_chunk_is_as_near_as_its_best_sentence(self, store: Store) -> None:
        """However many others say something else; and all together are less near."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.\n\nThree.")
        first, second, third = chunk_ids(store, "main")
        _embed(store, {first: [0.0, 0.9, -0.2, 0.1], second: [0.5, 0.5], third: [0.2]})
        with store.reading("main") as reader:
            found = reader.vector_candidates(_question(), EVERYTHING, 10)
            near = reader.cosines(_question(), [first, second, third])
        assert [number for number, _ in found] == [first, second, third]
        assert near[first].best == pytest.approx(0.9, abs=_NEARLY)
        assert near[first].whole < near[first].best - 0.2
        assert near[third].best == pytest.approx(near[third].whole, abs=_NEARLY)

    def test_a_filter_comes_before_the_limit_of_sentences(self, store: Store) -> None:
        """One weak sentence of the wanted file is found beside hundreds of strong ones."""
        put(store, "main", "memory/a.md", "\n\n".join(["Heron."] * 60))
        strong = chunk_ids(store, "main")
        wanted = put(store, "main", "memory/b.md", "Egret.")
        (weak,) = chunk_ids(store, "main", "memory/b.md")
        _embed(store, {**{chunk: [0.8, 0.9, 0.7] for chunk in strong}, weak: [0.1]})
        with store.reading("main") as reader:
            only = Filter(EVERYTHING.sources, frozenset({wanted}))
            assert [number for number, _ in reader.vector_candidates(_question(), only, 1)] == [weak]
            assert len(reader.vector_candidates(_question(), EVERYTHING, 5)) == 5

    def test_vectors_of_whole_chunks_make_room_for_sentences(self, store: Store) -> None:
        """And the other way round: the two kinds are never compared."""
        put(store, "main", "memory/a.md", "One.\n\nTwo.")
        first, second = chunk_ids(store, "main")
        embed(store, "main", {first: 1.0, second: 1.0})
        _embed(store, {second: [0.5]})
        with store.reading("main") as reader:
            assert [chunk.id for chunk in reader.pending(limit=10)] == [first]
            assert reader.cosines(unit(), [first, second]) == {}
            assert list(reader.cosines(_question(), [first, second])) == [second]
        embed(store, "main", {first: 1.0})
        with store.reading("main") as reader:
            assert list(reader.cosines(unit(), [first, second])) == [first]


def _question() -> NDArray[Any]:
    import numpy as np

    vector = np.random.default_rng(7).standard_normal(_DIMENSIONS).astype(np.float32)
    return vector / np.linalg.norm(vector)


def _embed(store: Store, cosines: dict[int, list[float]]) -> None:
    """Give chunks sentences with these cosines to the question."""
    with store.writing("main", IDENTITY) as writer:
        records = {chunk: _record(chunk, values) for chunk, values in cosines.items()}
        writer.put_vectors(records, space=_SPACE)


def _record(seed: int, cosines: list[float]) -> bytes:
    import numpy as np

    question = _question()
    others = np.random.default_rng(seed).standard_normal((len(cosines), _DIMENSIONS))
    others -= (others @ question)[:, None] * question
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    near = np.array(cosines)[:, None]
    return encode((near * question + np.sqrt(1.0 - near * near) * others).astype(np.float32))
