"""Folders of labelled questions: where the notes are, and what is asked of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from clawmark.core.errors import ArgumentError
from clawmark.evaluation.metrics import Span

QUERIES = "queries.jsonl"


@dataclass(frozen=True)
class Question:
    """A labelled question.

    Attributes:
        id: Unique in its workspace.
        query: The text.
        category: Kind of question; "" when unknown.
        asof: The day of the question, ISO; None for now.
        gold: Places that answer.
        stale: Places that used to answer.
        any_suffices: One gold place is enough.
    """

    id: str
    query: str
    category: str
    asof: str | None
    gold: tuple[Span, ...]
    stale: tuple[Span, ...]
    any_suffices: bool


@dataclass(frozen=True)
class LabelledWorkspace:
    """Notes with the questions asked of them."""

    name: str
    corpus: Path
    questions: tuple[Question, ...]


@dataclass(frozen=True)
class LabelledSet:
    """One benchmark set: workspaces of one kind."""

    name: str
    workspaces: tuple[LabelledWorkspace, ...]


def load_set(folder: Path) -> LabelledSet:
    """Read a set: a folder with ``manifest.json``, or a workspace with ``queries.jsonl`` in it or beside it.

    Questions without a gold place, and of categories that the manifest does not score,
    are left out.

    Raises:
        ArgumentError: The folder holds neither.
    """
    folder = folder.resolve()
    manifest = folder / "manifest.json"
    if not manifest.is_file():
        # A workspace whose notes should not have the questions among them has them beside it.
        places = (folder / QUERIES, folder.with_name(f"{folder.name}.{QUERIES}"))
        asked = next((place for place in places if place.is_file()), None)
        if asked is None:
            raise ArgumentError(f"{folder} holds neither manifest.json nor {QUERIES}.", action="Name a labelled set.")
        return LabelledSet(folder.name, (LabelledWorkspace(folder.name, folder, _questions(asked, None)),))
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    scored = facts.get("categories_scored")
    workspaces = tuple(_workspaces(folder, facts, set(scored) if scored else None))
    return LabelledSet(folder.name, workspaces)


def _workspaces(folder: Path, facts: dict[str, Any], scored: set[str] | None) -> Iterator[LabelledWorkspace]:
    for entry in facts["workspaces"]:
        name = entry["workspace"]
        # The corpus of a set that asks in another language is another set's folder.
        corpus = folder.parent / entry.get("corpus", f"{folder.name}/{name}")
        yield LabelledWorkspace(name, corpus, _questions(folder / name / QUERIES, scored))


def _questions(path: Path, scored: set[str] | None) -> tuple[Question, ...]:
    questions: list[Question] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if line.strip():
            questions.append(_question(line, f"{path}, line {number}"))
    return tuple(q for q in questions if q.gold and (scored is None or q.category in scored))


def _question(line: str, place: str) -> Question:
    try:
        data = json.loads(line)
    except json.JSONDecodeError as error:
        raise _mistake(place, f"not JSON ({error.msg})") from error
    if not isinstance(data, dict):
        raise _mistake(place, "not an object")
    fields = cast("dict[str, Any]", data)
    for name in ("id", "query"):
        if name not in fields:
            raise _mistake(place, f'"{name}" is missing')
    return Question(
        id=str(fields["id"]),
        query=str(fields["query"]),
        category=str(fields.get("category", "")),
        asof=fields.get("asof"),
        gold=_spans(fields.get("gold"), "gold", place),
        stale=_spans(fields.get("stale"), "stale", place),
        any_suffices=fields.get("match") == "any",
    )


def _spans(items: Any, name: str, place: str) -> tuple[Span, ...]:
    try:
        return tuple(Span(item["path"], int(item["start_line"]), int(item["end_line"])) for item in items or ())
    except (TypeError, KeyError, ValueError) as error:
        raise _mistake(place, f'{name} must be a list of {{"path", "start_line", "end_line"}}') from error


def _mistake(place: str, what: str) -> ArgumentError:
    return ArgumentError(
        f"{place}: {what}.",
        action='A line is {"id", "query", "gold": [{"path", "start_line", "end_line"}]}; '
        '"category", "asof" and "stale" are optional.',
    )
