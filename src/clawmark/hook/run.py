"""From the event to the answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from clawmark.hook.silence import Silence

# A prompt with a pasted file; more than this is no event.
_MOST_BYTES = 8_000_000
# The event is written before the hook is started; who sends nothing is not waited for.
_PATIENCE_SECONDS = 2.0
MAX_CHARS = 4_000
_OPTIONS = ("workspace", "agent", "config")


def run_hook(arguments: Sequence[str] = ()) -> int:
    """Answer the event on stdin; gives the exit code, which is always 0.

    Args:
        arguments: ``--workspace``, ``--agent``, ``--config`` with a value; ``--why`` says on
            stderr why there is no answer.
    """
    try:
        options = _parsed(arguments)
        answer = answer_event(read_event(sys.stdin.fileno()), os.environ, options)
        sys.stdout.write(answer)
        sys.stdout.flush()
    except Exception as reason:  # noqa: BLE001 - the outermost frame: a memory never blocks a prompt
        if "--why" in arguments:
            told = reason.reason if isinstance(reason, Silence) else f"{type(reason).__name__}: {reason}"
            sys.stderr.write(f"nothing recalled: {told}\n")
    return 0


def answer_event(event: Mapping[str, Any], environ: Mapping[str, str], options: Mapping[str, str]) -> str:
    """Give the answer to an event, as JSON.

    Raises:
        Silence: There is nothing to say.
    """
    name = event.get("hook_event_name")
    if name == "UserPromptSubmit":
        context = _prompt_context(event, environ, options)
    elif name == "SessionStart":
        context = _start_context(event, environ, options)
    else:
        raise Silence(f"no answer to the event {name!r}")
    # ASCII only: the encoding of stdout is not ours to know.
    return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": context}})


def _prompt_context(event: Mapping[str, Any], environ: Mapping[str, str], options: Mapping[str, str]) -> str:
    from clawmark.core.recall_question import recall_question

    prompt = event.get("prompt")
    # Commands, shell lines and notes to the host are not said to the model.
    if not isinstance(prompt, str) or prompt.lstrip()[:1] in ("", "/", "!", "#"):
        raise Silence("no prompt for the model")
    question = recall_question(prompt)
    if question is None:
        raise Silence("the prompt does not ask about the past")
    from clawmark.hook.places import find_place
    from clawmark.hook.recall import recall

    return recall(question, find_place(event, environ, options), max_chars=MAX_CHARS)


def _start_context(event: Mapping[str, Any], environ: Mapping[str, str], options: Mapping[str, str]) -> str:
    if event.get("source") in ("resume", "fork"):
        raise Silence("the pointer is already in the conversation")
    from clawmark.hook.places import find_place
    from clawmark.hook.start import pointer

    return pointer(find_place(event, environ, options))


def read_event(descriptor: int) -> dict[str, Any]:
    """Read one JSON object; its end is enough, some hosts leave the pipe open.

    Raises:
        Silence: None came.
    """
    data = b""
    while len(data) < _MOST_BYTES and (part := _next_part(descriptor)):
        data += part
        if data.rstrip().endswith(b"}") and (event := _object(data)) is not None:
            return event
    raise Silence("no event on stdin")


def _next_part(descriptor: int) -> bytes:
    # Windows cannot wait for a pipe like this; its pipes are closed by the host.
    if os.name == "posix":
        from select import select

        if not select([descriptor], [], [], _PATIENCE_SECONDS)[0]:
            return b""
    return os.read(descriptor, 1 << 16)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        event = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _parsed(arguments: Sequence[str]) -> dict[str, str]:
    """Read the options by hand: a library for it costs more than the recall."""
    options: dict[str, str] = {}
    left = [argument for argument in arguments if argument not in ("--why", "--json")]
    while left:
        name, given, value = left.pop(0).partition("=")
        if name.removeprefix("--") not in _OPTIONS or (not given and not left):
            raise Silence(f"there is no option {name}")
        options[name.removeprefix("--")] = value if given else left.pop(0)
    return options
