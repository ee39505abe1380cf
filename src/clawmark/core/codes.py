"""Sentence vectors as signs: one bit a number, small enough to keep, good enough to rank by.

The cosine of a question with a vector is estimated from the signs of the vector's numbers
and one factor that makes the estimate unbiased. At 512 dimensions it is right to ±0.025
on average; rankings of all public sets stay within a point of those of exact vectors, and
two bits a number gain nothing but on short notes (``benchmarks/ranking``).

Knows nothing of files, stores or questions: arrays in, bytes out.

Source:
    Gao & Long, "RaBitQ", SIGMOD 2024, arXiv:2405.12497. Its random rotation is left out:
    the sentence encoder's numbers are even enough (measured).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class SentenceCodes:
    """The sentences of some chunks, ready to be compared.

    Attributes:
        lengths: (chunks,) float32, length of the sum of a chunk's sentence vectors.
        first: (chunks + 1,) int64, a chunk's sentences are first[i] .. first[i + 1].
        factors: (sentences,) float32, what makes an estimate a cosine.
        signs: (sentences, ⌈d/8⌉) uint8, a bit a number, set where it is not negative.
        words: (sentences, ⌈d/64⌉) uint64, the same as words.
    """

    lengths: NDArray[Any]
    first: NDArray[Any]
    factors: NDArray[Any]
    signs: NDArray[Any]
    words: NDArray[Any]


def encode(vectors: NDArray[Any]) -> bytes:
    """Pack the sentence vectors of one chunk.

    Args:
        vectors: (sentences, dimensions) float32, rows of unit length, at least one.

    Returns:
        Length of their sum, factors, signs: 4 + sentences · (2 + ⌈d/8⌉) bytes.
    """
    import numpy as np

    length = np.linalg.norm(vectors.sum(axis=0, dtype=np.float64))
    factors = 1.0 / np.abs(vectors).sum(axis=1)
    signs = np.packbits(vectors >= 0, axis=1)
    return b"".join((np.float32(length).tobytes(), factors.astype("<f2").tobytes(), signs.tobytes()))


def is_record(size: int, dimensions: int) -> bool:
    """Tell whether a record can have so many bytes, with vectors of these dimensions."""
    whole, rest = divmod(size - 4, 2 + _bytes(dimensions))
    return whole > 0 and rest == 0


def decode(records: Sequence[bytes], dimensions: int) -> SentenceCodes:
    """Unpack the records of several chunks.

    Raises:
        ValueError: A record is not of vectors of these dimensions.
    """
    import numpy as np

    width = _bytes(dimensions)
    if not all(is_record(len(record), dimensions) for record in records):
        raise ValueError(f"A record of sentences is not of {dimensions} dimensions.")
    counts = [(len(record) - 4) // (width + 2) for record in records]
    middles = [4 + 2 * count for count in counts]
    parts = list(zip(records, middles, strict=True))
    signs = np.frombuffer(b"".join(record[middle:] for record, middle in parts), dtype=np.uint8).reshape(-1, width)
    return SentenceCodes(
        lengths=np.frombuffer(b"".join(record[:4] for record in records), dtype="<f4"),
        first=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        factors=np.frombuffer(b"".join(record[4:middle] for record, middle in parts), dtype="<f2").astype(np.float32),
        signs=signs,
        words=_words(signs),
    )


def estimate(signs: NDArray[Any], factors: NDArray[Any], query: NDArray[Any]) -> NDArray[Any]:
    """Estimate the cosine of a question with some sentences.

    Args:
        signs: (sentences, ⌈d/8⌉) uint8.
        factors: (sentences,) float32.
        query: (dimensions,) float32, unit length.

    Returns:
        (sentences,) float32.
    """
    import numpy as np

    # For each byte what its eight signs give: 256 sums a byte, looked up.
    places = signs + np.arange(signs.shape[1], dtype=np.int64) * 256
    return _byte_sums(query).ravel().take(places).sum(axis=1, dtype=np.float32) * factors


def nearest_by_signs(words: NDArray[Any], query: NDArray[Any], limit: int) -> NDArray[Any]:
    """Give the rows whose signs differ least from a question's, at most *limit*, rising.

    Where several differ equally at the border the first rows stay.

    Args:
        words: (sentences, ⌈d/64⌉) uint64.
        query: (dimensions,) float32.
        limit: Most rows, >= 1.
    """
    import numpy as np

    if len(words) <= limit:
        return np.arange(len(words))
    asked = _words(np.packbits(query >= 0)[None])
    distance = np.bitwise_count(words ^ asked).sum(axis=1, dtype=np.uint16)
    border = np.partition(distance, limit - 1)[limit - 1]
    nearer, equal = np.flatnonzero(distance < border), np.flatnonzero(distance == border)
    return np.sort(np.concatenate([nearer, equal[: limit - len(nearer)]]))


def _words(signs: NDArray[Any]) -> NDArray[Any]:
    """Give bytes as words of eight, padded with zeros."""
    import numpy as np

    padded = np.zeros((len(signs), -(-signs.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : signs.shape[1]] = signs
    return padded.view(np.uint64)


def _byte_sums(query: NDArray[Any]) -> NDArray[Any]:
    import numpy as np

    padded = np.zeros(8 * _bytes(len(query)), dtype=np.float32)
    padded[: len(query)] = query
    patterns = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float32) * 2 - 1
    return padded.reshape(-1, 8) @ patterns.T


def _bytes(dimensions: int) -> int:
    return (dimensions + 7) // 8
