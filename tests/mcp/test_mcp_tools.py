"""The MCP server over both transports, asked by the SDK's client."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cases.asking import install_table_provider, table_provider
from mcp import Client, MCPError
from mcp_process import HttpServer, over_http, over_stdio, text_of
from terminal import clawmark, clawmark_process

Note = Callable[[str, str], Path]


async def listed(client: Client) -> list[dict[str, Any]]:
    tools = (await client.list_tools()).tools
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]


def asking(name: str, **arguments: Any) -> Callable[[Client], Any]:
    async def talk(client: Client) -> Any:
        return await client.call_tool(name, arguments)

    return talk


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_finds_two_small_tools_with_truthful_annotations(zoo: Path, served: HttpServer, mode: str) -> None:
    tools = over_stdio(zoo, listed, mode=mode)

    assert [tool["name"] for tool in tools] == ["memory_search", "memory_get"]
    assert len(json.dumps(tools, separators=(",", ":"))) < 4_000
    for tool in tools:
        hints = tool["annotations"]
        assert (hints["readOnlyHint"], hints["destructiveHint"], hints["openWorldHint"]) == (True, False, False)
        assert len(tool["description"]) < 1_000
    assert over_http(served.url, listed, mode=mode) == tools


def test_the_writing_tools_come_with_write_only_and_say_so(zoo: Path) -> None:
    tools = {tool["name"]: tool["annotations"] for tool in over_stdio(zoo, listed, "--write")}

    assert list(tools) == ["memory_search", "memory_get", "memory_append", "memory_forget"]
    assert not tools["memory_append"]["readOnlyHint"]
    assert not tools["memory_append"]["destructiveHint"]
    assert tools["memory_forget"]["destructiveHint"]


def test_the_instructions_begin_with_when_to_call(zoo: Path) -> None:
    async def talk(client: Client) -> str | None:
        return client.instructions

    said = over_stdio(zoo, talk) or ""

    assert said.startswith("Call memory_search before answering anything about prior work, decisions, dates, people,")
    assert len(said) <= 2_048


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_answer_is_text_for_the_model_and_data_for_the_program(zoo: Path, served: HttpServer, mode: str) -> None:
    talk = asking("memory_search", query="who slept?", maxResults=1)
    for result in (over_stdio(zoo, talk, mode=mode), over_http(served.url, talk, mode=mode)):
        assert not result.is_error
        assert result.structured_content["results"][0]["path"] == "memory/2026-06-01.md"
        assert "Source: memory/2026-06-01.md#L1-L4" in text_of(result)


def test_lines_of_a_file_are_read(zoo: Path, served: HttpServer) -> None:
    talk = asking("memory_get", path="memory/2026-06-01.md", **{"from": 3, "lines": 1})
    for result in (over_stdio(zoo, talk), over_http(served.url, talk)):
        assert result.structured_content["text"] == "Fed the zebra two apples."
        assert result.structured_content["nextFrom"] == 4


def test_a_misspelt_parameter_is_an_error_that_names_the_nearest(zoo: Path, served: HttpServer) -> None:
    """U12: the SDK lets unknown names pass; the server does not."""
    talk = asking("memory_search", query="zebra", source="memory")
    for result in (over_stdio(zoo, talk), over_http(served.url, talk)):
        assert result.is_error
        assert result.structured_content["code"] == "UNKNOWN_ARGUMENT"
        assert not result.structured_content["disabled"]
        assert "'sources'" in text_of(result)


def test_an_unknown_tool_is_an_error_that_lists_the_tools(zoo: Path) -> None:
    result = over_stdio(zoo, asking("memory_serch", query="zebra"))

    assert result.is_error
    assert "memory_search, memory_get" in text_of(result)


def test_a_source_that_is_off_is_not_offered_and_its_use_is_an_error(zoo: Path) -> None:
    """I07."""
    (zoo / "chats").mkdir()
    on = over_stdio(zoo, listed, env={"CLAWMARK_SESSIONS__PATHS": '["chats"]'})
    off = over_stdio(zoo, listed)
    refused = over_stdio(zoo, asking("memory_search", query="zebra", sources=["sessions"]))

    def enum(tools: list[dict[str, Any]]) -> list[str]:
        return tools[0]["inputSchema"]["properties"]["sources"]["items"]["enum"]

    assert (enum(off), enum(on)) == (["memory"], ["memory", "sessions"])
    assert refused.is_error
    assert refused.structured_content["code"] == "SOURCE_NOT_ENABLED"


def test_the_chat_that_a_server_serves_decides_about_citations(zoo: Path) -> None:
    """recall-spec 8.3."""
    talk = asking("memory_search", query="zebra")
    group = over_stdio(zoo, talk, "--session-key", "agent:main:telegram:group:1")

    assert "Source:" not in text_of(group)
    assert "citation" not in group.structured_content["results"][0]
    assert "Source:" in text_of(over_stdio(zoo, talk))


def test_a_sub_agent_is_denied_and_not_shown_an_empty_result(zoo: Path) -> None:
    """I08."""
    key = ("--session-key", "agent:main:subagent:1")
    result = over_stdio(zoo, asking("memory_search", query="zebra"), *key)

    assert over_stdio(zoo, listed, *key) == []
    assert result.is_error
    assert result.structured_content["code"] == "MEMORY_DENIED"


def test_one_score_travels_unchanged_through_every_door(note: Note, workspace: Path, tmp_path: Path) -> None:
    """R10, I06: Python, command line, MCP over stdio; the same numbers, and the same everything else."""
    for name, text in (("one", "alpha"), ("two", "beta"), ("three", "gamma")):
        note(f"memory/{name}.md", f"{text} stands here.\n")
    plugin = install_table_provider(tmp_path / "plugin")
    here = os.pathsep.join([str(plugin), *sys.path])
    env = {**table_provider({"alpha": 0.9, "beta": 0.5, "gamma": 0.1}), "PYTHONPATH": here}
    moment = "2026-06-30T12:00:00+00:00"
    cli = clawmark_process(
        "search", "question", "--min-score", "0", "--asof", moment, "--workspace", workspace, "--json", env=env
    ).json
    mcp = over_stdio(
        workspace,
        asking("memory_search", query="question", minScore=0, asof=moment),
        env={**table_provider({"alpha": 0.9, "beta": 0.5, "gamma": 0.1}), "PYTHONPATH": str(plugin)},
    ).structured_content

    assert [hit["path"] for hit in mcp["results"]] == ["memory/one.md", "memory/two.md", "memory/three.md"]
    assert len({hit["score"] for hit in mcp["results"]}) == 3
    assert {**mcp, "tookMs": 0} == {**cli, "tookMs": 0}


def test_every_option_gives_the_same_hits_as_the_command_line(zoo: Path) -> None:
    """I06."""
    calls: list[tuple[list[str], dict[str, Any]]] = [
        (["--max-results", "1"], {"maxResults": 1}),
        (["--min-score", "0.99"], {"minScore": 0.99}),
        (["--min-confidence", "0.5"], {"minConfidence": 0.5}),
        (["--sources", "memory"], {"sources": ["memory"]}),
        (["--paths", "memory/*"], {"paths": ["memory/*"]}),
        (["--since", "2026-06-02"], {"since": "2026-06-02"}),
        (["--until", "2026-05-01"], {"until": "2026-05-01"}),
        (["--deadline", "20"], {"deadline": 20}),
        (["--max-chars", "60"], {"maxChars": 60}),
    ]

    async def talk(client: Client) -> list[Any]:
        moment = {"query": "zebra apples", "asof": "2026-06-30"}
        return [(await client.call_tool("memory_search", {**moment, **given})) for _, given in calls]

    found = over_stdio(zoo, talk)
    for (options, _), result in zip(calls, found, strict=True):
        cli = clawmark("search", "zebra apples", "--asof", "2026-06-30", *options, "--workspace", zoo, "--json").json
        assert {**result.structured_content, "tookMs": 0} == {**cli, "tookMs": 0}


# --- resources ----------------------------------------------------------------------------


def test_memory_files_are_resources(zoo: Path, served: HttpServer) -> None:
    async def talk(client: Client) -> tuple[list[str], str, str | None]:
        files = (await client.list_resources()).resources
        read = (await client.read_resource(str(files[1].uri))).contents[0]
        return [str(file.uri) for file in files], read.text, read.mime_type

    for found in (over_stdio(zoo, talk), over_http(served.url, talk)):
        assert found[0] == ["clawmark:///MEMORY.md", "clawmark:///memory/2026-06-01.md"]
        assert found[1].startswith("# Monday")
        assert found[2] == "text/markdown"


def test_names_of_any_script_and_many_files_are_listed_in_pages(note: Note, workspace: Path) -> None:
    note("memory/项目 笔记.md", "数据库\n")
    for number in range(250):
        note(f"memory/n{number:03}.md", "zebra\n")

    async def talk(client: Client) -> tuple[list[str], str]:
        found: list[str] = []
        cursor = None
        while True:
            page = await client.list_resources(cursor=cursor)
            found += [str(file.uri) for file in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                named = next(uri for uri in found if "%" in uri)
                return found, (await client.read_resource(named)).contents[0].text

    found, text = over_stdio(workspace, talk)

    assert len(found) == len(set(found)) == 251
    assert text.startswith("数据库")


def test_what_is_no_memory_file_cannot_be_read_as_a_resource(zoo: Path) -> None:
    codes = {
        "clawmark:///memory/none.md": "NOT_FOUND",
        "clawmark:///../secret.md": "MEMORY_PATH_NOT_ALLOWED",
        "clawmark:////etc/passwd": "MEMORY_PATH_NOT_ALLOWED",
        "file:///etc/passwd": "BAD_ARGUMENT",
    }

    async def talk(client: Client) -> dict[str, str]:
        found: dict[str, str] = {}
        for uri in codes:
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            found[uri] = caught.value.error.data["code"]
        return found

    assert over_stdio(zoo, talk) == codes


# --- progress -----------------------------------------------------------------------------


_GATE = """
import pathlib, sys, time
from stub import StubEmbedder


def make(settings):
    def wait(texts):
        while not pathlib.Path(settings.model).exists():
            time.sleep(0.01)

    return StubEmbedder({"zebra": 0.9}, on_documents=wait)
"""


def test_the_first_question_waits_for_the_first_index_and_tells_how_far_it_is(zoo: Path, tmp_path: Path) -> None:
    """The embedder does not begin before the client has heard of the work; then the whole index answers."""
    plugin = install_table_provider(tmp_path / "plugin")
    (plugin / "table_provider.py").write_text(_GATE, encoding="utf-8")
    gate = tmp_path / "open"
    told: list[float] = []

    async def talk(client: Client) -> Any:
        async def progress(done: float, total: float | None, message: str | None) -> None:
            told.append(done)
            gate.touch()

        return await client.call_tool("memory_search", {"query": "zebra"}, progress_callback=progress)

    env = {"CLAWMARK_EMBEDDING__PROVIDER": "table", "CLAWMARK_EMBEDDING__MODEL": str(gate), "PYTHONPATH": str(plugin)}
    data = over_stdio(zoo, talk, env=env).structured_content

    assert told
    assert told == sorted(told)
    assert (data["mode"], len(data["results"]), data["stale"]) == ("hybrid", 2, False)
