"""The values of the tools: a tool, its parameters, what a call gives back, and who calls."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clawmark.core.errors import ClawmarkError
from clawmark.core.log import logger
from clawmark.tools.failures import failure
from clawmark.tools.parameters import Parameter, arguments_of

__all__ = ["Parameter", "Session", "Tool", "ToolResult"]

_DEFAULT_AGENT = "main"


@dataclass(frozen=True)
class Session:
    """Who asks.

    Attributes:
        workspace: The folder that holds the memory.
        key: Key of the chat, such as ``agent:main:telegram:group:123``; None is a direct chat.
        agent: Owner of the memory; None for the one that the key names, else "main".
    """

    workspace: str | os.PathLike[str]
    key: str | None = None
    agent: str | None = None

    @property
    def owner(self) -> str:
        """Give the agent whose memory is asked."""
        parts = (self.key or "").split(":")
        named = parts[1] if len(parts) > 1 and parts[0].lower() == "agent" else ""
        return self.agent or named or _DEFAULT_AGENT


def is_subagent(key: str | None) -> bool:
    """Tell whether a chat is a sub-agent's: those are denied the memory of the agent.

    Source:
        recall-spec 8.1.

    >>> is_subagent("agent:main:subagent:4f2"), is_subagent("agent:main:telegram:1"), is_subagent(None)
    (True, False, False)
    """
    head, *rest = (key or "").lower().split(":")
    return "subagent" in (rest[1:] if head == "agent" else [head, *rest])


@dataclass(frozen=True)
class ToolResult:
    """What a call gives back.

    Attributes:
        data: The wire shape, for programs; after a failure the object of recall-spec 8.1.
        text: The same for a model to read.
        failed: True when there is no answer; nothing found is an answer.
    """

    data: dict[str, Any]
    text: str
    failed: bool = False


@dataclass(frozen=True)
class Tool:
    """A tool that an agent can call.

    Attributes:
        name: Such as ``memory_search``.
        title: For people.
        description: For the model: when to call it, and what comes back.
        parameters: What it takes, as the effective settings allow it.
        call: Gets checked arguments by their names in Python.
        output: JSON Schema of ``ToolResult.data``.
        read_only: True when no file of the user is changed.
        destructive: True when something can be lost by a call.
        idempotent: True when a second same call changes nothing more.
        section: Where a catalog of tools lists it.
        empty: Fields of its result that a failure has too, so that readers find them.
    """

    name: str
    title: str
    description: str
    parameters: tuple[Parameter, ...]
    call: Callable[..., ToolResult] = field(repr=False)
    output: Mapping[str, Any]
    read_only: bool = True
    destructive: bool = False
    idempotent: bool = True
    section: str = "memory"
    empty: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def run(self, arguments: Mapping[str, Any] | None = None) -> ToolResult:
        """Call the tool; a failure is a result, never an exception.

        Args:
            arguments: By their names on the wire, unchecked.
        """
        given = arguments or {}
        try:
            return self.call(**arguments_of(self.name, self.parameters, given))
        except ClawmarkError as error:
            return self.failed(error, given)
        except Exception as error:  # noqa: BLE001 - the outermost frame: a mistake of ours must not end the agent
            logger(__name__).exception("%s failed", self.name)
            return self.failed(ClawmarkError(f"{self.name} failed: {type(error).__name__}"), given)

    def failed(self, error: Any, given: Mapping[str, Any] | None = None) -> ToolResult:
        """Give the result of a call that failed.

        Args:
            error: A ``ClawmarkError`` or an ``ErrorInfo``.
            given: The arguments; what the result repeats of them is repeated here.
        """
        repeated = {name: value for name, value in (given or {}).items() if name in self.empty}
        data = {**self.empty, **repeated, **failure(error)}
        return ToolResult(data, f"{data['warning']} {data['error']} {data['action']}".strip(), failed=True)
