"""Parameters of tools: what a model may pass, checked before anything is done.

A name that does not exist is an error that names the nearest one: a filter that is
silently ignored would make an unfiltered answer look filtered (user case U12).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from clawmark.config.naming import nearest
from clawmark.core.errors import ArgumentError


@dataclass(frozen=True)
class Parameter:
    """One parameter of a tool.

    Attributes:
        name: On the wire, camelCase.
        argument: Its name in Python.
        schema: JSON Schema of its values, with a description.
        required: True when a call needs it.
    """

    name: str
    argument: str
    schema: Mapping[str, Any]
    required: bool = False


def arguments_of(tool: str, parameters: Sequence[Parameter], given: Any) -> dict[str, Any]:
    """Check what a model passed, and give it by the names in Python.

    None stands for "not given": strict schemas make a model pass every parameter.

    Raises:
        ArgumentError: A name is unknown (UNKNOWN_ARGUMENT), or a value cannot be used.
    """
    if not isinstance(given, Mapping):
        raise ArgumentError(f"The arguments of {tool} must be an object, not {type(given).__name__}.")
    named = {str(name): value for name, value in cast("Mapping[Any, Any]", given).items()}
    _refuse_unknown(tool, [parameter.name for parameter in parameters], named)
    arguments: dict[str, Any] = {}
    for parameter in parameters:
        value = named.get(parameter.name)
        if value is not None:
            arguments[parameter.argument] = _CHECKS[parameter.schema["type"]](parameter, value)
        elif parameter.required:
            raise ArgumentError(f"{tool} needs {parameter.name}.", action=f"Call it again with {parameter.name}.")
    return arguments


def _refuse_unknown(tool: str, known: list[str], given: Mapping[str, Any]) -> None:
    unknown = next((name for name in given if name not in known), None)
    if unknown is None:
        return
    near = nearest(unknown, known)
    raise ArgumentError(
        f"{tool} has no parameter {unknown[:100]!r}; the nearest is {near!r}.",
        code="UNKNOWN_ARGUMENT",
        action=f"Use {near}, or leave it out; there are: {', '.join(known)}.",
    )


def _text(parameter: Parameter, value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _wrong(parameter, "text", value)


def _flag(parameter: Parameter, value: Any) -> bool:
    spelled = {"true": True, "false": False}.get(value.lower()) if isinstance(value, str) else value
    if isinstance(spelled, bool):
        return spelled
    raise _wrong(parameter, "true or false", value)


def _number(parameter: Parameter, value: Any) -> float:
    """Take a number, also spelled as text, as models do."""
    if not isinstance(value, (int, float, str)) or isinstance(value, bool):
        raise _wrong(parameter, "a number", value)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise _wrong(parameter, "a number", value) from None
    least, most = parameter.schema.get("minimum", -math.inf), parameter.schema.get("maximum", math.inf)
    if not math.isfinite(number) or not least <= number <= most:
        limits = f"of at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise _wrong(parameter, f"a number {limits}", value)
    return number


def _whole(parameter: Parameter, value: Any) -> int:
    """Take a whole number; a fraction is cut off (recall-spec 8.2)."""
    return int(_number(parameter, value))


def _list(parameter: Parameter, value: Any) -> list[str]:
    items = [value] if isinstance(value, str) else value
    if isinstance(items, (list, tuple)) and all(isinstance(item, str) for item in cast("list[Any]", items)):
        return list(cast("list[str]", items))
    raise _wrong(parameter, "a list of text", value)


_CHECKS = {"string": _text, "boolean": _flag, "number": _number, "integer": _whole, "array": _list}


def _wrong(parameter: Parameter, expected: str, value: Any) -> ArgumentError:
    return ArgumentError(
        f"{parameter.name} must be {expected}, not {str(value)[:100]!r}.", action=f"Correct {parameter.name}."
    )
