"""The command line as programs use it: JSON, settings, and which workspace and agent are meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmark import Memory
from clawmark.config import all_keys
from terminal import KEYWORD, clawmark

Note = Callable[[str, str], Path]

ASOF = "2026-06-30"


# --- JSON ---------------------------------------------------------------------------------


def _shape(value: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in value.items() if name != "tookMs"}


@pytest.mark.parametrize(
    ("words", "call"),
    [
        (["search", "zebra apples"], lambda memory: memory.search("zebra apples", asof=ASOF)),
        (
            [
                "search",
                "zebra",
                "--max-results",
                "1",
                "--paths",
                "memory/*",
                "--since",
                "2026-01-01",
                "--max-chars",
                "90",
            ],
            lambda memory: memory.search(
                "zebra", max_results=1, paths=["memory/*"], since="2026-01-01", max_chars=90, asof=ASOF
            ),
        ),
        (
            ["search", "zebra", "--min-score", "0.9", "--sources", "memory", "--session-key", "agent:main:x:group:1"],
            lambda memory: memory.search(
                "zebra", min_score=0.9, sources=["memory"], session_key="agent:main:x:group:1", asof=ASOF
            ),
        ),
        (["search", "unicorn"], lambda memory: memory.search("unicorn", asof=ASOF)),
        (
            ["explain", "zebra", "--path", "memory/birds.md"],
            lambda memory: memory.explain("zebra", path="memory/birds.md", asof=ASOF),
        ),
        (["get", "MEMORY.md", "--from-line", "3"], lambda memory: memory.get("MEMORY.md", from_line=3)),
        (["get", "memory/nope.md"], lambda memory: memory.get("memory/nope.md")),
        (["status"], lambda memory: memory.status()),
        (["status", "--deep"], lambda memory: memory.status(deep=True)),
        (["index"], lambda memory: memory.sync()),
        (["index", "--force"], lambda memory: memory.sync(force=True)),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_json_is_what_python_gives(zoo: Path, words: list[str], call: Callable[[Memory], Any]) -> None:
    """I06: one core, two doors; equal but for the time it took."""
    clawmark("index", "--workspace", zoo)
    dated = ["--asof", ASOF] if words[0] in ("search", "explain") else []
    ran = clawmark(*words, *dated, "--workspace", zoo, "--json")
    with Memory(zoo, embedder="none") as memory:
        expected = call(memory).to_dict()

    found, wanted = _shape(ran.json), _shape(expected)
    if words == ["index", "--force"]:
        found.pop("lastSync", None)
    assert found == wanted
    assert ran.err == ""


def test_the_configuration_is_one_object_per_setting(zoo: Path) -> None:
    """Every setting, its value, and what set it."""
    (zoo / "clawmark.toml").write_text("[query]\nmax_results = 3\n[embedding]\nbase_url = 'http://evil'\n")
    config = zoo.parent / "mine.toml"
    config.write_text("[query]\nmin_score = 0.2\n", encoding="utf-8")
    env = {"CLAWMARK_QUERY__HYBRID__MMR__LAMBDA": "0.4"}
    ran = clawmark("config", "--workspace", zoo, "--config", config, "--json", env=env)
    text = clawmark("config", "--workspace", zoo, "--config", config, env=env)

    assert (ran.code, text.code) == (0, 0)
    assert tuple(ran.json) == all_keys()
    assert ran.json["query.max_results"] == {"value": 3, "origin": "clawmark.toml"}
    assert ran.json["query.min_score"] == {"value": 0.2, "origin": f"config {config}"}
    assert ran.json["query.hybrid.mmr.lambda"]["origin"] == "environment CLAWMARK_QUERY__HYBRID__MMR__LAMBDA"
    assert ran.json["chunking.tokens"] == {"value": 400, "origin": "default"}
    assert ran.json["embedding.base_url"] == {"value": None, "origin": "default"}
    assert "query.max_results = 3  (clawmark.toml)\n" in text.out
    assert "embedding.base_url" in text.err


def test_the_configuration_shows_no_secret(zoo: Path) -> None:
    """Neither a key, nor a header, nor a password in a URL; that they are set is said."""
    env = {
        "CLAWMARK_EMBEDDING__API_KEY": "sk-secret-1",
        "CLAWMARK_EMBEDDING__HEADERS": '{Authorization = "Bearer sk-secret-2"}',
        "CLAWMARK_EMBEDDING__BASE_URL": "https://ann:sk-secret-3@example.org/v1?key=sk-secret-4",
    }
    for flag in ([], ["--json"]):
        ran = clawmark("config", "--workspace", zoo, *flag, env=env)
        assert ran.code == 0
        assert "sk-secret" not in ran.out + ran.err
        assert ran.out.count("(set)") == 2
        assert "example.org/v1" in ran.out


# --- which workspace ----------------------------------------------------------------------


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    """Two workspaces, each with a word of its own."""
    places = (tmp_path / "one", tmp_path / "two")
    for place in places:
        (place / "memory" / "deep").mkdir(parents=True)
        (place / "memory" / "a.md").write_text(f"The zebra of {place.name}.\n", encoding="utf-8")
    return places


def _asked(*options: str | Path, env: Mapping[str, str] | None = None) -> str:
    ran = clawmark("search", "zebra", "--json", *options, env=env)
    assert ran.code == 0, ran.err
    (result,) = ran.json["results"]
    return result["snippet"].strip()


def test_the_option_wins_over_the_variable_and_that_over_the_folder(
    two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """I09: from another folder with the same settings, the same answer."""
    one, other = two
    monkeypatch.chdir(one / "memory" / "deep")

    assert _asked() == "The zebra of one."
    assert _asked(env={"CLAWMARK_WORKSPACE": str(other)}) == "The zebra of two."
    assert _asked("--workspace", one, env={"CLAWMARK_WORKSPACE": str(other)}) == "The zebra of one."
    monkeypatch.chdir(other)
    assert _asked("--workspace", "../one") == "The zebra of one."


@pytest.mark.parametrize("command", ["search", "explain", "index", "get", "status", "config"])
def test_without_any_workspace_every_command_exits_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    folder = tmp_path / "nothing" / "here"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    words = [command, "zebra"] if command in ("search", "explain", "get") else [command]
    text, data = clawmark(*words), clawmark(*words, "--json")

    assert (text.code, text.out, data.code) == (2, "", 2)
    assert str(folder) in text.err
    assert "--workspace" in text.err
    assert data.json["error"]["code"] == "NO_WORKSPACE"
    assert list(folder.iterdir()) == []


def test_an_agent_has_an_index_of_its_own(zoo: Path) -> None:
    """X04: the option wins over the variable; without either the agent is main."""
    clawmark("index", "--workspace", zoo, "--agent", "ann")
    bob = {**KEYWORD, "CLAWMARK_AGENT": "bob"}

    assert clawmark("status", "--workspace", zoo, "--agent", "ann", "--json", env=bob).json["files"] == 3
    seen = clawmark("status", "--workspace", zoo, "--json", env=bob).json
    assert (seen["agent"], seen["files"]) == ("bob", 0)
    assert clawmark("status", "--workspace", zoo, "--json").json["agent"] == "main"
