"""The command line: ``clawmark``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        # A hook runs before every prompt: it loads neither the commands nor their library.
        if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
            from clawmark.hook import run_hook

            sys.exit(run_hook(sys.argv[2:]))
        from clawmark.cli.app import run

        run()
    except KeyboardInterrupt:  # before the commands are loaded, or after they are done
        sys.exit(130)
