"""Maximal marginal relevance: good results that are not the same result again.

Source:
    Carbonell & Goldstein 1998; recall-spec 6.2, newest version, with words of every
    script (user case R14).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

_T = TypeVar("_T")

_LATIN_WORD = re.compile(r"[a-z0-9_]+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")
_OTHER_WORD = re.compile(r"[^\W\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]+")


def word_set(text: str) -> frozenset[str]:
    """Give the words of a text: Latin words, characters and pairs of unspaced scripts, words of other scripts.

    >>> sorted(word_set("Hello 世界 привет"))
    ['hello', 'привет', '世', '世界', '界']
    """
    lower = text.lower()
    words = set(_LATIN_WORD.findall(lower))
    # The re-implemented system stops here and sees no word in Cyrillic, Arabic or Greek.
    words.update(word for word in _OTHER_WORD.findall(lower) if not word.isascii())
    for run in _UNSPACED.findall(lower):
        words.update(run)
        words.update(run[i : i + 2] for i in range(len(run) - 1))
    return frozenset(words)


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Give the share of words that two sets have in common; two empty sets are equal.

    >>> jaccard({"a", "b"}, {"b", "c"})
    0.3333333333333333
    """
    if not a and not b:
        return 1.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def similarity(text_a: str, text_b: str) -> float:
    """Compare two texts by their words; texts without words are alike only when they are equal."""
    return _alike(text_a, word_set(text_a), text_b, word_set(text_b))


def rerank_for_diversity(
    items: Sequence[_T],
    *,
    relevance: float,
    score: Callable[[_T], float],
    text: Callable[[_T], str],
) -> list[_T]:
    """Order items so that each is relevant and unlike those before it.

    Repeatedly takes the item with the highest λ · score − (1 − λ) · similarity to the
    nearest one taken; scores are normalised over the list. Ties: the higher score, then
    the earlier item.

    Args:
        items: In any order; all are given back.
        relevance: λ, clamped to [0, 1]; 1 is plain order by score.
        score: Of an item.
        text: Of an item.
    """
    weight = min(1.0, max(0.0, relevance))
    if len(items) <= 1:
        return list(items)
    if weight == 1.0:
        return sorted(items, key=lambda item: -score(item))
    scores = [score(item) for item in items]
    texts = [text(item) for item in items]
    words = [word_set(part) for part in texts]
    normal = _normalised(scores)
    nearest = [0.0] * len(items)
    left = list(range(len(items)))
    taken: list[int] = []
    while left:
        best = max(left, key=lambda i: (weight * normal[i] - (1.0 - weight) * nearest[i], scores[i], -i))
        left.remove(best)
        taken.append(best)
        for i in left:
            nearest[i] = max(nearest[i], _alike(texts[i], words[i], texts[best], words[best]))
    return [items[i] for i in taken]


def _normalised(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [1.0 if high == low else (value - low) / (high - low) for value in scores]


def _alike(text_a: str, words_a: AbstractSet[str], text_b: str, words_b: AbstractSet[str]) -> float:
    if not words_a and not words_b:
        return float(text_a.strip().lower() == text_b.strip().lower())
    return jaccard(words_a, words_b)
