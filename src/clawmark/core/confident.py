"""Is a hit good enough to be shown to somebody who did not ask for it?

A search shows its best hits; automatic recall must stay silent when the notes do not
answer. The rule: the hit covers the rare words of the question, each weighted by its
inverse document frequency. All thresholds: ``benchmarks/automatic_recall.py``.
"""

from __future__ import annotations

from collections.abc import Mapping

from clawmark.core.scoring import inverse_document_frequency
from clawmark.core.tokens import has_unspaced_script

# Of a question's weight, the share that a hit must hold. Questions about invented people whose
# namesakes are in the notes reach .57.
LEAST_COVERAGE = 0.6
# Pairs of characters across the borders of words occur nowhere, and dilute a question.
LEAST_COVERAGE_UNSPACED = 0.45
# Where the question alone does not tell that it is about the past.
LEAST_COVERAGE_IN_DOUBT = 0.7
LEAST_COVERAGE_UNSPACED_IN_DOUBT = 0.55
# A question of one word must be about a rare one: this share of the weight of an unknown word.
LEAST_RARITY = 0.45
# Meaning alone, and meaning beside a part of the words. Unrelated pairs stay below .35.
LEAST_VECTOR_SCORE = 0.6
LEAST_VECTOR_SCORE_BESIDE_WORDS = 0.5
LEAST_COVERAGE_BESIDE_MEANING = 0.4


def is_confident(
    frequencies: Mapping[str, int],
    idf: Mapping[str, float],
    *,
    chunks: int,
    identifier: bool = False,
    in_doubt: bool = False,
    vector_score: float | None = None,
) -> bool:
    """Tell whether a chunk surely speaks about what was asked.

    Args:
        frequencies: Query term to its count in the chunk.
        idf: Query term to its inverse document frequency; words that only ask left out.
        chunks: Number of chunks of the agent.
        identifier: Whether the question is nothing but identifiers: then all must be there.
        in_doubt: Whether the question may as well be one for an encyclopedia.
        vector_score: In [0, 1]; None when the vector leg did not answer.
    """
    share = coverage(frequencies, idf)
    if vector_score is not None and not identifier and not in_doubt:
        beside = vector_score >= LEAST_VECTOR_SCORE_BESIDE_WORDS and share >= LEAST_COVERAGE_BESIDE_MEANING
        if beside or vector_score >= LEAST_VECTOR_SCORE:
            return True
    if not idf or share < _least(idf, identifier=identifier, in_doubt=in_doubt):
        return False
    held = [weight for term, weight in idf.items() if frequencies.get(term, 0) > 0]
    return len(held) >= 2 or (len(idf) == 1 and held[0] >= LEAST_RARITY * inverse_document_frequency(0, chunks))


def coverage(frequencies: Mapping[str, int], idf: Mapping[str, float]) -> float:
    """Give the share of a question's weight that a chunk holds, in [0, 1].

    >>> coverage({"crane": 2}, {"crane": 3.0, "lock": 1.0})
    0.75
    """
    whole = sum(idf.values())
    return sum(weight for term, weight in idf.items() if frequencies.get(term, 0) > 0) / whole if whole else 0.0


def _least(idf: Mapping[str, float], *, identifier: bool, in_doubt: bool) -> float:
    if identifier:
        return 1.0 - 1e-9
    spaced, unspaced = LEAST_COVERAGE, LEAST_COVERAGE_UNSPACED
    if in_doubt:
        spaced, unspaced = LEAST_COVERAGE_IN_DOUBT, LEAST_COVERAGE_UNSPACED_IN_DOUBT
    share = sum(weight for term, weight in idf.items() if has_unspaced_script(term)) / sum(idf.values())
    return spaced + (unspaced - spaced) * share
