"""From two legs to one order: fusion, threshold, relaxation.

This module does not know where candidates come from. Results are ordered by
``(-score, path, start_line)``; nothing here looks at a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from clawmark.core.model import Mode
from clawmark.core.ports import Candidate

# Candidates of each leg when the user set no multiplier. 200 keeps recall@10 within
# 0.1 point of fusing every chunk on all public sets (benchmarks/ranking).
CANDIDATES_PER_LEG = 200
# Kinds of session that nobody holds: they are many, and say the same again and again.
AUTOMATED_KINDS = frozenset({"scheduled", "subagent"})
# No public benchmark holds scheduled sessions, so this rests on arithmetic. BM25 gives one
# occurrence in the shortest text 1.7 times what it gives in one of average length (k1 1.2,
# b 0.75): with half the weight, no brevity lifts an automated session above what a
# person said in the same words (user case T07), while one that alone knows is found.
AUTOMATED_IMPORTANCE = 0.5


@dataclass(frozen=True)
class Ranked:
    """A candidate with every number that put it in its place.

    Attributes:
        candidate: The chunk.
        cosine: Raw cosine; None when it has no vector or the leg did not answer.
        bm25: BM25; None when the text leg did not answer.
        vector_score: In [0, 1]; None as above.
        text_score: In [0, 1]; None as above.
        hybrid_score: Weighted sum, or the score of the only leg.
        score: ``hybrid_score`` after importance and decay; orders the results.
        relaxed: Below the threshold, in a free place.
    """

    candidate: Candidate
    cosine: float | None
    bm25: float | None
    vector_score: float | None
    text_score: float | None
    hybrid_score: float
    score: float
    relaxed: bool = False

    @property
    def text_matched(self) -> bool:
        """Tell whether the text leg found it."""
        return bool(self.text_score)


@dataclass(frozen=True)
class Selection:
    """What is shown, and what the threshold held back.

    Attributes:
        chosen: In order; those in free places are marked ``relaxed``.
        filtered: Number of candidates below the threshold that are not shown.
        best_filtered: Highest score among them; None when there are none.
    """

    chosen: tuple[Ranked, ...]
    filtered: int
    best_filtered: float | None


def candidate_limit(max_results: int, multiplier: int | None) -> int:
    """Give the number of candidates of each leg.

    Args:
        max_results: Wanted results, >= 1.
        multiplier: The user's; None when not set.

    >>> candidate_limit(6, None), candidate_limit(6, 4), candidate_limit(100, None)
    (200, 24, 400)
    """
    if multiplier is not None:
        return max(1, max_results * multiplier)
    return max(CANDIDATES_PER_LEG, max_results * 4)


def fuse(
    vector_score: float | None,
    text_score: float | None,
    *,
    mode: Mode,
    vector_weight: float,
    text_weight: float,
) -> float:
    """Combine the legs: the weighted sum in hybrid mode, else the leg's own score.

    >>> round(fuse(0.5, 1.0, mode="hybrid", vector_weight=0.7, text_weight=0.3), 12)
    0.65
    >>> fuse(0.45, None, mode="vector", vector_weight=0.7, text_weight=0.3)
    0.45
    """
    if mode == "vector":
        return vector_score or 0.0
    if mode == "keyword":
        return text_score or 0.0
    return vector_weight * (vector_score or 0.0) + text_weight * (text_score or 0.0)


def importance_of(source: str, kind: str) -> float:
    """Give the factor in (0, 1] that the origin of a text puts on its score.

    Args:
        source: "memory" or "sessions".
        kind: Kind of the session; "" for files.

    Source:
        User case T07.

    >>> importance_of("sessions", "interactive"), importance_of("sessions", "scheduled")
    (1.0, 0.5)
    """
    return AUTOMATED_IMPORTANCE if source == "sessions" and kind in AUTOMATED_KINDS else 1.0


def order(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Sort by score, then path, then line: the same in every run."""
    return sorted(
        ranked,
        key=lambda item: (-item.score, item.candidate.path, item.candidate.start_line, item.candidate.id),
    )


def select(
    ordered: Sequence[Ranked],
    *,
    max_results: int,
    min_score: float,
    relax: bool,
    must_show: Callable[[Ranked], bool] = lambda item: False,
) -> Selection:
    """Apply the threshold and fill free places.

    Results above the threshold come first. Free places go to keyword-only hits, which
    the text leg matched and the vector score alone would not pass, in merged order; when
    nothing passed, to all hits of the text leg.

    Args:
        ordered: Candidates in their final order.
        max_results: Places, >= 1.
        min_score: The threshold, in [0, 1].
        relax: Whether free places are filled.
        must_show: Hits that are never pushed out by better scores, such as the one
            note that holds the identifier that was asked for: the best of them takes
            the last place when it would have none.

    Source:
        recall-spec 5.5 and 5.6, newest version; user cases R01, R02, R12.
    """
    strict = [item for item in ordered if item.score >= min_score]
    chosen = strict[:max_results]
    if relax and len(chosen) < max_results:
        spare = [item for item in ordered if item.score < min_score and _fills_place(item, min_score, not strict)]
        chosen += [replace(item, relaxed=True) for item in spare[: max_results - len(chosen)]]
    if relax:
        chosen = _keep_place(chosen, ordered, max_results, min_score, must_show)
    shown = {item.candidate.id for item in chosen}
    held = [item.score for item in ordered if item.score < min_score and item.candidate.id not in shown]
    return Selection(tuple(chosen), len(held), max(held, default=None))


def _fills_place(item: Ranked, min_score: float, nothing_passed: bool) -> bool:
    keyword_only = (item.vector_score or 0.0) < min_score
    return item.text_matched and (nothing_passed or keyword_only)


def _keep_place(
    chosen: list[Ranked],
    ordered: Sequence[Ranked],
    max_results: int,
    min_score: float,
    must_show: Callable[[Ranked], bool],
) -> list[Ranked]:
    if any(must_show(item) for item in chosen):
        return chosen
    wanted = next((item for item in ordered if must_show(item)), None)
    if wanted is None:
        return chosen
    return [*chosen[: max_results - 1], replace(wanted, relaxed=wanted.score < min_score)]


def covers(frequencies: Mapping[str, int], terms: Sequence[str]) -> bool:
    """Tell whether a chunk holds every term of a question."""
    return bool(terms) and all(frequencies.get(term, 0) > 0 for term in terms)
