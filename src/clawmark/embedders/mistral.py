"""Mistral."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from clawmark.embedders.dialect import Dialect, Limits, Model


class Mistral(Dialect):
    """As OpenAI; 256 texts and 16,000 tokens a request at most."""

    name = "mistral"
    base_url = "https://api.mistral.ai/v1"
    default_model = "mistral-embed"
    key_variables = ("MISTRAL_API_KEY",)
    name_prefixes = ("mistral/",)
    dimensions_field = "output_dimension"
    models: ClassVar[Mapping[str, Model]] = {
        "mistral-embed": Model(1024, 8_192),
        "mistral-embed-2312": Model(1024, 8_192),
        "codestral-embed": Model(1536, 8_192, resizable=True),
        "codestral-embed-2505": Model(1536, 8_192, resizable=True),
    }
    limits = Limits(items=128, tokens=12_000)
