"""Ollama, on this machine or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from clawmark.embedders.dialect import Call, Dialect, Kind, Limits, Model, count_of, table_of
from clawmark.embedders.prefixes import prefixed


class Ollama(Dialect):
    """``POST /api/embed``; a text above the model's context is refused, so that its cut is ours."""

    name = "ollama"
    base_url = "http://127.0.0.1:11434"
    default_model = "nomic-embed-text"
    key_variables = ("OLLAMA_API_KEY",)
    key_optional = True
    open_ended = True
    name_prefixes = ("ollama/",)
    # A name stands for several sizes: the length of a vector is learned from the first answer.
    models: ClassVar[Mapping[str, Model]] = {
        "nomic-embed-text": Model(0, 2_048, resizable=True),
        "mxbai-embed-large": Model(0, 512, resizable=True),
        "all-minilm": Model(0, 256, resizable=True),
        "bge-m3": Model(0, 8_192, resizable=True),
        "embeddinggemma": Model(0, 2_048, resizable=True),
        "qwen3-embedding": Model(0, 8_192, resizable=True),
        "snowflake-arctic-embed2": Model(0, 8_192, resizable=True),
    }
    # One model on one machine: a second request would only wait, and a large one time out.
    limits = Limits(items=16, tokens=16_000, concurrency=1)
    input_tokens = 2_048
    document_seconds = 300.0
    query_seconds = 60.0

    def endpoint(self, base_url: str) -> str:
        """See ``Dialect.endpoint``; the address of the compatible interface is one too."""
        return base_url.rstrip("/").removesuffix("/v1")

    def call(self, model: str, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Call:
        """See ``Dialect.call``."""
        body: dict[str, Any] = {"model": model, "input": prefixed(model, texts, kind), "truncate": False}
        if dimensions is not None:
            body["dimensions"] = dimensions
        return Call("/api/embed", body)

    def vectors(self, answer: Any) -> list[Any]:
        """See ``Dialect.vectors``."""
        return list(answer["embeddings"])

    def tokens(self, answer: Any) -> int | None:
        """See ``Dialect.tokens``."""
        return count_of(table_of(answer).get("prompt_eval_count"))
