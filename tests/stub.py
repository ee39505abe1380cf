"""The one fake: deterministic embedders, themselves under the contract suite."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence

import numpy as np


class StubEmbedder:
    """Gives each document the cosine to every question that a table says.

    Every question is the first axis; a document lies at its cosine to it, the rest of its
    length on an axis of its own.

    Args:
        cosines: Part of a document's text to its cosine; the first part that occurs counts.
        otherwise: Cosine of all other documents.
        dimensions: Length of a vector.
        norm: Length of document vectors, to try providers that do not normalise.
        on_documents: Called with the texts before they are embedded; may raise or wait.
        on_query: Called with the question before it is embedded; may raise or wait.
    """

    provider = "stub"
    concurrency = 1

    def __init__(
        self,
        cosines: Mapping[str, float] | None = None,
        *,
        otherwise: float = 0.0,
        model: str = "stub-1",
        dimensions: int = 256,
        max_input_tokens: int = 8192,
        max_batch_items: int = 16,
        norm: Callable[[str], float] = lambda text: 1.0,
        on_documents: Callable[[Sequence[str]], None] = lambda texts: None,
        on_query: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.cosines = dict(cosines or {})
        self.otherwise = otherwise
        self.model = model
        self.dimensions = dimensions
        self.max_input_tokens = max_input_tokens
        self.max_batch_items = max_batch_items
        self.norm = norm
        self.on_documents = on_documents
        self.on_query = on_query
        self.document_calls = 0
        self.query_calls = 0
        self.texts: list[str] = []

    @property
    def calls(self) -> int:
        """All calls of the provider."""
        return self.document_calls + self.query_calls

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.document_calls += 1
        self.on_documents(texts)
        self.texts.extend(texts)
        return np.array([self._place(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        self.query_calls += 1
        self.on_query(text)
        vector = np.zeros(self.dimensions, dtype=np.float32)
        vector[0] = 1.0
        return vector

    def _place(self, text: str) -> np.ndarray:
        cosine = next((value for part, value in self.cosines.items() if part in text), self.otherwise)
        vector = np.zeros(self.dimensions)
        axis = 1 + int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:4], "big") % (
            self.dimensions - 1
        )
        vector[0], vector[axis] = cosine, math.sqrt(1.0 - cosine * cosine)
        return vector * self.norm(text)


class WordHashEmbedder:
    """Counts Latin words in 64 buckets: the stub that the golden end-to-end cases were made with."""

    provider = "fake"
    model = "fake-64"
    dimensions = 64
    max_input_tokens = 8192
    max_batch_items = 64
    concurrency = 1

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimensions)
        for word in re.findall("[a-z0-9]+", text.lower()):
            vector[int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big") % self.dimensions] += 1
        length = np.linalg.norm(vector)
        return (vector / length if length else vector).astype(np.float32)
