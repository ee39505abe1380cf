"""A process that searches all the time, and notes what it was told.

    python -m crashing.reader FOLDER NUMBER

It never writes the index, and ends when its standard input does.
"""

from __future__ import annotations

import select
import sys
import time
import traceback
from pathlib import Path
from random import Random
from typing import Any

from clawmark import Memory
from crashing.world import WORDS, Journal, WordEmbedder, config

# Leaves the two processors of a small machine to the writer now and then.
PAUSE_SECONDS = 0.02
_NARROWED: list[dict[str, Any]] = [{}, {}, {}, {"paths": ["memory/**"]}, {"sources": ["sessions"]}, {"max_chars": 900}]


class Reader:
    """Searches until it is told to end."""

    def __init__(self, folder: Path, number: int) -> None:
        self._rng = Random(number)
        self._journal = Journal(folder / f"reader{number}.jsonl")
        self._known: dict[tuple[str, str], int] = {}
        # Small chunks or large ones: who only reads takes what is there.
        self._memory = Memory(
            folder / "ws", config=config([100, 10], cache=False, on_search=False), embedder=WordEmbedder()
        )

    def run(self) -> None:
        while not select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
            began = time.monotonic()
            try:
                told = self._search()
            except Exception:  # noqa: BLE001 - whatever it is, it is noted as the fault that it is
                told = {"error": traceback.format_exc(limit=-3)}
            self._journal.note(began=began, **told)
        self._memory.close()

    def _search(self) -> dict[str, Any]:
        question = " ".join(self._rng.sample(WORDS, self._rng.randint(1, 3)))
        answer = self._memory.search(question, max_results=10, min_score=0.0, **self._rng.choice(_NARROWED))
        return {
            "error": str(answer.error) if answer.error else None,
            "codes": [notice.code for notice in answer.warnings],
            "told": [self._name(result.path, result.snippet) for result in answer.results],
            "new": self._new_names(),
        }

    def _name(self, path: str, snippet: str) -> int:
        return self._known.setdefault((path, snippet), len(self._known))

    def _new_names(self) -> list[list[Any]]:
        """Spell each answer once: the journal stays small."""
        noted = getattr(self, "_noted", 0)
        self._noted = len(self._known)
        return [[number, *key] for key, number in list(self._known.items())[noted:]]


def main() -> None:
    Reader(Path(sys.argv[1]), int(sys.argv[2])).run()


if __name__ == "__main__":
    main()
