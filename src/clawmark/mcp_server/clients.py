"""The clients that can be set up: where each keeps its servers, and in which shape."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from clawmark.core.errors import ArgumentError

Scope = Literal["user", "project"]


@dataclass(frozen=True)
class Command:
    """How a client starts the server."""

    program: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str]


@dataclass(frozen=True)
class Client:
    """A program that speaks to MCP servers.

    Attributes:
        name: As the command line takes it.
        table: Key of the table of servers in its file.
        user_file: Its file for all projects, from (home folder, environment).
        project_file: Its file in a project; None when it has none.
        typed: Whether an entry says that it is a stdio server.
        reload: What makes it notice.
    """

    name: str
    table: str
    user_file: Callable[[Path, Mapping[str, str]], Path]
    project_file: str | None
    typed: bool
    reload: str

    def file(self, scope: Scope, *, home: Path, project: Path, environ: Mapping[str, str]) -> Path:
        """Give the file to change.

        Raises:
            ArgumentError: It has no file for a project.
        """
        if scope == "user":
            return self.user_file(home, environ)
        if self.project_file is None:
            raise ArgumentError(f"{self.name} has no settings per project.", action="Use --scope user.")
        return project / self.project_file

    def entry(self, command: Command) -> dict[str, Any]:
        """Give the entry of the server."""
        entry: dict[str, Any] = {"type": "stdio"} if self.typed else {}
        entry |= {"command": command.program, "args": list(command.arguments)}
        return entry | ({"env": dict(command.environment)} if command.environment else {})


def _application_file(*parts: str) -> Callable[[Path, Mapping[str, str]], Path]:
    """Give the place of a desktop program's file on this system."""

    def place(home: Path, environ: Mapping[str, str]) -> Path:
        if sys.platform == "darwin":
            folder = home / "Library" / "Application Support"
        elif sys.platform == "win32":
            folder = Path(environ.get("APPDATA") or home / "AppData" / "Roaming")
        else:
            folder = Path(environ.get("XDG_CONFIG_HOME") or home / ".config")
        return folder.joinpath(*parts)

    return place


def _codex_file(home: Path, environ: Mapping[str, str]) -> Path:
    return Path(environ.get("CODEX_HOME") or home / ".codex") / "config.toml"


def _home_file(*parts: str) -> Callable[[Path, Mapping[str, str]], Path]:
    return lambda home, environ: home.joinpath(*parts)


CLIENTS = {
    client.name: client
    for client in (
        Client(
            "claude-code", "mcpServers", _home_file(".claude.json"), ".mcp.json", typed=True, reload="Start it again."
        ),
        Client(
            "claude-desktop",
            "mcpServers",
            _application_file("Claude", "claude_desktop_config.json"),
            None,
            typed=False,
            reload="Quit and start it again.",
        ),
        Client(
            "cursor",
            "mcpServers",
            _home_file(".cursor", "mcp.json"),
            ".cursor/mcp.json",
            typed=False,
            reload="Switch the server on in its settings.",
        ),
        Client("codex", "mcp_servers", _codex_file, ".codex/config.toml", typed=False, reload="Start it again."),
        Client(
            "vscode",
            "servers",
            _application_file("Code", "User", "mcp.json"),
            ".vscode/mcp.json",
            typed=True,
            reload="Start the server from the list of MCP servers.",
        ),
    )
}
