"""Puts the server into a client's settings: one entry, everything else as it was.

A file that cannot be read as what it should be is never written: it is the user's, and
may hold more than this program understands.
"""

from __future__ import annotations

import json
import os
import tempfile
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from typing import Any, cast

from clawmark.core.errors import ClawmarkError
from clawmark.mcp_server.clients import Client, Command

_BACKUP = ".clawmark-backup"


@dataclass(frozen=True)
class Change:
    """A change of a client's settings that is not yet made.

    Attributes:
        file: The file.
        before: Its text; None when it does not exist.
        after: The text that it is to have.
    """

    file: Path
    before: str | None
    after: str

    @property
    def diff(self) -> str:
        """Show the change as lines that go and lines that come; "" for none."""
        old, new = (self.before or "").splitlines(), self.after.splitlines()
        name = str(self.file)
        return "\n".join(unified_diff(old, new, name, name, lineterm="", n=2))

    @property
    def backup(self) -> Path:
        """Where the file as it was is kept."""
        return self.file.with_name(self.file.name + _BACKUP)

    def make(self) -> None:
        """Keep the file as it was, and replace it in one step.

        Raises:
            ClawmarkError: The system refuses, or the file has changed meanwhile.
        """
        # A link stays one: settings are often kept in a repository elsewhere.
        target = self.file.resolve()
        try:
            if _text_of(target) != self.before:
                raise ClawmarkError(f"{self.file} has just changed.", code="CONFLICT", action="Run the command again.")
            target.parent.mkdir(parents=True, exist_ok=True)
            if self.before is not None:
                _replace(self.backup, self.before, mode=target.stat().st_mode)
            _replace(target, self.after, mode=target.stat().st_mode if self.before is not None else 0o100600)
        except OSError as error:
            raise _refused(self.file, error) from error


def plan(client: Client, file: Path, name: str, command: Command) -> Change:
    """Work out the change that gives a client the server.

    Args:
        client: The client.
        file: Its settings.
        name: Name of the server among the client's; an entry of this name is replaced.
        command: How to start the server.

    Raises:
        ClawmarkError: The file is not what it should be, and is left as it is (CLIENT_CONFIG).
    """
    try:
        before = _text_of(file)
    except (OSError, UnicodeDecodeError) as error:
        raise _refused(file, error) from error
    entry = client.entry(command)
    edit = _edited_toml if file.suffix == ".toml" else _edited_json
    return Change(file, before, edit(before or "", client, name, entry, file))


def snippet(client: Client, name: str, command: Command) -> str:
    """Give the lines that do the same by hand."""
    servers = {client.table: {name: client.entry(command)}}
    if client.name != "codex":
        return json.dumps(servers, indent=2, ensure_ascii=False)
    import tomlkit

    return tomlkit.dumps(servers).strip()


def _text_of(file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None


def _edited_json(text: str, client: Client, name: str, entry: dict[str, Any], file: Path) -> str:
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    try:
        settings: Any = json.loads(text.removeprefix(mark), object_pairs_hook=_without_doubles) if text.strip() else {}
    except ValueError as error:
        raise _broken(file, f"it is not plain JSON ({error})") from error
    servers = _table_in(settings, client.table, file)
    if servers.get(name) == entry:
        return text
    servers[name] = entry
    return mark + json.dumps(settings, indent=_indent_of(text), ensure_ascii=False) + "\n"


def _edited_toml(text: str, client: Client, name: str, entry: dict[str, Any], file: Path) -> str:
    import tomlkit

    try:
        plain = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _broken(file, f"it is not TOML ({error})") from error
    if _table_in(plain, client.table, file).get(name) == entry:
        return text
    document: Any = tomlkit.parse(text)
    if client.table not in document:
        document[client.table] = tomlkit.table(is_super_table=True)
    document[client.table][name] = entry
    return tomlkit.dumps(document)


def _table_in(settings: Any, key: str, file: Path) -> dict[str, Any]:
    if not isinstance(settings, dict):
        raise _broken(file, "it does not hold an object")
    table = cast("dict[str, Any]", settings).setdefault(key, {})
    if not isinstance(table, dict):
        raise _broken(file, f"{key} in it is not an object")
    return cast("dict[str, Any]", table)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object with a key twice: writing it again would lose one."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


def _indent_of(text: str) -> int | str:
    """Give the indentation that a file has."""
    for line in text.splitlines()[1:]:
        space = line[: len(line) - len(line.lstrip())]
        if space:
            return "\t" if space.startswith("\t") else len(space)
    return 2


def _replace(file: Path, text: str, *, mode: int) -> None:
    """Write a file beside its place, then move it there: nobody sees half of it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).chmod(mode & 0o777)
        Path(name).replace(file)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise


def _broken(file: Path, what: str) -> ClawmarkError:
    return ClawmarkError(
        f"{file} is left as it is: {what}.",
        code="CLIENT_CONFIG",
        action="Repair it, or add the entry that --dry-run prints by hand.",
    )


def _refused(file: Path, error: Exception) -> ClawmarkError:
    return ClawmarkError(f"{file} cannot be changed: {error}.", code="CLIENT_CONFIG", action="Look at its permissions.")
