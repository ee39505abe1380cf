"""docs/reference.md names everything that the source has, with its defaults, and nothing else."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

import click
import pytest

import clawmark
from clawmark.cli import frame
from clawmark.cli.app import app
from clawmark.config import describe, load_settings
from clawmark.config.naming import RESERVED
from clawmark.config.schema import Field, fields_by_key, fields_of, is_table
from clawmark.core import errors, model
from clawmark.core.errors import ClawmarkError
from clawmark.core.ports import Embedder

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src" / "clawmark").rglob("*.py"))

# Values that a call gives back now; the others wait for the calls that will.
VALUES = (
    model.SearchResponse,
    model.SearchResult,
    model.Explanation,
    model.ReadResult,
    model.SyncReport,
    model.WriteReport,
    model.Status,
    model.ForgetReport,
    model.DoctorReport,
)
SMALL_VALUES = (
    model.Notice,
    model.ErrorInfo,
    model.Fallback,
    model.Finding,
    model.PathReason,
    model.Spoken,
)


def sections() -> dict[str, str]:
    """Heading without backticks to the text below it, up to the next heading."""
    parts = re.split(r"^#+ (.+)\n", TEXT, flags=re.MULTILINE)
    return {heading.replace("`", ""): body for heading, body in zip(parts[1::2], parts[2::2], strict=True)}


def anchor(heading: str) -> str:
    """Name a heading in links, as GitHub does."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def rows(text: str) -> list[list[str]]:
    """Give the cells of all table rows below their headers, without backticks."""
    found: list[list[str]] = []
    for table in re.findall(r"^\|[-| ]+\|\n((?:\|.*\|\n?)+)", text, flags=re.MULTILINE):
        found += [[cell.strip().replace("`", "") for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    return found


def first_cells(heading: str) -> list[str]:
    return [row[0] for row in rows(sections()[heading])]


# --- Python -------------------------------------------------------------------------------


def test_every_exported_name_is_in_the_reference() -> None:
    assert [name for name in clawmark.__all__ if f"`{name}`" not in TEXT] == []


def calls_of(kind: type) -> list[str]:
    """Spell the public calls of a class without annotations."""
    names = [name for name in vars(kind) if not name.startswith("_") or name == "__init__"]
    found = {name: inspect.getattr_static(kind, name) for name in names}
    return [_spelled(kind, name, call) for name, call in found.items() if inspect.isfunction(call)]


def _spelled(kind: type, name: str, call: Callable[..., Any]) -> str:
    bare = [part.replace(annotation=inspect.Parameter.empty) for part in inspect.signature(call).parameters.values()]
    shown = kind.__name__ if name == "__init__" else name
    return f"{shown}{inspect.Signature(bare[1:])}"


@pytest.mark.parametrize("kind", [clawmark.Memory, clawmark.AsyncMemory], ids=lambda kind: kind.__name__)
def test_every_call_is_in_the_reference_with_its_arguments_and_defaults(kind: type) -> None:
    shown = sections()[kind.__name__]

    assert [call for call in calls_of(kind) if f"`{call}`" not in shown] == []


def test_every_argument_of_a_search_is_explained() -> None:
    names = list(inspect.signature(clawmark.Memory.search).parameters)[1:]

    assert first_cells("Arguments of a search") == names


@pytest.mark.parametrize("value", VALUES, ids=lambda value: value.__name__)
def test_every_field_of_a_value_is_in_the_reference_with_its_wire_name(value: type[model.Wire]) -> None:
    shown = [row[:2] for row in rows(sections()[value.__name__])]

    assert shown == list(wire_names(value))


def test_every_field_of_a_small_value_is_in_the_reference_with_its_wire_name() -> None:
    shown = [row[:2] for row in rows(sections()["Smaller values"])]

    assert shown == [[f"{kind.__name__}.{name}", wire] for kind in SMALL_VALUES for name, wire in wire_names(kind)]


def wire_names(kind: Any) -> Iterator[list[str]]:
    names = [field.name for field in fields(kind)]
    wire = kind(**dict.fromkeys(names, "something")).to_dict()
    return ([name, its_wire_name] for name, its_wire_name in zip(names, wire, strict=True))


def test_every_error_is_in_the_reference_with_its_code() -> None:
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, ClawmarkError)]

    shown = [row[:2] for row in rows(sections()["Exceptions"])]

    assert shown == [[kind.__name__, kind.default_code] for kind in kinds]


def test_everything_that_an_embedder_has_is_in_the_reference() -> None:
    names = [name for name in vars(Embedder) if not name.startswith("_")]

    assert [name for name in names if f"`{name}" not in sections()["Embedders"]] == []


# --- command line -------------------------------------------------------------------------


def usages(group: click.Group = app, prefix: str = "clawmark") -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        assert command is not None
        arguments = [part for part in command.params if isinstance(part, click.Argument)]
        yield " ".join((prefix, name, *(argument.make_metavar(CONTEXT) for argument in arguments))), command
        if isinstance(command, click.Group):
            yield from usages(command, f"{prefix} {name}")


CONTEXT = click.Context(app)
COMMANDS = dict(usages())


def spelling(option: click.Option) -> str:
    return option.opts[0] if option.is_flag else f"{option.opts[0]} {option.make_metavar(CONTEXT)}"


def test_every_command_has_its_section() -> None:
    shown = [heading for heading in sections() if heading.startswith("clawmark ")]

    assert shown == list(COMMANDS)


@pytest.mark.parametrize("usage", COMMANDS)
def test_every_option_of_a_command_is_in_its_section_or_in_one_that_it_names(usage: str) -> None:
    own = sections()[usage]
    named = [body for heading, body in sections().items() if f"(#{anchor(heading)})" in own]
    shown = {cell for body in (own, *named) for row in rows(body) for cell in row[:2]}

    assert {cell for cell in shown if cell.startswith("--")} == {
        spelling(part) for part in COMMANDS[usage].params if isinstance(part, click.Option)
    }


def test_every_exit_code_is_in_the_reference() -> None:
    codes = (frame.DONE, frame.FAILED, frame.USAGE, frame.INTERRUPTED)

    assert first_cells("Exit codes") == [str(code) for code in codes]


# --- configuration ------------------------------------------------------------------------


def _literal(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, typing.cast('list[Any]', value)))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(field: Field) -> str:
    if typing.get_origin(field.kind) is tuple:
        item = typing.get_args(field.kind)[0]
        return "list of tables" if is_table(item) else f"list of {_kind(item)}"
    if typing.get_origin(field.kind) is dict:
        return "table of numbers" if typing.get_args(field.kind)[1] is float else "table of text"
    return _range_of_number(field) if field.kind in (int, float) else _kind(field.kind)


def _range_of_number(field: Field) -> str:
    least, most = field.bounds.least, field.bounds.most
    noun = "number" if field.kind is float else "whole number"
    if most is not None:
        noun += f" {least:g} to {most:g}"
    elif least is not None:
        noun += f" ≥ {least:g}"
    return f"{noun}, clamped" if field.bounds.clamp else noun


def _kind(kind: Any) -> str:
    if typing.get_origin(kind) is Literal:
        return ", ".join(f'"{name}"' for name in typing.get_args(kind))
    return {bool: "true, false", str: "text"}[kind]


def setting_rows(empty_file: Path) -> Iterator[list[str]]:
    """Give what the table of settings must say: key, default, values; parts of a list's tables have no default."""
    loaded = load_settings(workspace=None, environ={}, user_file=empty_file)
    defaults = {key: _literal(value) for key, value, _ in describe(loaded)}
    for key, field in fields_by_key().items():
        yield [key, defaults[key], _range(field)]
        if _range(field) == "list of tables":
            parts = fields_of(typing.get_args(field.kind)[0])
            yield from ([f"{key}[].{name}", "", _range(part)] for name, part in parts.items())


def test_every_setting_is_in_the_reference_with_its_default_and_its_range(tmp_path: Path) -> None:
    shown = [row[:3] for row in rows(sections()["Settings"])]

    assert shown == list(setting_rows(tmp_path / "none.toml"))


def test_every_variable_that_is_no_setting_is_in_the_reference() -> None:
    assert [name for name in RESERVED if f"`{name}`" not in sections()["Configuration"]] == []


# --- codes --------------------------------------------------------------------------------


def codes_in_source() -> set[str]:
    """Find the codes of notices and errors: where they are made, by position, keyword or default."""
    return {code for path in SOURCES for code in _codes_of(ast.parse(path.read_text(encoding="utf-8")))}


def _codes_of(module: ast.Module) -> Iterator[str]:
    assigned = [node for node in module.body if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)]
    constants = {target.id: node.value for node in assigned for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(module):
        for place in _code_places(node):
            named = constants.get(place.id) if isinstance(place, ast.Name) else place
            if isinstance(named, ast.Constant) and isinstance(named.value, str):
                yield named.value


def _code_places(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Assign):
        names = {target.id for target in node.targets if isinstance(target, ast.Name)}
        yield from [node.value] if "default_code" in names else []
    if isinstance(node, ast.Call):
        made = node.func.id if isinstance(node.func, ast.Name) else ""
        yield from node.args[:1] if made in ("Notice", "ErrorInfo") else []
        yield from (keyword.value for keyword in node.keywords if keyword.arg == "code")


def test_every_code_of_a_notice_or_an_error_is_in_the_reference_and_no_other() -> None:
    shown = [row[1] for row in rows(sections()["Exceptions"])]
    shown += [code for cell in first_cells("Codes") for code in cell.split(", ")]

    assert len(shown) == len(set(shown))
    assert sorted(shown) == sorted(set(codes_in_source()))
