"""The two legs as numbers: BM25 and cosine, each through a map into [0, 1].

This module knows nothing about files, stores or time: it gets counts and cosines.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

TextScoreName = Literal["share", "max", "saturation"]

# The values of the FTS5 and Lucene defaults; 0.9/0.4 and 1.5/0.75 were not better
# on any public set (benchmarks/ranking).
BM25_K1 = 1.2
BM25_B = 0.75
# Where the share of what a question can reach bends. Of .7, .8, .9 and .95 the last is
# the best on locomo (nDCG@10 .761), equal elsewhere: benchmarks/ranking.
SHARE_KNEE = 0.95
_LARGEST_SHARE = 0.99


@dataclass(frozen=True)
class TermStatistics:
    """What BM25 needs to know of one agent's chunks.

    Attributes:
        chunks: Number of chunks of the agent, N.
        average_length: Mean number of terms of a chunk.
        document_frequency: Term to the number of chunks that hold it; a term that
            occurs nowhere may be absent.
    """

    chunks: int
    average_length: float
    document_frequency: Mapping[str, int]


def inverse_document_frequency(document_frequency: int, chunks: int) -> float:
    """Weigh a term by its rarity.

    Returns:
        ln(1 + (N - df + 0.5) / (df + 0.5)), > 0 also for a term of every chunk.

    Source:
        Robertson & Zaragoza 2009, with the +1 of Lucene that keeps it positive.
    """
    return math.log(1.0 + (chunks - document_frequency + 0.5) / (document_frequency + 0.5))


def bm25(
    frequencies: Mapping[str, int],
    *,
    length: int,
    statistics: TermStatistics,
    idf: Mapping[str, float],
) -> float:
    """Score one chunk for a question.

    Args:
        frequencies: Query term to its count in the chunk.
        length: Number of terms of the chunk.
        statistics: Of the agent that owns the chunk.
        idf: Query term to its inverse document frequency.

    Returns:
        A number >= 0; 0 when no query term occurs.
    """
    norm = BM25_K1 * (1.0 - BM25_B + BM25_B * length / max(statistics.average_length, 1.0))
    return sum(
        idf[term] * frequency * (BM25_K1 + 1.0) / (frequency + norm)
        for term, frequency in frequencies.items()
        if frequency > 0
    )


def query_idf(terms: Sequence[str], statistics: TermStatistics) -> dict[str, float]:
    """Give each query term its inverse document frequency; unknown terms get the full one."""
    frequency = statistics.document_frequency
    return {term: inverse_document_frequency(frequency.get(term, 0), statistics.chunks) for term in terms}


def attainable_bm25(idf: Mapping[str, float]) -> float:
    """Give what a chunk of average length reaches that holds each term once: Σ idf(t).

    A term that occurs nowhere counts with its full weight: a chunk that lacks the one
    rare word of a question does not answer it.
    """
    return sum(idf.values())


def text_score(strength: float, *, name: TextScoreName, attainable: float, best: float) -> float:
    """Map a BM25 into [0, 1].

    Args:
        strength: BM25 of the chunk.
        name: "share" of what the question can reach: absolute, independent of the other
            results; "max": relative to the best chunk; "saturation": r / (1 + r).
        attainable: See ``attainable_bm25``.
        best: Highest BM25 among the candidates.
    """
    if strength <= 0.0 or not math.isfinite(strength):
        return 0.0
    if name == "saturation":
        return saturate(strength)
    whole = attainable if name == "share" else best
    if whole <= 0.0:
        return 0.0
    return _bend(strength / whole) if name == "share" else min(1.0, strength / whole)


def _bend(share: float) -> float:
    """Keep shares above the knee apart and below 1: repetitions say a little more, never everything."""
    if share <= SHARE_KNEE:
        return share
    beyond = (share - SHARE_KNEE) / (BM25_K1 + 1.0 - SHARE_KNEE)
    return SHARE_KNEE + (_LARGEST_SHARE - SHARE_KNEE) * min(1.0, beyond)


def saturate(strength: float) -> float:
    """Map a BM25 into [0, 1): r / (1 + r), 0 for what is no match or not finite.

    >>> [round(saturate(strength), 3) for strength in (4.2, 2.1, 0.5, 0.0, -3.0)]
    [0.808, 0.677, 0.333, 0.0, 0.0]
    """
    return strength / (1.0 + strength) if math.isfinite(strength) and strength > 0.0 else 0.0


def bm25_rank_to_score(rank: float) -> float:
    """Map an FTS5 rank as the re-implemented system does, newest version.

    A rank is negative for a match, more negative for a better one. Kept for people who
    compare the two systems; ``saturate`` is what searches use.

    Source:
        recall-spec 5.3.

    >>> [round(bm25_rank_to_score(rank), 3) for rank in (-4.2, -0.5, 0.0, 3.0)]
    [0.808, 0.333, 1.0, 0.25]
    """
    if not math.isfinite(rank):
        return 1.0 / 1000.0
    return saturate(-rank) if rank < 0.0 else 1.0 / (1.0 + rank)


def cosine_from_distance(distance: float) -> float:
    """Turn the cosine distance of an engine into a score in [0, 1].

    >>> cosine_from_distance(0.75), cosine_from_distance(1.5)
    (0.25, 0.0)
    """
    return _clamp(1.0 - distance)


def cosine_from_l2(distance: float) -> float:
    """Turn the L2 distance of two unit vectors into a score in [0, 1].

    >>> [round(cosine_from_l2(distance), 2) for distance in (0.447, 1.0, 1.549)]
    [0.9, 0.5, 0.0]
    """
    return _clamp(1.0 - distance * distance / 2.0)


def cosine_similarity(a: Sequence[float], b: Sequence[float]) -> float:
    """Give the cosine of two vectors in [-1, 1]; 0 when either has no length.

    Raises:
        ValueError: If the lengths differ: such vectors come from different models.
    """
    if len(a) != len(b):
        raise ValueError(f"Vectors of {len(a)} and {len(b)} dimensions cannot be compared.")
    norm = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(y * y for y in b))
    if norm == 0.0 or not math.isfinite(norm):
        return 0.0
    return max(-1.0, min(1.0, math.fsum(x * y for x, y in zip(a, b, strict=True)) / norm))


@dataclass(frozen=True)
class CosineMap:
    """A monotone map from the cosine of one embedder to a vector score.

    Attributes:
        points: (cosine, score) pairs, both rising; straight lines between them.
            Empty: the identity, clamped to [0, 1].
        source: The benchmark that chose the points.
    """

    points: tuple[tuple[float, float], ...] = ()
    source: str = "identity: nothing is known of this embedder"

    def __call__(self, cosine: float) -> float:
        """Map one cosine into [0, 1].

        >>> round(CosineMap(((0.0, 0.0), (0.2, 0.35), (1.0, 1.0)))(0.1), 3)
        0.175
        """
        if not self.points:
            return _clamp(cosine)
        if cosine <= self.points[0][0]:
            return self.points[0][1]
        if cosine >= self.points[-1][0]:
            return self.points[-1][1]
        at = bisect_right(self.points, (cosine, math.inf))
        (x0, y0), (x1, y1) = self.points[at - 1], self.points[at]
        return y0 + (y1 - y0) * (cosine - x0) / (x1 - x0)


IDENTITY_MAP = CosineMap()


def _clamp(value: float) -> float:
    return min(1.0, max(0.0, value)) if math.isfinite(value) else 0.0
