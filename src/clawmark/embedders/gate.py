"""No more calls of an embedder at the same time than it declares."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from clawmark.core.ports import Embedder, embeds_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray


class GatedEmbedder:
    """An embedder behind a gate as wide as its ``concurrency`` (``core.ports.Embedder``)."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._gate = threading.BoundedSemaphore(max(1, embedder.concurrency))

    @property
    def provider(self) -> str:
        """See ``core.ports.Embedder``."""
        return self._embedder.provider

    @property
    def model(self) -> str:
        """See ``core.ports.Embedder``."""
        return self._embedder.model

    @property
    def dimensions(self) -> int | None:
        """See ``core.ports.Embedder``."""
        return self._embedder.dimensions

    @property
    def max_input_tokens(self) -> int:
        """See ``core.ports.Embedder``."""
        return self._embedder.max_input_tokens

    @property
    def max_batch_items(self) -> int:
        """See ``core.ports.Embedder``."""
        return self._embedder.max_batch_items

    @property
    def concurrency(self) -> int:
        """See ``core.ports.Embedder``."""
        return self._embedder.concurrency

    @property
    def embeds_sentences(self) -> bool:
        """See ``core.ports.embeds_sentences``."""
        return embeds_sentences(self._embedder)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        with self._gate:
            return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        with self._gate:
            return self._embedder.embed_query(text)
