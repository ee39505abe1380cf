"""An embedder that is not called while its provider rests, nor beyond the budget of the day.

Indexing is patient: it waits for a rate limit to pass. A question is not: it is answered
by keyword. What a provider does not say by the kind of its error is found out by asking
it for a harmless text.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from clawmark.core.errors import (
    EmbeddingError,
    InputTooLongError,
    ProviderError,
    QuotaError,
    RateLimitedError,
)
from clawmark.core.log import logger
from clawmark.core.ports import Embedder
from clawmark.embedders.circuit import Circuit
from clawmark.embedders.gate import IN_A_HURRY, WrappedEmbedder
from clawmark.embedders.ledger import Pause
from clawmark.embedders.meter import Meter, estimated_tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = TypeVar("_T")

# Waits of this length are normal; for longer ones nobody sits before the screen.
LONGEST_WAIT_SECONDS = 120.0
MOST_WAITS = 10
# Asked for when a text fails without a reason: does the text fail, or the provider?
PROBE = "clawmark"
# A provider that answers the probe is asked again only after so many failures in a row.
_FAILURES_PER_PROBE = 16
_QUERY_FAILURES = 2
# A chunk of the usual size with its headings.
_TOKENS_OF_A_TEXT = 500
# A late answer may be just coming in.
_GRACE_SECONDS = 0.25
# How long one wait on the clock is; short, since only the clock knows when it is over.
_STEP_SECONDS = 0.05
# An injected clock that has not moved for so long stands still.
_STANDSTILL_SECONDS = 0.5


@dataclass
class Manner:
    """How a pass deals with a provider that rests.

    Attributes:
        patient: Waits for a rate limit to pass.
        insists: The next call is made although the provider rests; one call only.
        told: Told ("waiting", seconds done, seconds in all).
    """

    patient: bool = False
    insists: bool = False
    told: Callable[[str, int, int], None] = lambda stage, done, total: None


class Guard:
    """What all views on one embedder share.

    Args:
        embedder: The embedder, behind its gate.
        circuit: Its circuit breaker; None for one that runs in this process.
        meter: Counts texts and keeps the budget; None for one that costs nothing.
        counts: Whether texts are counted here; a remote embedder counts by itself.
        pause: Waits; injected by tests.
    """

    def __init__(
        self,
        embedder: Embedder,
        circuit: Circuit | None = None,
        meter: Meter | None = None,
        *,
        counts: bool = True,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.embedder = embedder
        self.circuit = circuit
        self.meter = meter
        self.counts = counts
        self.pause = pause
        self.failures = 0
        self.query_failures = 0
        self.late = 0
        self.loading = False
        self.answered = threading.Condition()

    def load(self) -> None:
        """Embed a word, so that the model is there when a question comes; answers are by keyword meanwhile."""
        self.loading = True
        try:
            self.embedder.embed_query(PROBE)
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; the first question meets it again
            logger(__name__).debug("loading the model failed", exc_info=error)
        finally:
            self.loading = False

    def check_budget(self, texts: Sequence[str]) -> None:
        """Refuse passages beyond the budget; questions are not limited."""
        if self.meter is not None and self.meter.limited:
            self.meter.check(self.embedder.provider, self.embedder.model, estimated_tokens(tuple(texts)))

    def count(self, texts: Sequence[str]) -> None:
        """Count texts that were embedded."""
        if self.meter is not None and self.counts:
            tokens = estimated_tokens(tuple(texts))
            self.meter.count(self.embedder.provider, self.embedder.model, requests=1, texts=len(texts), tokens=tokens)


class GuardedEmbedder(WrappedEmbedder):
    """A view on a guarded embedder in one manner (``core.ports.Embedder``)."""

    def __init__(self, guard: Guard, manner: Manner | None = None) -> None:
        super().__init__(guard.embedder)
        self._guard = guard
        self._manner = manner or Manner()

    @property
    def max_batch_items(self) -> int:
        """Most texts in one call: fewer when the budget is nearly used up, so that its rest is of use."""
        meter, items = self._guard.meter, super().max_batch_items
        if meter is None or not meter.limited:
            return items
        return int(max(1, min(items, meter.tokens_left(self.provider, self.model) // _TOKENS_OF_A_TEXT)))

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """See ``core.ports.Embedder``.

        Raises:
            EmbeddingError: As the embedder does; ``ProviderError``, ``RateLimitedError`` or
                ``QuotaError`` also without a call, while the provider rests.
        """
        guard = self._guard
        guard.check_budget(texts)
        if guard.circuit is None:
            return self._embedder.embed_documents(texts)
        vectors = self._patiently(guard.circuit, partial(self._passages, guard, guard.circuit, texts))
        guard.count(texts)
        return vectors

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``; never waits.

        Raises:
            EmbeddingError: As for documents.
        """
        guard = self._guard
        self._refuse_while_busy()
        if guard.circuit is None:
            return self._embedder.embed_query(text)
        pause = guard.circuit.admit()
        if pause is not None:
            raise guard.circuit.skipped(pause)
        vector = self._tried(guard.circuit, lambda: self._question(guard, text))
        guard.count([text])
        return vector

    def _refuse_while_busy(self) -> None:
        if self._guard.loading:
            raise ProviderError(
                f"{self.provider}: model loading", code="MODEL_LOADING", action="Ask again in a few seconds."
            )
        with self._guard.answered:
            busy = not self._guard.answered.wait_for(lambda: self._guard.late == 0, _GRACE_SECONDS)
        if busy:
            raise ProviderError(
                f"{self.provider}: skipped until an earlier question, which came too late, is answered",
                code="PROVIDER_COOLDOWN",
                action="Ask again later, or with a longer deadline.",
            )

    def _patiently(self, circuit: Circuit, call: Callable[[], _T]) -> _T:
        """Make a call; as long as the manner allows, wait until the provider takes it."""
        waits = 0
        while True:
            pause = self._admitted(circuit)
            if pause is None:
                try:
                    return self._tried(circuit, call)
                except RateLimitedError:
                    pause = circuit.last()
                    if pause is None or not self._manner.patient:
                        raise
            waits += 1
            if waits > MOST_WAITS or not self._waited(circuit, pause):
                raise circuit.skipped(pause)

    def _admitted(self, circuit: Circuit) -> Pause | None:
        if self._manner.insists:
            self._manner.insists = False
            return None
        return circuit.admit()

    def _waited(self, circuit: Circuit, pause: Pause) -> bool:
        """Wait until a pause is over by the clock; False when that is not worth it."""
        seconds = pause.until - circuit.now()
        if not self._manner.patient or pause.code != RateLimitedError.default_code or seconds > LONGEST_WAIT_SECONDS:
            return False
        first, started, shown = circuit.now(), time.monotonic(), -1
        while (left := pause.until - circuit.now()) > 0:
            if circuit.now() == first and time.monotonic() - started > _STANDSTILL_SECONDS:
                return False
            if int(seconds - left) > shown:
                shown = int(seconds - left)
                self._manner.told("waiting", shown, int(seconds))
            self._guard.pause(min(left, _STEP_SECONDS))
        return True

    def _tried(self, circuit: Circuit, call: Callable[[], _T]) -> _T:
        """Make a call, and note for everybody what it says about the provider."""
        token = IN_A_HURRY.set(not self._manner.patient)
        try:
            answer = call()
        except (RateLimitedError, QuotaError, ProviderError) as error:
            raise circuit.failed(error) from error
        except InputTooLongError:
            circuit.worked()
            raise
        finally:
            IN_A_HURRY.reset(token)
        circuit.worked()
        return answer

    def _passages(self, guard: Guard, circuit: Circuit, texts: Sequence[str]) -> NDArray[Any]:
        try:
            vectors = self._reconnecting(lambda: self._embedder.embed_documents(texts))
        except (RateLimitedError, QuotaError, ProviderError, InputTooLongError):
            raise
        except (ConnectionError, EOFError) as error:
            raise self._down(error) from error  # no text is at fault when the second connection breaks too
        except Exception as error:
            guard.failures += 1
            if guard.failures % _FAILURES_PER_PROBE == 1:
                self._probe(error)
                circuit.worked()
            raise
        guard.failures = 0
        return vectors

    def _probe(self, error: Exception) -> None:
        """Ask for a harmless text: when that fails too, the texts are not at fault."""
        try:
            self._embedder.embed_documents([PROBE])
        except (RateLimitedError, QuotaError, ProviderError):
            raise
        except Exception:  # noqa: BLE001 - a plug-in may raise anything
            self._guard.failures = 0
            raise self._down(error) from error

    def _question(self, guard: Guard, text: str) -> NDArray[Any]:
        try:
            vector = self._reconnecting(lambda: self._embedder.embed_query(text))
        except EmbeddingError:
            raise
        except Exception as error:
            guard.query_failures += 1
            if guard.query_failures >= _QUERY_FAILURES:
                raise self._down(error) from error
            raise
        guard.query_failures = 0
        return vector

    def _down(self, error: Exception) -> ProviderError:
        said = str(error).removeprefix(f"{self.provider}: ") or type(error).__name__
        return ProviderError(
            f"{self.provider}: {said}",
            code=error.code if isinstance(error, EmbeddingError) else "PROVIDER_DOWN",
            action="Try again later; until then answers are by keyword.",
        )

    def _reconnecting(self, call: Callable[[], _T]) -> _T:
        try:
            return call()
        except (ConnectionError, EOFError):
            # A connection that was kept too long; a plug-in that is asked again makes a new one.
            return call()

    def counted_late(self) -> Callable[[], None]:
        """Note that a question was given up while it is being embedded; the answer calls back."""
        guard = self._guard
        with guard.answered:
            guard.late += 1

        def done() -> None:
            with guard.answered:
                guard.late -= 1
                guard.answered.notify_all()

        return done
