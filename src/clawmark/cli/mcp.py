"""``clawmark mcp``: the server, and setting up the clients that start it."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from clawmark.cli.frame import Choice, common_options, print_json
from clawmark.core.errors import ClawmarkError

if TYPE_CHECKING:
    from clawmark.mcp_server.clients import Command
    from clawmark.mcp_server.install import Change

_NAMES = ("claude-code", "claude-desktop", "codex", "cursor", "vscode")
_PORT = 8765


@click.group(invoke_without_command=True)
@click.option("--http", is_flag=True, help="Serve HTTP on 127.0.0.1 instead of stdin and stdout.")
@click.option("--port", type=click.IntRange(0, 65_535), default=_PORT, metavar="N", help="Port for --http; 0: any.")
@click.option("--write", is_flag=True, help="Offer the tools that write, too.")
@click.option("--session-key", metavar="KEY", help="The chat that asks; decides about citations.")
@common_options
def mcp(choice: Choice, http: bool, port: int, write: bool, session_key: str | None) -> None:
    """Serve the memory tools to an MCP client, over stdin and stdout."""
    context = click.get_current_context()
    if context.invoked_subcommand is not None:
        context.obj = choice
        return
    require_extra()
    # Heavy, and absent without the extra.
    from clawmark.mcp_server.server import build_server
    from clawmark.mcp_server.serving import serve_http, serve_stdio

    with choice.open() as memory:
        server = build_server(memory, session_key=session_key, write=write)
        if http:
            serve_http(server, port, lambda url: click.echo(f"Listening on {url}", err=True))
        else:
            serve_stdio(server)


@mcp.command()
@click.argument("client", type=click.Choice(_NAMES), metavar="CLIENT")
@click.option(
    "--scope",
    type=click.Choice(("user", "project")),
    default="user",
    metavar="NAME",
    help="user: all projects; project: the one in this folder.",
)
@click.option("--name", default="clawmark", metavar="NAME", help="Name of the server. Default: clawmark.")
@click.option("--write", is_flag=True, help="Let the server offer the tools that write.")
@click.option("--dry-run", is_flag=True, help="Show the change, and what to add by hand; change nothing.")
@common_options
def install(choice: Choice, client: str, scope: Any, name: str, write: bool, dry_run: bool) -> None:
    """Put the server into the settings of CLIENT: claude-code, claude-desktop, codex, cursor or vscode."""
    require_extra()
    from clawmark.mcp_server.clients import CLIENTS
    from clawmark.mcp_server.install import plan, snippet

    chosen = CLIENTS[client]
    command = _server_command(_with_outer(choice), write=write)
    if dry_run and not choice.as_json:
        click.echo(f"{snippet(chosen, name, command)}\n")
    file = chosen.file(scope, home=Path.home(), project=Path.cwd(), environ=os.environ)
    change = plan(chosen, file, name, command)
    if change.diff and not dry_run:
        change.make()
    _tell(choice, change, dry_run=dry_run, reload=chosen.reload)


def require_extra() -> None:
    """Check that the packages of the extra are there.

    Raises:
        ClawmarkError: They are not (EXTRA_MISSING).
    """
    missing = [name for name in ("mcp", "tomlkit", "uvicorn") if find_spec(name) is None]
    if missing:
        raise ClawmarkError(
            f"The MCP server needs a package that is not installed: {missing[0]}.",
            code="EXTRA_MISSING",
            action=f"Run: {_program()} -m pip install 'clawmark[mcp]'",
        )


def _program() -> str:
    return sys.executable or "python3"


def _with_outer(choice: Choice) -> Choice:
    """Also take the options that stand before ``install``."""
    outer = click.get_current_context().obj
    if not isinstance(outer, Choice):
        return choice
    return replace(
        choice,
        workspace=choice.workspace or outer.workspace,
        agent=choice.agent or outer.agent,
        config=choice.config or outer.config,
    )


def _server_command(choice: Choice, *, write: bool) -> Command:
    """Give the command that starts the server from anywhere; a wrong setting shows now, not then."""
    from clawmark.mcp_server.clients import Command

    choice.open().close()
    arguments = ["-m", "clawmark", "mcp", "--workspace", _absolute(choice.folder())]
    agent = choice.agent or os.environ.get("CLAWMARK_AGENT")
    config = choice.config or os.environ.get("CLAWMARK_CONFIG")
    arguments += ["--agent", agent] if agent else []
    arguments += ["--config", _absolute(config)] if config else []
    arguments += ["--write"] if write else []
    home = os.environ.get("CLAWMARK_HOME")
    return Command(_program(), tuple(arguments), {"CLAWMARK_HOME": _absolute(home)} if home else {})


def _absolute(path: str | Path) -> str:
    """Give a path that means the same from anywhere; a link stays one."""
    return os.path.normpath(Path(path).expanduser().absolute())


def _tell(choice: Choice, change: Change, *, dry_run: bool, reload: str) -> None:
    made = bool(change.diff) and not dry_run
    kept = made and change.before is not None
    if choice.as_json:
        backup = str(change.backup) if kept else None
        print_json({"file": str(change.file), "diff": change.diff, "changed": made, "backup": backup})
        return
    click.echo(change.diff or f"{change.file} has this entry already.")
    if made:
        click.echo(f"\nChanged {change.file}. {reload}", err=True)
    if kept:
        click.echo(f"As it was: {change.backup}", err=True)
