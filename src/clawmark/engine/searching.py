"""One search, from a checked question to the response (design, section 5)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import Any

from clawmark.config import Settings
from clawmark.core.decay import Decay, DecaySettings, decay_date_of, decay_of, settings_warning
from clawmark.core.errors import StoreError
from clawmark.core.model import ErrorInfo, Explanation, Fallback, Mode, Notice, SearchResponse, SearchResult
from clawmark.core.ports import Candidate, Embedder, Filter, Reader, Store
from clawmark.core.ranking import Ranked, Selection, candidate_limit, covers, fuse, importance_of, order, select
from clawmark.core.rendering import citation, cites, shown_date, within_budget
from clawmark.core.scoring import IDENTITY_MAP, CosineMap, attainable_bm25, text_score
from clawmark.core.snippets import snippet
from clawmark.core.tokens import QueryTerms
from clawmark.core.trust import flags_of, trust_of, trusts
from clawmark.engine.arguments import SearchRequest
from clawmark.engine.disk import Disk
from clawmark.engine.evidence import Evidence, gather
from clawmark.engine.legs import QueryEmbedding, QueryVector
from clawmark.engine.speech import own_time, spoken_in
from clawmark.files import STRAYS_ACTION

# Diversity compares texts pairwise; beyond these places nobody looks.
DIVERSE_PLACES = 60


@dataclass(frozen=True)
class Surroundings:
    """What a search needs of the engine.

    Attributes:
        store: Where the index is.
        agent: Whose chunks may answer.
        settings: Effective settings.
        sources: Sources that are on.
        decay: Rules of decay.
        embedder: Gives the embedder for the vectors of an index; may raise.
        instead: Says why another provider than the configured one answers; None when it does not.
        cosine_map: Gives the map of an embedder.
        disk: Looks at the files of hits.
        matches: Whether any of some gitignore-style patterns matches a path.
        now: The time of the question.
        strays: Says which Markdown files lie in the workspace although none counts.
        fold_case: Whether the workspace's file system folds case.
        stale: Whether the index is known to lag behind the files.
        notices: What is already known to be worth saying.
    """

    store: Store
    agent: str
    settings: Settings
    sources: frozenset[str]
    decay: DecaySettings
    embedder: Callable[[dict[str, Any] | None], Embedder | None]
    instead: Callable[[], str | None]
    cosine_map: Callable[[Embedder], CosineMap]
    disk: Disk
    matches: Callable[[Sequence[str], str], bool]
    now: datetime
    strays: Callable[[], str | None]
    fold_case: bool
    stale: bool
    notices: tuple[Notice, ...]


@dataclass(frozen=True)
class Outcome:
    """Everything a search found out, before it is cut to what is shown."""

    evidence: Evidence
    query: QueryVector
    ordered: tuple[Ranked, ...]
    selection: Selection
    decays: dict[int, Decay]
    place_before: dict[int, int]
    place_after: dict[int, int]
    stale_ids: frozenset[int]
    texts: dict[int, str]


def default_mode(settings: Settings) -> Mode:
    """Give the mode of an answer that no leg was asked for."""
    if settings.embedding.provider == "none":
        return "keyword"
    return "hybrid" if settings.query.hybrid.enabled else "vector"


def nothing_to_search(request: SearchRequest, terms: QueryTerms, settings: Settings) -> SearchResponse | None:
    """Answer a blank question at once: no file, no index and no provider is touched."""
    if terms.terms:
        return None
    blank = SearchResponse(mode=default_mode(settings), citations=settings.citations.mode)
    if not request.query:
        return blank
    reason = "only words that every note has" if terms.dropped else "no words"
    notice = Notice("NOTHING_TO_SEARCH", f"The question holds {reason}.", "Ask with the words you remember.")
    return replace(blank, warnings=(notice,))


class Search:
    """Runs one question; holds nothing beyond it."""

    def __init__(self, around: Surroundings, request: SearchRequest, terms: QueryTerms) -> None:
        self._around = around
        self._request = request
        self._query = around.settings.query
        self._terms = terms
        self._deadline = None if request.deadline is None else time.monotonic() + request.deadline
        self.max_results = request.max_results or self._query.max_results
        self.min_score = self._query.min_score if request.min_score is None else request.min_score

    def run(self) -> SearchResponse:
        """Answer, or say why there is no answer."""
        around = self._around
        try:
            with self.reading() as reader:
                missing = self.nothing_indexed(reader)
                if missing is not None:
                    return replace(self._blank(), warnings=(*around.notices, missing))
                outcome = self.outcome(reader)
        except StoreError as error:
            return replace(self._blank(), error=ErrorInfo(error.code, error.message, error.action))
        return self.respond(outcome)

    def reading(self) -> AbstractContextManager[Reader]:
        """Open the view that one search sees."""
        return self._around.store.reading(self._around.agent)

    def outcome(self, reader: Reader) -> Outcome:
        """Rank every candidate and choose what is shown."""
        query, evidence = self._gather(reader)
        decays = {item.id: self._decay(item) for item in evidence.candidates}
        ordered = order([self._ranked(item, evidence, query, decays[item.id]) for item in evidence.candidates])
        before = _places(ordered)
        ordered = self._diverse(reader, ordered)
        after = _places(ordered)
        selection, ordered, stale_ids = self._select(ordered)
        texts = reader.texts([item.candidate.id for item in selection.chosen])
        return Outcome(evidence, query, tuple(ordered), selection, decays, before, after, stale_ids, texts)

    def result_of(self, item: Ranked, outcome: Outcome, text: str) -> SearchResult:
        """Give a ranked chunk as it is shown."""
        place = item.candidate
        origin, flags = self._around.disk.origin(place), flags_of(text)
        cited = cites(self._around.settings.citations.mode, self._request.session_key)
        return SearchResult(
            path=place.path,
            start_line=place.start_line,
            end_line=place.end_line,
            score=item.score,
            confidence=None,
            vector_score=item.vector_score,
            text_score=item.text_score,
            snippet=snippet(text, outcome.evidence.idf),
            source=place.source,
            citation=citation(place.path, place.start_line, place.end_line) if cited else None,
            stale=place.id in outcome.stale_ids,
            explanation=self._explanation(item, outcome),
            date=self._date(place),
            origin=origin,
            trust=trust_of(origin, flags),
            flags=flags,
            session=spoken_in(place),
        )

    def _date(self, item: Candidate) -> str | None:
        moment = self._moment(item)
        return None if moment is None else shown_date(moment, item.source)

    def nothing_indexed(self, reader: Reader) -> Notice | None:
        """Tell why no question can be answered: no index, or nothing in it."""
        location = self._around.store.location
        state = reader.state()
        if state is None:
            return Notice("INDEX_MISSING", f"No index yet ({location}).", "Run `clawmark index`.")
        if any(count["chunks"] for count in reader.counts().values()):
            return None
        strays = self._around.strays()
        if strays is not None:
            return Notice("INDEX_EMPTY", strays, STRAYS_ACTION)
        return Notice("INDEX_EMPTY", f"The index is empty ({location}).", "Write a note into memory/.")

    def _gather(self, reader: Reader) -> tuple[QueryVector, Evidence]:
        state = reader.state()
        space = state.facts.get("space") if state else None
        embedding = QueryEmbedding(self._request.query, space, self._around.embedder)
        embedding.start(in_background=self._deadline is not None)
        where = self._filter(reader)
        query = embedding.result(None if self._deadline is None else max(0.0, self._deadline - time.monotonic()))
        hybrid = self._query.hybrid
        limit = candidate_limit(self.max_results, hybrid.candidate_multiplier)
        evidence = gather(reader, query, self._terms.terms, where, limit=limit, text_wanted=hybrid.enabled)
        unseen = self._without_vector(reader) if query.vector is not None else ()
        return query, replace(evidence, notices=(*evidence.notices, *unseen))

    def _without_vector(self, reader: Reader) -> tuple[Notice, ...]:
        counts = reader.counts().values()
        missing = sum(count["chunks"] - count["vectors"] for count in counts)
        if not missing:
            return ()
        message = f"{missing} passages have no vector yet; they are found by their words only."
        return (Notice("VECTORS_PENDING", message, "Run `clawmark index`."),)

    def _filter(self, reader: Reader) -> Filter:
        request, around = self._request, self._around
        sources = around.sources if request.sources is None else request.sources
        if not (request.paths or request.since or request.until):
            return Filter(sources)
        documents = [row for row in reader.documents() if row.source in sources]
        if request.paths:
            documents = [row for row in documents if around.matches(request.paths, row.path)]
        if request.since or request.until:
            documents = [row for row in documents if self._in_period(row)]
        return Filter(sources, frozenset(row.id for row in documents))

    def _in_period(self, row: Any) -> bool:
        moment = self._moment(row)
        if moment is None:
            return True
        since, until = self._request.since, self._request.until
        return (since is None or moment >= since) and (until is None or moment <= until)

    def _moment(self, item: Any) -> datetime | None:
        return decay_date_of(
            item.path,
            item.source,
            timestamp=own_time(item),
            settings=self._around.decay,
            fold_case=self._around.fold_case,
            matches=self._matches_one,
        )

    def _matches_one(self, pattern: str, path: str) -> bool:
        return self._around.matches((pattern,), path)

    def _decay(self, item: Candidate) -> Decay:
        return decay_of(
            item.path,
            item.source,
            timestamp=own_time(item),
            now=self._request.asof or self._around.now,
            settings=self._around.decay,
            fold_case=self._around.fold_case,
            matches=self._matches_one,
        )

    def _ranked(self, item: Candidate, evidence: Evidence, query: QueryVector, decay: Decay) -> Ranked:
        cosine = evidence.cosines.get(item.id)
        strength = evidence.strengths.get(item.id)
        vector = None if cosine is None else self._map(query)(cosine)
        text = None if strength is None else self._text_score(strength, evidence)
        hybrid = fuse(
            vector,
            text,
            mode=evidence.mode,
            vector_weight=self._query.hybrid.vector_weight,
            text_weight=self._query.hybrid.text_weight,
        )
        importance = importance_of(item.source, item.kind)
        return Ranked(item, cosine, strength, vector, text, hybrid, hybrid * importance * decay.multiplier)

    def _map(self, query: QueryVector) -> CosineMap:
        return IDENTITY_MAP if query.embedder is None else self._around.cosine_map(query.embedder)

    def _text_score(self, strength: float, evidence: Evidence) -> float:
        return text_score(
            strength,
            name=self._query.hybrid.text_score,
            attainable=attainable_bm25(evidence.idf),
            best=max(evidence.strengths.values(), default=0.0),
        )

    def _diverse(self, reader: Reader, ordered: list[Ranked]) -> list[Ranked]:
        mmr = self._query.hybrid.mmr
        if not mmr.enabled:
            return ordered
        from clawmark.core.diversity import rerank_for_diversity

        head = ordered[:DIVERSE_PLACES]
        texts = reader.texts([item.candidate.id for item in head])
        reranked = rerank_for_diversity(
            head, relevance=mmr.lambda_, score=lambda item: item.score, text=lambda item: texts[item.candidate.id]
        )
        return [*reranked, *ordered[DIVERSE_PLACES:]]

    def _select(self, ordered: list[Ranked]) -> tuple[Selection, list[Ranked], frozenset[int]]:
        """Choose what is shown among the chunks whose files are still there."""
        relax = self._request.min_score is None and not self._query.abstain
        while True:
            selection = select(
                ordered,
                max_results=self.max_results,
                min_score=self.min_score,
                relax=relax,
                must_show=self._names_it,
            )
            looks = {item.candidate.id: self._around.disk.look(item.candidate) for item in selection.chosen}
            gone = {item.candidate.path for item in selection.chosen if looks[item.candidate.id] == "gone"}
            gone |= {item.candidate.path for item in selection.chosen if not self._is_trusted(item.candidate)}
            if not gone:
                return selection, ordered, frozenset(number for number, look in looks.items() if look == "changed")
            ordered = [item for item in ordered if item.candidate.path not in gone]

    def _is_trusted(self, item: Candidate) -> bool:
        least = self._request.min_trust
        return least is None or trusts(self._around.disk.origin(item), least)

    def _names_it(self, item: Ranked) -> bool:
        return self._terms.identifier and covers(item.candidate.frequencies, self._terms.terms)

    def _explanation(self, item: Ranked, outcome: Outcome) -> Explanation:
        number = item.candidate.id
        decay = outcome.decays[number]
        hybrid = self._query.hybrid
        importance = importance_of(item.candidate.source, item.candidate.kind)
        both = outcome.evidence.mode == "hybrid"
        return Explanation(
            cosine=item.cosine,
            bm25=item.bm25,
            vector_score=item.vector_score,
            text_score=item.text_score,
            vector_weight=hybrid.vector_weight if both else None,
            text_weight=hybrid.text_weight if both else None,
            hybrid_score=item.hybrid_score,
            age_days=decay.age_days,
            half_life_days=decay.half_life_days,
            decay_multiplier=decay.multiplier,
            decay_rule=decay.rule,
            rank_before_diversity=outcome.place_before[number],
            rank_after_diversity=outcome.place_after[number],
            threshold=self.min_score,
            relaxed=item.relaxed,
            candidates=dict(outcome.evidence.found),
            importance=importance if importance < 1 else None,
        )

    def respond(self, outcome: Outcome) -> SearchResponse:
        """Give what was chosen as a response."""
        selection = outcome.selection
        shown = [self.result_of(item, outcome, outcome.texts[item.candidate.id]) for item in selection.chosen]
        kept, omitted = within_budget(shown, self._request.max_chars)
        query, mode = outcome.query, outcome.evidence.mode
        answered = query.embedder if mode != "keyword" else None
        return replace(
            self._blank(),
            results=tuple(kept),
            mode=mode,
            provider=answered.provider if answered else None,
            model=answered.model if answered else None,
            fallback=self._fallback(query),
            stale=self._around.stale or bool(outcome.stale_ids),
            warnings=self._warnings(query, outcome.evidence),
            filtered=selection.filtered,
            best_filtered=selection.best_filtered,
            omitted=omitted,
            abstained=self._query.abstain and not selection.chosen and selection.filtered > 0,
        )

    def _warnings(self, query: QueryVector, evidence: Evidence) -> tuple[Notice, ...]:
        """Give what is worth saying, once: a missing key stops indexing and asking alike."""
        notices = (*self._around.notices, *self._setting_notices, *query.notices, *evidence.notices)
        return tuple(dict.fromkeys(notices))

    def _fallback(self, query: QueryVector) -> Fallback | None:
        wanted = self._around.settings.embedding.provider
        if query.vector is not None and query.embedder is not None and query.embedder.provider != wanted:
            return Fallback(wanted, self._around.instead() or "the fallback answers")
        if query.reason is None or query.vector is not None:
            return None
        return Fallback(query.embedder.provider if query.embedder else wanted, query.reason)

    @cached_property
    def _setting_notices(self) -> tuple[Notice, ...]:
        warning = settings_warning(self._around.decay)
        return (Notice("DECAY_OFF", warning, "Set half_life_days above 0."),) if warning else ()

    def _blank(self) -> SearchResponse:
        settings = self._around.settings
        return SearchResponse(
            mode=default_mode(settings),
            citations=settings.citations.mode,
            stale=self._around.stale,
            warnings=self._around.notices,
        )


def _places(ordered: Sequence[Ranked]) -> dict[int, int]:
    return {item.candidate.id: place for place, item in enumerate(ordered, start=1)}
