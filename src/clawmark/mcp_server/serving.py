"""Running the server: over stdin and stdout, or over HTTP on this machine."""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import anyio
import uvicorn
from mcp.server import Server
from mcp.server.stdio import stdio_server
from starlette.applications import Starlette

from clawmark.core.errors import ClawmarkError

HOST = "127.0.0.1"
PATH = "/mcp"
# A stop waits so long for calls that are running.
_GRACE_SECONDS = 3
_BACKLOG = 128


def serve_stdio(server: Server[Any]) -> None:
    """Serve one client over stdin and stdout, until it goes away."""
    log_one_line_each()
    # A thread that waits for a line cannot be interrupted, and would keep the process. An
    # index that is being written survives that.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)

    async def serve() -> None:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)


def serve_http(server: Server[Any], port: int, listening: Callable[[str], None]) -> None:
    """Serve any number of clients over HTTP, until a signal says stop.

    Requests with a foreign Host or Origin are refused: no web page may ask the memory.

    Args:
        server: The server.
        port: 0 for any free one.
        listening: Told the address when clients may come.

    Raises:
        ClawmarkError: The port is taken (PORT_IN_USE).
    """
    log_one_line_each()
    door = bound(port)
    # uvicorn hands the signal on when it is done; then everything is done.
    signal.signal(signal.SIGTERM, _ignored)
    listening(f"http://{HOST}:{door.getsockname()[1]}{PATH}")
    config = uvicorn.Config(app_of(server), log_config=None, access_log=False, timeout_graceful_shutdown=_GRACE_SECONDS)
    anyio.run(uvicorn.Server(config).serve, [door])


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _ignored(number: int, frame: FrameType | None) -> None:
    pass


def app_of(server: Server[Any]) -> Starlette:
    """Give the application that HTTP servers run."""
    return server.streamable_http_app(streamable_http_path=PATH, host=HOST)


def bound(port: int) -> socket.socket:
    """Take a port on this machine.

    Raises:
        ClawmarkError: It is taken.
    """
    door = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((HOST, port))
        # From here on clients may come; they wait for the server.
        door.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        door.close()
        raise ClawmarkError(
            f"Port {port} of {HOST} cannot be used: {error}.", code="PORT_IN_USE", action="Name another with --port."
        ) from error
    return door


class _OneLine(logging.Formatter):
    """A line for each message, and the kind of its exception; never a traceback."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the name is logging's
        """Leave the frames out."""
        return ""

    def format(self, record: logging.LogRecord) -> str:
        """Give one line."""
        kind = record.exc_info[0] if record.exc_info else None
        said = logging.Formatter.format(self, record).splitlines()[0]
        return f"{said} ({kind.__name__})" if kind else said


def log_one_line_each() -> None:
    """Send warnings to stderr; stdout belongs to the protocol."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine("clawmark: %(levelname)s: %(message)s"))
    logging.getLogger().addHandler(handler)
