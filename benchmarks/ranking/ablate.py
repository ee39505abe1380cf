"""What ranks best: the maps of both legs, tried on labelled sets.

    python benchmarks/ranking/ablate.py SET_FOLDER…

Indexes each set once, keeps every candidate's cosine and BM25, and prints for each
variant nDCG@10, R@1, R@5 and the share of questions that 0.35 leaves without an answer.
Then the percentiles of the cosines, from which the points of a cosine map are read.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from clawmark.core.ports import Filter
from clawmark.core.scoring import BM25_K1, CosineMap, attainable_bm25, text_score
from clawmark.core.tokens import query_terms
from clawmark.embedders.local import LocalEmbedder
from clawmark.embedders.registry import cosine_map
from clawmark.engine.evidence import gather
from clawmark.engine.legs import QueryEmbedding
from clawmark.engine.memory import Memory
from clawmark.evaluation.metrics import Span, ndcg_at, recall_at
from clawmark.evaluation.sets import LabelledWorkspace, load_set

MIN_SCORE = 0.35
EVERYTHING = Filter(frozenset({"memory", "sessions"}))


@dataclass(frozen=True)
class Asked:
    """Candidates of one question: cosines, BM25, covered gold (candidates, spans).

    ``best`` is the cosine of a candidate's best sentence, ``whole`` of all together, ``cosines`` the blend.
    """

    cosines: Any
    best: Any
    whole: Any
    bm25: Any
    attainable: float
    covers: Any
    any_suffices: bool
    tie: Any


def main() -> None:
    sets = {Path(name).resolve().name: list(asked(Path(name))) for name in sys.argv[1:]}
    for label, variant in variants().items():
        print(label)
        for name, questions in sets.items():
            print(f"    {name:<20}{scores(questions, variant)}")
    print("cosines, percentiles 5 10 25 50 75 90 95")
    for name, questions in sets.items():
        right = [q.cosines[q.covers.any(1)].max() for q in questions if q.covers.any()]
        other = np.concatenate([q.cosines[~q.covers.any(1)] for q in questions])
        for label, values in (("right", right), ("nearest", [q.cosines.max() for q in questions]), ("other", other)):
            print(f"    {name:<20}{label:<9}{np.percentile(values, [5, 10, 25, 50, 75, 90, 95]).round(3)}")


def variants() -> dict[str, Callable[[Asked], Any]]:
    shipped = cosine_map("local", LocalEmbedder.model)
    steep = CosineMap(((-0.3, 0.0), (0.0, 0.12), (0.13, 0.345), (0.21, 0.5), (0.6, 0.95), (1.0, 1.0)))
    identity = CosineMap()
    return {
        "BM25 alone": lambda q: q.bm25 + 1e-6 * q.cosines,
        "cosine alone": lambda q: q.cosines,
        "0.7 cosine + 0.3 r/(1+r) (the re-implemented formula)": lambda q: mix(q, identity, "saturation"),
        "0.5 cosine + 0.5 BM25 / Σ idf (k1+1)": lambda q: 0.5 * q.cosines + 0.5 * q.bm25 / q.attainable / (BM25_K1 + 1),
        "0.7 cosine + 0.3 share": lambda q: mix(q, identity, "share"),
        "0.7 map + 0.3 share (shipped)": lambda q: mix(q, shipped, "share"),
        **{f"the same, best sentence {part} + all sentences": blend(shipped, part) for part in (1.0, 0.5, 0.0)},
        "0.7 map + 0.3 max": lambda q: mix(q, shipped, "max"),
        "0.7 map + 0.3 r/(1+r)": lambda q: mix(q, shipped, "saturation"),
        "0.7 steeper map + 0.3 share": lambda q: mix(q, steep, "share"),
    }


def blend(mapped: CosineMap, part: float) -> Callable[[Asked], Any]:
    """Give the shipped formula with another part of the best sentence in the cosine."""

    def variant(question: Asked) -> Any:
        cosines = part * question.best + (1.0 - part) * question.whole
        return mix(replace(question, cosines=cosines), mapped, "share")

    return variant


def mix(question: Asked, mapped: CosineMap, name: Any) -> Any:
    vector = np.array([mapped(float(cosine)) for cosine in question.cosines])
    best = float(question.bm25.max(initial=0.0))
    text = [text_score(float(s), name=name, attainable=question.attainable, best=best) for s in question.bm25]
    return 0.7 * vector + 0.3 * np.array(text)


def scores(questions: list[Asked], variant: Callable[[Asked], Any]) -> str:
    ndcg, first, fifth, empty = [], [], [], 0
    for question in questions:
        values = variant(question)
        order = np.lexsort((question.tie, -values))[:10]
        ranks = [
            int(hits[0]) + 1 if len(hits := np.flatnonzero(question.covers[order, j])) else None
            for j in range(question.covers.shape[1])
        ]
        if question.any_suffices:
            ranks = [min((rank for rank in ranks if rank), default=None)]
        ndcg.append(ndcg_at(ranks))
        first.append(recall_at(ranks, 1))
        fifth.append(recall_at(ranks, 5))
        empty += not ((values >= MIN_SCORE) | (question.bm25 > 0)).any()
    return (
        f"nDCG@10 {np.mean(ndcg):.3f}  R@1 {np.mean(first):.3f}  R@5 {np.mean(fifth):.3f}  "
        f"empty {empty / len(questions):.3f}"
    )


def asked(folder: Path) -> Any:
    with tempfile.TemporaryDirectory(prefix="clawmark-ablate-") as scratch:
        for workspace in load_set(folder).workspaces:
            store = f"sqlite:///{scratch}/{workspace.name}.sqlite"
            config = {"sync": {"on_search": False}, "sessions": {"paths": ["sessions"]}}
            with Memory(workspace.corpus, config=config, store=store) as memory:
                memory.sync()
                yield from questions_of(memory, workspace)


def questions_of(memory: Memory, workspace: LabelledWorkspace) -> Any:
    embedder = LocalEmbedder()
    place = memory._place
    with place.store.reading(place.agent) as reader:
        state = reader.state()
        assert state is not None
        for question in workspace.questions:
            embedding = QueryEmbedding(question.query, state.facts["space"], lambda: embedder)
            embedding.start(in_background=False)
            terms = query_terms(question.query).terms
            found = gather(reader, embedding.result(None), terms, EVERYTHING, limit=200, text_wanted=True)
            items = sorted(found.candidates, key=lambda item: (item.path, item.start_line))
            if not items:
                continue
            vector = embedding.result(None).vector
            near = reader.cosines(vector, [item.id for item in items]) if vector is not None else {}
            nearness = np.array([near.get(item.id, (0.0, 0.0)) for item in items])
            spans = [Span(item.path, item.start_line, item.end_line) for item in items]
            yield Asked(
                cosines=np.array([found.cosines.get(item.id, 0.0) for item in items]),
                best=nearness[:, 0],
                whole=nearness[:, 1],
                bm25=np.array([found.strengths.get(item.id, 0.0) for item in items]),
                attainable=attainable_bm25(found.idf) or 1.0,
                covers=np.array([[span.overlaps(gold) for gold in question.gold] for span in spans]),
                any_suffices=question.any_suffices,
                tie=np.arange(len(items)),
            )


if __name__ == "__main__":
    main()
