"""``python -m clawmark``: the command line."""

from clawmark.cli import main

main()
