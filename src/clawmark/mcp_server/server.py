"""The server itself: tools and resources as the protocol spells them.

Schemas come from ``tools``, so that they say what the effective settings allow, and
arguments are checked there: the protocol's own library ignores names that do not exist.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeVar

import anyio
import mcp_types as types
from mcp.server import Server, ServerRequestContext

from clawmark import __version__
from clawmark.core.errors import ArgumentError
from clawmark.engine.memory import Memory
from clawmark.mcp_server import resources
from clawmark.mcp_server.upkeep import Upkeep
from clawmark.tools import Tool, ToolResult, failure, find_tool, memory_tools, prompt_section
from clawmark.tools.schemas import input_schema

Context = ServerRequestContext[Any]
_T = TypeVar("_T")

_REPORT_SECONDS = 0.25
# A client gives up on a call after 60 s or so; what is indexed by then can answer.
FIRST_SYNC_SECONDS = 20.0


def build_server(memory: Memory, *, session_key: str | None = None, write: bool = False) -> Server[Any]:
    """Make the server of one memory.

    Args:
        memory: Open while the server runs.
        session_key: As for ``memory_tools``.
        write: Whether the tools that write are offered too.
    """
    tools = memory_tools(memory, session_key=session_key, write=write)
    upkeep = Upkeep(memory)
    doors = _Doors(memory, tools, upkeep)
    return Server(
        "clawmark",
        version=__version__,
        title="clawmark memory",
        instructions=_instructions(memory, tools),
        lifespan=_keeping(upkeep),
        on_list_tools=doors.list_tools,
        on_call_tool=doors.call_tool,
        on_list_resources=doors.list_resources,
        on_list_resource_templates=doors.list_resource_templates,
        on_read_resource=doors.read_resource,
    )


def tool_of(tool: Tool) -> types.Tool:
    """Spell a tool as the protocol does."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        output_schema=dict(tool.output),
        annotations=types.ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def result_of(result: ToolResult) -> types.CallToolResult:
    """Spell a result as the protocol does: text for the model, data for the program."""
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=result.text)],
        structured_content=result.data,
        is_error=result.failed,
    )


class _Doors:
    """The handlers; each works in a thread, so that a slow call holds nobody else up."""

    def __init__(self, memory: Memory, tools: Sequence[Tool], upkeep: Upkeep) -> None:
        self._memory = memory
        self._tools = tools
        self._upkeep = upkeep

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """List the tools."""
        return types.ListToolsResult(tools=[tool_of(tool) for tool in self._tools])

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Call a tool; a failure is a result with the error flag, which the model sees."""
        try:
            tool = find_tool(self._tools, params.name)
        except ArgumentError as error:
            data: dict[str, Any] = {"results": [], **failure(error)}
            return result_of(ToolResult(data, f"{error.message} {error.action}".strip(), failed=True))
        if tool.name == "memory_search":
            await self._first_sync(context)
        return result_of(await _in_thread(partial(tool.run, params.arguments)))

    async def list_resources(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        """List the memory files, a page at a time."""
        cursor = params.cursor if params else None
        with resources.protocol_errors():
            return await _in_thread(partial(resources.listed, self._memory, cursor))

    async def list_resource_templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Say how the address of a memory file is made."""
        return types.ListResourceTemplatesResult(resource_templates=[resources.TEMPLATE])

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        """Read a memory file."""
        with resources.protocol_errors(params.uri):
            return await _in_thread(partial(resources.read, self._memory, params.uri))

    async def _first_sync(self, context: Context) -> None:
        """Wait a while for the first index, and tell the client how far it is."""
        told = -1.0
        with anyio.move_on_after(FIRST_SYNC_SECONDS):
            while self._upkeep.making_the_first_index:
                stage, done, total = self._upkeep.progress
                # The protocol wants a number that rises; stages begin at 0 again.
                told = max(told + 0.001, self._upkeep.finished_stages + (done / total if total else 0.0))
                await context.session.report_progress(told, None, f"{stage} {done}/{total}" if stage else "indexing")
                await _in_thread(partial(self._upkeep.wait, _REPORT_SECONDS))


async def _in_thread(call: Callable[[], _T]) -> _T:
    """Run a call in a thread; a client that goes away does not wait for it."""
    return await anyio.to_thread.run_sync(call, abandon_on_cancel=True)


def _instructions(memory: Memory, tools: Sequence[Tool]) -> str:
    """Say when to call: clients show this before any schema, and cut it at 2,048 characters."""
    settings = memory.settings.settings
    return prompt_section(
        [tool.name for tool in tools],
        citations=settings.citations.mode,
        sessions="sessions" in settings.sources,
        title=False,
    )


def _keeping(upkeep: Upkeep) -> Callable[[Server[Any]], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncGenerator[None]:
        upkeep.start()
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await _in_thread(upkeep.stop)

    return lifespan
