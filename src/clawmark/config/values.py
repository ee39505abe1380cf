"""From raw TOML values to checked ones, by the types and bounds of the fields."""

from __future__ import annotations

import math
import os
import typing
from collections.abc import Mapping
from typing import Any, Literal

from clawmark.config.naming import unknown_part
from clawmark.config.places import Spot
from clawmark.config.schema import Field, fields_of, is_table
from clawmark.config.settings import Bounds

# Every index and database can hold it, also when it is multiplied by a few hundred.
_LARGEST = 2**53


def checked(field: Field, value: Any, spot: Spot) -> Any:
    """Check a value against the type and the bounds of its setting.

    Whole numbers are numbers, true and false are not. Text loses white space at its ends;
    blank text is None where None is allowed.

    Raises:
        ConfigError: It has the wrong type or lies outside its range (BAD_SETTING), or a
            table inside it has an unknown key (UNKNOWN_SETTING).
    """
    if value is None and field.optional:
        return None
    found = _of_kind(field.kind, value, field.bounds, spot)
    if field.kind is not str:
        return found
    text = found.strip()
    return None if field.optional and not text else _filled(text, spot)


def _of_kind(kind: Any, value: Any, bounds: Bounds, spot: Spot) -> Any:
    origin = typing.get_origin(kind)
    if origin is Literal:
        return _choice(kind, value, spot)
    if origin is tuple:
        return _items(typing.get_args(kind)[0], value, bounds, spot)
    if origin is dict:
        return _by_name(typing.get_args(kind)[1], value, bounds, spot)
    if is_table(kind):
        return _record(kind, value, spot)
    if kind is bool:
        return value if isinstance(value, bool) else spot.refuse("true or false", value)
    return _text(value, spot) if kind is str else _number(kind, value, bounds, spot)


def _choice(kind: Any, value: Any, spot: Spot) -> Any:
    allowed = typing.get_args(kind)
    if isinstance(value, str) and value in allowed:
        return value
    names = ", ".join(f'"{name}"' for name in allowed)
    return spot.refuse(f"one of {names}" if len(allowed) > 1 else names, value)


def _text(value: Any, spot: Spot) -> str:
    text: Any = value
    if isinstance(value, os.PathLike):
        text = os.fspath(typing.cast("os.PathLike[Any]", value))
    if not isinstance(text, str):
        spot.refuse("text", text)
    return spot.refuse("text without a NUL character", text) if "\0" in text else text


def _filled(text: str, spot: Spot) -> str:
    return text if text.strip() else spot.refuse("text that is not blank", text)


def _number(kind: Any, value: Any, bounds: Bounds, spot: Spot) -> Any:
    accepted = (int, float) if kind is float else int
    if isinstance(value, bool) or not isinstance(value, accepted):
        return spot.refuse(_range(kind, bounds), value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        return spot.refuse(f"{_range(kind, bounds)}, and no larger than {_LARGEST}", value)
    least = -math.inf if bounds.least is None else bounds.least
    most = math.inf if bounds.most is None else bounds.most
    if bounds.clamp and not math.isnan(value):
        value = min(max(value, least), most)
    unbounded = bounds.least is None and bounds.most is None
    return kind(value) if unbounded or least <= value <= most else spot.refuse(_range(kind, bounds), value)


def _range(kind: Any, bounds: Bounds) -> str:
    noun = "a number" if kind is float else "a whole number"
    if bounds.most is not None:
        return f"{noun} between {bounds.least:g} and {bounds.most:g}"
    return noun if bounds.least is None else f"{noun} of at least {bounds.least:g}"


def _items(kind: Any, value: Any, bounds: Bounds, spot: Spot) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        spot.refuse("a list of tables" if is_table(kind) else 'a list of text, such as ["a", "b"]', value)
    items = [
        _item(kind, item, bounds, spot.part(f"[{place}]"))
        for place, item in enumerate(typing.cast("list[Any]", value), start=1)
    ]
    # Choices have no order. Globs do: a later one can undo an earlier one.
    return tuple(dict.fromkeys(items)) if typing.get_origin(kind) is Literal else tuple(items)


def _item(kind: Any, value: Any, bounds: Bounds, spot: Spot) -> Any:
    found = _of_kind(kind, value, bounds, spot)
    return _filled(found, spot) if kind is str else found


def _by_name(kind: Any, value: Any, bounds: Bounds, spot: Spot) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        spot.refuse("a table of text" if kind is str else "a table of numbers", value)
    table = typing.cast("Mapping[Any, Any]", value)
    return {str(name): _of_kind(kind, part, bounds, spot.part(f".{name}")) for name, part in table.items()}


def _record(kind: Any, value: Any, spot: Spot) -> Any:
    fields = fields_of(kind)
    table = _record_table(fields, value, spot)
    for name in table:
        if name not in fields:
            raise unknown_part(spot, name, fields)
    lacking = [name for name, field in fields.items() if field.required and name not in table]
    if lacking:
        spot.part(f".{lacking[0]}").refuse_absence()
    return kind(**{fields[n].attribute: checked(fields[n], part, spot.part(f".{n}")) for n, part in table.items()})


def _record_table(fields: dict[str, Field], value: Any, spot: Spot) -> dict[str, Any]:
    required = [name for name, field in fields.items() if field.required]
    if isinstance(value, Mapping):
        return {str(name): part for name, part in typing.cast("Mapping[Any, Any]", value).items()}
    # A table of which only one part must be given may be written as that part.
    if isinstance(value, (str, os.PathLike)) and len(required) == 1:
        return {required[0]: value}
    return spot.refuse("a table" if len(required) > 1 else "text, or a table", value)
