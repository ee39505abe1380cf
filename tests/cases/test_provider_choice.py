"""Which provider works: named, automatic, or instead of one that cannot; one resolver for all paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import servers
from clawmark import ConfigError, Memory
from clawmark.embedders.registry import REMOTE_PROVIDERS, chosen_provider, dialect_of
from moving_clock import MovingClock
from servers import KEY, ProviderServer, serving
from stub import StubEmbedder
from terminal import clawmark

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

ALL_KEYS = {variable: KEY for name in REMOTE_PROVIDERS for variable in dialect_of(name).key_variables}


@pytest.fixture(autouse=True)
def _no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ALL_KEYS:
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with serving(servers.OpenAiProtocol()) as running:
        yield running


@pytest.fixture
def zebra(note: Note) -> None:
    note("memory/a.md", "The zebra sleeps.\n")
    note("memory/b.md", "Herrings swim.\n")


# --- automatic ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("variables", "chosen"),
    [
        (["OPENAI_API_KEY", "GEMINI_API_KEY", "VOYAGE_API_KEY", "MISTRAL_API_KEY"], "openai"),
        (["MISTRAL_API_KEY", "VOYAGE_API_KEY", "GEMINI_API_KEY"], "gemini"),
        (["GOOGLE_API_KEY", "MISTRAL_API_KEY"], "gemini"),
        (["MISTRAL_API_KEY", "VOYAGE_API_KEY"], "voyage"),
        (["MISTRAL_API_KEY"], "mistral"),
        (["OLLAMA_API_KEY"], "local"),
        ([], "local"),
    ],
)
def test_automatic_is_the_first_provider_that_has_a_key(variables: list[str], chosen: str) -> None:
    """Spec 4.1; a blank key is none, and Ollama is chosen by name only."""
    environ = dict.fromkeys(ALL_KEYS, "  ") | dict.fromkeys(variables, KEY)

    assert chosen_provider("auto", None, environ) == chosen


def test_automatic_without_a_key_is_the_fallback(zebra: None, open_memory: Open) -> None:
    memory = open_memory(embedder=None, config={"embedding": {"provider": "auto", "fallback": "none"}})

    assert memory.status().mode == "keyword"
    assert memory.sync().error is None
    assert memory.status().provider == "local"


# --- by name ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "code"),
    [
        ({"provider": "opnai"}, "UNKNOWN_PROVIDER"),
        ({"provider": "openai", "model": "text-embedding-4"}, "UNKNOWN_MODEL"),
        ({"provider": "local", "fallback": "olama"}, "UNKNOWN_PROVIDER"),
        ({"provider": "mistral", "dimensions": 7}, "BAD_SETTING"),
    ],
)
def test_what_does_not_exist_is_an_error_before_any_call(workspace: Path, table: dict[str, Any], code: str) -> None:
    """P14: when the memory is opened."""
    with pytest.raises(ConfigError) as caught:
        Memory(workspace, config={"embedding": table})

    assert caught.value.code == code
    assert caught.value.action


def test_the_command_line_names_an_unknown_model(zebra: None, workspace: Path) -> None:
    env = {"CLAWMARK_EMBEDDING__PROVIDER": "voyage", "CLAWMARK_EMBEDDING__MODEL": "voyage-4-larg"}
    ran = clawmark("search", "zebra", "--workspace", workspace, env=env)

    assert ran.code == 2
    assert "voyage has no model called 'voyage-4-larg'" in ran.err
    assert "Did you mean 'voyage-4-large'?" in ran.err


def test_every_path_asks_the_provider_that_was_configured(
    zebra: None, note: Note, workspace: Path, server: ProviderServer, tmp_path: Path
) -> None:
    """P14: index, search, explain, a change before a search, and eval."""
    (workspace / "queries.jsonl").write_text(
        '{"id": "q", "query": "zebra", "gold": [{"path": "memory/a.md", "start_line": 1, "end_line": 1}]}\n'
    )
    env = {
        "CLAWMARK_EMBEDDING__PROVIDER": "openai",
        "CLAWMARK_EMBEDDING__BASE_URL": server.url,
        "CLAWMARK_EMBEDDING__MODEL": "swordfish-1",
        "OPENAI_API_KEY": KEY,
    }
    asked: list[int] = []
    for command, *rest in (["index"], ["search", "zebra"], ["explain", "zebra"], ["status"], ["eval"]):
        before = len(server.requests)
        assert clawmark(command, *rest, "--workspace", workspace, env=env).code == 0
        asked.append(len(server.requests) - before)
    note("memory/c.md", "A second zebra.\n")
    answer = clawmark("search", "zebra", "--json", "--workspace", workspace, env=env)

    assert [count > 0 for count in asked] == [True, True, True, False, True]
    assert {request.body["model"] for request in server.requests} == {"swordfish-1"}
    assert "A second zebra." in server.texts
    assert (answer.json["provider"], answer.json["model"]) == ("openai", "swordfish-1")


def test_an_argument_leaves_the_address_and_key_of_another_provider_behind(
    zebra: None, open_memory: Open, server: ProviderServer
) -> None:
    """``embedder="local"`` beside a configured openai is plain local."""
    memory = open_memory(embedder="local", config={"embedding": server.settings(model="swordfish-1")})

    assert memory.sync().error is None
    assert memory.status().provider == "local"
    assert server.requests == []


@pytest.mark.parametrize("dimensions", [384, 1024, 3072])
def test_the_length_of_unknown_models_is_learned(
    zebra: None, open_memory: Open, server: ProviderServer, dimensions: int
) -> None:
    """P15: status shows it."""
    server.always = servers.changed(lambda answer: _longer(answer, dimensions))
    memory = open_memory(embedder=None, config={"embedding": server.settings(model="nobody-knows-me")})
    report, status = memory.sync(), memory.status()

    assert (report.error, report.pending) == (None, 0)
    assert (status.dimensions, status.model) == (dimensions, "nobody-knows-me")
    assert memory.search("zebra").mode == "hybrid"


def _longer(answer: Any, dimensions: int) -> None:
    for row in answer["data"]:
        row["embedding"] = servers.vector_of(str(row["embedding"][0]), dimensions)


def test_vectors_of_any_length_are_compared_by_direction(
    zebra: None, open_memory: Open, server: ProviderServer
) -> None:
    """R08: the server's vectors are longer than 1; scores lie in [0, 1]."""
    memory = open_memory(embedder=None, config={"embedding": server.settings()})
    memory.sync()
    response = memory.search("The zebra sleeps.", min_score=0.0)

    assert response.results[0].path == "memory/a.md"
    assert response.results[0].explanation.cosine == pytest.approx(1.0)
    assert all(0.0 <= (result.vector_score or 0.0) <= 1.0 for result in response.results)


def test_another_model_is_never_compared(zebra: None, open_memory: Open, server: ProviderServer) -> None:
    """R09: by keyword, with the reason and the command that mends it; then by meaning again."""
    open_memory(embedder=None, config={"embedding": server.settings(dimensions=8)}).sync()
    memory = open_memory(embedder=None, config={"embedding": server.settings(dimensions=16)})
    before = memory.search("zebra")
    report = memory.sync()

    assert (before.mode, [result.path for result in before.results]) == ("keyword", ["memory/a.md"])
    assert before.fallback is not None
    assert "index 8-dim, provider 16-dim" in before.fallback.reason
    assert any("clawmark index" in notice.action for notice in before.warnings)
    assert (report.pending, memory.search("zebra").mode) == (0, "hybrid")


# --- fallback -----------------------------------------------------------------------------


def test_the_fallback_answers_for_a_provider_without_a_key(zebra: None, open_memory: Open) -> None:
    """Spec 4.1: the answer is by meaning, and names both."""
    memory = open_memory(embedder=None, config={"embedding": {"provider": "openai", "fallback": "local"}})
    report = memory.sync()
    response = memory.search("zebra")

    assert (report.error, report.pending) == (None, 0)
    assert (response.mode, response.provider) == ("hybrid", "local")
    assert response.fallback is not None
    assert response.fallback.to_dict() == {"from": "openai", "reason": "no key for provider openai"}


def test_the_fallback_goes_on_when_an_account_is_empty(zebra: None, open_memory: Open, server: ProviderServer) -> None:
    """Within one sync; later questions do not call the empty account; with credit all returns."""
    clock = MovingClock()
    server.always = server.protocol.quota()
    table = server.settings(fallback="local")
    memory = open_memory(embedder=None, config={"embedding": table}, clock=clock)
    report = memory.sync()
    response = memory.search("zebra")
    calls = len(server.requests)
    again = open_memory(embedder=None, config={"embedding": table}, clock=clock).search("zebra")

    assert (report.error, report.pending, report.added) == (None, 0, 2)
    for one in (response, again):
        assert (one.mode, one.provider) == ("hybrid", "local")
        assert one.fallback is not None
        assert one.fallback.from_provider == "openai"
        assert "quota exhausted" in one.fallback.reason
    assert len(server.requests) == calls == 1

    server.always = None
    clock.advance(3_700)
    meanwhile = memory.search("zebra")
    memory.sync()
    restored = memory.search("zebra")
    assert (meanwhile.mode, meanwhile.provider) == ("hybrid", "local")
    assert (restored.mode, restored.provider, restored.fallback) == ("hybrid", "openai", None)


def test_a_fault_that_passes_does_not_change_the_provider(
    zebra: None, open_memory: Open, server: ProviderServer
) -> None:
    """All vectors would be made anew, twice."""
    memory = open_memory(embedder=None, config={"embedding": server.settings(fallback="local")})
    memory.sync()
    server.always = servers.rate_limit(30)
    response = memory.search("zebra")

    assert (response.mode, memory.status().provider) == ("keyword", "openai")


def test_none_means_none_also_while_indexing(zebra: None, open_memory: Open, server: ProviderServer) -> None:
    memory = open_memory(embedder="none", config={"embedding": server.settings(fallback="local")})
    report = memory.sync()

    assert (report.error, report.pending, report.texts_embedded) == (None, 0, 0)
    assert (memory.search("zebra").mode, server.requests) == ("keyword", [])


def test_a_users_own_embedder_has_a_fallback_too(zebra: None, open_memory: Open) -> None:
    from clawmark import QuotaError

    def empty(texts: Any) -> None:
        raise QuotaError("stub: quota exhausted")

    memory = open_memory(embedder=StubEmbedder(on_documents=empty), config={"embedding": {"fallback": "local"}})
    report = memory.sync()

    assert (report.error, report.pending) == (None, 0)
    assert memory.search("zebra").provider == "local"
