"""The command line: ``clawmark``."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit."""
    from clawmark.cli.app import run

    run()
