"""Voyage AI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from clawmark.embedders.dialect import Call, Dialect, Kind, Limits, Model


class Voyage(Dialect):
    """As OpenAI, with ``input_type``; 1,000 texts and, with the large models, 120,000 tokens a request."""

    name = "voyage"
    base_url = "https://api.voyageai.com/v1"
    default_model = "voyage-4-large"
    key_variables = ("VOYAGE_API_KEY",)
    name_prefixes = ("voyage/",)
    dimensions_field = "output_dimension"
    models: ClassVar[Mapping[str, Model]] = {
        **dict.fromkeys(
            ("voyage-4-large", "voyage-4", "voyage-4-lite", "voyage-3-large", "voyage-3.5", "voyage-3.5-lite"),
            Model(1024, 32_000, resizable=True),
        ),
        "voyage-code-3": Model(1024, 32_000, resizable=True),
        "voyage-finance-2": Model(1024, 32_000),
        "voyage-law-2": Model(1024, 16_000),
    }
    limits = Limits(items=128, tokens=90_000)

    def call(self, model: str, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Call:
        """See ``Dialect.call``; a text that is too long is refused, not silently cut."""
        call = super().call(model, texts, kind, dimensions)
        return Call(call.path, {**call.body, "input_type": kind, "truncation": False})
