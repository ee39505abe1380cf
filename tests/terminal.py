"""The command line as tests use it: in this process, or as a real one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from clawmark.cli.app import app

# Keyword mode, unless a test says otherwise: nothing is loaded.
KEYWORD = {"CLAWMARK_EMBEDDING__PROVIDER": "none"}
PATIENCE_SECONDS = 120


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Data on stdout; nothing else may be there."""
        return json.loads(self.out)


def clawmark(*arguments: str | Path, env: Mapping[str, str] | None = None, stdin: str | bytes | None = None) -> Ran:
    """Run a command in this process; an error that nobody caught fails the test."""
    result = CliRunner(env={**KEYWORD, **(env or {})}).invoke(
        app, [str(argument) for argument in arguments], input=stdin
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError("".join(traceback.format_exception(result.exception)))
    return _checked(Ran(result.exit_code, result.stdout, result.stderr))


def clawmark_process(*arguments: str | Path, env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Ran:
    """Run a command as a process of its own; one that hangs fails the test."""
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **KEYWORD, **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_SECONDS,
    )
    return _checked(Ran(done.returncode, done.stdout, done.stderr))


def python(script: str, *arguments: str | Path, env: Mapping[str, str] | None = None) -> Any:
    """Run a script in a fresh interpreter; give the JSON that it prints."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **KEYWORD, **(env or {})},
        timeout=PATIENCE_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


COMMAND = (sys.executable, "-c", "from clawmark.cli import main; main()")


def _checked(ran: Ran) -> Ran:
    assert "Traceback" not in ran.out + ran.err
    return ran
