"""The logger, made when something is worth a line: loading ``logging`` costs 15 ms."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from logging import Logger


def logger(name: str) -> Logger:
    """Give the logger of a module; clawmark's own never print by themselves."""
    import logging

    root = logging.getLogger("clawmark")
    if not root.handlers:
        root.addHandler(logging.NullHandler())
    return logging.getLogger(name)
