"""The places that can set something, each read into raw values by dotted key."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_origin

from clawmark.config.folders import expanded
from clawmark.config.naming import PREFIX, RESERVED, keys_by_variable, unknown_key, unknown_variable
from clawmark.config.places import Place, Spot
from clawmark.config.schema import fields_by_key, table_keys
from clawmark.core.errors import ConfigError

WORKSPACE_FILE = "clawmark.toml"
# A file of settings has some hundred lines; this keeps a mistaken path from filling memory.
_MOST_BYTES = 1_000_000


class Given(NamedTuple):
    """A raw value, and where it was given."""

    key: str
    value: Any
    place: Place


def from_tables(tables: Mapping[str, Any], place: Place) -> Iterator[Given]:
    """Walk through nested tables; a dotted key stands for the tables in it.

    Raises:
        ConfigError: A key is unknown, or a value stands where a table belongs.
    """
    return _walk(tables, place, "")


def _walk(tables: Mapping[str, Any], place: Place, prefix: str) -> Iterator[Given]:
    for name, value in tables.items():
        key = f"{prefix}{name}"
        if key in fields_by_key():
            yield Given(key, value, place)
        elif key not in table_keys():
            raise unknown_key(key, place, is_table=isinstance(value, Mapping))
        elif isinstance(value, Mapping):
            yield from _walk(cast("Mapping[str, Any]", value), place, f"{key}.")
        else:
            Spot(key, place.name).refuse("a table", value)


def from_file(path: Path, place: Place, *, required: bool = False) -> Iterator[Given]:
    """Read a TOML file; one that is not there gives nothing, unless it is required.

    Raises:
        ConfigError: It is required and not there, cannot be read, is not TOML, or has an
            unknown key.
    """
    text = _text_of(path, required)
    return from_tables(_parsed(text, path), place) if text is not None else iter(())


def _text_of(path: Path, required: bool) -> str | None:
    content = _bytes_of(path, required)
    if content is None:
        return None
    if len(content) > _MOST_BYTES:
        raise _unreadable(path, f"it is larger than {_MOST_BYTES} bytes")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _not_toml(path, content.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error


def _bytes_of(path: Path, required: bool) -> bytes | None:
    """Read a file, and one byte more than is allowed."""
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
        # A required file was named by the user and may be a pipe; any other pipe would hang.
        if is_file or required:
            with path.open("rb") as file:
                return file.read(_MOST_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        if not required:
            return None
        message = f"The configuration file {path} does not exist."
        raise ConfigError(message, code="CONFIG_NOT_FOUND", action="Check the path given as --config.") from error
    except (OSError, ValueError) as error:  # ValueError: a NUL character in the path
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from error
    raise _unreadable(path, "it is not a file")


def _unreadable(path: Path, reason: str) -> ConfigError:
    message = f"The configuration file {str(path)!r} cannot be read: {reason}."
    return ConfigError(message, code="CONFIG_UNREADABLE", action="Make it a readable TOML file, or remove it.")


def _parsed(text: str, path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise _not_toml(path, None, "it is nested too deeply") from error
    except ValueError as error:  # TOMLDecodeError, and a number of too many digits
        reason, line = _reason_and_line(str(error), text)
        raise _not_toml(path, line, reason) from error


def _reason_and_line(message: str, text: str) -> tuple[str, int | None]:
    reason, _, where = message.rpartition(" (at ")
    if where.startswith("line "):
        return reason, int(where.split()[1].rstrip(","))
    return (reason, text.count("\n") + 1) if where == "end of document)" else (message, None)


def _not_toml(path: Path, line: int | None, reason: str) -> ConfigError:
    where = str(path) if line is None else f"{path}, line {line}"
    return ConfigError(f"{where}: not TOML: {reason}.", code="BAD_TOML", action=f"Correct {where}.")


def from_environment(environ: Mapping[str, str]) -> Iterator[Given]:
    """Read ``CLAWMARK_QUERY__MIN_SCORE`` and its kin; an empty variable is one not set.

    Values are TOML values; where the setting is a text, and where the value is not TOML,
    it is taken as it stands.

    Raises:
        ConfigError: A variable begins with ``CLAWMARK_`` and is no setting.
    """
    for name in sorted(name for name in environ if name.startswith(PREFIX) and name not in RESERVED):
        key = keys_by_variable().get(name)
        if key is None:
            raise unknown_variable(name)
        if environ[name].strip():
            place = Place(f"environment {name}", f"the environment ({name})")
            yield Given(key, _environment_value(environ[name].strip(), fields_by_key()[key].kind), place)


def _environment_value(text: str, kind: Any) -> Any:
    is_text = kind is str or get_origin(kind) is Literal
    # A key of digits is still a text; quotes around one are TOML's.
    return text if is_text and text[0] not in "\"'" else _toml_value(text)


def _toml_value(text: str) -> Any:
    import tomllib

    try:
        parsed = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    # A line break in the text could begin a second key.
    return parsed["value"] if len(parsed) == 1 else text


def from_config(config: Any) -> Iterator[Given]:
    """Read what a caller handed over: a file that must exist, or tables.

    Raises:
        ConfigError: It is neither, or as for a file.
    """
    if config is None:
        return iter(())
    if isinstance(config, (str, Path)):
        return from_file(expanded(config), Place(f"config {config}", str(config)), required=True)
    if isinstance(config, Mapping):
        return from_tables(cast("Mapping[str, Any]", config), Place("config", "config="))
    raise ConfigError(
        f"A configuration is a path or a mapping, not a {type(config).__name__}.",
        code="BAD_SETTING",
        action="Give config= the path of a TOML file, or a dict in its shape.",
    )
