"""OpenAI, and every server that is asked in the same way (``base_url``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from clawmark.embedders.dialect import Call, Dialect, Kind, Limits, Model
from clawmark.embedders.prefixes import prefixed


class OpenAi(Dialect):
    """``POST /embeddings``: 2,048 texts and 300,000 tokens a request at most, 8,192 tokens a text."""

    name = "openai"
    base_url = "https://api.openai.com/v1"
    default_model = "text-embedding-3-small"
    key_variables = ("OPENAI_API_KEY",)
    name_prefixes = ("openai/",)
    models: ClassVar[Mapping[str, Model]] = {
        "text-embedding-3-small": Model(1536, 8_191, resizable=True),
        "text-embedding-3-large": Model(3072, 8_191, resizable=True),
        "text-embedding-ada-002": Model(1536, 8_191),
    }
    # Smaller than allowed: what a killed process had sent is paid for, and lost.
    limits = Limits(items=128, tokens=200_000)

    def call(self, model: str, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Call:
        """See ``Dialect.call``; open models behind compatible servers want their prefixes."""
        return super().call(model, prefixed(model, texts, kind), kind, dimensions)
