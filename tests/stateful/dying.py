"""Indexes a workspace in a process that kills itself in the middle, as ``kill -9`` does.

Run as a program with one JSON object: workspace, config, model, stage, after, force.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from clawmark import Memory
from stub import WordHashEmbedder

PATIENCE_SECONDS = 120


class Words(WordHashEmbedder):
    """Counts words, calls what a test wants before each batch, and has small batches."""

    max_batch_items = 3

    def __init__(self, model: str) -> None:
        self.model = model
        self.before: Any = None

    def embed_documents(self, texts: Sequence[str]) -> Any:
        if self.before is not None:
            self.before()
        return super().embed_documents(texts)


def killed_sync(workspace: Path, config: dict[str, Any], model: str, **how: Any) -> int:
    """Sync in a process of its own that is killed.

    Args:
        workspace: The notes.
        config: As for ``Memory``.
        model: Of the embedder.
        **how: stage ("reading" or "embedding"), the steps *after* which it dies, force.

    Returns:
        Its exit code: that of the signal, or 0 when it had finished before.
    """
    order = {"workspace": str(workspace), "config": config, "model": model, **how}
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, __file__, json.dumps(order)]
    return subprocess.run(command, env=environ, check=False, timeout=PATIENCE_SECONDS).returncode


def _die_after(steps: int) -> Any:
    left = steps

    def step(*_: object) -> None:
        nonlocal left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    return step


def _main(order: dict[str, Any]) -> None:
    embedder, step = Words(order["model"]), _die_after(order["after"])
    if order["stage"] == "embedding":
        embedder.before = step
    with Memory(order["workspace"], embedder=embedder, config=order["config"]) as memory:
        progress = step if order["stage"] == "reading" else None
        report = memory.sync(force=order["force"], progress=progress)
    sys.exit(1 if report.error else 0)


if __name__ == "__main__":
    _main(json.loads(sys.argv[1]))
