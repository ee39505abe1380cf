"""The start of a session, and a search while the watcher is behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark import AsyncMemory, ClawmarkError, Memory
from stub import StubEmbedder
from waiting import PATIENCE_SECONDS, Heard, eventually

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

NOT_ON_SEARCH = {"sync": {"on_search": False}}
SLOW = {"sync": {"watch_debounce_ms": 3_600_000}}


def paths_of(memory: Memory, query: str) -> list[str]:
    return sorted(result.path for result in memory.search(query).results)


def test_a_session_that_begins_starts_a_sync(open_memory: Open, note: Note) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config=NOT_ON_SEARCH)

    memory.start_session("agent:main:1")

    eventually(lambda: paths_of(memory, "walrus") == ["memory/a.md"])


def test_the_same_session_starts_no_second_sync_but_another_does(
    open_memory: Open, workspace: Path, note: Note
) -> None:
    memory = open_memory(config=NOT_ON_SEARCH)
    memory.start_session("one")
    eventually(lambda: memory.status().last_sync)
    note("memory/a.md", "walrus")

    memory.start_session("one")
    memory.start_session(" one ")
    memory.close()  # waits for what might run
    with Memory(workspace, embedder="none", config=NOT_ON_SEARCH) as other:
        assert other.status().files == 0
        other.start_session("two")
        eventually(lambda: other.status().files == 1)


def test_the_start_of_a_session_does_not_wait_for_the_sync_and_close_does(open_memory: Open, note: Note) -> None:
    entered, opened = threading.Event(), threading.Event()

    def hold(texts: object) -> None:
        entered.set()
        assert opened.wait(PATIENCE_SECONDS)

    note("memory/a.md", "walrus")
    memory = open_memory(embedder=StubEmbedder(on_documents=hold))
    memory.start_session("one")
    assert entered.wait(PATIENCE_SECONDS)
    response = memory.search("walrus")
    assert (response.stale, [notice.code for notice in response.warnings][:1]) == (True, ["SYNC_RUNNING"])
    opened.set()
    memory.close()


def test_a_search_right_after_the_start_of_a_session_is_not_stale(open_memory: Open, note: Note) -> None:
    """A sync that has just begun is waited for a moment."""
    note("memory/a.md", "walrus")
    memory = open_memory()
    memory.start_session("one")

    response = memory.search("walrus")

    assert (response.stale, [result.path for result in response.results]) == (False, ["memory/a.md"])


def test_the_trigger_can_be_switched_off(open_memory: Open, note: Note) -> None:
    note("memory/a.md", "walrus")
    memory = open_memory(config={"sync": {"on_search": False, "on_session_start": False}})

    memory.start_session("one")

    assert memory.status().last_sync is None
    assert paths_of(memory, "walrus") == []


def test_a_sync_that_fails_does_not_raise_at_the_start_of_a_session(open_memory: Open, workspace: Path) -> None:
    (workspace / ".clawmarkignore").mkdir()
    memory = open_memory()

    memory.start_session("one")
    memory.close()


@pytest.mark.parametrize("key", [None, 7, b"one"])
def test_a_session_key_is_text(open_memory: Open, key: object) -> None:
    with pytest.raises(ClawmarkError) as caught:
        open_memory().start_session(key)  # pyright: ignore[reportArgumentType]

    assert isinstance(caught.value, ValueError)
    assert "session_key" in caught.value.message


def test_a_session_can_begin_on_an_event_loop(workspace: Path, note: Note) -> None:
    note("memory/a.md", "walrus")

    async def begin() -> list[str]:
        async with AsyncMemory(workspace, embedder="none", config=NOT_ON_SEARCH) as memory:
            await memory.start_session("one")
        async with AsyncMemory(workspace, embedder="none", config=NOT_ON_SEARCH) as memory:
            return [result.path for result in (await memory.search("walrus")).results]

    assert asyncio.run(begin()) == ["memory/a.md"]


def test_a_search_while_changes_settle_looks_for_itself(open_memory: Open, note: Note) -> None:
    """The watcher waits for an hour here; that the note was only edited leaves no trace in its folder."""
    heard = Heard()
    note("memory/a.md", "zebra")
    memory = open_memory(config=SLOW)
    with memory.watch(heard):
        heard.wait_for_sync("start")
        note("memory/a.md", "walrus")
        heard.wait_for(lambda event: event.paths)
        response = memory.search("walrus")
        assert (response.stale, len(response.results)) == (False, 1)
        # Seen and indexed: that the watcher has not come round to it does not matter.
        assert not memory.search("walrus").stale


def test_a_search_right_after_a_new_note_finds_it(open_memory: Open, note: Note) -> None:
    """The event needs a moment to arrive; nothing here waits for it."""
    heard = Heard()
    memory = open_memory(config=SLOW)
    with memory.watch(heard):
        heard.wait_for_sync("start")
        for number in range(30):
            note(f"memory/n{number}.md", f"walrus{number}")
            response = memory.search(f"walrus{number}")
            assert (response.stale, len(response.results)) == (False, 1)
