"""How well clawmark tells which prompts ask about the past, on the labelled prompts.

    python benchmarks/recall_intent.py [--split held_out] [--wrong] [--sets FOLDER]

The rules were tuned on the half "tune" of ``tests/data/recall_intent.jsonl`` only; "held_out"
was written before them, but by the same hand, so its figures flatter. The public sets say
more, though a few cues were added after a look at what LongMemEval and MemoryBank missed.
Point ``--sets`` at a folder of them (as ``benchmarks/ranking`` uses) for the share of their
questions that count as asking. LongMemEval and MemoryBank ask a user's own memory (should be
near 1), XQuAD and CMRC ask encyclopedias (near 0); LoCoMo asks by given names what only the
notes can tell apart from an encyclopedia.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clawmark.core.recall_intent import asks_about_past

DATA = Path(__file__).parents[1] / "tests" / "data" / "recall_intent.jsonl"


def labelled(split: str | None = None) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if split in (None, row["split"])]


def measured(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """Precision and recall of "asks about the past"."""
    counts = {(truth, said): 0 for truth in (True, False) for said in (True, False)}
    for row in rows:
        counts[row["asks"], asks_about_past(row["prompt"])] += 1
    right, said = counts[True, True], counts[True, True] + counts[False, True]
    asked = counts[True, True] + counts[True, False]
    return {"prompts": sum(counts.values()), "precision": right / max(said, 1), "recall": right / max(asked, 1)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", choices=("tune", "held_out"))
    parser.add_argument("--wrong", action="store_true", help="also print the prompts that are judged wrongly")
    parser.add_argument("--sets", type=Path)
    options = parser.parse_args()
    for folder in sorted(options.sets.iterdir()) if options.sets else ():
        questions = [
            json.loads(line)["query"] for file in sorted(folder.rglob("queries.jsonl")) for line in file.open()
        ]
        if questions:
            share = sum(map(asks_about_past, questions)) / len(questions)
            print(f"{folder.name:<18} {len(questions):>5} questions  asking {share:.3f}")
    for split in ("tune", "held_out") if options.split is None else (options.split,):
        rows = labelled(split)
        for name, chosen in (("all", rows), *((lang, [r for r in rows if r["lang"] == lang]) for lang in ("en", "zh"))):
            figures = measured(chosen)
            shown = f"precision {figures['precision']:.3f}  recall {figures['recall']:.3f}"
            print(f"{split:<9} {name:<4} {figures['prompts']:>4} prompts  {shown}")
        for row in rows if options.wrong else ():
            if asks_about_past(row["prompt"]) != row["asks"]:
                print(f"    should be {row['asks']}: [{row['lang']} {row['kind']}] {row['prompt']}")
    started = time.perf_counter()
    for row in labelled():
        asks_about_past(row["prompt"])
    print(f"{(time.perf_counter() - started) / len(labelled()) * 1e6:.0f} µs a prompt")


if __name__ == "__main__":
    main()
