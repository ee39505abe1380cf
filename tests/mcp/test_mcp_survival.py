"""What a server goes through: damage, disappearance, clients that leave, and noise on its streams."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import anyio
import pytest

from mcp import Client
from mcp_process import HttpServer, environment, http_server, over_http, over_stdio, text_of
from terminal import PATIENCE_SECONDS, clawmark, clawmark_process


async def search(client: Client, query: str = "zebra", **arguments: Any) -> Any:
    return await client.call_tool("memory_search", {"query": query, **arguments})


def test_a_corrupt_index_is_an_error_with_its_repair_and_a_rebuild_heals_the_running_server(zoo: Path) -> None:
    """The failed answer sets the error flag and carries the object of recall-spec 8.1."""
    clawmark("index", "--workspace", zoo)
    index = zoo / ".clawmark" / "index.sqlite"
    index.write_bytes(b"no database at all" * 500)

    async def talk(client: Client) -> tuple[Any, Any]:
        broken = await search(client)
        await anyio.to_thread.run_sync(lambda: clawmark("index", "--force", "--workspace", zoo))
        return broken, await search(client)

    broken, healed = over_stdio(zoo, talk)

    assert broken.is_error
    shape = broken.structured_content
    assert (shape["results"], shape["disabled"], shape["unavailable"]) == ([], True, True)
    assert shape["code"] == "INDEX_CORRUPT"
    assert "clawmark index --force" in shape["action"]
    assert shape["error"]
    assert shape["warning"] in text_of(broken)
    assert not healed.is_error
    assert healed.structured_content["results"]


def test_a_workspace_that_disappears_is_an_error_until_it_is_back(zoo: Path, tmp_path: Path) -> None:
    errors = tmp_path / "errors.txt"

    async def talk(client: Client) -> list[Any]:
        answers = [await search(client)]
        shutil.move(zoo, zoo.with_name("elsewhere"))
        answers += [await search(client), await client.call_tool("memory_get", {"path": "MEMORY.md"})]
        shutil.move(zoo.with_name("elsewhere"), zoo)
        return [*answers, await search(client)]

    before, gone, unread, back = over_stdio(zoo, talk, errors=errors)

    assert before.structured_content["results"]
    assert gone.is_error
    assert gone.structured_content["code"] == "WORKSPACE_NOT_FOUND"
    assert unread.is_error or unread.structured_content["status"] == "not_found"
    assert back.structured_content["results"]
    assert "Traceback" not in errors.read_text(encoding="utf-8")


def test_a_deleted_index_is_made_anew_by_the_next_question(zoo: Path) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        first = await search(client)
        shutil.rmtree(zoo / ".clawmark")
        (zoo / "memory" / "new.md").write_text("A new note about the zebra.\n", encoding="utf-8")
        with anyio.fail_after(PATIENCE_SECONDS):
            while True:
                later = await search(client, "new note")
                if later.structured_content["results"]:
                    return first, later
                await anyio.sleep(0.1)  # the last look at the files counts for a second

    first, later = over_stdio(zoo, talk)

    assert first.structured_content["results"]
    assert later.structured_content["results"][0]["path"] == "memory/new.md"


def test_memory_that_is_switched_off_offers_no_tools(zoo: Path) -> None:
    async def talk(client: Client) -> tuple[Any, Any]:
        return (await client.list_tools()).tools, await search(client)

    tools, denied = over_stdio(zoo, talk, env={"CLAWMARK_ENABLED": "false"})

    assert tools == []
    assert denied.is_error


def test_a_client_that_leaves_in_the_middle_ends_a_stdio_server(zoo: Path) -> None:
    process = _raw(zoo)
    assert process.stdin is not None
    process.stdin.write(_line("initialize", 1, _HELLO) + _line("tools/call", 2, {"name": "memory_search"})[:20])
    process.stdin.close()

    assert process.wait(PATIENCE_SECONDS) == 0
    assert process.stderr is not None
    assert "Traceback" not in process.stderr.read()
    _close(process)


def test_a_client_that_leaves_in_the_middle_leaves_an_http_server_to_the_others(served: HttpServer) -> None:
    async def leave() -> None:
        async with Client(served.url) as client:
            with anyio.move_on_after(0.01):
                await search(client)

    anyio.run(leave)
    answer = over_http(served.url, search)

    assert answer.structured_content["results"]
    assert served.stop(signal.SIGTERM) == 0
    assert "Traceback" not in "".join(served.errors)


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}


def _line(method: str, number: int | None, params: dict[str, Any]) -> str:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}) + "\n"


def _raw(workspace: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "clawmark", "mcp", "--workspace", str(workspace), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment()},
    )


def _close(process: subprocess.Popen[str]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()


def test_nothing_but_the_protocol_is_on_stdout_whatever_comes_in(zoo: Path) -> None:
    """Noise, half messages, unknown methods, a wrong call: every line out is a message."""
    (zoo / "memory" / "bad.md").write_bytes(b"\xff\xfe\x00bad")
    lines = [
        _line("initialize", 1, _HELLO),
        _line("notifications/initialized", None, {}),
        "this is no JSON\n",
        '{"jsonrpc": "2.0", "id": 7}\n',
        _line("no/such/method", 2, {}),
        _line("tools/call", 3, {"name": "memory_search", "arguments": {"query": "zebra"}}),
        _line("tools/call", 4, {"name": "memory_search", "arguments": {"query": ["zebra"]}}),
        _line("tools/call", 5, {"name": "memory_get", "arguments": {"path": "memory/bad.md"}}),
    ]
    process = _raw(zoo)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write("".join(lines))
    process.stdin.flush()
    answered: dict[Any, Any] = {}
    while not {1, 2, 3, 4, 5} <= answered.keys():
        message = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        answered[message.get("id")] = message
    process.stdin.close()
    assert process.wait(PATIENCE_SECONDS) == 0
    rest = process.stdout.read()
    errors = process.stderr.read()
    _close(process)

    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in rest.splitlines())
    assert "Traceback" not in errors
    assert answered[3]["result"]["structuredContent"]["results"]
    assert answered[4]["result"]["isError"]
    assert answered[5]["result"]["structuredContent"]["path"] == "memory/bad.md"
    assert "error" in answered[2]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_stdio_server_that_waits_for_its_client(zoo: Path, number: signal.Signals) -> None:
    process = _raw(zoo)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_line("initialize", 1, _HELLO))
    process.stdin.flush()
    process.stdout.readline()
    process.send_signal(number)
    process.wait(PATIENCE_SECONDS)
    assert process.stderr is not None
    errors = process.stderr.read()
    _close(process)

    assert "Traceback" not in errors


# --- HTTP ---------------------------------------------------------------------------------


def _status(url: str, **headers: str) -> int:
    body = _line("initialize", 1, _HELLO).encode()
    standard = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, body, {**standard, **named}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_a_web_page_cannot_ask_the_memory(served: HttpServer) -> None:
    """A foreign Origin, or a name that was made to point here, is refused."""
    assert served.url.startswith("http://127.0.0.1:")
    assert _status(served.url) == 200
    assert _status(served.url, Origin="https://evil.example") == 403
    assert _status(served.url, Host="evil.example") == 421


def test_many_clients_are_answered_at_once(served: HttpServer) -> None:
    async def one(answers: list[Any]) -> None:
        async with Client(served.url) as client:
            answers.append(await search(client))

    async def all_of_them() -> list[Any]:
        answers: list[Any] = []
        with anyio.fail_after(PATIENCE_SECONDS):
            async with anyio.create_task_group() as tasks:
                for _ in range(10):
                    tasks.start_soon(one, answers)
        return answers

    answers = anyio.run(all_of_them)

    scores = [[(hit["path"], hit["score"]) for hit in answer.structured_content["results"]] for answer in answers]
    assert len(answers) == 10
    assert scores == [scores[0]] * 10


def test_a_port_that_is_taken_is_one_line_with_the_way_out(zoo: Path, served: HttpServer) -> None:
    port = served.url.rpartition(":")[2].partition("/")[0]
    ran = clawmark_process("mcp", "--http", "--port", port, "--workspace", zoo)

    assert (ran.code, ran.out) == (1, "")
    assert f"Port {port}" in ran.err
    assert "--port" in ran.err


def test_a_signal_ends_an_http_server_quietly(zoo: Path) -> None:
    with http_server(zoo) as server:
        over_http(server.url, search)
        assert server.stop(signal.SIGTERM) == 0
        assert "".join(server.errors) == ""


# --- starting -----------------------------------------------------------------------------


def test_without_the_extra_the_command_that_installs_it_is_named(zoo: Path, tmp_path: Path) -> None:
    """A Python that has every package but the SDK."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(("mcp", "__editable__", "clawmark")) and entry.suffix != ".pth":
            (packages / entry.name).symlink_to(entry)
    paths = [str(Path(__file__).parents[2] / "src"), str(packages)]
    for command in (["mcp"], ["mcp", "install", "cursor"]):
        ran = subprocess.run(
            [sys.executable, "-S", "-m", "clawmark", *command, "--workspace", str(zoo)],
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **environment(), "PYTHONPATH": os.pathsep.join(paths)},
            timeout=PATIENCE_SECONDS,
        )

        assert (ran.returncode, ran.stdout) == (1, "")
        assert "-m pip install 'clawmark[mcp]'" in ran.stderr
        assert "Traceback" not in ran.stderr


def test_a_workspace_that_does_not_exist_is_said_before_anything_is_served(tmp_path: Path) -> None:
    ran = clawmark_process("mcp", "--workspace", tmp_path / "none")

    assert (ran.code, ran.out) == (2, "")
    assert "does not exist" in ran.err
