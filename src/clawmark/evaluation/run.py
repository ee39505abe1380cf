"""Runs labelled questions through ``Memory`` and averages the metrics."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clawmark.core.errors import ArgumentError
from clawmark.core.model import SearchResponse
from clawmark.engine.memory import Memory
from clawmark.evaluation.metrics import (
    Span,
    mean_rows,
    ndcg_at,
    ranks_of,
    recall_at,
    stale_first,
    text_within,
)
from clawmark.evaluation.sets import LabelledSet, LabelledWorkspace, Question

# What an agent feels: the gold text in what fits its context (bench README).
SNIPPET_BUDGET = 4_000
RANKED_DEPTH = 10
DEFAULT_DEPTH = 6


@dataclass(frozen=True)
class SetScores:
    """Scores of one set.

    Attributes:
        name: Of the set.
        questions: Number of questions scored.
        overall: Metric to its mean.
        by_category: Category to its means.
        rows: Workspace, question id and metrics of each question.
    """

    name: str
    questions: int
    overall: dict[str, float]
    by_category: dict[str, dict[str, float]]
    rows: tuple[tuple[str, str, dict[str, float]], ...]


def evaluate_set(
    labelled: LabelledSet, *, config: Mapping[str, Any], embedder: Any = None, told: Callable[[str], None]
) -> SetScores:
    """Index each workspace of a set in a temporary place and ask its questions.

    Args:
        labelled: The set; its folders are not written to.
        config: Settings in the shape of the TOML file.
        embedder: As for ``Memory``.
        told: Gets a line of progress per workspace.
    """
    rows: list[tuple[str, str, dict[str, float]]] = []
    categories: list[str] = []
    with tempfile.TemporaryDirectory(prefix="clawmark-eval-") as scratch:
        for workspace in labelled.workspaces:
            told(f"{labelled.name}/{workspace.name}: {len(workspace.questions)} questions")
            store = f"sqlite:///{Path(scratch) / labelled.name / workspace.name / 'index.sqlite'}"
            with Memory(workspace.corpus, config=_quiet(config), embedder=embedder, store=store) as memory:
                memory.sync()
                for question in workspace.questions:
                    rows.append((workspace.name, question.id, ask(memory, workspace, question)))
                    categories.append(question.category)
    return SetScores(
        name=labelled.name,
        questions=len(rows),
        overall=mean_rows([row for _, _, row in rows]),
        by_category={
            category: mean_rows([row for (_, _, row), found in zip(rows, categories, strict=True) if found == category])
            for category in sorted(set(categories))
        },
        rows=tuple(rows),
    )


def ask(memory: Memory, workspace: LabelledWorkspace, question: Question) -> dict[str, float]:
    """Ask one question twice: for its ranking, and at plain defaults."""
    ranked = memory.search(question.query, max_results=RANKED_DEPTH, min_score=0.0, asof=question.asof)
    plain = memory.search(question.query, asof=question.asof)
    ranks = ranks_of(question.gold, spans(ranked), any_suffices=question.any_suffices)
    plain_ranks = ranks_of(question.gold, spans(plain), any_suffices=question.any_suffices)
    metrics = {f"R@{depth}": recall_at(ranks, depth) for depth in (1, 5, 10)}
    metrics["nDCG@10"] = ndcg_at(ranks, RANKED_DEPTH)
    metrics["gold@4000"] = text_within(
        _gold_texts(memory, question), [result.snippet for result in ranked.results], SNIPPET_BUDGET
    )
    metrics["R@6 default"] = recall_at(plain_ranks, DEFAULT_DEPTH)
    metrics["empty default"] = float(not plain.results)
    if question.stale:
        metrics["stale_first"] = stale_first(question.gold, question.stale, spans(ranked))
    return metrics


def spans(response: SearchResponse) -> list[Span]:
    """Give the places of the results, best first."""
    return [Span(result.path, result.start_line, result.end_line) for result in response.results]


def _gold_texts(memory: Memory, question: Question) -> Sequence[str]:
    texts: list[str] = []
    for span in question.gold:
        lines = span.end_line - span.start_line + 1
        window = memory.get(span.path, from_line=span.start_line, lines=lines, max_chars=100_000)
        if window.status == "not_found":
            raise ArgumentError(f"Question {question.id}: its gold file {span.path} does not exist.")
        texts.append(window.text)
    return texts


def _quiet(config: Mapping[str, Any]) -> dict[str, Any]:
    """Index once, then only ask; transcripts are where the sets keep them."""
    sync = {"on_search": False, **config.get("sync", {})}
    sessions = {"paths": ["sessions"], **config.get("sessions", {})}
    return {**config, "sync": sync, "sessions": sessions}
