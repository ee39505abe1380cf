"""Tools of many sessions in one process: engines are shared within an agent and never between agents."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmark.tools import Tool, close_engines
from clawmark.tools.engines import settings_of, shared_memory
from clawmark.tools.model import Session

Make = Callable[..., dict[str, Tool]]

KEYWORD = {"embedding": {"provider": "none"}}


@pytest.fixture(autouse=True)
def _closed() -> Any:
    yield
    close_engines()


def engine(session: Session, config: dict[str, Any] | None = None) -> Any:
    given = {**KEYWORD, **(config or {})}
    return shared_memory(given, session, settings_of(given, session).settings)


def test_sessions_of_one_agent_share_one_engine(workspace: Path) -> None:
    one = engine(Session(workspace, "agent:main:telegram:1"))
    other = engine(Session(str(workspace) + "/.", "agent:main:slack:group:2"))

    assert one is other


def test_another_agent_another_workspace_and_other_settings_have_engines_of_their_own(
    workspace: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    engines = [
        engine(Session(workspace)),
        engine(Session(workspace, "agent:bob:telegram:1")),
        engine(Session(workspace, agent="eve")),
        engine(Session(tmp_path / "other")),
        engine(Session(workspace), {"query": {"max_results": 2}}),
    ]

    assert len({id(item) for item in engines}) == len(engines)


def test_an_engine_is_opened_once_by_many_threads(workspace: Path) -> None:
    opened: list[Any] = []
    start = threading.Barrier(8)

    def ask() -> None:
        start.wait()
        opened.append(engine(Session(workspace)))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({id(item) for item in opened}) == 1


def test_no_agent_ever_sees_the_words_of_another(tmp_path: Path, created: Make) -> None:
    """X04: two agents with a folder each, in one process with one cache."""
    for agent, word in (("a", "marigold"), ("b", "foxglove")):
        (tmp_path / agent / "memory").mkdir(parents=True)
        (tmp_path / agent / "memory" / f"{word}.md").write_text(f"The password is {word}.\n", encoding="utf-8")
    made = {agent: created(workspace=tmp_path / agent, agent=agent) for agent in ("a", "b")}
    seen = {
        agent: "".join(
            f"{result.text} {result.data}"
            for result in (
                made[agent]["memory_search"].run({"query": "the password marigold foxglove"}),
                made[agent]["memory_get"].run({"path": "memory/marigold.m"}),
                made[agent]["memory_get"].run({"path": str(tmp_path / "a" / "memory" / "marigold.md")}),
            )
        )
        for agent in ("a", "b")
    }

    assert "The password is marigold." in seen["a"]
    assert "foxglove" not in seen["a"]
    assert "The password is foxglove." in seen["b"]
    assert "password is marigold" not in seen["b"]


def test_closed_engines_are_opened_again_by_the_next_call(workspace: Path, created: Make) -> None:
    (workspace / "MEMORY.md").write_text("The zebra sleeps.\n", encoding="utf-8")
    search = created()["memory_search"]
    first = search.run({"query": "zebra"})
    close_engines()
    second = search.run({"query": "zebra"})

    assert first.data["results"] == second.data["results"] != []


def test_the_agent_is_the_one_that_the_session_key_names() -> None:
    assert Session("x", "agent:bob:telegram:1").owner == "bob"
    assert Session("x", "agent:bob:telegram:1", agent="eve").owner == "eve"
    assert Session("x", "telegram:1").owner == Session("x").owner == "main"
