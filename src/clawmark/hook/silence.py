"""Saying nothing is an answer."""

from __future__ import annotations


class Silence(Exception):  # noqa: N818 - no error: it ends an event that has no answer
    """There is nothing to say, and why; told with ``--why``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
