"""The two legs of a search: which of them answer, and with what.

The question is embedded in a thread while the text leg works, so that a slow provider
costs a search its deadline at most, never its answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clawmark.core.errors import ClawmarkError
from clawmark.core.log import logger
from clawmark.core.model import Notice
from clawmark.core.ports import Embedder
from clawmark.embedders.guard import GuardedEmbedder
from clawmark.sync import same_space
from clawmark.sync.embedding import checked, fitting

if TYPE_CHECKING:
    from numpy.typing import NDArray


# What a model is asked to take is estimated on the safe side for a question: two bytes
# to a token is denser than any ordinary text.
_BYTES_PER_TOKEN = 2


@dataclass(frozen=True)
class QueryVector:
    """A question as a vector, or the reason why there is none.

    Attributes:
        vector: Unit length; None when the vector leg does not answer.
        embedder: Who made it, or failed to; None in keyword mode by choice.
        reason: Why there is no vector; None when there is one, or none is wanted.
        notices: What the reader should know.
    """

    vector: NDArray[Any] | None
    embedder: Embedder | None
    reason: str | None = None
    notices: tuple[Notice, ...] = ()


class QueryEmbedding:
    """Embeds a question in the background.

    Args:
        query: The question.
        space: Provider, model and dimensions of the vectors in the index; None when
            there are none yet.
        embedder: Gives the embedder for the vectors of the index; may raise.
    """

    def __init__(
        self,
        query: str,
        space: dict[str, Any] | None,
        embedder: Callable[[dict[str, Any] | None], Embedder | None],
    ) -> None:
        self._query = query
        self._space = space
        self._embedder = embedder
        self._outcome: QueryVector | None = None
        self._thread: threading.Thread | None = None
        self._asked: Embedder | None = None
        self._lock = threading.Lock()
        self._came_late: Callable[[], None] | None = None

    def start(self, *, in_background: bool) -> None:
        """Begin; without a deadline the caller's own thread does the work when asked."""
        if in_background:
            self._thread = threading.Thread(target=self._work, name="clawmark-query", daemon=True)
            self._thread.start()

    def result(self, timeout: float | None) -> QueryVector:
        """Give the vector, or why there is none, within *timeout* seconds."""
        if self._thread is None:
            self._work()
        else:
            self._thread.join(timeout)
        with self._lock:
            if self._outcome is not None:
                return self._outcome
            # Further questions do not queue up behind this one.
            if isinstance(self._asked, GuardedEmbedder):
                self._came_late = self._asked.counted_late()
        return QueryVector(None, None, "vector leg timed out", (_late(),))

    def _work(self) -> None:
        outcome = self._tried()
        with self._lock:
            self._outcome = outcome
            if self._came_late is not None:
                self._came_late()

    def _tried(self) -> QueryVector:
        try:
            return self._embed()
        except ClawmarkError as error:
            return QueryVector(None, None, error.message, (Notice(error.code, error.message, error.action),))
        except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; the text leg still answers
            logger(__name__).debug("embedding the question failed", exc_info=error)
            reason = f"vector leg failed: {error or type(error).__name__}"
            return QueryVector(None, None, reason, (Notice("QUERY_EMBEDDING_FAILED", reason),))

    def _embed(self) -> QueryVector:
        embedder = self._asked = self._embedder(self._space)
        if embedder is None:
            return QueryVector(None, None)
        if self._space is None:
            return QueryVector(None, embedder, "the index has no vectors yet", (_no_vectors(),))
        if not same_space(self._space, embedder):
            return _mismatch(self._space, embedder, embedder.dimensions)
        text, notices = _cut(self._query, embedder)
        vector = checked([embedder.embed_query(text)], 1)[0]
        if len(vector) != self._space["dimensions"]:
            return _mismatch(self._space, embedder, len(vector))
        return QueryVector(vector, embedder, None, notices)


def _cut(query: str, embedder: Embedder) -> tuple[str, tuple[Notice, ...]]:
    limit = embedder.max_input_tokens
    if len(query.encode("utf-8", "replace")) <= limit * _BYTES_PER_TOKEN:
        return query, ()
    message = f"The question is longer than {embedder.model} takes; only its beginning was compared by meaning."
    return fitting(query, limit // 2), (Notice("QUERY_TRUNCATED", message, "Ask a shorter question."),)


def _mismatch(space: dict[str, Any], embedder: Embedder, dimensions: int | None) -> QueryVector:
    if (space["provider"], space["model"]) == (embedder.provider, embedder.model):
        what = f"index {space['dimensions']}-dim, provider {dimensions}-dim"
    else:
        what = f"index {space['provider']}/{space['model']}, provider {embedder.provider}/{embedder.model}"
    reason = f"the vectors of the index come from another model ({what})"
    notice = Notice("VECTOR_SPACE_MISMATCH", f"Vectors were not compared: {reason}.", "Run `clawmark index`.")
    return QueryVector(None, embedder, reason, (notice,))


def _no_vectors() -> Notice:
    return Notice("NO_VECTORS", "Nothing is embedded yet; the answer is by keyword.", "Run `clawmark index`.")


def _late() -> Notice:
    message = "The question was not embedded before the deadline; the answer is by keyword."
    return Notice("VECTOR_LEG_TIMEOUT", message, "Give the search a longer deadline.")
