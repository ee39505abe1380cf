"""Automatic recall for Claude Code: an event on stdin, context on stdout, or nothing.

Standard library only, and a read-only view of an index that something else keeps. A memory
must never block a prompt: whatever goes wrong here, the exit code is 0 and nothing is said.
"""

from __future__ import annotations

from clawmark.hook.run import run_hook

__all__ = ["run_hook"]
