"""The agent tools as plain typed functions: names, texts, schemas, limits and results, the same for every door."""

from __future__ import annotations

from clawmark.tools.engines import close_engines
from clawmark.tools.failures import failure
from clawmark.tools.model import Parameter, Session, Tool, ToolResult
from clawmark.tools.prompt import prompt_section
from clawmark.tools.registry import (
    TOOL_NAMES,
    create_memory_get_tool,
    create_memory_search_tool,
    create_memory_tools,
    find_tool,
    memory_tools,
)
from clawmark.tools.schemas import schemas

__all__ = [
    "TOOL_NAMES",
    "Parameter",
    "Session",
    "Tool",
    "ToolResult",
    "close_engines",
    "create_memory_get_tool",
    "create_memory_search_tool",
    "create_memory_tools",
    "failure",
    "find_tool",
    "memory_tools",
    "prompt_section",
    "schemas",
]
