"""``memory_append`` and ``memory_forget``: the group of tools that writes, off unless asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from clawmark.engine.memory import Memory
from clawmark.tools.model import Tool, ToolResult
from clawmark.tools.parameters import Parameter
from clawmark.tools.showing import forget_text, write_text

_ANY_OBJECT = {"type": "object"}


def append_tool(source: Callable[[], Memory]) -> Tool:
    """Make ``memory_append``."""

    def call(path: str, text: str) -> ToolResult:
        report = source().append(path, text)
        return ToolResult(report.to_dict(), write_text(report))

    return Tool(
        name="memory_append",
        title="Add to memory",
        description=(
            "Write down something to be remembered: adds text to the end of a memory file, which is created when it "
            "does not exist. Use memory/YYYY-MM-DD.md for what happened today, MEMORY.md for what stays true."
        ),
        parameters=(
            _text("path", "MEMORY.md, or a file below memory/.", required=True),
            _text("text", "Markdown; one fact a line is found best.", required=True),
        ),
        call=call,
        output=_ANY_OBJECT,
        read_only=False,
        idempotent=False,
        empty={"path": ""},
    )


def forget_tool(source: Callable[[], Memory]) -> Tool:
    """Make ``memory_forget``."""

    def call(**target: Any) -> ToolResult:
        report = source().forget(**target)
        if report.error is not None:
            return tool.failed(report.error)
        return ToolResult(report.to_dict(), forget_text(report))

    tool = Tool(
        name="memory_forget",
        title="Forget",
        description=(
            "Forget a file, a session or a passage, so that it is never recalled again. "
            "Only when the user asks for it; name exactly one of path, session and chunk. "
            "With dryRun true it only says what would be forgotten."
        ),
        parameters=(
            _text("path", "A memory file."),
            _text("session", "A transcript."),
            _text("chunk", "A passage."),
            Parameter("dryRun", "dry_run", {"type": "boolean", "default": False}),
        ),
        call=call,
        output=_ANY_OBJECT,
        read_only=False,
        destructive=True,
    )
    return tool


def _text(name: str, description: str, *, required: bool = False) -> Parameter:
    return Parameter(name, name, {"type": "string", "description": description}, required)
