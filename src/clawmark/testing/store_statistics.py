"""Contract of a store: term statistics after any history are those of a fresh build."""

from __future__ import annotations

import random
from typing import Any

import pytest

from clawmark.core.ports import Store
from clawmark.testing.samples import EVERYTHING, chunk_ids, embed, ids_in, put, remove

_WORDS = ("crane", "heron", "egret", "stork", "ibis", "钥匙柜", "rfc-0077", "gull")
_PATHS = tuple(f"memory/{name}.md" for name in "abcdef")


class StoreStatistics:
    """``core`` computes BM25 from these numbers, so every store ranks alike."""

    def test_statistics_count_chunks_and_terms(self, store: Store) -> None:
        """N, the average length, and in how many chunks a term is; singles have no length."""
        put(store, "main", "memory/a.md", "heron heron egret\n\nheron")
        put(store, "main", "memory/b.md", "钥匙柜")
        with store.reading("main") as reader:
            found = reader.statistics(["heron", "egret", "absent", "匙", "钥匙"])
        assert found.chunks == 3
        assert found.average_length == pytest.approx((3 + 1 + 2) / 3)
        assert {term: count for term, count in found.document_frequency.items() if count} == {
            "heron": 2,
            "egret": 1,
            "匙": 1,
            "钥匙": 1,
        }

    @pytest.mark.parametrize("seed", range(6))
    def test_after_any_history_the_numbers_are_those_of_a_fresh_build(self, store: Store, seed: int) -> None:
        """Replace, remove, move and touch in random order, against the same documents written once."""
        final = _random_history(store, random.Random(seed))
        for path, text in sorted(final.items()):
            put(store, "fresh", path, text)
        assert _numbers(store, "main") == _numbers(store, "fresh")

    def test_an_index_that_was_emptied_counts_nothing(self, store: Store) -> None:
        """No residue that a division could meet."""
        for number in [put(store, "main", path, "heron egret") for path in _PATHS]:
            remove(store, "main", number)
        with store.reading("main") as reader:
            found = reader.statistics(["heron"])
        assert (found.chunks, found.average_length) == (0, 0.0)
        assert found.document_frequency.get("heron", 0) == 0


def _random_history(store: Store, dice: random.Random) -> dict[str, str]:
    texts: dict[str, str] = {}
    ids: dict[str, int] = {}
    for _ in range(40):
        path = dice.choice(_PATHS)
        step = dice.choice(("replace", "replace", "remove", "move", "touch", "embed"))
        if step == "replace" or path not in texts:
            texts[path] = _random_text(dice)
            ids[path] = put(store, "main", path, texts[path])
        elif step == "remove":
            remove(store, "main", ids.pop(path))
            del texts[path]
        elif step == "embed":
            embed(store, "main", dict.fromkeys(chunk_ids(store, "main", path), 0.5))
        else:
            _rename(store, step, path, texts, ids)
    return texts


def _rename(store: Store, step: str, path: str, texts: dict[str, str], ids: dict[str, int]) -> None:
    with store.writing("main", {"chunker": 1, "tokens": 400}) as writer:
        if step == "touch":
            writer.touch(ids[path], size=1, mtime_ns=1)
            return
        new = next((name for name in _PATHS if name not in texts), path)
        writer.move(ids[path], path=new, size=1, mtime_ns=1)
    texts[new], ids[new] = texts.pop(path), ids.pop(path)


def _random_text(dice: random.Random) -> str:
    chunks = [" ".join(dice.choices(_WORDS, k=dice.randint(1, 6))) for _ in range(dice.randint(1, 4))]
    return "\n\n".join(chunks)


def _numbers(store: Store, agent: str) -> dict[str, Any]:
    """Everything that ranking gets to know, by path and place instead of by id."""
    terms = [*_WORDS[:5], "钥匙", "匙", "rfc-0077", "0077", "gull"]
    with store.reading(agent) as reader:
        statistics = reader.statistics(terms)
        candidates = reader.candidates(ids_in(reader), terms)
        matches = {term: len(reader.text_candidates([term], EVERYTHING, 1_000)) for term in terms}
        counts = {source: (count["files"], count["chunks"]) for source, count in reader.counts().items()}
    return {
        "chunks": statistics.chunks,
        "average_length": pytest.approx(statistics.average_length, rel=1e-9),
        "document_frequency": {term: statistics.document_frequency.get(term, 0) for term in terms},
        "matches": matches,
        "counts": counts,
        "candidates": sorted(
            (item.path, item.start_line, item.length, sorted((t, n) for t, n in item.frequencies.items() if n))
            for item in candidates
        ),
    }
