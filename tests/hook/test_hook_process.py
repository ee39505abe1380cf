"""The hook as a process: what it loads, what it says, and that it never stands in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ENTRY = "from clawmark.cli import main; main()"
LOADED = (
    "import atexit, os, sys; before = set(sys.modules); "
    "atexit.register(lambda: open(os.environ['LOADED'], 'w').write(chr(10).join(set(sys.modules) - before))); "
)
PATIENCE_SECONDS = 120
PROMPT = "What did we settle on for the job queue?"


def event(workspace: Path, **fields: Any) -> str:
    return json.dumps({"hook_event_name": "UserPromptSubmit", "cwd": str(workspace), "prompt": PROMPT, **fields})


def hook(
    given: str | bytes, *arguments: str, env: Mapping[str, str] | None = None, program: str = ENTRY
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program, "hook", *arguments],
        input=given.encode() if isinstance(given, str) else given,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_a_prompt_about_the_past_gets_the_note_as_context(indexed: Path) -> None:
    done = hook(event(indexed))

    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert done.stderr == b""
    assert answer["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert "RabbitMQ" in answer["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("fields", [{}, {"prompt": "Write a poem."}, {"hook_event_name": "SessionStart"}])
def test_a_hook_loads_nothing_but_the_standard_library(indexed: Path, tmp_path: Path, fields: dict[str, str]) -> None:
    loaded = tmp_path / "loaded"

    done = hook(event(indexed, **fields), env={"LOADED": str(loaded)}, program=LOADED + ENTRY)

    tops = {name.partition(".")[0] for name in loaded.read_text(encoding="utf-8").split()}
    assert done.returncode == 0
    assert tops - set(sys.stdlib_module_names) - {"clawmark"} == set()


def test_settings_and_transcripts_load_no_other_package_either(indexed: Path, tmp_path: Path) -> None:
    (indexed / "clawmark.toml").write_text("[query]\nmax_results = 2\n", encoding="utf-8")
    loaded = tmp_path / "loaded"

    done = hook(event(indexed), env={"LOADED": str(loaded), "CLAWMARK_HOME": ""}, program=LOADED + ENTRY)

    tops = {name.partition(".")[0] for name in loaded.read_text(encoding="utf-8").split()}
    assert "RabbitMQ" in done.stdout.decode()
    assert tops - set(sys.stdlib_module_names) - {"clawmark"} == set()


@pytest.mark.parametrize(
    "given",
    [
        "",
        "{",
        "[]",
        "null",
        b"\xff\xfe{}",
        "[" * 5_000,
        '{"hook_event_name": "Stop"}',
        '{"hook_event_name": "UserPromptSubmit"}',
        '{"hook_event_name": "UserPromptSubmit", "prompt": 7, "cwd": 8}',
        '{"hook_event_name": "UserPromptSubmit", "prompt": "what did we decide about x", "cwd": "/no/such\\u0000"}',
    ],
)
def test_whatever_comes_the_hook_says_nothing_and_succeeds(given: str | bytes) -> None:
    done = hook(given)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("arguments", [("--no-such-option",), ("--agent",), ("--config", "/no/such.toml"), ("extra",)])
def test_wrong_options_say_nothing_and_succeed(indexed: Path, arguments: tuple[str, ...]) -> None:
    done = hook(event(indexed), *arguments)

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


@pytest.mark.parametrize("content", [b"", b"not a database" * 1_000])
def test_a_damaged_index_says_nothing(indexed: Path, content: bytes) -> None:
    index = indexed / ".clawmark" / "index.sqlite"
    for suffix in ("-wal", "-shm"):
        Path(f"{index}{suffix}").unlink(missing_ok=True)
    index.write_bytes(content)

    done = hook(event(indexed))

    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_why_tells_on_stderr_why_nothing_is_said(indexed: Path) -> None:
    done = hook(event(indexed, prompt="Write a poem."), "--why")

    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.decode() == "nothing recalled: the prompt does not ask about the past\n"


def test_an_event_whose_pipe_stays_open_is_answered(indexed: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENTRY, "hook"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(event(indexed).encode())
        running.stdin.flush()
        said = running.stdout.read()
        running.stdin.close()

    assert b"RabbitMQ" in said


def test_help_is_that_of_every_command() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, "hook", "--help"],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_SECONDS,
    )

    assert "--why" in done.stdout
