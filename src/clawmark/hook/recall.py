"""The keyword leg, for one question: ranked like a search, shown only when it is sure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from clawmark.core.confident import is_confident
from clawmark.core.decay import decay_date_of, decay_of
from clawmark.core.globs import glob_matches
from clawmark.core.ports import Candidate, Filter, Reader
from clawmark.core.ranking import importance_of
from clawmark.core.recall_question import RecallQuestion
from clawmark.core.recalled import Recalled, render_recalled
from clawmark.core.rendering import shown_date
from clawmark.core.scoring import TermStatistics, bm25, query_idf
from clawmark.core.snippets import snippet
from clawmark.core.trust import flags_of, trust_of, trusts
from clawmark.engine.provenance import Provenance
from clawmark.hook.index import reading
from clawmark.hook.places import Place
from clawmark.hook.silence import Silence
from clawmark.hook.standing import standing

# Candidates that are looked at; the sure ones are among the first.
_POOL = 50
_MOST_TERMS = 64


def recall(question: RecallQuestion, place: Place, *, max_chars: int) -> str:
    """Give the passages that surely bear on a question as one block.

    Raises:
        Silence: There are none.
    """
    with reading(place.index, place.agent) as reader:
        block = render_recalled(_passages(reader, place, question), max_chars=max_chars)
    if not block:
        raise Silence("no note is sure to bear on the question")
    return block


def _passages(reader: Reader, place: Place, question: RecallQuestion) -> list[Recalled]:
    statistics = reader.statistics(question.terms)
    idf = query_idf(question.terms, statistics)
    if len(idf) > _MOST_TERMS:
        idf = dict(sorted(idf.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TERMS])
    where = Filter(frozenset(place.choices.sources))
    found = reader.candidates(reader.text_candidates(list(idf), where, _POOL), list(idf))
    sure = [
        item
        for item in _ordered(found, place, statistics, idf)
        if is_confident(
            item.frequencies,
            idf,
            chunks=statistics.chunks,
            identifier=question.identifier,
            in_doubt=question.in_doubt,
        )
    ]
    shown = _shown(reader, place, sure, idf)
    return [passage for passage, _ in zip(shown, range(place.choices.max_results), strict=False)]


def _ordered(
    found: list[Candidate], place: Place, statistics: TermStatistics, idf: dict[str, float]
) -> list[Candidate]:
    scores = {
        item.id: bm25(item.frequencies, length=item.length, statistics=statistics, idf=idf)
        * importance_of(item.source, item.kind)
        for item in found
    }
    settings, now = place.choices.decay, datetime.now(UTC)
    if settings.enabled:
        for item in found:
            decay = decay_of(
                item.path, item.source, timestamp=_own_time(item), now=now, settings=settings, matches=glob_matches
            )
            scores[item.id] *= decay.multiplier
    return sorted(found, key=lambda item: (-scores[item.id], item.path, item.start_line))


def _shown(reader: Reader, place: Place, sure: list[Candidate], idf: dict[str, float]) -> Iterator[Recalled]:
    """Give what may be shown: it stands in its file, and is trusted enough."""
    provenance = Provenance(place.choices.trust, follow_links=place.choices.follow_links)
    for item in sure:
        text = reader.texts([item.id])[item.id]
        stands = standing(place, item, text)
        if stands is None:
            continue
        file, start_line = stands
        origin, flags = provenance.origin(item.path, item.source, file), flags_of(text)
        trust = trust_of(origin, flags)
        if trusts(trust, place.choices.inject_min):
            yield Recalled(
                path=item.path,
                start_line=start_line,
                end_line=item.end_line + start_line - item.start_line,
                text=snippet(text, idf),
                origin=origin,
                trust=trust,
                flags=flags,
                date=_date(item, place),
                kind=item.kind,
            )


def _date(item: Candidate, place: Place) -> str | None:
    settings = place.choices.decay
    moment = decay_date_of(item.path, item.source, timestamp=_own_time(item), settings=settings, matches=glob_matches)
    return None if moment is None else shown_date(moment, item.source)


def _own_time(item: Candidate) -> datetime | None:
    seconds = item.mtime_ns / 1e9 if item.time_ms is None else item.time_ms / 1000
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
