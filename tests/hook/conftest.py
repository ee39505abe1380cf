"""A workspace that was indexed, and hooks as the host runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmark import Memory
from clawmark.hook.run import answer_event
from clawmark.hook.silence import Silence

QUEUE = "# Architecture\n\nWe settled on RabbitMQ for the job queue; Kafka was too heavy.\n"


@pytest.fixture
def indexed(note: Callable[[str, str], Path], open_memory: Callable[..., Memory], workspace: Path) -> Path:
    note("MEMORY.md", "# Long-term memory\n\n## Work\n\nThe deploy script belongs to Ilka.\n")
    note("memory/2026-06-01.md", QUEUE)
    note("memory/people.md", "# People\n\nI am allergic to hazelnuts.\n")
    note("memory/garden.md", "# Garden\n\nThe hedge was cut on Saturday.\n")
    open_memory().sync()
    return workspace


@pytest.fixture
def ask(workspace: Path) -> Callable[..., str]:
    """Give the context that a prompt gets; "" for silence."""

    def run(prompt: str, *, cwd: Path | None = None, environ: dict[str, str] | None = None, **options: str) -> str:
        event: dict[str, Any] = {"hook_event_name": "UserPromptSubmit", "cwd": str(cwd or workspace), "prompt": prompt}
        return context(event, environ, options)

    return run


@pytest.fixture
def start(workspace: Path) -> Callable[..., str]:
    """Give what a session is told at its start; "" for silence."""

    def run(source: str = "startup", **options: str) -> str:
        return context({"hook_event_name": "SessionStart", "cwd": str(workspace), "source": source}, None, options)

    return run


def context(event: dict[str, Any], environ: dict[str, str] | None, options: dict[str, str]) -> str:
    import os

    try:
        answer = json.loads(answer_event(event, {**os.environ, **(environ or {})}, options))
    except Silence:
        return ""
    assert answer["hookSpecificOutput"]["hookEventName"] == event["hook_event_name"]
    return answer["hookSpecificOutput"]["additionalContext"]
