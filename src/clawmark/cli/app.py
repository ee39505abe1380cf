"""The commands; each turns options into one call of ``Memory`` and prints what comes back."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import click

from clawmark import __version__
from clawmark.cli import printing
from clawmark.cli.commands import Commands
from clawmark.cli.frame import DONE, FAILED, INTERRUPTED, Bar, Choice, common_options, fail, print_json
from clawmark.config import describe
from clawmark.core.log import logger
from clawmark.core.model import SearchResponse, SyncReport
from clawmark.core.rendering import cited_lines, read_text
from clawmark.engine.memory import Memory


def run() -> None:
    """Run the command line and exit; nothing prints a traceback to a user."""
    try:
        code = app.main(prog_name="clawmark", standalone_mode=False)
    except click.Abort:  # what click makes of Ctrl-C
        click.echo("Interrupted; what was finished is kept.", err=True)
        code = INTERRUPTED
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except Exception as error:  # noqa: BLE001 - the outermost frame: a mistake of ours is still one line
        logger(__name__).exception("a command failed")
        click.echo(f"error: {type(error).__name__}: {error}", err=True)
        code = FAILED
    sys.exit(code)


# A search loads none of these.
_LATER = {
    "append": "clawmark.cli.writing:append",
    "cost": "clawmark.cli.costs:cost",
    "doctor": "clawmark.cli.doctor:doctor",
    "eval": "clawmark.cli.evaluate:evaluate",
    "forget": "clawmark.cli.forgetting:forget",
    "mcp": "clawmark.cli.mcp:mcp",
    "watch": "clawmark.cli.watching:watch",
}


@click.group(cls=Commands, later=_LATER, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="clawmark")
def app() -> None:
    """Recall for agents: the few passages of your notes that answer a question."""


def _search_options(command: Any) -> Any:
    options = (
        click.option("--max-results", type=int, metavar="N", help="Most results. Default: 6."),
        click.option("--min-score", type=float, metavar="X", help="Strict threshold on the score, 0 to 1."),
        click.option("--min-confidence", type=float, metavar="X", help="Threshold on the confidence, 0 to 1."),
        click.option("--sources", multiple=True, metavar="NAME", help='"memory" or "sessions"; may be repeated.'),
        click.option("--paths", multiple=True, metavar="GLOB", help="Gitignore-style glob on paths; may be repeated."),
        click.option("--since", metavar="DATE", help="First date that may answer."),
        click.option("--until", metavar="DATE", help="Last date that may answer."),
        click.option("--asof", metavar="DATE", help="Answer as of this date."),
        click.option("--session-key", metavar="KEY", help="The chat that asks; decides about citations."),
        click.option("--deadline", type=float, metavar="SECONDS", help="Answer by keyword when meaning takes longer."),
        click.option("--max-chars", type=int, metavar="N", help="Budget over all passages and citations."),
        click.option("--min-trust", metavar="ORIGIN", help="Least trusted origin that may answer."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@app.command()
@click.argument("query")
@_search_options
@common_options
def search(choice: Choice, query: str, **options: Any) -> None:
    """Find the passages that answer QUERY."""
    with _reading(choice) as memory:
        response = memory.search(query, **_given(options))
    if not query.strip() and not choice.as_json:
        click.echo("Nothing was asked.")
        return
    _answer(choice, response, printing.response_lines)


@app.command()
@click.argument("query")
@click.option("--path", metavar="PATH", help="Tell where this file was lost, and why.")
@_search_options
@common_options
def explain(choice: Choice, query: str, path: str | None, **options: Any) -> None:
    """Show every number behind the answer to QUERY."""
    with _reading(choice) as memory:
        _answer(choice, memory.explain(query, path=path, **_given(options)), printing.explanation_lines)


@app.command()
@click.option("--force", is_flag=True, help="Read every file again; a damaged index is made anew.")
@click.option("--yes", is_flag=True, help="Do not ask before a first index with a provider that takes money.")
@common_options
def index(choice: Choice, force: bool, yes: bool) -> None:
    """Make the index equal to the files."""
    bar = Bar()
    with choice.open() as memory:
        if not yes:
            from clawmark.cli.costs import confirm_costs

            confirm_costs(choice, memory)
        try:
            report = memory.sync(force=force, progress=bar)
        finally:
            bar.finish()
        reason = None if report.chunks or choice.as_json else memory.status().reason
    _report(choice, report, reason)


@app.command()
@click.argument("path")
@click.option("--from-line", type=int, metavar="N", help="First line. Default: 1, or that of a citation.")
@click.option("--lines", type=int, metavar="N", help="Most lines. Default: 120, or those of a citation.")
@click.option("--max-chars", type=int, default=12_000, metavar="N", help="Most characters. Default: 12000.")
@click.option("--cursor", metavar="CURSOR", help="Go on inside a line that was longer than the budget.")
@common_options
def get(choice: Choice, path: str, **options: Any) -> None:
    """Read lines of a memory file; PATH may be a citation, such as memory/a.md#L5-L9."""
    path, cited = cited_lines(path)
    with choice.open() as memory:
        window: dict[str, Any] = {**cited, **_given(options)}
        result = memory.get(path, **window)
    if choice.as_json:
        print_json(result)
    elif result.status == "ok":
        _print(printing.window_lines(result))
    else:
        click.echo(read_text(result), err=True)
    sys.exit(DONE if result.status == "ok" else FAILED)


@app.command()
@click.option("--deep", is_flag=True, help="Also measure the parts of the index.")
@common_options
def status(choice: Choice, deep: bool) -> None:
    """Compare the index with the files."""
    with choice.open() as memory:
        found = memory.status(deep=deep)
    if choice.as_json:
        print_json(found)
    else:
        _print(printing.status_lines(found))


@app.command()
@common_options
def config(choice: Choice) -> None:
    """Show each setting and where it came from."""
    with choice.open() as memory:
        loaded = memory.settings
    rows = describe(loaded)
    if choice.as_json:
        print_json({key: {"value": value, "origin": origin} for key, value, origin in rows})
        return
    for key, value, origin in rows:
        click.echo(f"{key} = {value}  ({origin})")
    _warn(printing.notice_lines(loaded.warnings))


@app.command()
@click.option("--why", is_flag=True, help="Say on stderr why nothing is recalled.")
@common_options
def hook(choice: Choice, why: bool) -> None:
    """Answer a hook of Claude Code: the event on stdin, context on stdout; silent on any doubt."""
    from clawmark.hook import run_hook  # reached in tests and wrappers; `main` goes there directly

    named = {"workspace": choice.workspace, "agent": choice.agent, "config": choice.config}
    given = [f"--{name}={value}" for name, value in named.items() if value]
    sys.exit(run_hook([*given, *(["--why"] if why else [])]))


def _reading(choice: Choice) -> Memory:
    """Open a memory for one question: the process ends when its answer is printed."""
    memory = choice.open()
    memory.finish_before_answering()
    return memory


def _answer(choice: Choice, response: SearchResponse, lines: Any) -> None:
    if response.error is not None:
        fail(choice, response.error)
    if choice.as_json:
        print_json(response)
    else:
        _print(lines(response))
        said = None if response.results else printing.no_result(response)
        _warn(printing.notice_lines(response.warnings, without=said))
    sys.exit(FAILED if response.partial else DONE)


def _report(choice: Choice, report: SyncReport, reason: str | None) -> None:
    if choice.as_json:
        print_json(report)
    else:
        _print(printing.report_lines(report))
        _warn([reason] if reason else [])
        if report.error is not None:
            fail(choice, report.error)
    sys.exit(FAILED if report.partial or report.error else DONE)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """Leave out options that were not given."""
    return {name: value for name, value in options.items() if value is not None and value != ()}


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line)


def _warn(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(line, err=True)
