"""Retrieval metrics over places: a gold span is covered by the first result that overlaps it.

Values in, values out. Ranks are 1-based; None means "not among the results".
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# A sentence is short enough to stand whole in a snippet, and long enough to be unique.
_SENTENCE = re.compile(r"[^。！？.!?\n]+[。！？.!?]?")


@dataclass(frozen=True)
class Span:
    """Lines of one file, both ends included."""

    path: str
    start_line: int
    end_line: int

    def overlaps(self, other: Span) -> bool:
        """Tell whether two spans share a line of one file."""
        return self.path == other.path and self.start_line <= other.end_line and other.start_line <= self.end_line


def rank_of(span: Span, results: Sequence[Span]) -> int | None:
    """Give the rank of the first result that covers a span."""
    return next((rank for rank, result in enumerate(results, start=1) if result.overlaps(span)), None)


def ranks_of(gold: Sequence[Span], results: Sequence[Span], *, any_suffices: bool) -> list[int | None]:
    """Give the rank of each gold span, or of the best one when any of them answers."""
    ranks = [rank_of(span, results) for span in gold]
    if any_suffices:
        return [min((rank for rank in ranks if rank), default=None)]
    return ranks


def recall_at(ranks: Sequence[int | None], depth: int) -> float:
    """Give the share of gold spans among the first *depth* results.

    >>> recall_at([1, 7, None], 5)
    0.3333333333333333
    """
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def ndcg_at(ranks: Sequence[int | None], depth: int = 10) -> float:
    """Give the discounted gain of the gold spans over the ideal one, in [0, 1].

    Source:
        Järvelin & Kekäläinen 2002, with binary gains; capped at 1, since one result may
        cover two spans.

    >>> ndcg_at([1]), round(ndcg_at([2]), 3), ndcg_at([None])
    (1.0, 0.631, 0.0)
    """
    gain = sum(1 / math.log2(1 + rank) for rank in ranks if rank is not None and rank <= depth)
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(ranks), depth) + 1))
    return min(1.0, gain / ideal)


def stale_first(gold: Sequence[Span], stale: Sequence[Span], results: Sequence[Span]) -> float:
    """Give 1.0 when a superseded statement ranks above every current one, or nothing is found."""
    best = min((rank for span in gold if (rank := rank_of(span, results))), default=None)
    old = min((rank for span in stale if (rank := rank_of(span, results))), default=None)
    if best is None:
        return 1.0
    return float(old is not None and old < best)


def text_within(gold_texts: Sequence[str], snippets: Sequence[str], budget: int) -> float:
    """Give the share of the gold text whose sentences stand in the first *budget* snippet characters."""
    shown = "\n".join(snippets)[:budget]
    flat = " ".join(shown.split())
    total = found = 0
    for text in gold_texts:
        for sentence in _SENTENCE.findall(text):
            plain = " ".join(sentence.split())
            total += len(plain)
            found += len(plain) if plain in flat else 0
    return found / total if total else 0.0


def mean_rows(rows: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Average each metric over the questions that have it."""
    names = dict.fromkeys(name for row in rows for name in row)
    values = {name: [row[name] for row in rows if name in row] for name in names}
    return {name: sum(found) / len(found) for name, found in values.items()}
