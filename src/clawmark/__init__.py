"""clawmark: recall for agents over a folder of Markdown memory.

>>> from clawmark import Memory
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clawmark.core.errors import (
        ClawmarkError,
        ConfigError,
        ConflictError,
        InputTooLongError,
        PathNotAllowedError,
        QuotaError,
        RateLimitedError,
    )
    from clawmark.core.model import (
        ErrorInfo,
        Explanation,
        Fallback,
        ForgetReport,
        Notice,
        ReadResult,
        SearchResponse,
        SearchResult,
        Status,
        SyncReport,
        WriteReport,
    )
    from clawmark.engine.aio import AsyncMemory
    from clawmark.engine.memory import Memory

__version__ = "0.1.0"

# Names by their room: importing clawmark loads none of them, and no other package.
_ROOMS = {
    "Memory": "engine.memory",
    "AsyncMemory": "engine.aio",
    **dict.fromkeys(
        (
            "ErrorInfo",
            "Explanation",
            "Fallback",
            "ForgetReport",
            "Notice",
            "ReadResult",
            "SearchResponse",
            "SearchResult",
            "Status",
            "SyncReport",
            "WriteReport",
        ),
        "core.model",
    ),
    **dict.fromkeys(
        (
            "ClawmarkError",
            "ConfigError",
            "ConflictError",
            "InputTooLongError",
            "PathNotAllowedError",
            "QuotaError",
            "RateLimitedError",
        ),
        "core.errors",
    ),
}

__all__ = [
    "AsyncMemory",
    "ClawmarkError",
    "ConfigError",
    "ConflictError",
    "ErrorInfo",
    "Explanation",
    "Fallback",
    "ForgetReport",
    "InputTooLongError",
    "Memory",
    "Notice",
    "PathNotAllowedError",
    "QuotaError",
    "RateLimitedError",
    "ReadResult",
    "SearchResponse",
    "SearchResult",
    "Status",
    "SyncReport",
    "WriteReport",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_ROOMS[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
