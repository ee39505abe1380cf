"""Google's Gemini API."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, cast

from clawmark.embedders.dialect import Call, Dialect, Kind, Limits, Model, count_of, table_of
from clawmark.embedders.prefixes import SEARCH_RESULT

_TASKS = {"document": "RETRIEVAL_DOCUMENT", "query": "RETRIEVAL_QUERY"}
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)s")


class Gemini(Dialect):
    """``:batchEmbedContents`` for passages, 100 at most, ``:embedContent`` for a question."""

    name = "gemini"
    base_url = "https://generativelanguage.googleapis.com/v1beta"
    default_model = "gemini-embedding-001"
    key_variables = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
    name_prefixes = ("models/", "gemini/", "google/")
    models: ClassVar[Mapping[str, Model]] = {
        "gemini-embedding-001": Model(3072, 2_048, resizable=True),
        "gemini-embedding-2": Model(3072, 8_192, resizable=True),
        "gemini-embedding-2-preview": Model(3072, 8_192, resizable=True),
    }
    limits = Limits(items=100, tokens=100_000)
    input_tokens = 2_048
    key_codes = frozenset({"api_key_invalid"})

    def headers(self, key: str | None) -> dict[str, str]:
        """See ``Dialect.headers``; a JSON object with a ``token`` is an OAuth token."""
        if not key:
            return {}
        token = _token_of(key)
        return {"Authorization": f"Bearer {token}"} if token else {"x-goog-api-key": key}

    def call(self, model: str, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Call:
        """See ``Dialect.call``; the second generation takes its task as words before the text."""
        requests = [self._request(model, text, kind, dimensions) for text in texts]
        if kind == "query":
            return Call(f"/models/{model}:embedContent", requests[0])
        return Call(f"/models/{model}:batchEmbedContents", {"requests": requests})

    def _request(self, model: str, text: str, kind: Kind, dimensions: int | None) -> dict[str, Any]:
        named = model.startswith("gemini-embedding-2")
        shown = SEARCH_RESULT[kind] + text if named else text
        body: dict[str, Any] = {"model": f"models/{model}", "content": {"parts": [{"text": shown}]}}
        if not named:
            body["taskType"] = _TASKS[kind]
        if dimensions is not None:
            body["outputDimensionality"] = dimensions
        return body

    def vectors(self, answer: Any) -> list[Any]:
        """See ``Dialect.vectors``."""
        rows: list[Any] = [answer["embedding"]] if "embedding" in answer else answer["embeddings"]
        return [row["values"] for row in rows]

    def tokens(self, answer: Any) -> int | None:
        """See ``Dialect.tokens``."""
        return count_of(table_of(table_of(answer).get("usageMetadata")).get("promptTokenCount"))

    def codes(self, answer: Any) -> set[str]:
        """See ``Dialect.codes``; a limit per day is a quota, one per minute is a rate."""
        found = super().codes(answer)
        for detail in _details(answer):
            if isinstance(detail.get("reason"), str):
                found.add(detail["reason"].lower())
            violations: list[Any] = detail.get("violations") or []
            if any("perday" in str(violation).lower() for violation in violations):
                found.add("quota_exceeded")
        return found

    def seconds_to_wait(self, answer: Any) -> float | None:
        """See ``Dialect.seconds_to_wait``: ``RetryInfo`` holds a text such as "22s"."""
        waits = [_SECONDS.fullmatch(str(detail.get("retryDelay", ""))) for detail in _details(answer)]
        return next((float(wait[1]) for wait in waits if wait), None)


def _details(answer: Any) -> Iterator[dict[str, Any]]:
    details = table_of(table_of(answer).get("error")).get("details")
    for detail in cast("list[Any]", details) if isinstance(details, list) else []:
        yield table_of(detail)


def _token_of(key: str) -> str | None:
    if not key.startswith("{"):
        return None
    try:
        token = table_of(json.loads(key)).get("token")
    except ValueError:
        return None
    return token if isinstance(token, str) else None
