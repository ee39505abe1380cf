"""Tools as the schemas that model providers take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from clawmark.core.errors import ArgumentError
from clawmark.tools.model import Tool
from clawmark.tools.parameters import Parameter

Style = Literal["json", "anthropic", "openai", "openai-chat"]

# What strict mode of OpenAI understands of a schema; the rest is checked by the tool.
_STRICT_KEYS = ("type", "description", "enum")


def input_schema(tool: Tool) -> dict[str, Any]:
    """Give the parameters of a tool as JSON Schema."""
    return {
        "type": "object",
        "properties": {parameter.name: dict(parameter.schema) for parameter in tool.parameters},
        "required": [parameter.name for parameter in tool.parameters if parameter.required],
        "additionalProperties": False,
    }


def schemas(tools: Iterable[Tool], style: Style = "json") -> list[dict[str, Any]]:
    """List tools for a model provider.

    Args:
        tools: Tools, as they are to be offered.
        style: "json" (name, description, parameters), "anthropic" (Messages API),
            "openai" (Responses API, strict) or "openai-chat" (Chat Completions, strict).

    Raises:
        ArgumentError: There is no such style.
    """
    if style not in _STYLES:
        raise ArgumentError(f"There is no style {style!r} of schemas.", action=f"Use one of {', '.join(_STYLES)}.")
    return [_STYLES[style](tool) for tool in tools]


def _json(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "parameters": input_schema(tool)}


def _anthropic(tool: Tool) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": input_schema(tool)}


def _openai(tool: Tool) -> dict[str, Any]:
    return {"type": "function", **_openai_function(tool)}


def _openai_chat(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": _openai_function(tool)}


def _openai_function(tool: Tool) -> dict[str, Any]:
    """Strict mode wants every parameter required, the optional ones nullable."""
    properties = {parameter.name: _strict(parameter) for parameter in tool.parameters}
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return {"name": tool.name, "description": tool.description, "parameters": parameters, "strict": True}


def _strict(parameter: Parameter) -> dict[str, Any]:
    kept = _understood(parameter.schema)
    if "default" in parameter.schema:
        kept["description"] = f"{kept.get('description', '')} Null: {parameter.schema['default']}.".strip()
    if not parameter.required:
        kept["type"] = [kept["type"], "null"]
    return kept


def _understood(schema: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name in _STRICT_KEYS}
    if "items" in schema:
        kept["items"] = _understood(schema["items"])
    return kept


_STYLES = {"json": _json, "anthropic": _anthropic, "openai": _openai, "openai-chat": _openai_chat}
