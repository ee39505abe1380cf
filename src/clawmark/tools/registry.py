"""Which tools there are, and making them for a session.

A tool that may not be used is absent: with ``enabled = false``, and for sub-agents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from clawmark.config import Settings
from clawmark.core.errors import ArgumentError
from clawmark.engine.memory import Memory
from clawmark.tools.engines import Config, settings_of, shared_memory
from clawmark.tools.model import Session, Tool, is_subagent
from clawmark.tools.recalling import Limits, get_tool, search_tool
from clawmark.tools.writing import append_tool, forget_tool

# Section of a tool catalog to the names of its tools; the last two are off unless asked for.
TOOL_NAMES = {"memory": ("memory_search", "memory_get", "memory_append", "memory_forget")}


def memory_tools(
    memory: Memory,
    *,
    session_key: str | None = None,
    write: bool = False,
    limits: Limits | None = None,
) -> tuple[Tool, ...]:
    """Make the tools of an open memory.

    Args:
        memory: The memory.
        session_key: The chat that asks; decides about citations, and whether there are tools.
        write: Whether the tools that write are offered too.
        limits: What a search gets unless the call says otherwise; None for 8,000
            characters and 30 seconds.

    Returns:
        The tools; none when memory search is disabled, or for a sub-agent.
    """
    return _tools(lambda: memory, memory.settings.settings, session_key, write=write, limits=limits)


def create_memory_tools(
    config: Config, session: Session, *, write: bool = False, limits: Limits | None = None
) -> tuple[Tool, ...]:
    """Make the tools of a session; those of one agent, workspace and settings share one open memory.

    Args:
        config: As for ``Memory``.
        session: Who asks.
        write: As for ``memory_tools``.
        limits: As for ``memory_tools``.

    Raises:
        ConfigError: A setting cannot be used.
    """
    settings = settings_of(config, session).settings
    return _tools(partial(shared_memory, config, session, settings), settings, session.key, write=write, limits=limits)


def create_memory_search_tool(config: Config, session: Session) -> Tool | None:
    """Make ``memory_search`` for a session; None when memory search is disabled for the agent.

    Raises:
        ConfigError: A setting cannot be used.
    """
    return _named("memory_search", create_memory_tools(config, session))


def create_memory_get_tool(config: Config, session: Session) -> Tool | None:
    """Make ``memory_get`` for a session; None when memory search is disabled for the agent.

    Raises:
        ConfigError: A setting cannot be used.
    """
    return _named("memory_get", create_memory_tools(config, session))


def find_tool(tools: Sequence[Tool], name: str) -> Tool:
    """Give the tool of a name.

    Raises:
        ArgumentError: There is none (UNKNOWN_TOOL), or it is not offered here (MEMORY_DENIED).
    """
    found = _named(name, tools)
    if found is not None:
        return found
    offered = ", ".join(tool.name for tool in tools) or "none"
    if name in TOOL_NAMES["memory"]:
        raise ArgumentError(
            f"{name} is not offered in this session.",
            code="MEMORY_DENIED",
            action=f"Sub-agents get no memory tools, and writing ones must be switched on; offered: {offered}.",
        )
    raise ArgumentError(f"There is no tool {name[:100]!r}.", code="UNKNOWN_TOOL", action=f"Call one of: {offered}.")


def _tools(
    source: Callable[[], Memory], settings: Settings, session_key: str | None, *, write: bool, limits: Limits | None
) -> tuple[Tool, ...]:
    if not settings.enabled or is_subagent(session_key):
        return ()
    reading = (search_tool(source, settings, session_key, limits or Limits()), get_tool(source))
    return (*reading, append_tool(source), forget_tool(source)) if write else reading


def _named(name: str, tools: Sequence[Tool]) -> Tool | None:
    return next((tool for tool in tools if tool.name == name), None)
