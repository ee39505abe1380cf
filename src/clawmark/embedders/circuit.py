"""The circuit breaker of a provider: after a failure nobody calls it for a while.

The state lies in the ledger, so watcher, search and start-up of all processes share it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from clawmark.core.errors import EmbeddingError, ProviderError, QuotaError, RateLimitedError
from clawmark.embedders.ledger import Ledger, Pause
from clawmark.embedders.refusals import PassingError

Clock = Callable[[], datetime]

# Nobody tops up an account within minutes; `clawmark index` tries at once anyway.
QUOTA_SECONDS = 3_600.0
REFUSED_SECONDS = 900.0
# The window of most rate limits, for providers that do not say.
RATE_SECONDS = 60.0
# What is down for a moment is soon back; what is down for long is asked four times in five minutes.
DOWN_SECONDS = 5.0
DOWN_GROWTH = 6.0
LONGEST_DOWN_SECONDS = 600.0
# Who tries after a pause has this long before others try too: it may have been killed.
_TURN_SECONDS = 60.0
# Codes of failures that waiting does not mend.
LASTING = frozenset({QuotaError.default_code, "PROVIDER_KEY_REFUSED", "MODEL_NOT_FOUND"})


class Circuit:
    """Remembers the failures of one provider.

    Args:
        ledger: Where they are kept.
        key: Tells providers, accounts and addresses apart.
        name: Of the provider, for messages.
        clock: Gives now.
    """

    def __init__(self, ledger: Ledger, key: str, name: str, clock: Clock) -> None:
        self._ledger = ledger
        self._key = key
        self._name = name
        self._clock = clock

    def now(self) -> float:
        """Give the time by the injected clock."""
        return self._clock().timestamp()

    def last(self) -> Pause | None:
        """Give the pause that no success has ended, over or not."""
        return self._ledger.pause(self._key)

    def admit(self) -> Pause | None:
        """Give the pause that forbids a call; None when one may be made, by this caller alone after a pause."""
        pause = self.last()
        now = self.now()
        if pause is None or (pause.until <= now and self._ledger.take_turn(self._key, pause, now + _TURN_SECONDS)):
            return None
        return self.last()

    def worked(self) -> None:
        """Note an answer: the provider is there again."""
        if self.last() is not None:
            self._ledger.end_pause(self._key)

    def failed(self, error: EmbeddingError) -> EmbeddingError:
        """Begin a pause, and give the error with the time of the next try."""
        before = self.last()
        failures = 1 + (before.failures if before else 0)
        pause = Pause(failures, self.now() + _seconds_of(error, failures), error.code, error.message)
        self._ledger.put_pause(self._key, pause)
        return self._again(pause, f"{error.message}; next try {_moment(pause.until)}", error.action)

    def skipped(self, pause: Pause) -> EmbeddingError:
        """Give the error for a call that is not made; it says that it repeats an older one."""
        reason = pause.reason.removeprefix(f"{self._name}: ")
        message = f"{self._name}: skipped until {_moment(pause.until)}: {reason}"
        return self._again(pause, message, "Wait, or run `clawmark index` to try at once.")

    def _again(self, pause: Pause, message: str, action: str) -> EmbeddingError:
        if pause.code == RateLimitedError.default_code:
            return RateLimitedError(message, retry_after=max(0.0, pause.until - self.now()), action=action)
        kind = QuotaError if pause.code == QuotaError.default_code else ProviderError
        return kind(message, code=pause.code, action=action)


def _seconds_of(error: EmbeddingError, failures: int) -> float:
    if isinstance(error, QuotaError):
        return QUOTA_SECONDS
    if isinstance(error, RateLimitedError):
        return RATE_SECONDS if error.retry_after is None else error.retry_after
    if error.code in LASTING:
        return REFUSED_SECONDS
    growing = min(LONGEST_DOWN_SECONDS, DOWN_SECONDS * DOWN_GROWTH ** min(failures - 1, 10))
    asked = error.retry_after if isinstance(error, PassingError) else None
    return max(growing, asked or 0.0)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
