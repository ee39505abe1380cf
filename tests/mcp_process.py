"""The MCP server as clients meet it: a real process, over stdio or HTTP, asked by the SDK's own client."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import anyio
from mcp.client.stdio import StdioServerParameters, stdio_client

from mcp import Client
from terminal import KEYWORD, PATIENCE_SECONDS

_T = TypeVar("_T")
Talk = Callable[[Client], Awaitable[_T]]
# ``stub`` and its like are importable in the server too.
_PATH = os.pathsep.join([str(Path(__file__).parents[1] / "src"), str(Path(__file__).parent)])


def environment(env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give what a server process has: the test's home, keyword mode unless a test says otherwise."""
    own = {name: value for name, value in os.environ.items() if name.startswith("CLAWMARK_")}
    given = dict(env or {})
    path = os.pathsep.join(part for part in (given.pop("PYTHONPATH", ""), _PATH) if part)
    return {**own, **KEYWORD, "PYTHONPATH": path, **given}


def over_stdio(
    workspace: Path,
    talk: Talk[_T],
    *arguments: str,
    env: Mapping[str, str] | None = None,
    mode: str = "auto",
    errors: Path | None = None,
) -> _T:
    """Start a server, talk to it, and stop it; what it said on stderr goes to *errors*."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "clawmark", "mcp", "--workspace", str(workspace), *arguments],
        env=environment(env),
    )

    async def run() -> _T:
        with (errors or Path(os.devnull)).open("a", encoding="utf-8") as log, anyio.fail_after(PATIENCE_SECONDS):
            async with Client(stdio_client(server, log), mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


def over_http(url: str, talk: Talk[_T], *, mode: str = "auto") -> _T:
    """Talk to a server that runs."""

    async def run() -> _T:
        with anyio.fail_after(PATIENCE_SECONDS):
            async with Client(url, mode=mode) as client:
                return await talk(client)

    return anyio.run(run)


class HttpServer:
    """A server process that listens; ``url`` is where."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.errors: list[str] = []
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("Listening on "), line + process.stderr.read()
        self.url = line.removeprefix("Listening on ").strip()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.errors += list(self.process.stderr)

    def stop(self, signal: int) -> int:
        """Send a signal, and give the exit code."""
        self.process.send_signal(signal)
        code = self.process.wait(PATIENCE_SECONDS)
        self._reader.join(PATIENCE_SECONDS)
        return code


@contextmanager
def http_server(workspace: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Generator[HttpServer]:
    """Run a server on a free port."""
    command = [sys.executable, "-m", "clawmark", "mcp", "--http", "--port", "0", "--workspace", str(workspace)]
    process = subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment(env)},
    )
    try:
        yield HttpServer(process)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=PATIENCE_SECONDS)


def text_of(result: Any) -> str:
    """Give what the model reads."""
    return "".join(part.text for part in result.content)
