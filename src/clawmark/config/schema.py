"""The table of all settings: dotted key, type and bounds, read off the dataclasses."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from clawmark.config.settings import Bounds, Settings


@dataclasses.dataclass(frozen=True)
class Field:
    """One field of a table.

    Attributes:
        attribute: Its name in Python.
        kind: Its type, without None.
        optional: True when None is a value of it.
        required: True when it has no default.
        bounds: What more is asked of its values.
    """

    attribute: str
    kind: Any
    optional: bool
    required: bool
    bounds: Bounds


@cache
def fields_of(table: Any) -> dict[str, Field]:
    """Give the fields of a settings class by their names in TOML."""
    hints = typing.get_type_hints(table)
    # A trailing underscore keeps a name apart from a word of Python: ``lambda_``.
    return {field.name.rstrip("_"): _field(field, hints[field.name]) for field in dataclasses.fields(table)}


def _field(field: dataclasses.Field[Any], hint: Any) -> Field:
    optional = typing.get_origin(hint) in (types.UnionType, typing.Union)
    kind = next(part for part in typing.get_args(hint) if part is not types.NoneType) if optional else hint
    required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
    return Field(field.name, kind, optional, required, field.metadata.get("bounds", Bounds()))


def is_table(kind: Any) -> bool:
    """Tell whether a type is a table of settings."""
    return dataclasses.is_dataclass(kind)


@cache
def fields_by_key() -> dict[str, Field]:
    """Give every setting by its dotted key, in the order of the documentation."""
    return {key: field for key, field in _walk(Settings, "") if not is_table(field.kind)}


@cache
def table_keys() -> tuple[str, ...]:
    """List the dotted keys of the tables, ``query`` and ``query.hybrid`` among them."""
    return tuple(key for key, field in _walk(Settings, "") if is_table(field.kind))


def _walk(table: Any, prefix: str) -> Iterator[tuple[str, Field]]:
    for name, field in fields_of(table).items():
        key = prefix + name
        yield key, field
        if is_table(field.kind):
            yield from _walk(field.kind, f"{key}.")


def all_keys() -> tuple[str, ...]:
    """List the dotted keys of all settings, in the order of the documentation."""
    return tuple(fields_by_key())


def assemble(values: Mapping[str, Any]) -> Settings:
    """Build the settings from checked values by dotted key; the rest stay at their defaults."""
    return _assemble(Settings, values, "")


def _assemble(table: Any, values: Mapping[str, Any], prefix: str) -> Any:
    arguments: dict[str, Any] = {}
    for name, field in fields_of(table).items():
        key = prefix + name
        if is_table(field.kind):
            arguments[field.attribute] = _assemble(field.kind, values, f"{key}.")
        elif key in values:
            arguments[field.attribute] = values[key]
    return table(**arguments)


def value_at(settings: Settings, key: str) -> Any:
    """Give the value of a setting by its dotted key."""
    value: Any = settings
    for name in key.split("."):
        value = getattr(value, fields_of(type(value))[name].attribute)
    return value
