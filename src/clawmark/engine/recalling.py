"""Recall that nobody asked for: what the notes surely say about a prompt (``Memory.recall_context``)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clawmark.core.confident import is_confident
from clawmark.core.errors import StoreError
from clawmark.core.log import logger
from clawmark.core.model import SearchResponse, SearchResult
from clawmark.core.ranking import Ranked
from clawmark.core.recall_question import RecallQuestion, recall_question
from clawmark.core.recalled import Recalled, render_recalled
from clawmark.core.trust import Origin, trusts
from clawmark.engine.arguments import SearchRequest, search_request
from clawmark.engine.searching import Search


def recall_block(
    prompt: str,
    prepare: Callable[[SearchRequest], Search | SearchResponse],
    *,
    least: Origin,
    max_chars: int,
) -> str:
    """Give the confident passages for a prompt as one block; "" when there is nothing to say.

    Args:
        prompt: What the user wrote.
        prepare: Gives a search that is ready to run, or an answer without one.
        least: Least trust of what is shown.
        max_chars: Budget over the whole block.
    """
    question = recall_question(prompt)
    if question is None:
        return ""
    search = prepare(search_request(question.text))
    if isinstance(search, SearchResponse):
        return ""
    try:
        found = _confident_results(search, question)
    except StoreError as error:
        logger(__name__).warning("automatic recall failed: %s", error)
        return ""
    shown = [_recalled(result) for result in found if result.trust and trusts(result.trust, least)]
    return render_recalled(shown, max_chars=max_chars)


def _confident_results(search: Search, question: RecallQuestion) -> list[SearchResult]:
    with search.reading() as reader:
        if search.nothing_indexed(reader) is not None:
            return []
        outcome = search.outcome(reader)
        chunks = reader.statistics(()).chunks
    idf = {term: weight for term, weight in outcome.evidence.idf.items() if term in question.terms}
    chosen = [item for item in outcome.selection.chosen if _is_sure(item, idf, chunks, question)]
    return [search.result_of(item, outcome, outcome.texts[item.candidate.id]) for item in chosen]


def _is_sure(item: Ranked, idf: Mapping[str, float], chunks: int, question: RecallQuestion) -> bool:
    return is_confident(
        item.candidate.frequencies,
        idf,
        chunks=chunks,
        identifier=question.identifier,
        in_doubt=question.in_doubt,
        vector_score=item.vector_score,
    )


def _recalled(result: SearchResult) -> Recalled:
    assert result.origin is not None
    assert result.trust is not None
    return Recalled(
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        text=result.snippet,
        origin=result.origin,
        trust=result.trust,
        flags=result.flags,
        date=result.date,
    )
