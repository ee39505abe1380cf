"""Every error that clawmark raises on purpose.

    ClawmarkError
    ├── ArgumentError (ValueError)      a wrong argument of a public call
    │   └── WorkspaceNotFoundError      the workspace is not a folder
    ├── ConfigError (ValueError)        a setting that cannot be used
    ├── PathNotAllowedError             a path outside what may be read or written
    ├── ConflictError                   the file is not what the caller believes
    ├── StoreError                      the index cannot be opened, read or written
    │   ├── StoreBusyError              another process holds the writer's lock
    │   └── StoreCorruptError           the index is damaged; a rebuild repairs it
    └── EmbeddingError                  vectors could not be made
        ├── InputTooLongError           one text is above the model's limit
        ├── RateLimitedError            too fast; try again after a while
        ├── QuotaError                  out of credit; waiting does not help
        └── ProviderError               no text can be embedded for now

One class per decision that a caller can take, not per place that fails.
"""

from __future__ import annotations


class ClawmarkError(Exception):
    """An expected failure: what failed, a stable code, and the next command.

    Attributes:
        code: Stable upper-case identifier, for programs.
        action: What to do next, one sentence, for people; "" when nothing helps.
    """

    default_code = "ERROR"

    def __init__(self, message: str, *, code: str | None = None, action: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.default_code
        self.action = action


class ArgumentError(ClawmarkError, ValueError):
    """A public call got an argument that it cannot use."""

    default_code = "BAD_ARGUMENT"


class WorkspaceNotFoundError(ArgumentError):
    """The workspace does not exist or is not a folder."""

    default_code = "WORKSPACE_NOT_FOUND"


class ConfigError(ClawmarkError, ValueError):
    """A setting is unknown, has the wrong type, or lies outside its range."""

    default_code = "BAD_CONFIG"


class PathNotAllowedError(ClawmarkError):
    """A path leads outside the memory files, or is not a regular Markdown file.

    Attributes:
        reason: One line without the path; "" when the message says it all.
    """

    default_code = "MEMORY_PATH_NOT_ALLOWED"

    def __init__(self, message: str, *, reason: str = "", code: str | None = None, action: str = "") -> None:
        super().__init__(message, code=code, action=action)
        self.reason = reason


class ConflictError(ClawmarkError):
    """The file on disk is not the one that the caller wanted to replace.

    Attributes:
        current_hash: SHA-256 (hex) of the file as it is now; None when there is none.
    """

    default_code = "CONFLICT"

    def __init__(self, message: str, *, current_hash: str | None, code: str | None = None, action: str = "") -> None:
        super().__init__(message, code=code, action=action)
        self.current_hash = current_hash


class StoreError(ClawmarkError):
    """The index could not be opened, read or written."""

    default_code = "INDEX_UNAVAILABLE"


class StoreBusyError(StoreError):
    """Another process kept the writer's lock for longer than the bounded wait."""

    default_code = "INDEX_BUSY"


class StoreCorruptError(StoreError):
    """The index file is damaged; it can be rebuilt from the files."""

    default_code = "INDEX_CORRUPT"


class EmbeddingError(ClawmarkError):
    """An embedder could not make vectors."""

    default_code = "EMBEDDING_FAILED"


class InputTooLongError(EmbeddingError):
    """A text is longer than the model takes."""

    default_code = "INPUT_TOO_LONG"


class RateLimitedError(EmbeddingError):
    """The provider refuses for now.

    Attributes:
        retry_after: Seconds to wait, None when the provider did not say.
    """

    default_code = "RATE_LIMITED"

    def __init__(
        self,
        message: str = "The embedding provider is rate limited.",
        *,
        retry_after: float | None = None,
        code: str | None = None,
        action: str = "",
    ) -> None:
        super().__init__(message, code=code, action=action)
        self.retry_after = retry_after


class QuotaError(EmbeddingError):
    """The provider's quota is used up; waiting does not help."""

    default_code = "QUOTA_EXHAUSTED"


class ProviderError(EmbeddingError):
    """The provider cannot be used for now, whatever the text: its key is refused, or it is down."""

    default_code = "PROVIDER_FAILED"
