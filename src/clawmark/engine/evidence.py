"""What the two legs of a search give: candidates, each with both raw strengths."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clawmark.core.errors import StoreError
from clawmark.core.log import logger
from clawmark.core.model import Mode, Notice
from clawmark.core.ports import Candidate, Filter, Reader
from clawmark.core.scoring import bm25, query_idf
from clawmark.engine.legs import QueryVector

if TYPE_CHECKING:
    from numpy.typing import NDArray


# A question of hundreds of words is asked by its rarest ones: the cost stays bounded.
MOST_TERMS = 64
# Stored vectors keep 16 bits of each number: cosines are exact to about this many digits,
# and the same on every machine.
COSINE_DIGITS = 4
# Part of the best sentence in the cosine of a chunk, the rest is that of all its sentences
# together. The best alone loses 4 points of nDCG@10 across languages (xquad_en2zh .785
# against .830) and 1 on longmemeval_pool; benchmarks/ranking.
BEST_SENTENCE_PART = 0.7


@dataclass(frozen=True)
class Evidence:
    """Candidates with their raw strengths.

    Attributes:
        mode: The legs that answered.
        candidates: Union of both legs, in no order.
        cosines: Chunk id to cosine; empty when the vector leg did not answer.
        strengths: Chunk id to BM25; empty when the text leg did not answer.
        idf: Query term to its inverse document frequency.
        found: Number of candidates of each leg.
        notices: What went wrong on the way.
    """

    mode: Mode
    candidates: tuple[Candidate, ...]
    cosines: Mapping[int, float]
    strengths: Mapping[int, float]
    idf: Mapping[str, float]
    found: Mapping[str, int]
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class _TextLeg:
    answered: bool
    ids: Sequence[int] = ()
    notices: tuple[Notice, ...] = ()


def gather(
    reader: Reader,
    query: QueryVector,
    terms: Sequence[str],
    where: Filter,
    *,
    limit: int,
    text_wanted: bool,
) -> Evidence:
    """Ask both legs, and score what either found by both.

    Args:
        reader: The index.
        query: The question as a vector, or why there is none.
        terms: The question's terms.
        where: What may answer.
        limit: Candidates of each leg.
        text_wanted: Whether the text leg is on; it also answers when the vector leg cannot.
    """
    statistics = reader.statistics(terms)
    idf = query_idf(terms, statistics)
    if len(idf) > MOST_TERMS:
        kept = sorted((term for term in idf if term in statistics.document_frequency), key=lambda term: -idf[term])
        idf = {term: idf[term] for term in kept[:MOST_TERMS]}
    near = reader.vector_candidates(query.vector, where, limit) if query.vector is not None else []
    text = _ask_text(reader, list(idf), where, limit, wanted=text_wanted, alone=query.vector is None)
    ids = dict.fromkeys([*(number for number, _ in near), *text.ids])
    candidates = tuple(reader.candidates(ids, list(idf)))
    return Evidence(
        mode=_mode(query.vector is not None, text.answered),
        candidates=candidates,
        cosines=_cosines(reader, query.vector, ids),
        strengths={
            item.id: bm25(item.frequencies, length=item.length, statistics=statistics, idf=idf) for item in candidates
        }
        if text.answered
        else {},
        idf=idf,
        found={"vector": len(near), "text": len(text.ids)},
        notices=text.notices,
    )


def _ask_text(
    reader: Reader, terms: Sequence[str], where: Filter, limit: int, *, wanted: bool, alone: bool
) -> _TextLeg:
    if not wanted and not alone:
        return _TextLeg(answered=False)
    try:
        return _TextLeg(True, reader.text_candidates(terms, where, limit))
    except StoreError as error:
        logger(__name__).warning("full-text search failed: %s", error)
        reason = f"Full-text search failed ({error.message})"
        if not alone:
            notice = Notice(
                "TEXT_LEG_FAILED", f"{reason}; the answer is by meaning only.", "Run `clawmark index --force`."
            )
            return _TextLeg(answered=False, notices=(notice,))
        notice = Notice("TEXT_SCAN", f"{reason}; every chunk was scanned instead.", "Run `clawmark index --force`.")
        return _TextLeg(True, reader.scan_text(terms, where), (notice,))


def _mode(vector: bool, text: bool) -> Mode:
    if vector and text:
        return "hybrid"
    return "vector" if vector else "keyword"


def _cosines(reader: Reader, vector: NDArray[Any] | None, ids: Collection[int]) -> dict[int, float]:
    if vector is None:
        return {}
    near = reader.cosines(vector, ids)
    return {
        number: round(BEST_SENTENCE_PART * best + (1.0 - BEST_SENTENCE_PART) * whole, COSINE_DIGITS)
        for number, (best, whole) in near.items()
    }
