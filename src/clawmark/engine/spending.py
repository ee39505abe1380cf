"""What embedding costs: before a first index, and since."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from clawmark.core.errors import EmbeddingError
from clawmark.core.model import Status, Wire
from clawmark.core.ports import Embedder
from clawmark.engine.providing import Providing
from clawmark.files import scan_files
from clawmark.sync import Workplace, same_space

# Four bytes of English make a token, three of Chinese: an estimate should not be too low.
_BYTES_PER_TOKEN = 3


@dataclass(frozen=True)
class Estimate(Wire):
    """What a first index will send, estimated from the sizes of the files.

    Attributes:
        provider: Whom it is sent to.
        model: Its model.
        texts: Number of texts.
        tokens: Their tokens.
        cost: US dollars at list price; None when no price is known.
        prices_of: Date of the price list.
    """

    provider: str
    model: str
    texts: int
    tokens: int
    cost: float | None
    prices_of: str


@dataclass(frozen=True)
class CostRow(Wire):
    """What one model was given on one day (UTC); ``cost`` is None when no price is known."""

    day: str
    provider: str
    model: str
    requests: int
    texts: int
    tokens: int
    cached: int
    cost: float | None


@dataclass(frozen=True)
class CostReport(Wire):
    """What embedding has cost, by day, provider and model.

    Attributes:
        rows: Oldest first.
        cost: US dollars over all rows with a price.
        budget_tokens: Most tokens in a day; None for no limit.
        budget_cost: Most US dollars in a day; None for no limit.
        prices_of: Date of the price list.
    """

    rows: tuple[CostRow, ...]
    cost: float
    budget_tokens: int | None
    budget_cost: float | None
    prices_of: str


def unasked_embedder(providing: Providing, place: Workplace) -> Embedder | None:
    """Give the embedder for a pass that nobody asked for: such a pass never begins to spend money."""
    embedder = providing.for_pass(explicit=False)
    if embedder is None or not providing.is_billed(embedder.provider) or _has_vectors(place, embedder):
        return embedder
    return None


def first_estimate(providing: Providing, place: Workplace) -> Estimate | None:
    """Estimate what a first index sends to a provider that takes money; None when it is no such thing."""
    try:
        embedder = providing.for_pass(explicit=True)
    except EmbeddingError:
        return None  # nothing will be sent; the pass says why
    if embedder is None or not providing.is_billed(embedder.provider) or _has_vectors(place, embedder):
        return None
    sizes = [found.size for found in scan_files(place.rules, place.sources).files if found.size]
    if not sizes:
        return None
    overlap = place.recipe.overlap
    fresh = max(1, place.recipe.tokens - overlap)
    texts = sum(-(-size // (_BYTES_PER_TOKEN * fresh)) for size in sizes)
    tokens = sum(sizes) // _BYTES_PER_TOKEN + (texts - len(sizes)) * min(overlap, fresh)
    prices = providing.meter.prices
    cost = prices.cost(embedder.provider, embedder.model, tokens)
    return Estimate(embedder.provider, embedder.model, texts, tokens, cost, prices.date)


def cost_report(providing: Providing, days: int) -> CostReport:
    """Give what was used in the last days, today included."""
    meter = providing.meter
    first = (datetime.fromisoformat(meter.today()).replace(tzinfo=UTC) - timedelta(days=days - 1)).date()
    rows = tuple(
        CostRow(**vars(usage), cost=meter.prices.cost(usage.provider, usage.model, usage.tokens))
        for usage in meter.ledger.usage(first.isoformat())
    )
    return CostReport(
        rows=rows,
        cost=sum(row.cost or 0.0 for row in rows),
        budget_tokens=meter.budget.tokens,
        budget_cost=meter.budget.cost,
        prices_of=meter.prices.date,
    )


def with_costs(status: Status, providing: Providing) -> Status:
    """Add to a status what was spent today, how long requests may take, and whether the provider rests."""
    meter = providing.meter
    spent = meter.spent_on(meter.today())
    budget = {"budget_tokens": meter.budget.tokens, "budget_cost": meter.budget.cost}
    cost = {"day": meter.today(), **vars(spent), "unpriced": list(spent.unpriced), **budget}
    vector = None if status.vector is None else {**status.vector, **_provider_state(providing)}
    return replace(status, cost=cost, vector=vector)


def _provider_state(providing: Providing) -> dict[str, Any]:
    state: dict[str, Any] = {} if providing.timeout is None else {"timeout": providing.timeout}
    pause = providing.pause()
    if pause is not None:
        state["resting_until"] = datetime.fromtimestamp(pause.until, UTC).isoformat(timespec="seconds")
        state["reason"] = pause.reason
    return state


def _has_vectors(place: Workplace, embedder: Embedder) -> bool:
    with place.store.reading(place.agent, place.recipe.identity()) as reader:
        state = reader.state()
        space = state.facts.get("space") if state else None
        return bool(space) and same_space(space, embedder) and any(one["vectors"] for one in reader.counts().values())
