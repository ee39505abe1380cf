"""What a call that failed says: the object of recall-spec 8.1, with texts for each kind of failure.

Kinds are told apart by the error's code, never by words in its message: "HTTP 4290" is
no quota. A wrong argument or a refused path does not mean that memory is off.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clawmark.core.errors import ClawmarkError
from clawmark.core.model import ErrorInfo

_NO_REASON = "memory search unavailable"


@dataclass(frozen=True)
class _Kind:
    """A kind of failure.

    Attributes:
        warning: What the user is to be told.
        action: What helps; "" for the error's own action.
        disabled: True when no search will work for now.
        unavailable: True when something is broken or missing.
    """

    warning: str
    action: str = ""
    disabled: bool = True
    unavailable: bool = True


_PROVIDER = _Kind(
    "Memory search is unavailable due to an embedding/provider error.",
    "Check embedding provider configuration and retry memory_search.",
)
_QUOTA = _Kind(
    "Memory search is unavailable because the embedding provider quota is exhausted.",
    "Top up or switch embedding provider, then retry memory_search.",
)
_OFF = _Kind("Memory search is switched off for this agent.")
_TIMEOUT = _Kind("Memory search did not answer in time.", "Retry memory_search, with a longer deadline.")
_BUSY = _Kind("Memory search is unavailable while another process writes the index.", "Retry memory_search soon.")
_INDEX = _Kind("Memory search is unavailable because its index cannot be used.")
_WORKSPACE = _Kind("Memory search is unavailable because the workspace cannot be read.")
_BROKEN = _Kind("Memory search is unavailable.", "Retry once; then tell the user what failed.")
_DENIED = _Kind("Access was denied.", disabled=False, unavailable=False)
_CALL = _Kind("The call was not valid; memory itself works.", disabled=False, unavailable=False)

_KINDS = {
    "MEMORY_DISABLED": _OFF,
    "MEMORY_DENIED": _Kind("Access to memory was denied.", unavailable=False),
    "MEMORY_PATH_NOT_ALLOWED": _DENIED,
    "QUOTA_EXHAUSTED": _QUOTA,
    "VECTOR_LEG_TIMEOUT": _TIMEOUT,
    "INDEX_BUSY": _BUSY,
    "WORKSPACE_NOT_FOUND": _WORKSPACE,
    "NOTE_UNREADABLE": _Kind("The file cannot be read.", disabled=False, unavailable=False),
    "CONFLICT": _Kind("The file has changed.", disabled=False, unavailable=False),
    "BAD_ARGUMENT": _CALL,
    "UNKNOWN_ARGUMENT": _CALL,
    "UNKNOWN_TOOL": _CALL,
    "SOURCE_NOT_ENABLED": _CALL,
    "ERROR": _BROKEN,
}


def failure(error: ClawmarkError | ErrorInfo | None = None) -> dict[str, Any]:
    """Give the wire shape of a failure.

    Args:
        error: What failed; None when nothing is known.

    Source:
        recall-spec 8.1; ``code`` is ours.
    """
    code = error.code if error else "EMBEDDING_FAILED"
    kind = kind_of(code)
    message = error.message.strip() if error else ""
    return {
        "disabled": kind.disabled,
        "unavailable": kind.unavailable,
        "error": message or _NO_REASON,
        "code": code,
        "warning": kind.warning,
        "action": kind.action or (error.action if error else ""),
    }


def kind_of(code: str) -> _Kind:
    """Give the kind of failure that a code stands for."""
    if code in _KINDS:
        return _KINDS[code]
    return _INDEX if code.startswith("INDEX_") else _PROVIDER
