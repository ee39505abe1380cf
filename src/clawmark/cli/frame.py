"""What all commands share: finding the workspace, one way to fail, JSON or text."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, NoReturn, ParamSpec, TypeVar

import click

from clawmark.core.errors import ArgumentError, ClawmarkError, ConfigError
from clawmark.core.model import ErrorInfo, Wire
from clawmark.engine.memory import Memory
from clawmark.files import find_workspace

_P = ParamSpec("_P")
_T = TypeVar("_T")

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


@dataclass(frozen=True)
class Choice:
    """The options that every command takes."""

    workspace: str | None
    agent: str | None
    config: str | None
    as_json: bool

    def open(self) -> Memory:
        """Open the memory that the options, the environment or the folder name.

        Raises:
            ArgumentError: No workspace was named and none is near.
        """
        agent = self.agent or os.environ.get("CLAWMARK_AGENT") or "main"
        config = self.config or os.environ.get("CLAWMARK_CONFIG")
        return Memory(self.folder(), agent, Path(config) if config else None)

    def folder(self) -> Path:
        """Give the workspace."""
        named = self.workspace or os.environ.get("CLAWMARK_WORKSPACE")
        found = Path(named) if named else find_workspace(Path.cwd())
        if found is None:
            raise ArgumentError(
                f"No workspace: neither {Path.cwd()} nor a folder above it holds MEMORY.md or memory/.",
                code="NO_WORKSPACE",
                action="Name one with --workspace, or CLAWMARK_WORKSPACE.",
            )
        return found


def common_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command --workspace, --agent, --config and --json, as one ``choice``."""

    @click.option(
        "--workspace", metavar="FOLDER", help="Folder with MEMORY.md and memory/. Default: the nearest above."
    )
    @click.option("--agent", metavar="NAME", help='Owner of the memory. Default: "main".')
    @click.option("--config", metavar="FILE", help="TOML file with settings; trusted.")
    @click.option("--json", "as_json", is_flag=True, help="Print the wire shape.")
    @wraps(command)
    def wrapped(
        workspace: str | None, agent: str | None, config: str | None, as_json: bool, *args: Any, **options: Any
    ) -> None:
        choice = Choice(workspace, agent, config, as_json)
        try:
            command(choice, *args, **options)
        except ClawmarkError as error:
            usage = isinstance(error, (ArgumentError, ConfigError))
            fail(choice, error, USAGE if usage else FAILED)

    return wrapped


def fail(choice: Choice, error: ClawmarkError | ErrorInfo, code: int = FAILED) -> NoReturn:
    """Print what failed and the next step, and exit."""
    info = ErrorInfo(error.code, error.message, error.action)
    if choice.as_json:
        print_json({"error": info.to_dict()})
    else:
        click.echo(f"error: {info.message}", err=True)
        if info.action:
            click.echo(f"\nhint: {info.action}", err=True)
    sys.exit(code)


def print_json(value: Wire | dict[str, Any]) -> None:
    """Print the wire shape of a value."""
    data = value.to_dict() if isinstance(value, Wire) else value
    click.echo(json.dumps(data, ensure_ascii=False, indent=2))


class Bar:
    """Progress on stderr: one line that is rewritten on a terminal, silence elsewhere."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._width = 0

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show how far a stage is."""
        if not self._live:
            return
        filled = round(30 * done / max(total, 1))
        line = f"{stage:<10} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}"
        click.echo("\r" + line.ljust(self._width), nl=False, err=True)
        self._width = len(line)

    def finish(self) -> None:
        """Clear the line."""
        if self._live and self._width:
            click.echo("\r" + " " * self._width + "\r", nl=False, err=True)
