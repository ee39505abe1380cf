"""Memory files as resources: ``clawmark:///memory/2026-06-30.md``."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from urllib.parse import quote, unquote

import mcp_types as types

from clawmark.core.errors import ArgumentError, ClawmarkError
from clawmark.core.rendering import read_text
from clawmark.engine.memory import Memory
from mcp import MCPError

PREFIX = "clawmark:///"
MIME_TYPE = "text/markdown"
PAGE = 200
# About what a client shows of one answer; the rest is read with memory_get.
MAX_CHARS = 100_000
TEMPLATE = types.ResourceTemplate(
    name="memory file",
    uri_template=PREFIX + "{+path}",
    description="A memory file, by its path as memory_search gives it.",
    mime_type=MIME_TYPE,
)


@contextmanager
def protocol_errors(uri: str | None = None) -> Generator[None]:
    """Turn our own errors into those of the protocol."""
    try:
        yield
    except ClawmarkError as error:
        data = {"code": error.code, "action": error.action, **({"uri": uri} if uri else {})}
        raise MCPError(types.INVALID_PARAMS, error.message, data) from error


def listed(memory: Memory, cursor: str | None) -> types.ListResourcesResult:
    """List memory files from a cursor on.

    Raises:
        ArgumentError: The cursor is not one of ours.
    """
    start = _position(cursor)
    paths = memory.files()
    page = [types.Resource(name=path, uri=uri_of(path), mime_type=MIME_TYPE) for path in paths[start : start + PAGE]]
    more = start + PAGE < len(paths)
    return types.ListResourcesResult(resources=page, next_cursor=str(start + PAGE) if more else None)


def _position(cursor: str | None) -> int:
    if cursor is None:
        return 0
    if cursor.isascii() and cursor.isdigit():
        return int(cursor)
    raise ArgumentError(f"No page has the cursor {cursor[:100]!r}.", action="List the resources from the start.")


def uri_of(path: str) -> str:
    """Give the address of a memory file.

    >>> uri_of("memory/a b.md")
    'clawmark:///memory/a%20b.md'
    """
    return PREFIX + quote(path, errors="surrogateescape")


def read(memory: Memory, uri: str) -> types.ReadResourceResult:
    """Read a memory file.

    Raises:
        ArgumentError: The address is not of a memory file that exists.
        PathNotAllowedError: The path may not be read.
    """
    if not uri.startswith(PREFIX):
        raise ArgumentError(f"{uri[:200]} is no memory file.", action=f"Addresses begin with {PREFIX}.")
    result = memory.get(unquote(uri.removeprefix(PREFIX)), lines=1_000_000, max_chars=MAX_CHARS)
    if result.status == "not_found":
        raise ArgumentError(read_text(result), code="NOT_FOUND")
    contents = types.TextResourceContents(uri=uri, text=read_text(result), mime_type=MIME_TYPE)
    return types.ReadResourceResult(contents=[contents])
