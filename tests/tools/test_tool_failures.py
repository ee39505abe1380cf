"""Failures of the tools: unavailable, quota, timeout, denied, empty are different things, and none hides results."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmark import ErrorInfo, Memory, QuotaError
from clawmark.core.errors import ArgumentError, EmbeddingError
from clawmark.tools import Tool, failure, find_tool, memory_tools
from golden import cases
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Make = Callable[..., dict[str, Tool]]

FIELDS = {"disabled", "unavailable", "error", "warning", "action", "code"}


@pytest.mark.parametrize("case", cases("unavailable"), ids=lambda case: case["id"])
def test_the_texts_are_the_recorded_ones_and_the_kind_is_decided_by_code(case: dict[str, Any]) -> None:
    """recall-spec 8.1; the one departure is that words of a message decide nothing."""
    expected = case["expected"]
    quota = "quota" in expected["warning"]
    error = ErrorInfo("QUOTA_EXHAUSTED" if quota else "EMBEDDING_FAILED", case["input"] or "")

    assert {"results": [], **failure(error)} == {**expected, "code": error.code}


def test_a_number_in_a_message_is_no_quota() -> None:
    assert "quota" not in failure(ErrorInfo("EMBEDDING_FAILED", "HTTP 4290"))["warning"]
    assert failure(None)["error"] == "memory search unavailable"


@pytest.mark.parametrize(
    ("code", "disabled", "unavailable"),
    [
        ("MEMORY_DISABLED", True, True),
        ("QUOTA_EXHAUSTED", True, True),
        ("VECTOR_LEG_TIMEOUT", True, True),
        ("INDEX_CORRUPT", True, True),
        ("INDEX_BUSY", True, True),
        ("WORKSPACE_NOT_FOUND", True, True),
        ("MEMORY_DENIED", True, False),
        ("MEMORY_PATH_NOT_ALLOWED", False, False),
        ("BAD_ARGUMENT", False, False),
    ],
)
def test_each_kind_says_whether_memory_is_off_and_whether_something_is_broken(
    code: str, disabled: bool, unavailable: bool
) -> None:
    shape = failure(ErrorInfo(code, "It failed.", "Do this."))

    assert set(shape) == FIELDS
    assert (shape["disabled"], shape["unavailable"]) == (disabled, unavailable)
    assert shape["warning"]
    assert shape["action"]


def test_different_failures_have_different_warnings() -> None:
    codes = ("EMBEDDING_FAILED", "QUOTA_EXHAUSTED", "VECTOR_LEG_TIMEOUT", "MEMORY_DENIED", "MEMORY_DISABLED")

    assert len({failure(ErrorInfo(code, "x"))["warning"] for code in codes}) == len(codes)


# --- one leg fails: results stay ----------------------------------------------------------


def _raise(error: Exception) -> Callable[[Any], None]:
    def fail(_: Any) -> None:
        raise error

    return fail


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (EmbeddingError("not authorised", code="EMBEDDING_FAILED"), "EMBEDDING_FAILED"),
        (QuotaError("out of credit"), "QUOTA_EXHAUSTED"),
        (OSError("no network"), "QUERY_EMBEDDING_FAILED"),
    ],
    ids=["denied", "quota", "network"],
)
def test_a_leg_that_fails_leaves_the_hits_of_the_other_and_a_warning(
    zoo: Path, tools: Make, error: Exception, code: str
) -> None:
    """I05, P16: a warning never hides results, and the model is told that the answer is partial."""
    stub = StubEmbedder({"zebra": 0.9})
    search = tools(embedder=stub)["memory_search"]
    assert search.run({"query": "zebra"}).data["mode"] == "hybrid"
    stub.on_query = _raise(error)
    result = search.run({"query": "zebra"})

    assert not result.failed
    assert len(result.data["results"]) == 2
    assert result.data["mode"] == "keyword"
    assert code in [notice["code"] for notice in result.data["warnings"]]
    assert result.data["fallback"]["from"] == "stub"
    assert "Partial answer, by keyword only" in result.text


def test_a_leg_that_is_late_leaves_the_hits_of_the_other(zoo: Path, tools: Make) -> None:
    """P10, F07: a model that takes its time, or is still loading, costs the deadline and not the answer."""
    release = threading.Event()
    stub = StubEmbedder({"zebra": 0.9})
    search = tools(embedder=stub)["memory_search"]
    search.run({"query": "zebra"})
    stub.on_query = lambda text: release.wait(60) and None
    try:
        result = search.run({"query": "zebra", "deadline": 0.2})
    finally:
        release.set()

    assert not result.failed
    assert len(result.data["results"]) == 2
    assert [notice["code"] for notice in result.data["warnings"]] == ["VECTOR_LEG_TIMEOUT"]
    assert "vector leg timed out" in result.text


def test_a_connection_that_breaks_once_does_not_break_later_calls(zoo: Path, tools: Make) -> None:
    """P17: no broken client is kept, and no old failure is told again."""
    stub = StubEmbedder({"zebra": 0.9})
    search = tools(embedder=stub)["memory_search"]
    search.run({"query": "zebra"})
    stub.on_query = _raise(ConnectionError("reset by peer"))
    broken = search.run({"query": "zebra"})
    stub.on_query = lambda text: None
    later = [search.run({"query": "zebra"}) for _ in range(4)]

    assert broken.data["mode"] == "keyword"
    assert [(result.failed, result.data["mode"], result.data["warnings"]) for result in later] == [
        (False, "hybrid", [])
    ] * 4


# --- everything fails ---------------------------------------------------------------------


def test_a_workspace_that_disappears_is_unavailable_and_answers_when_it_is_back(zoo: Path, created: Make) -> None:
    search = created()["memory_search"]
    assert search.run({"query": "zebra"}).data["results"]
    shutil.move(zoo, zoo.with_name("elsewhere"))
    gone = search.run({"query": "zebra"})
    shutil.move(zoo.with_name("elsewhere"), zoo)
    back = search.run({"query": "zebra"})

    assert gone.failed
    assert (gone.data["code"], gone.data["disabled"], gone.data["results"]) == ("WORKSPACE_NOT_FOUND", True, [])
    assert "workspace" in gone.data["warning"]
    assert not back.failed
    assert back.data["results"]


def test_a_damaged_index_is_unavailable_and_names_the_repair(zoo: Path, open_memory: Callable[..., Memory]) -> None:
    open_memory().sync()
    for suffix in ("-wal", "-shm"):
        Path(f"{zoo}/.clawmark/index.sqlite{suffix}").unlink(missing_ok=True)
    (zoo / ".clawmark" / "index.sqlite").write_bytes(b"no database at all" * 500)
    result = memory_tools(open_memory())[0].run({"query": "zebra"})

    assert result.failed
    assert set(result.data) == {"results", *FIELDS}
    assert (result.data["code"], result.data["unavailable"]) == ("INDEX_CORRUPT", True)
    assert "clawmark index --force" in result.data["action"]
    assert "index" in result.data["warning"]


def test_memory_that_is_switched_off_says_so(zoo: Path, open_memory: Callable[..., Memory]) -> None:
    """A tool that was made before, as a long-lived agent has it."""
    response = open_memory(config={"enabled": False}).search("zebra")
    assert response.error is not None

    assert failure(response.error)["warning"] == "Memory search is switched off for this agent."


def test_a_refused_path_is_denied_and_memory_is_not_off(zoo: Path, tools: Make) -> None:
    """I08: a denial is never an empty result."""
    result = tools()["memory_get"].run({"path": "../secret.md"})

    assert result.failed
    assert (result.data["path"], result.data["text"], result.data["status"]) == ("../secret.md", "", "error")
    assert (result.data["code"], result.data["disabled"]) == ("MEMORY_PATH_NOT_ALLOWED", False)
    assert result.text.startswith("Access was denied.")


def test_a_tool_that_a_session_may_not_use_is_denied_by_name(created: Make) -> None:
    """I08."""
    with pytest.raises(ArgumentError, match="memory_search") as caught:
        find_tool(list(created(key="agent:main:subagent:1").values()), "memory_search")

    assert failure(caught.value)["code"] == "MEMORY_DENIED"


def test_a_mistake_of_ours_is_a_failure_without_its_inner_text(zoo: Path, tools: Make) -> None:
    """Masked for the model, logged for the operator."""
    stub = StubEmbedder({"zebra": 0.9})
    tool = tools(embedder=stub)["memory_search"]
    broken = Tool(
        tool.name, tool.title, tool.description, tool.parameters, _broken_call, tool.output, empty={"results": []}
    )
    result = broken.run({"query": "zebra"})

    assert (result.failed, result.data["code"], result.data["results"]) == (True, "ERROR", [])
    assert result.data["error"] == "memory_search failed: KeyError"


def _broken_call(**_: Any) -> Any:
    raise KeyError("/home/somebody/secret")
