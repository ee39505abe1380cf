"""From raw TOML values to checked ones, by the types of the settings' fields."""

from __future__ import annotations

import dataclasses
import difflib
import math
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal

from clawmark.config.settings import Bounds, ExtraPathSettings, Settings
from clawmark.core.errors import ConfigError


@dataclasses.dataclass(frozen=True)
class Field:
    """A setting: its dotted key, type and bounds."""

    key: str
    kind: Any
    bounds: Bounds
    default: Any


@cache
def fields_by_key() -> dict[str, Field]:
    """Give every setting by its dotted key."""
    return {field.key: field for field in _walk(Settings, "")}


def _walk(table: Any, prefix: str) -> Iterator[Field]:
    hints = typing.get_type_hints(table)
    for field in dataclasses.fields(table):
        key = prefix + field.name.rstrip("_")
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            yield from _walk(kind, key + ".")
        else:
            missing = field.default is dataclasses.MISSING
            default = field.default_factory() if missing and callable(field.default_factory) else field.default
            yield Field(key, kind, field.metadata.get("bounds", Bounds()), default)


def flatten(tables: Mapping[str, Any], place: str, prefix: str = "") -> dict[str, Any]:
    """Turn nested tables into dotted keys.

    Raises:
        ConfigError: A key is unknown; the message names the nearest valid one.
    """
    flat: dict[str, Any] = {}
    for name, value in tables.items():
        key = f"{prefix}{name}"
        if key in fields_by_key():
            flat[key] = value
        elif isinstance(value, Mapping) and _is_table(key):
            flat.update(flatten(typing.cast("Mapping[str, Any]", value), place, f"{key}."))
        else:
            raise unknown(key, place)
    return flat


def _is_table(key: str) -> bool:
    return any(known.startswith(f"{key}.") for known in fields_by_key())


def unknown(key: str, place: str) -> ConfigError:
    """Make the error for a key that does not exist."""
    near = nearest(key)
    hint = f"Did you mean {near!r}?" if near else "`clawmark config` lists all settings."
    return ConfigError(f"Unknown setting {key!r} in {place}.", code="UNKNOWN_SETTING", action=hint)


def nearest(key: str) -> str | None:
    """Give the setting whose name is nearest to a misspelt one, by its last part or as a whole."""
    plain = _plain(key)
    whole = {_plain(known): known for known in fields_by_key()}
    found = difflib.get_close_matches(plain, whole, n=1, cutoff=0.75)
    if found:
        return whole[found[0]]
    last = {_plain(known.rpartition(".")[2]): known for known in reversed(fields_by_key())}
    found = difflib.get_close_matches(_plain(key.rpartition(".")[2]), last, n=1, cutoff=0.7)
    return last[found[0]] if found else None


def _plain(key: str) -> str:
    return key.lower().replace("_", "").replace("-", "")


def checked(key: str, value: Any, place: str) -> Any:
    """Check one value against the type and bounds of its setting.

    Raises:
        ConfigError: It has the wrong type, or lies outside its range.
    """
    field = fields_by_key()[key]
    return _converted(field.kind, value, field.bounds, f"{key} in {place}", secret=field.bounds.secret)


def _converted(kind: Any, value: Any, bounds: Bounds, what: str, *, secret: bool = False) -> Any:
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin in (types.UnionType, typing.Union):
        return _converted(next(a for a in arguments if a is not types.NoneType), value, bounds, what, secret=secret)
    if origin is Literal:
        return value if value in arguments else _refuse(what, f"one of {', '.join(map(repr, arguments))}", value)
    if origin is tuple:
        return _items(arguments[0], value, bounds, what)
    if origin is dict:
        return _strings_by_name(value, what)
    if dataclasses.is_dataclass(kind):
        return _table(kind, value, what)
    return _scalar(kind, value, bounds, what, secret)


def _scalar(kind: Any, value: Any, bounds: Bounds, what: str, secret: bool) -> Any:
    names = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}
    numeric = kind is float and isinstance(value, int)
    if (isinstance(value, bool) and kind is not bool) or not (isinstance(value, kind) or numeric):
        return _refuse(what, names[kind], "(hidden)" if secret else value)
    if kind not in (int, float):
        return value
    return _within(kind(value), bounds, what)


def _within(number: Any, bounds: Bounds, what: str) -> Any:
    low = -math.inf if bounds.least is None else bounds.least
    high = math.inf if bounds.most is None else bounds.most
    if low <= number <= high or (low == -math.inf and high == math.inf):
        return number
    if bounds.clamp and not math.isnan(number):
        return type(number)(min(high, max(low, number)))
    limits = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
    return _refuse(what, f"a number {limits}", number)


def _items(kind: Any, value: Any, bounds: Bounds, what: str) -> tuple[Any, ...]:
    if not isinstance(value, (list, tuple)):
        return _refuse(what, "a list", value)
    return tuple(_converted(kind, item, bounds, what) for item in typing.cast("list[Any]", value))


def _strings_by_name(value: Any, what: str) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
        return _refuse(what, "a table of text", "(hidden)")
    return dict(typing.cast("Mapping[str, str]", value))


def _table(kind: Any, value: Any, what: str) -> Any:
    if kind is ExtraPathSettings and isinstance(value, str):
        return ExtraPathSettings(value)
    if not isinstance(value, Mapping):
        return _refuse(what, "a table", value)
    table = typing.cast("Mapping[str, Any]", value)
    known = {field.name: field for field in dataclasses.fields(kind)}
    hints = typing.get_type_hints(kind)
    for name in table:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            action = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise ConfigError(f"Unknown key {name!r} of {what}.", code="UNKNOWN_SETTING", action=action)
    lacking = [n for n, f in known.items() if f.default is dataclasses.MISSING and n not in table]
    if lacking:
        return _refuse(what, f"a table with {lacking[0]!r}", value)
    bounds = {name: field.metadata.get("bounds", Bounds()) for name, field in known.items()}
    return kind(**{n: _converted(hints[n], v, bounds[n], f"{what}, {n}") for n, v in table.items()})


def _refuse(what: str, expected: str, value: Any) -> Any:
    raise ConfigError(f"{what} must be {expected}, not {value!r}.", code="BAD_SETTING", action="Correct the value.")


def assemble(values: Mapping[str, Any]) -> Settings:
    """Build the settings from checked values by dotted key; the rest stay at their defaults."""
    return _assemble(Settings, values, "")


def _assemble(table: Any, values: Mapping[str, Any], prefix: str) -> Any:
    hints = typing.get_type_hints(table)
    arguments: dict[str, Any] = {}
    for field in dataclasses.fields(table):
        key = prefix + field.name.rstrip("_")
        if dataclasses.is_dataclass(hints[field.name]):
            arguments[field.name] = _assemble(hints[field.name], values, key + ".")
        elif key in values:
            arguments[field.name] = values[key]
    return table(**arguments)
