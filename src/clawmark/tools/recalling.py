"""``memory_search`` and ``memory_get``: their texts, parameters and calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clawmark.config import Settings
from clawmark.core.rendering import cited_lines
from clawmark.engine.memory import Memory
from clawmark.tools.model import Tool, ToolResult
from clawmark.tools.parameters import Parameter
from clawmark.tools.prompt import PLACES, TOPICS
from clawmark.tools.showing import search_text, window_text

Source = Callable[[], Memory]

MAX_CHARS = 8_000
# recall-spec 8.1, newest version; the keyword leg answers when the vector leg is later.
DEADLINE_SECONDS = 30.0
# Defaults of ``Memory.get``.
GET_LINES = 120
GET_MAX_CHARS = 12_000


@dataclass(frozen=True)
class Limits:
    """What a search gets unless the call says otherwise.

    Attributes:
        max_chars: Budget over all snippets and citations.
        deadline: Seconds after which the keyword leg answers alone.
    """

    max_chars: int = MAX_CHARS
    deadline: float = DEADLINE_SECONDS


def search_tool(source: Source, settings: Settings, session_key: str | None, limits: Limits) -> Tool:
    """Make ``memory_search`` as the settings allow it."""
    where = f"{PLACES} and transcripts of past sessions" if "sessions" in settings.sources else PLACES

    def call(query: str, **options: Any) -> ToolResult:
        given: dict[str, Any] = {"max_chars": limits.max_chars, "deadline": limits.deadline, **options}
        response = source().search(query, session_key=session_key, **given)
        if response.error is not None:
            return tool.failed(response.error)
        return ToolResult(response.to_dict(), search_text(response))

    tool = Tool(
        name="memory_search",
        title="Search memory",
        description=(
            f"Mandatory recall step: search {where} by meaning and by words before answering anything about {TOPICS}. "
            "Gives the best passages with path, lines and score. "
            "Ask a whole question or an exact name; Chinese works too. "
            "If disabled is true in the answer, tell the user that memory cannot be searched, and why."
        ),
        parameters=_search_parameters(settings, limits),
        call=call,
        output=_output({"results": "array", "mode": "string", "stale": "boolean", "omitted": "integer"}, "results"),
        empty={"results": []},
    )
    return tool


def get_tool(source: Source) -> Tool:
    """Make ``memory_get``."""

    def call(path: str, **options: Any) -> ToolResult:
        plain, cited = cited_lines(path)
        window: dict[str, Any] = {"lines": GET_LINES, "max_chars": GET_MAX_CHARS, **cited, **options}
        result = source().get(plain, **window)
        return ToolResult(result.to_dict(), window_text(result))

    return Tool(
        name="memory_get",
        title="Read memory",
        description=(
            f"Read lines of {PLACES}, or of any path that memory_search gave. "
            "Use it after memory_search, to read only the lines that are needed."
        ),
        parameters=_GET_PARAMETERS,
        call=call,
        output=_output({"status": "string", "path": "string", "text": "string"}, "status", "path", "text"),
        empty={"status": "error", "path": "", "text": ""},
    )


def _output(kinds: dict[str, str], *required: str) -> dict[str, Any]:
    """Give a schema that answers and failures of a tool both keep."""
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in kinds.items()},
        "required": list(required),
    }


def _text(name: str, argument: str, description: str, *, required: bool = False) -> Parameter:
    return Parameter(name, argument, {"type": "string", "description": description}, required)


def _number(name: str, argument: str, kind: str, **schema: Any) -> Parameter:
    return Parameter(
        name, argument, {"type": kind, **{key: value for key, value in schema.items() if value is not None}}
    )


def _search_parameters(settings: Settings, limits: Limits) -> tuple[Parameter, ...]:
    query = settings.query
    names = {"type": "string", "enum": list(settings.sources)}
    return (
        _text("query", "query", "What to look for.", required=True),
        _number("maxResults", "max_results", "integer", minimum=1, default=query.max_results),
        _number("minScore", "min_score", "number", minimum=0, maximum=1, default=query.min_score),
        _number("minConfidence", "min_confidence", "number", minimum=0, maximum=1, default=query.min_confidence),
        Parameter("sources", "sources", {"type": "array", "items": names, "default": list(settings.sources)}),
        Parameter(
            "paths",
            "paths",
            {"type": "array", "items": {"type": "string"}, "description": "Gitignore-style globs on paths."},
        ),
        _text("since", "since", "First date that may answer, such as 2026-06-30."),
        _text("until", "until", "Last date, included."),
        _text("asof", "asof", "Answer as of this date."),
        _number("deadline", "deadline", "number", minimum=0.001, default=limits.deadline, description="Seconds."),
        _number(
            "maxChars",
            "max_chars",
            "integer",
            minimum=1,
            default=limits.max_chars,
            description="Budget over all passages.",
        ),
    )


_GET_PARAMETERS = (
    _text("path", "path", "As memory_search gives it; path#L5-L9 works too.", required=True),
    _number("from", "from_line", "integer", minimum=1, default=1, description="First line."),
    _number("lines", "lines", "integer", minimum=1, default=GET_LINES, description="Most lines."),
    _number("maxChars", "max_chars", "integer", minimum=1, default=GET_MAX_CHARS),
    _text("cursor", "cursor", "From the answer before, to go on inside a long line."),
)
