"""An embedder on the other end of HTTP, whatever its dialect.

Each answer is checked before it is used. A request that is refused as too large is sent
in halves, and the size that worked is remembered; what had been answered when a later
request failed is kept, so that it is not paid for twice.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.errors import EmbeddingError, InputTooLongError
from clawmark.embedders.circuit import Clock
from clawmark.embedders.dialect import Call, Dialect, Kind, Model
from clawmark.embedders.gate import IN_A_HURRY
from clawmark.embedders.ledger import Ledger
from clawmark.embedders.meter import estimated_tokens
from clawmark.embedders.refusals import (
    BrokenConnectionError,
    PassingError,
    Refusal,
    RefusedTextsError,
    SlowAnswerError,
    error_of,
)
from clawmark.embedders.transport import Answer, Transport

if TYPE_CHECKING:
    from numpy.typing import NDArray

# A limit that was learned the hard way may have been raised meanwhile.
LEARNED_SECONDS = 7 * 86_400.0
_TRIES = 3
# What stands for a text without a word: most providers refuse an empty one.
_BLANK = "(empty)"
_SUCCESS = 200


class RemoteEmbedder:
    """``core.ports.Embedder`` over HTTP.

    Args:
        dialect: How the provider is asked.
        transport: Where it is asked.
        model: Name of the model.
        facts: What is known of the model; None when it is not in the table.
        dimensions: Length to ask for; None for the model's own.
        timeout: Seconds for a request; None for the provider's usual.
        ledger: Where learned limits are kept.
        key: Under which they are kept.
        clock: Gives now.
        clean: Hides secrets in what a server says.
        told: Told (texts, tokens) of each answer that is paid for.
        pause: Waits between tries; injected by tests.
    """

    def __init__(
        self,
        dialect: Dialect,
        transport: Transport,
        model: str,
        *,
        facts: Model | None,
        dimensions: int | None,
        timeout: float | None,
        ledger: Ledger,
        key: str,
        clock: Clock,
        clean: Callable[[str], str],
        told: Callable[[int, int], None] = lambda texts, tokens: None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self.provider = dialect.name
        self.model = model
        self.max_input_tokens = facts.input_tokens if facts else dialect.input_tokens
        self.concurrency = dialect.limits.concurrency
        self._dialect = dialect
        self._transport = transport
        self._asked_for = dimensions
        self._known = dimensions or (facts.dimensions if facts else 0) or None
        self._learns = self._known is None
        self._timeout = timeout
        self._ledger = ledger
        self._key = f"{key}/{model}"
        self._clock = clock
        self._clean = clean
        self._told = told
        self._pause = pause
        self._lock = threading.Lock()
        self._salvaged: dict[str, Any] = {}

    @property
    def dimensions(self) -> int | None:
        """Length of a vector; None until the first answer, of this process or another."""
        if self._known is None:
            self._known = self._ledger.learned(f"{self._key}/dimensions", self._now())
        return self._known

    @property
    def max_batch_items(self) -> int:
        """Most texts in one request, as documented or as learned."""
        learned = self._ledger.learned(f"{self._key}/items", self._now())
        return min(self._dialect.limits.items, learned or self._dialect.limits.items)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        import numpy as np

        sent = [_sendable(text) for text in texts]
        with self._lock:
            rows = {text: self._salvaged.pop(text) for text in set(sent) if text in self._salvaged}
        try:
            missing = [text for text in dict.fromkeys(sent) if text not in rows]
            for part in self._parts(missing):
                self._fill(rows, part)
        except BaseException:
            with self._lock:
                self._salvaged = rows
            raise
        return np.stack([rows[text] for text in sent]) if sent else np.empty((0, self.dimensions or 0), np.float32)

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``; tried twice when the connection was stale, never later."""
        return self._answered([_sendable(text)], "query")[0]

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def _parts(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Cut texts into requests within the limits; a text above them goes alone."""
        limits = self._dialect.limits
        part: list[str] = []
        tokens = size = 0
        for text in texts:
            more_tokens, more_bytes = estimated_tokens((text,)), len(text.encode("utf-8"))
            full = tokens + more_tokens > limits.tokens or size + more_bytes > limits.bytes
            if part and (full or len(part) >= self.max_batch_items):
                yield part
                part, tokens, size = [], 0, 0
            part.append(text)
            tokens, size = tokens + more_tokens, size + more_bytes
        if part:
            yield part

    def _fill(self, rows: dict[str, Any], texts: list[str]) -> None:
        """Add a row per text as answers come in; what is too large for one request goes in halves."""
        try:
            answered = self._answered(texts, "document")
        except (RefusedTextsError, SlowAnswerError) as error:
            hopeless = isinstance(error, SlowAnswerError) and IN_A_HURRY.get()
            if len(texts) > 1 and not hopeless:
                self._fill_in_halves(rows, texts)
                return
            if isinstance(error, RefusedTextsError) and error.by_size:
                raise InputTooLongError(error.message, action=error.action) from error
            raise
        rows.update(zip(texts, answered, strict=True))

    def _fill_in_halves(self, rows: dict[str, Any], texts: list[str]) -> None:
        middle = len(texts) // 2
        self._fill(rows, texts[:middle])
        for part in self._parts(texts[middle:]):
            self._fill(rows, part)
        # Only now is it known that their number was at fault, not a single text.
        self._learn(len(texts) - middle)

    def _learn(self, items: int) -> None:
        if items < self.max_batch_items:
            self._ledger.learn(f"{self._key}/items", items, self._now() + LEARNED_SECONDS)

    def _now(self) -> float:
        return self._clock().timestamp()

    def _answered(self, texts: list[str], kind: Kind) -> NDArray[Any]:
        """Ask, check the answer, and count what it cost."""
        call = self._dialect.call(self.model, texts, kind, self._asked_for)
        answer = self._tried(call, kind)
        if answer.status != _SUCCESS:
            refusal = Refusal(answer.status, answer.body, answer.retry_after, self.model, self._clean)
            raise error_of(refusal, self._dialect)
        billed = self._dialect.tokens(answer.body)
        self._told(len(texts), estimated_tokens(tuple(texts)) if billed is None else billed)
        return self._checked(answer, len(texts))

    def _tried(self, call: Call, kind: Kind) -> Answer:
        """Send a request, again after faults that pass; in a hurry only at once, on a new connection."""
        import tenacity

        asked = kind == "query" or IN_A_HURRY.get()
        growing = tenacity.wait_exponential(multiplier=0.5, max=8.0) + tenacity.wait_random(0.0, 0.25)
        passing = tenacity.retry_if_exception_type(BrokenConnectionError if asked else PassingError)
        retrying = tenacity.Retrying(
            # What was not answered in time is asked again with fewer texts, not as it is.
            retry=passing & tenacity.retry_if_not_exception_type(SlowAnswerError),
            stop=tenacity.stop_after_attempt(2 if asked else _TRIES),
            wait=tenacity.wait_none() if asked else growing,
            sleep=self._pause,
            reraise=True,
        )
        return retrying(self._sent, call, self._timeout or self._usual_seconds(asked))

    def _usual_seconds(self, asked: bool) -> float:
        return self._dialect.query_seconds if asked else self._dialect.document_seconds

    def _sent(self, call: Call, timeout: float) -> Answer:
        answer = self._transport.post(call.path, call.body, timeout)
        if answer.status >= 500:
            refusal = Refusal(answer.status, answer.body, answer.retry_after, self.model, self._clean)
            raise error_of(refusal, self._dialect)
        return answer

    def _checked(self, answer: Answer, count: int) -> NDArray[Any]:
        """Take the vectors out of an answer.

        Raises:
            EmbeddingError: It holds something else than one usable vector per text.
        """
        import numpy as np

        try:
            with np.errstate(over="ignore"):
                matrix = np.asarray(self._dialect.vectors(answer.body), dtype=np.float32)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise self._bad("not the vectors that were asked for") from error
        if matrix.ndim != 2 or matrix.shape[0] != count or matrix.shape[1] == 0:
            raise self._bad(f"of shape {matrix.shape} for {count} texts")
        if not np.isfinite(matrix).all() or (np.abs(matrix).max(axis=1) == 0.0).any():
            raise self._bad("with numbers that are not finite, or nothing but zeros")
        self._agree(matrix.shape[1])
        return matrix

    def _agree(self, found: int) -> None:
        """Hold answers to one length; the first tells it, where neither table nor settings do."""
        expected = self.dimensions
        if found == expected:
            return
        self._known = found if self._learns else expected
        if self._learns:
            self._ledger.learn(f"{self._key}/dimensions", found, self._now() + LEARNED_SECONDS)
        if expected is not None:
            raise self._bad(f"with vectors of {found} numbers, where {expected} were expected")

    def _bad(self, what: str) -> EmbeddingError:
        return EmbeddingError(f"{self.provider}: an answer {what}", code="BAD_EMBEDDING")


def _sendable(text: str) -> str:
    """Lone surrogates cannot be sent, NUL is refused by some, and an empty text by most."""
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")
    return text if text.strip() else _BLANK
