"""What embedding costs: asked for before, counted after, limited by the day; and keys that nobody sees."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import servers
from clawmark import Memory
from moving_clock import MovingClock
from servers import KEY, ProviderServer, serving
from stub import StubEmbedder
from terminal import COMMAND, PATIENCE_SECONDS, clawmark, clawmark_process

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with serving(servers.OpenAiProtocol()) as running:
        yield running


@pytest.fixture
def zebras(note: Note) -> None:
    for number in range(4):
        note(f"memory/n{number}.md", f"Zebra number {number} sleeps.\n")


def remote(server: ProviderServer, **more: str) -> dict[str, str]:
    """An environment whose server is this machine by another name than its loopback one."""
    return {
        "CLAWMARK_EMBEDDING__PROVIDER": "openai",
        "CLAWMARK_EMBEDDING__BASE_URL": f"http://0.0.0.0:{server.server_port}",
        "OPENAI_API_KEY": KEY,
        **more,
    }


# --- before -------------------------------------------------------------------------------


def test_without_a_terminal_nothing_is_sent_before_yes_is_said(
    zebras: None, workspace: Path, server: ProviderServer
) -> None:
    """A pipe or a cron job does not begin to spend; what it would cost is told."""
    env = remote(server, CLAWMARK_EMBEDDING__PRICES='{"openai/text-embedding-3-small" = 1000.0}')
    ran = clawmark_process("index", "--workspace", workspace, env=env)
    as_json = clawmark_process("index", "--json", "--workspace", workspace, env=env)

    assert (ran.code, ran.out) == (2, "")
    assert "A first index sends about" in ran.err
    assert re.search(r"about \$0\.0\d+", ran.err)
    assert "clawmark index --yes" in ran.err
    assert (as_json.code, as_json.json["error"]["code"]) == (2, "CONFIRMATION_NEEDED")
    assert server.requests == []


def test_yes_indexes_and_later_runs_are_not_asked(
    zebras: None, note: Note, workspace: Path, server: ProviderServer
) -> None:
    first = clawmark("index", "--yes", "--workspace", workspace, env=remote(server))
    note("memory/more.md", "One more zebra.\n")
    second = clawmark("index", "--json", "--workspace", workspace, env=remote(server))

    assert (first.code, second.code) == (0, 0)
    assert second.json["textsEmbedded"] == 1


def test_a_search_never_begins_to_spend(zebras: None, workspace: Path, server: ProviderServer) -> None:
    """The notes are indexed by their words; the answer says how to get more."""
    ran = clawmark("search", "zebra", "--json", "--workspace", workspace, env=remote(server))

    assert (ran.code, ran.json["mode"], len(ran.json["results"])) == (0, "keyword", 4)
    assert [notice["code"] for notice in ran.json["warnings"]] == ["NO_VECTORS"]
    assert server.requests == []


@pytest.mark.parametrize(("typed", "code", "sent"), [("y\n", 0, True), ("n\n", 2, False), ("\n", 2, False)])
def test_on_a_terminal_it_is_asked(
    zebras: None, workspace: Path, server: ProviderServer, typed: str, code: int, sent: bool
) -> None:
    control, terminal = pty.openpty()
    env = {**os.environ, **remote(server)}
    with subprocess.Popen(
        [*COMMAND, "index", "--workspace", str(workspace)],
        stdin=terminal,
        stdout=subprocess.DEVNULL,
        stderr=terminal,
        env=env,
    ) as process:
        os.close(terminal)
        shown = b""
        while b"[y/N]" not in shown:
            shown += os.read(control, 1024)
        os.write(control, typed.encode())
        while chunk := _read(control):
            shown += chunk
        assert process.wait(PATIENCE_SECONDS) == code
    os.close(control)

    assert b"Send them?" in shown
    assert bool(server.requests) == sent


def _read(control: int) -> bytes:
    try:
        return os.read(control, 1024)
    except OSError:  # the other end is closed
        return b""


def test_a_server_on_this_machine_costs_nothing_and_asks_nothing(
    zebras: None, workspace: Path, server: ProviderServer
) -> None:
    env = remote(server, CLAWMARK_EMBEDDING__BASE_URL=server.url)

    assert clawmark("index", "--workspace", workspace, env=env).code == 0
    assert clawmark("cost", "--json", "--workspace", workspace, env=env).json["cost"] == 0.0


def test_an_estimate_is_of_the_size_of_what_is_sent(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """Not below it, and not far above."""
    for number in range(30):
        note(f"memory/n{number}.md", f"Zebra {number} sleeps by the water. " * 120)
    table = server.settings(base_url=f"http://0.0.0.0:{server.server_port}")
    memory = open_memory(embedder=None, config={"embedding": table})
    estimate = memory.estimate()
    memory.sync()
    (row,) = memory.costs().rows
    sent = sum(len(text) for text in server.texts) // 4

    assert estimate is not None
    assert (estimate.provider, estimate.model) == ("openai", "text-embedding-3-small")
    assert sent <= estimate.tokens <= 2 * sent
    assert row.texts * 0.5 <= estimate.texts <= row.texts * 2
    assert memory.estimate() is None


@pytest.mark.parametrize("embedder", ["none", "local", StubEmbedder()])
def test_what_costs_nothing_is_not_estimated(zebras: None, open_memory: Open, embedder: Any) -> None:
    assert open_memory(embedder=embedder).estimate() is None


# --- after --------------------------------------------------------------------------------


def test_what_was_used_is_shown_by_day_and_model(
    zebras: None, note: Note, open_memory: Open, server: ProviderServer
) -> None:
    clock = MovingClock()
    prices = {"openai/text-embedding-3-small": 1_000_000.0}
    table = server.settings(base_url=f"http://0.0.0.0:{server.server_port}", prices=prices)
    memory = open_memory(embedder=None, config={"embedding": table}, clock=clock)
    memory.sync()
    clock.advance(86_400)
    memory.search("zebra")
    first, second = memory.costs(days=2).rows
    status = memory.status()

    assert (first.day, first.texts, first.tokens, first.cost) == ("2026-06-30", 4, 16, 16.0)
    assert (second.day, second.requests, second.texts, second.tokens) == ("2026-07-01", 1, 1, 1)
    assert [row.day for row in memory.costs(days=1).rows] == ["2026-07-01"]
    assert status.cost is not None
    assert (status.cost["day"], status.cost["texts"], status.cost["cost"]) == ("2026-07-01", 1, 1.0)


def test_the_command_shows_the_costs_of_all_workspaces(
    zebras: None, workspace: Path, tmp_path: Path, server: ProviderServer
) -> None:
    env = remote(server)
    clawmark("index", "--yes", "--workspace", workspace, env=env)
    other = tmp_path / "other"
    (other / "memory").mkdir(parents=True)
    (other / "memory" / "a.md").write_text("Another zebra.\n", encoding="utf-8")
    clawmark("index", "--yes", "--workspace", other, env=env)
    ran = clawmark("cost", "--workspace", other, env=env)
    as_json = clawmark("cost", "--days", "1", "--json", "--workspace", other, env=env)
    status = clawmark("status", "--workspace", other, env=env)

    assert ran.code == 0
    assert "openai/text-embedding-3-small" in ran.out
    assert "list prices of 2026-12-01" in ran.out
    (row,) = as_json.json["rows"]
    assert (row["texts"], row["provider"]) == (5, "openai")
    assert as_json.json["pricesOf"] == "2026-12-01"
    assert "5 texts embedded" in status.out


def test_without_any_use_the_command_says_so(zebras: None, workspace: Path) -> None:
    ran = clawmark("cost", "--days", "7", "--workspace", workspace)

    assert (ran.code, ran.out) == (0, "No texts were sent to a provider in the last 7 days.\n")


def test_a_budget_stops_indexing_and_no_search(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """P12: what was done stays; the message says when it goes on; the next day it does."""
    clock = MovingClock()
    for number in range(40):
        note(f"memory/n{number}.md", f"Zebra number {number} sleeps.\n")
    table = server.settings(budget={"daily_tokens": 100})
    memory = open_memory(embedder=None, config={"embedding": table}, clock=clock)
    server.always = servers.above(10, servers.refuse(413))
    report = memory.sync()
    response = memory.search("zebra")

    assert report.error is not None
    assert report.error.code == "BUDGET_REACHED"
    assert report.pending == 40 - report.texts_embedded > 0
    assert response.mode == "hybrid"
    assert sum(row.tokens for row in memory.costs().rows) <= 101
    for _ in range(6):
        clock.advance(86_400)
        report = memory.sync()
    assert (report.error, report.pending) == (None, 0)


def test_an_own_embedder_keeps_the_budget_too(zebras: None, open_memory: Open) -> None:
    stub = StubEmbedder()
    memory = open_memory(embedder=stub, config={"embedding": {"budget": {"daily_tokens": 0}}})
    report = memory.sync()

    assert report.error is not None
    assert (report.error.code, stub.document_calls, report.pending) == ("BUDGET_REACHED", 0, 4)


# --- secrets ------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 500])
def test_no_key_is_in_any_output_or_any_file(
    zebras: None, note: Note, workspace: Path, server: ProviderServer, status: int
) -> None:
    """A server that repeats what it was sent; every command as text and as JSON; every byte of every file."""
    env = remote(
        server,
        CLAWMARK_EMBEDDING__BASE_URL=f"http://user:hush-hush@127.0.0.1:{server.server_port}",
        CLAWMARK_EMBEDDING__HEADERS='{X-Team = "Bearer header-secret"}',
    )
    clawmark("index", "--yes", "--workspace", workspace, env=env)
    server.always = servers.echo_secrets(status)
    note("memory/more.md", "One more zebra.\n")
    commands = (
        ["index", "--yes"],
        ["search", "zebra"],
        ["explain", "zebra"],
        ["status", "--deep"],
        ["cost"],
        ["config"],
    )
    ran = [
        clawmark(*command, *flag, "--workspace", workspace, env=env)
        for command in commands
        for flag in ([], ["--json"])
    ]
    outputs = "".join(one.out + one.err for one in ran).encode()
    roots = (workspace, Path(os.environ["CLAWMARK_HOME"]))
    files = b"".join(path.read_bytes() for root in roots for path in root.rglob("*") if path.is_file())

    assert len(server.requests) > 1
    for secret in (KEY, KEY[:10], "header-secret", "hush-hush", "dXNlcjpodXNoLWh1c2g"):
        assert secret.encode() not in outputs
        assert secret.encode() not in files


def test_no_key_is_in_a_log(
    zebras: None, open_memory: Open, server: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Also when everything logs all it can."""
    caplog.set_level(0)
    server.always = servers.echo_secrets(400)
    memory = open_memory(embedder=None, config={"embedding": server.settings()})
    memory.sync()
    memory.search("zebra")

    assert KEY[:10] not in caplog.text
    assert KEY[:10] not in repr(memory.settings)
