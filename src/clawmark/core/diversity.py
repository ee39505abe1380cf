"""Maximal marginal relevance: good results that are not the same result again.

Source:
    Carbonell & Goldstein 1998; recall-spec 6.2, newest version, with words of every
    script (user case R14).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

_T = TypeVar("_T")

_LATIN_WORD = re.compile(r"[a-z0-9_]+")
# Chinese, kana and Hangul as the re-implemented system sees them, then what it does not
# see: scripts without spaces (Thai, Lao, Myanmar, Khmer), rare Han, half-width kana, jamo.
_UNSPACED_RANGES = (
    r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3100-\u318f\u31f0-\u31ff"
    r"\uf900-\ufaff\uff66-\uff9f\u1100-\u11ff\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]+")


class _SpacedScripts(dict[int, int]):
    """Translation that leaves only words of scripts with spaces; filled with each new character."""

    def __missing__(self, code: int) -> int:
        character = chr(code)
        # Marks count: vowel signs of Indic scripts are part of their words.
        letter = character.isalnum() or character == "_" or unicodedata.category(character).startswith("M")
        self[code] = code if letter and not _UNSPACED.match(character) else ord(" ")
        return self[code]


_SPACED_SCRIPTS = _SpacedScripts()


def word_set(text: str) -> frozenset[str]:
    """Give the words of a text: Latin words, characters and pairs of unspaced scripts, words of other scripts.

    Latin, Chinese, kana and Hangul give what recall-spec 6.2 gives. Words that hold another
    character (Cyrillic, Arabic, Greek, accented Latin) come on top, whole: the
    re-implemented system sees none in them, so that all such texts look alike (R14).

    >>> sorted(word_set("Hello 世界 привет"))
    ['hello', 'привет', '世', '世界', '界']
    """
    lower = text.lower()
    if lower.isascii():
        return frozenset(_LATIN_WORD.findall(lower))
    lower = unicodedata.normalize("NFC", lower)
    words = set(_LATIN_WORD.findall(lower))
    words.update(word for word in lower.translate(_SPACED_SCRIPTS).split() if not word.isascii())
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
    limit: int | None = None,
) -> list[_T]:
    """Order items so that each is relevant and unlike those before it.

    Repeatedly takes the item with the highest λ · score − (1 − λ) · similarity to the
    nearest one taken; scores are normalised over the list. Ties: the higher score, then
    the earlier item. Takes time in proportion to len(items) · limit.

    Args:
        items: In any order; all are given back.
        relevance: λ, clamped to [0, 1]; 1 is plain order by score.
        score: Of an item; finite.
        text: Of an item.
        limit: Places to fill so, the rest follows by score; None for all.

    Source:
        recall-spec 6.2, version 2026.9.6; there without a limit.
    """
    weight = min(1.0, max(0.0, relevance))
    if weight == 1.0 or len(items) <= 1:
        return sorted(items, key=lambda item: -score(item))
    scores = [score(item) for item in items]
    texts = [text(item) for item in items]
    order = _diverse_order(scores, texts, weight, len(items) if limit is None else limit)
    return [items[i] for i in order]


def _diverse_order(scores: Sequence[float], texts: Sequence[str], weight: float, places: int) -> list[int]:
    words = [word_set(part) for part in texts]
    normal = _normalised(scores)
    nearest = [0.0] * len(scores)
    left = list(range(len(scores)))
    taken: list[int] = []
    while left and len(taken) < places:
        best = max(left, key=lambda i: (weight * normal[i] - (1.0 - weight) * nearest[i], scores[i], -i))
        left.remove(best)
        taken.append(best)
        for i in left:
            nearest[i] = max(nearest[i], _alike(texts[i], words[i], texts[best], words[best]))
    return [*taken, *sorted(left, key=lambda i: -scores[i])]


def _normalised(scores: Sequence[float]) -> list[float]:
    low, high = min(scores), max(scores)
    return [1.0 if high == low else (value - low) / (high - low) for value in scores]


def _alike(text_a: str, words_a: AbstractSet[str], text_b: str, words_b: AbstractSet[str]) -> float:
    if not words_a and not words_b:
        return float(text_a.strip().lower() == text_b.strip().lower())
    return jaccard(words_a, words_b)
