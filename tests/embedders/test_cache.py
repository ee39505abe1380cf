"""The embedding cache: by content, bounded, silent about texts, and never in the way."""

from __future__ import annotations

import os
import random
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clawmark import Memory
from clawmark.embedders.cache import DEFAULT_MAX_ENTRIES, EmbeddingCache
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[EmbeddingCache]:
    opened = EmbeddingCache(path)
    yield opened
    opened.close()


def _vector(seed: int, dimensions: int = 8) -> Any:
    vector = np.random.default_rng(seed).normal(size=dimensions).astype(np.float32)
    return vector / np.linalg.norm(vector)


def _key(text: str) -> bytes:
    return text.encode().ljust(16, b".")


def test_a_vector_comes_back_as_it_was(cache: EmbeddingCache, path: Path) -> None:
    """Bit for bit, in the same object, in another one, and only for the keys that were asked for."""
    vectors = {_key(name): _vector(number) for number, name in enumerate("abc")}
    cache.put("stub", "one", vectors)
    cache.close()
    with closing(EmbeddingCache(path)) as again:
        found = again.get("stub", "one", [_key("a"), _key("c"), _key("unknown")])

    assert found.keys() == {_key("a"), _key("c")}
    for key, vector in found.items():
        np.testing.assert_array_equal(vector, vectors[key])


def test_asking_makes_no_file(cache: EmbeddingCache, path: Path) -> None:
    assert cache.get("stub", "one", [_key("a")]) == {}
    assert cache.stats()["entries"] == 0
    assert not path.parent.exists()


def test_vectors_of_another_provider_or_model_are_never_given(cache: EmbeddingCache) -> None:
    """The key is a digest of provider, model and text; no two of them run together."""
    cache.put("stub", "one", {_key("a"): _vector(1)})
    for provider, model in (("stub", "two"), ("other", "one"), ("stub\0one", ""), ("", "stub\0one"), ("stubone", "")):
        assert cache.get(provider, model, [_key("a")]) == {}


def test_more_keys_than_a_statement_takes_are_answered(cache: EmbeddingCache) -> None:
    vectors = {_key(str(number)): _vector(number) for number in range(2_500)}
    cache.put("stub", "one", vectors)

    assert cache.get("stub", "one", list(vectors)).keys() == vectors.keys()


def test_the_cache_is_bounded_and_forgets_what_came_first(path: Path) -> None:
    with closing(EmbeddingCache(path, max_entries=10)) as cache:
        for number in range(25):
            cache.put("stub", "one", {_key(str(number)): _vector(number)})
        kept = cache.get("stub", "one", [_key(str(number)) for number in range(25)])

        assert kept.keys() == {_key(str(number)) for number in range(15, 25)}
        assert cache.stats() == {
            "path": str(path),
            "entries": 10,
            "bytes": cache.stats()["bytes"],
            "max_entries": 10,
        }
    assert EmbeddingCache(path).max_entries == DEFAULT_MAX_ENTRIES


def test_the_file_reveals_no_word_and_no_path(note: Note, open_memory: Open, tmp_path: Path) -> None:
    """X04: vectors may be shared between agents; nobody can read a note out of them."""
    note("memory/swordfish-plan.md", "The password of the harbour is Melchizedek, 密码本.\n" * 3)
    memory = open_memory(
        embedder=StubEmbedder({"harbour": 0.9}), config={"store": {"url": "sqlite:///../index.sqlite"}}
    )
    assert memory.sync().texts_embedded == 1
    place = Path(memory.status().cache["path"])
    memory.close()
    content = b"".join(file.read_bytes() for file in place.parent.glob("embeddings*")).lower()

    assert place.exists()
    for word in ("swordfish", "password", "harbour", "melchizedek", "密码", "memory/", str(tmp_path)):
        assert word.lower().encode() not in content
    assert "swordfish".encode("utf-16-le") not in content


def test_the_same_text_is_embedded_once_for_all_workspaces_and_agents(tmp_path: Path) -> None:
    """F01: content decides; paths, agents and workspaces do not."""
    stub = StubEmbedder()
    for name in ("one", "two"):
        (tmp_path / name / "memory").mkdir(parents=True)
        for number in range(30):
            (tmp_path / name / "memory" / f"{name}{number}.md").write_text(f"Note {number}.\n", encoding="utf-8")
    for name, agent in (("one", "ann"), ("one", "bob"), ("two", "ann")):
        with Memory(tmp_path / name, agent=agent, embedder=stub) as memory:
            report = memory.sync()
            assert (report.added, report.pending, memory.status().mode) == (30, 0, "hybrid")

    assert len(stub.texts) == 30


def test_switched_off_it_writes_nothing(note: Note, open_memory: Open) -> None:
    note("memory/a.md", "zebra\n")
    memory = open_memory(embedder=StubEmbedder(), config={"cache": {"enabled": False}})

    assert memory.sync().texts_embedded == 1
    assert memory.status().cache is None
    assert [file.name for file in Path(os.environ["CLAWMARK_HOME"], "cache").iterdir()] == ["models"]


def test_vectors_of_another_length_are_not_mixed_in(tmp_path: Path) -> None:
    """The same model with other dimensions: its vectors cannot be compared, so the texts are embedded again."""
    for name, dimensions in (("one", 8), ("two", 16)):
        (tmp_path / name / "memory").mkdir(parents=True)
        for number in range(3):
            (tmp_path / name / "memory" / f"{number}.md").write_text(f"zebra {number}.\n", encoding="utf-8")
        with Memory(tmp_path / name, embedder=StubEmbedder({"zebra": 0.9}, dimensions=dimensions)) as memory:
            report, response = memory.sync(), memory.search("zebra")
            assert (report.texts_embedded, report.error, report.failed) == (3, None, ())
            assert memory.status().dimensions == dimensions
        assert (response.mode, response.fallback, len(response.results)) == ("hybrid", None, 3)


def _random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(3).randbytes(9_000))


def _foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE vectors (name TEXT)")


def _folder(path: Path) -> None:
    path.mkdir()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [_random_bytes, _foreign, _folder, _empty])
def test_a_cache_that_cannot_be_used_is_an_empty_one(
    cache: EmbeddingCache, path: Path, damage: Callable[[Path], None]
) -> None:
    path.parent.mkdir()
    damage(path)

    assert cache.get("stub", "one", [_key("a")]) == {}
    cache.put("stub", "one", {_key("a"): _vector(1)})
    cache.get("stub", "one", [_key("a")])
    assert cache.stats()["max_entries"] == DEFAULT_MAX_ENTRIES


@pytest.mark.parametrize("damage", [_random_bytes, _foreign, _folder, _empty])
def test_a_broken_cache_file_costs_an_index_nothing(
    note: Note, open_memory: Open, damage: Callable[[Path], None]
) -> None:
    """Texts are embedded as if there were none; the answer is the same."""
    place = Path(os.environ["CLAWMARK_HOME"], "cache", "embeddings.sqlite")
    place.parent.mkdir(exist_ok=True)
    damage(place)
    note("memory/a.md", "The zebra sleeps.\n")
    memory = open_memory(embedder=StubEmbedder({"zebra": 0.9}))
    report, response = memory.sync(), memory.search("zebra")

    assert (report.texts_embedded, report.error, report.partial, report.pending) == (1, None, False, 0)
    assert (response.mode, [result.path for result in response.results]) == ("hybrid", ["memory/a.md"])
    assert memory.status().state == "fresh"


@pytest.mark.parametrize(
    "blob",
    [b"", b"\x00", b"\x00" * 7, b"\x00\x00\xc0\x7f" * 256, b"\x00" * 1024, np.ones(8, dtype="<f4").tobytes()],
    ids=["empty", "one byte", "odd", "not a number", "zeros", "other length"],
)
def test_a_damaged_vector_is_embedded_again(note: Note, workspace: Path, tmp_path: Path, blob: bytes) -> None:
    """What is in the cache is checked like what a provider answers."""
    for number in range(3):
        note(f"memory/{number}.md", f"zebra {number}\n")
    with Memory(workspace, embedder=StubEmbedder({"zebra": 0.9})) as memory:
        assert memory.sync().texts_embedded == 3
    place = Path(os.environ["CLAWMARK_HOME"], "cache", "embeddings.sqlite")
    with closing(sqlite3.connect(place)) as db, db:
        db.execute("UPDATE vectors SET vector = ? WHERE rowid = (SELECT min(rowid) FROM vectors)", (blob,))
    with Memory(workspace, agent="bob", embedder=StubEmbedder({"zebra": 0.9})) as memory:
        report, response = memory.sync(), memory.search("zebra")

    assert (report.texts_embedded, report.error, report.failed, report.pending) == (1, None, (), 0)
    assert response.mode == "hybrid"
    assert [round(result.explanation.cosine or 0.0, 3) for result in response.results] == [0.9] * 3


def test_threads_and_processes_may_share_the_file(path: Path) -> None:
    """Two caches on one file, each used by several threads: nothing is lost, nothing raises."""
    with closing(EmbeddingCache(path)) as one, closing(EmbeddingCache(path)) as other:

        def work(cache: EmbeddingCache, name: str) -> None:
            for number in range(20):
                cache.put("stub", "one", {_key(f"{name}{number}"): _vector(number)})
                cache.get("stub", "one", [_key(f"{name}{number}")])

        threads = [threading.Thread(target=work, args=(cache, f"{n}-")) for n, cache in enumerate((one, other, one))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert one.stats()["entries"] == other.stats()["entries"] == 60
