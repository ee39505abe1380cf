"""Sentence vectors as signs: cosines nearly right, best first, damage refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmark.core.codes import decode, encode, estimate, is_record, nearest_by_signs


def _units(seed: int, count: int, dimensions: int) -> Any:
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(
    st.integers(0, 2**32 - 1), st.lists(st.integers(1, 12), min_size=1, max_size=5), st.sampled_from([5, 64, 100, 512])
)
def test_records_of_chunks_come_back_in_their_order(seed: int, counts: list[int], dimensions: int) -> None:
    chunks = [_units(seed + number, count, dimensions) for number, count in enumerate(counts)]
    kept = decode([encode(chunk) for chunk in chunks], dimensions)

    assert np.diff(kept.first).tolist() == counts
    assert kept.lengths == pytest.approx([np.linalg.norm(chunk.sum(axis=0)) for chunk in chunks], rel=1e-4)
    alone = np.concatenate([decode([encode(chunk)], dimensions).signs for chunk in chunks])
    np.testing.assert_array_equal(kept.signs, alone)


def test_an_estimate_is_right_to_a_few_hundredths_on_average() -> None:
    """At the dimensions of the bundled model, and not too high or too low on the whole."""
    vectors, query = _units(1, 2_000, 512), _units(2, 1, 512)[0]
    vectors = vectors + np.linspace(-1.0, 1.0, 2_000, dtype=np.float32)[:, None] * query
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kept = decode([encode(vectors)], 512)
    errors = estimate(kept.signs, kept.factors, query) - vectors @ query

    assert np.abs(errors).mean() < 0.03
    assert abs(errors.mean()) < 0.005
    assert np.abs(errors).max() < 0.15


def test_the_signs_alone_keep_the_nearest_sentence_among_a_few() -> None:
    vectors = _units(3, 5_000, 512)
    kept = decode([encode(vectors)], 512)
    for seed in range(50):
        query = vectors[seed] + 0.8 * _units(100 + seed, 1, 512)[0]
        query /= np.linalg.norm(query)
        near = nearest_by_signs(kept.words, query, 20)
        assert len(near) == 20
        assert int(np.argmax(vectors @ query)) in near


def test_equally_near_signs_are_kept_from_the_first_row_on() -> None:
    kept = decode([encode(np.repeat(_units(4, 1, 64), 30, axis=0))], 64)

    assert nearest_by_signs(kept.words, _units(5, 1, 64)[0], 7).tolist() == list(range(7))


@pytest.mark.parametrize("cut", [0, 1, 3, 4, 5, 20])
def test_a_record_of_another_size_is_refused(cut: int) -> None:
    record = encode(_units(6, 3, 64))[:cut]

    assert not is_record(len(record), 64)
    with pytest.raises(ValueError, match="64 dimensions"):
        decode([record], 64)
