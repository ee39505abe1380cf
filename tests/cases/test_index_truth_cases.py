"""The index is what the files are, or says that it is not: user cases, and what the machine of tests/stateful found."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from asking import codes, damage_full_text, drop_full_text, file_of, paths

from clawmark import Memory, SearchResponse
from clawmark.config import load_settings
from clawmark.core.chunking import CHUNKER_VERSION
from clawmark.embedders.cache import EmbeddingCache
from clawmark.engine import places
from clawmark.stores.sqlite import SqliteStore
from clawmark.sync import Recipe, Workplace, synchronise
from stub import StubEmbedder
from terminal import clawmark_process

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

NOT_ON_SEARCH = {"sync": {"on_search": False}}


def later(file: Path, seconds: int = 60) -> None:
    """Give a file a later time, its content as it is."""
    moment = file.stat().st_mtime_ns + seconds * 1_000_000_000
    os.utime(file, ns=(moment, moment))


# --- user cases ---------------------------------------------------------------------------


def test_a_new_process_calls_an_index_fresh_until_a_file_really_changes(workspace: Path, note: Note) -> None:
    """S01: from the files and the index, not from a flag; a new time alone is no change."""
    note("memory/b.md", "zebra")
    file = note("memory/a.md", "walrus one")
    assert clawmark_process("index", "--workspace", workspace).code == 0

    def status() -> Any:
        return clawmark_process("status", "--workspace", workspace, "--json").json

    assert (status()["state"], status()["pending"]) == ("fresh", 0)
    later(file)
    assert (status()["state"], status()["pending"]) == ("fresh", 0)
    file.write_text("walrus two", encoding="utf-8")
    later(file, 120)
    assert (status()["state"], status()["pending"]) == ("pending", 1)
    assert status()["reason"] == "not indexed as they are now: memory/a.md"


class OfOlderVersion(Recipe):
    """What a version of clawmark made that had another chunker."""

    def identity(self) -> dict[str, object]:
        return {**super().identity(), "chunker": CHUNKER_VERSION - 1}


def test_another_chunker_cuts_untouched_files_again_and_embeds_only_new_texts(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """S19: the older one cut the long note into more pieces, and the short one alike."""
    note("memory/short.md", "walrus")
    note("memory/long.md", "\n".join(f"harbour number {number} of the long list" for number in range(60)))
    older = StubEmbedder()
    cache = EmbeddingCache(Path(os.environ["CLAWMARK_HOME"]) / "cache" / "embeddings.sqlite")
    store = SqliteStore(workspace / ".clawmark" / "index.sqlite")
    place = Workplace(
        store=store,
        agent="main",
        rules=places.file_rules(workspace, load_settings(workspace=workspace, config={}, environ={}).settings),
        sources=("memory",),
        recipe=OfOlderVersion(tokens=60, overlap=0),
        cache=cache,
        lock_path=None,
        clock=lambda: datetime(2026, 6, 30, tzinfo=UTC),
    )
    before = synchronise(place, lambda: older)
    store.close()
    cache.close()
    newer = StubEmbedder()
    memory = open_memory(embedder=newer)
    assert memory.status().state == "pending"
    report = memory.sync()

    assert report.chunks < before.chunks
    assert newer.texts
    assert set(newer.texts).isdisjoint(older.texts)
    assert "walrus" in older.texts
    assert memory.sync().texts_embedded == 0


def test_a_rebuild_beside_a_reader_replaces_no_file_and_the_reader_sees_the_new_index(
    workspace: Path, tmp_path: Path, note: Note, open_memory: Open
) -> None:
    """L06: an open read does not stand in the way, and the file stays the one that it was."""
    note("memory/a.md", "\n".join(f"walrus number {number} of the list" for number in range(60)))
    config = tmp_path / "mine.toml"
    config.write_text("chunking.tokens = 60\nchunking.overlap = 0\n", encoding="utf-8")
    memory = open_memory(config=NOT_ON_SEARCH)
    memory.sync()
    index = file_of(memory)
    before, store = index.stat(), SqliteStore(index)
    with store.reading("main") as reader:
        old, documents = reader.state(), reader.documents()
        done = clawmark_process("index", "--force", "--workspace", workspace, "--config", config)
        assert done.code == 0, done.err
        assert (reader.state(), reader.documents()) == (old, documents)
    with store.reading("main") as reader:
        new = reader.state()
        assert reader.documents()[0].chunks > documents[0].chunks
    store.close()

    assert old is not None
    assert new is not None
    assert new.generation > old.generation
    assert (index.stat().st_dev, index.stat().st_ino) == (before.st_dev, before.st_ino)
    assert len(memory.search("walrus", max_results=50, min_score=0.0).results) > 1


TABLE = {f"otter{number}": 0.9 - number / 20 for number in range(8)}


def test_a_full_text_index_that_is_lost_or_broken_and_a_provider_that_fails_are_told_apart(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """L09: three causes, three reasons; without words the nearest five are those of an exact scan."""
    for number in range(8):
        note(f"memory/n{number}.md", f"otter{number} swims")
    healthy = open_memory(embedder=StubEmbedder(TABLE), config=NOT_ON_SEARCH)
    healthy.sync()
    index = file_of(healthy)
    expected = [(f"memory/n{number}.md", round(TABLE[f"otter{number}"], 4)) for number in range(5)]
    said: list[str] = []
    for number, damage in enumerate((drop_full_text, damage_full_text)):
        copy = workspace.parent / f"copy{number}.sqlite"
        healthy.close()
        shutil.copy(index, copy)
        damage(copy)
        store = f"sqlite:///{copy}"
        with Memory(workspace, embedder=StubEmbedder(TABLE), config=NOT_ON_SEARCH, store=store) as memory:
            response = memory.search("swims", max_results=5)
        assert (response.mode, nearest(response)) == ("vector", expected)
        assert codes(response) == ["TEXT_LEG_FAILED"]
        said.append(response.warnings[0].message)

    def refuse(query: str) -> None:
        raise ConnectionError("the provider is down")

    memory = open_memory(embedder=StubEmbedder(TABLE, on_query=refuse), config=NOT_ON_SEARCH)
    response = memory.search("swims", max_results=5)
    assert (response.mode, len(response.results)) == ("keyword", 5)
    assert response.fallback is not None
    assert "the provider is down" in response.fallback.reason
    assert len({*said, response.fallback.reason}) == 3


def nearest(response: SearchResponse) -> list[tuple[str, float]]:
    return [(result.path, round(result.vector_score or 0.0, 4)) for result in response.results]


def test_an_empty_workspace_is_not_indexed_at_each_search_and_its_first_note_is_found_at_once(
    open_memory: Open, note: Note
) -> None:
    """F03: the clock moves on with each question that is asked of it, and the index notes when it was made."""
    moment = datetime(2026, 6, 30, tzinfo=UTC)

    def clock() -> datetime:
        nonlocal moment
        moment += timedelta(seconds=1)
        return moment

    memory = open_memory(clock=clock)
    passes = set()
    for _ in range(100):
        assert memory.search("walrus").results == ()
        passes.add(memory.status().last_sync)
    note("memory/a.md", "walrus")

    assert len(passes) == 1
    assert paths(memory.search("walrus")) == ["memory/a.md"]


# --- found by the machine -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["folder", "fifo", "link"])
def test_a_note_whose_name_something_else_has_taken_never_answers(
    open_memory: Open, workspace: Path, note: Note, kind: str
) -> None:
    """Before the next look at the files, too: it is gone, not changed."""
    file = note("memory/a.md", "walrus in the harbour")
    outside = note("elsewhere.md", "walrus in the harbour")
    memory = open_memory(config=NOT_ON_SEARCH)
    memory.sync()
    state = file.stat()
    os.utime(outside, ns=(state.st_mtime_ns, state.st_mtime_ns))
    file.unlink()
    {"folder": file.mkdir, "fifo": lambda: os.mkfifo(file), "link": lambda: file.symlink_to(outside)}[kind]()

    assert memory.search("walrus").results == ()


def test_a_transcript_that_is_renamed_gets_the_id_and_the_kind_of_its_new_name(
    open_memory: Open, workspace: Path
) -> None:
    """The same bytes under another name: a job's run that was kept as a chat can be forgotten as that chat."""
    logs = workspace / "logs"
    logs.mkdir()
    text = json.dumps({"role": "user", "text": "walrus in the harbour", "ts": "2026-06-01T00:00:00Z"})
    (logs / "cron-nightly.jsonl").write_text(f"{text}\n", encoding="utf-8")
    memory = open_memory(config={"sessions": {"paths": ["logs"]}})
    memory.sync()
    (logs / "cron-nightly.jsonl").rename(logs / "chat.jsonl")
    memory.sync()

    with SqliteStore(file_of(memory)).reading("main") as reader:
        (row,) = reader.documents()
    assert (row.path, row.meta["session"], row.meta["kind"]) == ("sessions/chat.jsonl", "chat", "interactive")
    assert memory.forget(session="chat").documents == ("sessions/chat.jsonl",)
    assert memory.search("walrus").results == ()


@pytest.mark.parametrize("moved", [False, True])
def test_a_passage_that_is_forgotten_during_a_sync_takes_nothing_else_of_its_note_with_it(
    open_memory: Open, workspace: Path, note: Note, *, moved: bool
) -> None:
    """The sync has seen the note with a new time, or name, and its rows are gone when it comes to write."""
    file = note("memory/a.md", "the walrus sleeps in the harbour\nthe kettle stands on the stove\n")
    memory, other = open_memory(config=NOT_ON_SEARCH), open_memory(config=NOT_ON_SEARCH)
    memory.sync()
    later(file)
    if moved:
        file.rename(workspace / "memory" / "b.md")
    waiting = ["memory/a.md#L1"]

    def forget(stage: str, done: int, total: int) -> None:
        while waiting:
            assert other.forget(chunk=waiting.pop()).error is None

    assert memory.sync(progress=forget).error is None
    assert paths(memory.search("kettle")) == [f"memory/{'b' if moved else 'a'}.md"]
    assert "walrus" not in memory.search("kettle").results[0].snippet
    assert memory.status().state == "fresh"


def test_a_search_never_answers_from_the_index_of_former_settings(open_memory: Open, note: Note) -> None:
    """Nothing is eligible now, so there is nothing to read: what was indexed with other chunks must go all the same."""
    note("memory/a.md", "walrus in the harbour")
    open_memory().sync()
    memory = open_memory(config={"chunking": {"tokens": 100}, "files": {"exclude": ["memory/a.md"]}})

    assert memory.search("walrus").results == ()
    assert memory.status().state == "fresh"


class Killed(BaseException):
    """Ends a sync as a kill does."""


@pytest.mark.parametrize("tokens", [400, 20])
def test_a_search_finishes_a_sync_that_was_killed_while_it_embedded(
    open_memory: Open, note: Note, *, tokens: int
) -> None:
    """All files were read and their times noted: only vectors, or with other chunks the switch, are missing."""
    note("memory/a.md", "walrus in the harbour\n\n" + "the kettle stands on the stove\n" * 10)
    if tokens != 400:
        open_memory(embedder=StubEmbedder()).sync()

    def die(texts: object) -> None:
        raise Killed

    config = {"chunking": {"tokens": tokens, "overlap": 0}, "cache": {"enabled": False}}
    with pytest.raises(Killed):
        open_memory(config=config, embedder=StubEmbedder(on_documents=die)).sync()
    memory = open_memory(config=config, embedder=StubEmbedder({"walrus": 0.9}))
    response = memory.search("walrus")

    assert (response.mode, response.stale, codes(response)) == ("hybrid", False, [])
    assert memory.status().state == "fresh"


def test_a_blank_note_that_is_forgotten_is_listed_as_forgotten(open_memory: Open, note: Note) -> None:
    """As an index that is made anew says it."""
    note("memory/a.md", "\n\n")
    memory = open_memory()
    memory.sync()
    assert memory.forget(path="memory/a.md").error is None
    memory.sync()

    assert [(item.path, item.reason) for item in memory.status().skipped] == [("memory/a.md", "forgotten")]
