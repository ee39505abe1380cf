"""The command ``forget``."""

from __future__ import annotations

from collections.abc import Iterator

import click

from clawmark.cli.frame import Choice, common_options, fail, print_json
from clawmark.cli.printing import notice_lines
from clawmark.core.model import ForgetReport

# Notes made from one template share whole lines of it.
MOST_PLACES = 20


@click.command()
@click.option("--path", metavar="PATH", help="A file, as results name it.")
@click.option("--session", metavar="ID", help="A session: its id, its file's name, or sessions/FILE.")
@click.option("--chunk", metavar="PLACE", help="A passage by its place, such as memory/a.md#L5-L9.")
@click.option("--dry-run", is_flag=True, help="Only tell what would be removed.")
@click.option("--restore", is_flag=True, help="Let it be indexed again.")
@common_options
def forget(
    choice: Choice, path: str | None, session: str | None, chunk: str | None, dry_run: bool, restore: bool
) -> None:
    """Take a file, a session or a passage out of the index, and keep it out; no file is changed."""
    with choice.open() as memory:
        memory.finish_before_answering()
        report = memory.forget(path=path, session=session, chunk=chunk, dry_run=dry_run, restore=restore)
    if report.error is not None:
        fail(choice, report.error)
    if choice.as_json:
        print_json(report)
        return
    for line in forget_lines(report):
        click.echo(line)
    for line in notice_lines(report.warnings):
        click.echo(line, err=True)


def forget_lines(report: ForgetReport) -> Iterator[str]:
    """Give what was, or would be, removed, and what may hold the same."""
    if report.restored:
        yield "Would be indexed again." if report.dry_run else "Indexed again from the next sync on."
        return
    done = "Would be forgotten" if report.dry_run else "Forgotten"
    yield f"{done}: {', '.join(report.documents) or 'nothing that is indexed now'}."
    verb = "would leave" if report.dry_run else "left"
    yield f"{report.chunks} chunks and {report.vectors} vectors {verb} the index; files are as they were."
    if report.derived:
        yield "Passages that share text with it, or name it, stay:"
        yield from (f"  {place}" for place in report.derived[:MOST_PLACES])
    if len(report.derived) > MOST_PLACES:
        yield f"  and {len(report.derived) - MOST_PLACES} more; --json names all."
