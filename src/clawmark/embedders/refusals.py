"""From an HTTP answer that is no success to the error that says what to do about it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from clawmark.core.errors import EmbeddingError, ProviderError, QuotaError, RateLimitedError
from clawmark.embedders.dialect import Dialect

_KEY_STATUSES = {401, 403}
_PAYMENT_REQUIRED = 402
_NOT_FOUND = 404
_TOO_MANY = 429
_TOO_LARGE = 413
_MALFORMED = {400, 422}
_PASSING = {408, 409, 425}
_SIZE_CODES = {"context_length_exceeded", "max_tokens_per_request", "string_above_max_length", "array_above_max_length"}
_SIZE_WORDS = re.compile(
    r"too (?:long|large|many|big)|at most \d|exceed|maximum (?:context|length|input|number|batch)|context length"
    r"|max(?:imum)? (?:allowed )?(?:batch|tokens)|batch size|token limit|longer than|larger than",
    re.IGNORECASE,
)
_LONGEST_SHOWN = 200


class PassingError(ProviderError):
    """A fault that another try may not meet.

    Attributes:
        retry_after: Seconds to wait; None when the provider did not say.
    """

    default_code = "PROVIDER_DOWN"

    def __init__(self, message: str, *, retry_after: float | None = None, action: str = "") -> None:
        super().__init__(message, action=action or "Try again later; until then answers are by keyword.")
        self.retry_after = retry_after


class BrokenConnectionError(PassingError):
    """The connection went bad; a new one may be good."""


class SlowAnswerError(PassingError):
    """No answer within the timeout; fewer texts may be answered in time."""


class RefusedTextsError(EmbeddingError):
    """The provider does not take these texts.

    Attributes:
        by_size: Whether it said that they are too many or too long.
    """

    default_code = "REQUEST_REFUSED"

    def __init__(self, message: str, *, by_size: bool) -> None:
        super().__init__(message, action="Check [embedding] model, dimensions and base_url.")
        self.by_size = by_size


@dataclass(frozen=True)
class Refusal:
    """An answer that is no success, with what its reader must know.

    Attributes:
        status: HTTP status.
        body: Parsed JSON; None when it is none.
        retry_after: From the header, in seconds.
        model: The model that was asked for.
        clean: Hides secrets in a text.
    """

    status: int
    body: Any
    retry_after: float | None
    model: str
    clean: Callable[[str], str]


def error_of(refusal: Refusal, dialect: Dialect) -> EmbeddingError:
    """Give the error for an answer that is no success."""
    codes = dialect.codes(refusal.body)
    status = refusal.status
    if status in _KEY_STATUSES or codes & dialect.key_codes:
        return _key_refused(refusal, dialect)
    if status == _PAYMENT_REQUIRED or codes & dialect.quota_codes:
        return _quota(dialect, codes)
    if status == _NOT_FOUND:
        return _unknown_model(refusal, dialect)
    if status == _TOO_MANY:
        wait = refusal.retry_after if refusal.retry_after is not None else dialect.seconds_to_wait(refusal.body)
        return RateLimitedError(f"{dialect.name}: too many requests", retry_after=wait)
    if status >= 500 or status in _PASSING:
        return PassingError(f"{dialect.name}: HTTP {status}", retry_after=refusal.retry_after)
    return _other(refusal, dialect, codes)


def _key_refused(refusal: Refusal, dialect: Dialect) -> ProviderError:
    where = " or ".join(dialect.key_variables)
    return ProviderError(
        f"{dialect.name}: not authorised (HTTP {refusal.status})",
        code="PROVIDER_KEY_REFUSED",
        action=f"Check the key ({where}, or [embedding] api_key) and that it may use {refusal.model}.",
    )


def _quota(dialect: Dialect, codes: set[str]) -> QuotaError:
    named = ", ".join(sorted(codes & dialect.quota_codes)) or "payment required"
    return QuotaError(
        f"{dialect.name}: quota exhausted ({named})",
        action="Check plan and billing at the provider; `clawmark index` tries again at once.",
    )


def _unknown_model(refusal: Refusal, dialect: Dialect) -> ProviderError:
    return ProviderError(
        f"{dialect.name}: no model {refusal.model!r} at this address (HTTP 404){_words(refusal, dialect)}",
        code="MODEL_NOT_FOUND",
        action="Check [embedding] model and base_url.",
    )


def _other(refusal: Refusal, dialect: Dialect, codes: set[str]) -> EmbeddingError:
    message = f"{dialect.name}: HTTP {refusal.status}{_words(refusal, dialect)}"
    if refusal.status == _TOO_LARGE or refusal.status in _MALFORMED:
        said = dialect.message(refusal.body)
        by_size = refusal.status == _TOO_LARGE or bool(codes & _SIZE_CODES or _SIZE_WORDS.search(said))
        return RefusedTextsError(message, by_size=by_size)
    return ProviderError(message, action="Check [embedding] base_url; redirects are not followed.")


def _words(refusal: Refusal, dialect: Dialect) -> str:
    """Give what the provider says, in one line and without secrets."""
    said = " ".join(refusal.clean(dialect.message(refusal.body)).split())
    if not said:
        return ""
    return f": {said if len(said) <= _LONGEST_SHOWN else said[:_LONGEST_SHOWN] + '…'}"
