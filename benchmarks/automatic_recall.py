"""Automatic recall: what is recalled, where it stays silent, and what a hook costs.

    python benchmarks/automatic_recall.py [--notes 200] [--seed 7] [--runs 7] [--foreign FOLDER]

"Recalled" is the share of questions whose right line is in the block, "silent" the share of
those that the notes do not answer and that get nothing. Questions of the daily-notes
workload and of ``examples/workspace`` are asked as they are, so the gate of intent counts
too; "sure" leaves that gate out. ``--foreign`` names a public set whose questions, about
other things, must stay without an answer. The thresholds of ``core.confident`` were chosen
on these two workloads and on a sample of XQuAD, CMRC and LongMemEval questions as foreign
ones: the figures are in sample, and say nothing about notes of another kind. Times are multiples of ``import sqlite3``.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import daily_notes

import clawmark
from clawmark import Memory
from clawmark.core.recall_question import RecallQuestion
from clawmark.core.tokens import query_terms
from clawmark.hook.places import find_place
from clawmark.hook.recall import recall
from clawmark.hook.run import answer_event
from clawmark.hook.silence import Silence

EXAMPLES = Path(__file__).parents[1] / "examples" / "workspace"
_PLACE = re.compile(r"^(?P<path>\S.*?)#L(?P<first>\d+)(?:-L(?P<last>\d+))? \(", re.MULTILINE)
_HOOK = [sys.executable, "-c", "from clawmark.cli import main; main()", "hook"]


class Asked(NamedTuple):
    kind: str
    query: str
    gold: tuple[tuple[str, int], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--foreign", type=Path, nargs="*", default=())
    options = parser.parse_args()
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(Path(clawmark.__file__).parent)], check=True)
    with tempfile.TemporaryDirectory(prefix="clawmark-recall-") as scratch:
        os.environ["CLAWMARK_HOME"] = str(Path(scratch) / "home")
        daily, examples = Path(scratch) / "daily", Path(scratch) / "examples"
        daily.mkdir()
        questions = daily_notes.generate(daily, options.notes, options.seed)
        shutil.copytree(EXAMPLES, examples, ignore=shutil.ignore_patterns(".clawmark"))
        asked = [Asked(q.kind, q.query, ((q.path, q.line),) if q.path else ()) for q in questions]
        foreign = [Asked("foreign", query, ()) for folder in options.foreign for query in queries(folder)]
        report("daily notes", daily, [*asked, *foreign])
        report("examples", examples, [*example_questions(), *foreign])
        cost(daily, options.runs)


def example_questions() -> Iterator[Asked]:
    for line in Path(f"{EXAMPLES}.queries.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        lines = ((g["path"], n) for g in row["gold"] for n in range(g["start_line"], g["end_line"] + 1))
        yield Asked(row["lang"], row["query"], tuple(lines))


def queries(folder: Path) -> Iterator[str]:
    for file in sorted(folder.rglob("queries.jsonl")):
        yield from (json.loads(line)["query"] for line in file.read_text(encoding="utf-8").splitlines())


def report(name: str, workspace: Path, asked: list[Asked]) -> None:
    with Memory(workspace, config={"sync": {"on_search": False}}) as memory:
        memory.sync()
        memory.recall_context("Where did we put it?")
        print(f"{name}: {'':<24} asked   hook   hook, sure   recall_context")
        ways = [hook_block(workspace), sure_block(workspace), memory.recall_context]
        counts: dict[str, list[list[bool]]] = defaultdict(list)
        for question in asked:
            counts[question.kind].append([fine(question, way(question.query)) for way in ways])
    for kind, rows in counts.items():
        shares = [sum(row[place] for row in rows) / len(rows) for place in range(3)]
        what = "silent" if kind in ("unanswerable", "foreign") else "recalled"
        print(f"  {kind:<22} {what:<9} {len(rows):>5}   {shares[0]:.2f}   {shares[1]:>10.2f}   {shares[2]:>14.2f}")


def fine(question: Asked, block: str) -> bool:
    if not question.gold:
        return not block
    spans = [(m["path"], int(m["first"]), int(m["last"] or m["first"])) for m in _PLACE.finditer(block)]
    return any(path == p and first <= line <= last for p, first, last in spans for path, line in question.gold)


def hook_block(workspace: Path) -> Callable[[str], str]:
    def ask(query: str) -> str:
        event = {"hook_event_name": "UserPromptSubmit", "cwd": str(workspace), "prompt": query}
        try:
            answer: dict[str, Any] = json.loads(answer_event(event, os.environ, {}))
        except Silence:
            return ""
        return answer["hookSpecificOutput"]["additionalContext"]

    return ask


def sure_block(workspace: Path) -> Callable[[str], str]:
    place = find_place({"cwd": str(workspace)}, os.environ, {})

    def ask(query: str) -> str:
        terms = query_terms(query)
        asked = RecallQuestion(query, terms.terms, terms.identifier, in_doubt=False)
        try:
            return recall(asked, place, max_chars=4_000)
        except Silence:
            return ""

    return ask


def cost(workspace: Path, runs: int) -> None:
    prompts = {
        "hook that recalls": "Which boiler key did we hand over?",
        "hook that stays silent": "Write a function that sorts dates.",
    }
    bare: list[float] = []
    taken: dict[str, list[float]] = defaultdict(list)
    # In turns, so that what else the machine does meets all alike.
    for _ in range(runs):
        bare.append(timed([sys.executable, "-c", "import sqlite3"], ""))
        for name, prompt in prompts.items():
            event = {"hook_event_name": "UserPromptSubmit", "cwd": str(workspace), "prompt": prompt}
            taken[name].append(timed(_HOOK, json.dumps(event)))
        event = {"hook_event_name": "SessionStart", "source": "startup", "cwd": str(workspace)}
        taken["hook at session start"].append(timed(_HOOK, json.dumps(event)))
    print(f'python -c "import sqlite3", ms                {statistics.median(bare) * 1000:.0f}')
    for name, times in taken.items():
        ratio = statistics.median(one / base for one, base in zip(times, bare, strict=True))
        print(f"{name:<24} / that (bar 8)       {ratio:.1f}")


def timed(command: list[str], given: str) -> float:
    started = time.perf_counter()
    subprocess.run(command, input=given.encode(), stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
