"""The command line: ``clawmark``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        from clawmark.cli.app import run

        run()
    except KeyboardInterrupt:  # before the commands are loaded, or after they are done
        sys.exit(130)
