"""A group whose rarer commands are loaded when they are used: a search does not pay for them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class Commands(click.Group):
    """A group of commands, some of which are only known by where they are.

    Args:
        later: Name of a command to ``module:attribute``.
        **options: As for ``click.Group``.
    """

    def __init__(self, *, later: Mapping[str, str], **options: Any) -> None:
        super().__init__(**options)
        self._later = dict(later)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands, in the order of the help."""
        return sorted({*self.commands, *self._later})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Give a command, and load it first if need be."""
        place = self._later.pop(cmd_name, None)
        if place is not None:
            module, _, attribute = place.partition(":")
            self.add_command(getattr(import_module(module), attribute), cmd_name)
        return super().get_command(ctx, cmd_name)
