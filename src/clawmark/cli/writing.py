"""``clawmark append``: text from the command line, or from another program, into a note."""

from __future__ import annotations

import re
import sys

import click

from clawmark.cli.frame import Choice, common_options, print_json
from clawmark.cli.printing import written_lines
from clawmark.core.errors import ArgumentError

# "- a list item", "---": text that no option looks like.
_TEXT = re.compile(r"-+[^-\w]|---")
_STDIN = "-"


class _TakesMarkdown(click.Command):
    """A command whose last argument may begin as a list item does, without ``--`` before it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put what is no option behind all options."""
        if "--" not in args:
            text = [arg for arg in args if _TEXT.match(arg)]
            args = [*(arg for arg in args if not _TEXT.match(arg)), "--", *text] if text else args
        return super().parse_args(ctx, args)


@click.command(cls=_TakesMarkdown)
@click.argument("path")
@click.argument("text", required=False)
@common_options
def append(choice: Choice, path: str, text: str | None) -> None:
    """Put TEXT behind the memory file PATH, made if need be; without TEXT, or with "-", what stdin gives.

    Blocks that the file holds already are left out.
    """
    given = _from_stdin() if text is None or text == _STDIN else text
    with choice.open() as memory:
        report = memory.append(path, given)
    if choice.as_json:
        print_json(report)
        return
    for line in written_lines(report):
        click.echo(line)


def _from_stdin() -> str:
    if sys.stdin.isatty():
        click.echo("Type the text, and end it with Ctrl-D.", err=True)
    data = sys.stdin.buffer.read()
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise ArgumentError(
            f"The text on stdin is not UTF-8 (byte 0x{data[error.start]:02x} at offset {error.start}).",
            action="Convert it, as with `iconv -t UTF-8`.",
        ) from error
