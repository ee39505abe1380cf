"""Embedders around an embedder: no more calls at the same time than it declares."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from clawmark.core.ports import Embedder, embeds_sentences

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Somebody waits for more than these vectors: a remote embedder tries once, and not for long.
IN_A_HURRY: ContextVar[bool] = ContextVar("in_a_hurry", default=False)


class WrappedEmbedder:
    """An embedder that passes everything on (``core.ports.Embedder``)."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

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
        return self._embedder.embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        return self._embedder.embed_query(text)


class GatedEmbedder(WrappedEmbedder):
    """An embedder behind a gate as wide as its ``concurrency``."""

    def __init__(self, embedder: Embedder) -> None:
        super().__init__(embedder)
        self._gate = threading.BoundedSemaphore(max(1, embedder.concurrency))

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        with self._gate:
            return super().embed_documents(texts)

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        with self._gate:
            return super().embed_query(text)
