"""Where a file was lost on the way to an answer, and why: ``Memory.explain(path=…)``."""

from __future__ import annotations

from dataclasses import replace

from clawmark.core.errors import StoreError
from clawmark.core.model import Notice, SearchResponse
from clawmark.core.ports import Reader
from clawmark.core.ranking import Ranked
from clawmark.engine.searching import Outcome, Search


def explain_path(search: Search, path: str) -> SearchResponse:
    """Search, and answer with the best chunk of one file and the stage that held it back.

    Args:
        search: The question.
        path: Stored path of the file.
    """
    try:
        with search.reading() as reader:
            if search.nothing_indexed(reader) is None:
                outcome = search.outcome(reader)
                return _explained(search, reader, outcome, search.respond(outcome), path)
    except StoreError:
        pass  # the search meets the same fault and reports it
    return search.run()


def _explained(search: Search, reader: Reader, outcome: Outcome, response: SearchResponse, path: str) -> SearchResponse:
    shown = tuple(result for result in response.results if result.path == path)
    if shown:
        place = next(i for i, result in enumerate(response.results, start=1) if result.path == path)
        notice = Notice("PATH_SHOWN", f"{path} is result {place}.")
        return replace(response, results=shown, warnings=(*response.warnings, notice))
    found = next((item for item in outcome.ordered if item.candidate.path == path), None)
    if found is None:
        return replace(response, results=(), warnings=(*response.warnings, _not_a_candidate(reader, outcome, path)))
    text = reader.texts([found.candidate.id])[found.candidate.id]
    result = search.result_of(found, outcome, text)
    return replace(response, results=(result,), warnings=(*response.warnings, _held_back(search, found, outcome, path)))


def _not_a_candidate(reader: Reader, outcome: Outcome, path: str) -> Notice:
    row = next((row for row in reader.documents() if row.path == path), None)
    if row is None:
        return Notice("PATH_NOT_INDEXED", f"{path} is not indexed.", "Run `clawmark status` for the reason.")
    if row.rejected is not None:
        return Notice("PATH_REJECTED", f"{path} holds nothing to index: {row.rejected}.")
    found = outcome.evidence.found
    message = (
        f"{path} is indexed ({row.chunks} chunks), but none of them is among the {found['vector']} nearest by meaning "
        f"or the {found['text']} that hold words of the question, or a filter excludes it."
    )
    return Notice("PATH_NOT_CANDIDATE", message, "Ask with words of the note, or widen the filters.")


def _held_back(search: Search, found: Ranked, outcome: Outcome, path: str) -> Notice:
    place = outcome.place_after[found.candidate.id]
    if any(item.candidate.id == found.candidate.id for item in outcome.selection.chosen):
        message = f"{path} is at place {place}, but max_chars leaves no room for it."
        return Notice("PATH_OVER_BUDGET", message, "Raise max_chars.")
    if found.score < search.min_score:
        message = f"{path} is at place {place}, but its score {found.score:.3f} is below {search.min_score:g}."
        return Notice("PATH_BELOW_THRESHOLD", message, "Lower min_score.")
    message = f"{path} is at place {place}; {search.max_results} results are shown."
    return Notice("PATH_BEYOND_LIMIT", message, "Raise max_results.")
