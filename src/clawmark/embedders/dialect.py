"""What differs between providers: where a request goes, how it looks, how its answer is read.

The base class speaks the protocol that most share; a provider's module says what it does
otherwise. Nothing here sends anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

Kind = Literal["document", "query"]


@dataclass(frozen=True)
class Limits:
    """What one request may hold; cut below the documented numbers, since tokens are estimated.

    Attributes:
        items: Most texts.
        tokens: Most tokens over all texts.
        bytes: Most bytes over all texts.
        concurrency: Requests at the same time.
    """

    items: int
    tokens: int
    bytes: int = 4_000_000
    concurrency: int = 4


@dataclass(frozen=True)
class Model:
    """What is known of a model.

    Attributes:
        dimensions: Length of its vectors, unless another is asked for; 0 when it is learned.
        input_tokens: Longest text.
        resizable: Whether another length can be asked for.
    """

    dimensions: int
    input_tokens: int
    resizable: bool = False


@dataclass(frozen=True)
class Call:
    """One request: the path below the base URL, and the body."""

    path: str
    body: dict[str, Any]


class Dialect:
    """A provider that is asked as OpenAI is, and the base of those that are asked otherwise."""

    name: ClassVar[str]
    base_url: ClassVar[str]
    default_model: ClassVar[str]
    key_variables: ClassVar[tuple[str, ...]]
    key_optional: ClassVar[bool] = False
    models: ClassVar[Mapping[str, Model]]
    # Models that are not in the table may be asked for at the provider's own address.
    open_ended: ClassVar[bool] = False
    limits: ClassVar[Limits]
    input_tokens: ClassVar[int] = 8_192
    document_seconds: ClassVar[float] = 60.0
    query_seconds: ClassVar[float] = 10.0
    name_prefixes: ClassVar[tuple[str, ...]] = ()
    dimensions_field: ClassVar[str] = "dimensions"
    quota_codes: ClassVar[frozenset[str]] = frozenset(
        {
            "insufficient_quota",
            "quota_exceeded",
            "billing_hard_limit_reached",
            "billing_not_active",
            "account_deactivated",
            "credit_balance_too_low",
            "insufficient_balance",
        }
    )
    key_codes: ClassVar[frozenset[str]] = frozenset({"invalid_api_key"})

    def endpoint(self, base_url: str) -> str:
        """Give the address below which requests go."""
        return base_url.rstrip("/")

    def headers(self, key: str | None) -> dict[str, str]:
        """Give the headers that carry the key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def call(self, model: str, texts: Sequence[str], kind: Kind, dimensions: int | None) -> Call:
        """Give the request for some texts."""
        del kind  # questions and passages are the same to this protocol
        body: dict[str, Any] = {"model": model, "input": list(texts)}
        if dimensions is not None:
            body[self.dimensions_field] = dimensions
        return Call("/embeddings", body)

    def vectors(self, answer: Any) -> list[Any]:
        """Take the vectors out of an answer, in the order of the texts.

        Raises:
            LookupError: They are not where they belong, or their numbers are not 0..n-1.
            TypeError: Likewise.
        """
        rows: list[Any] = answer["data"]
        # Some compatible servers leave the number out; then the order is that of the texts.
        by_index = {int(row.get("index", place)): row["embedding"] for place, row in enumerate(rows)}
        return [by_index[place] for place in range(len(rows))]

    def tokens(self, answer: Any) -> int | None:
        """Give the tokens that were billed, None when the answer does not say."""
        usage = table_of(table_of(answer).get("usage"))
        return count_of(usage.get("total_tokens", usage.get("prompt_tokens")))

    def codes(self, answer: Any) -> set[str]:
        """Give the codes by which a refusal names its reason, in lower case."""
        holder = _error_of(answer)
        found = {holder.get(name) for name in ("code", "type", "status", "reason")}
        return {code.lower() for code in found if isinstance(code, str)}

    def message(self, answer: Any) -> str:
        """Give the words of a refusal."""
        holder = _error_of(answer)
        found = next((holder[name] for name in ("message", "detail", "error") if holder.get(name)), "")
        return found if isinstance(found, str) else ""

    def seconds_to_wait(self, answer: Any) -> float | None:
        """Give the wait that the body of a refusal asks for."""
        del answer
        return None


def table_of(value: Any) -> dict[str, Any]:
    """Give a JSON object; an empty one for anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def count_of(value: Any) -> int | None:
    """Give a count; None for anything else."""
    return value if isinstance(value, int) and value >= 0 else None


def _error_of(answer: Any) -> dict[str, Any]:
    whole = table_of(answer)
    return table_of(whole.get("error")) or whole
