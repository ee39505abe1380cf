"""What embedding costs: usage by provider and day, list prices, a daily budget."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from clawmark.core.chunking import WEIGHT_PER_TOKEN, weigh
from clawmark.core.errors import ProviderError, QuotaError
from clawmark.embedders.circuit import Clock
from clawmark.embedders.ledger import Ledger, Usage

_MILLION = 1_000_000


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens, by "provider/model".

    Attributes:
        date: When the list was made.
        per_million: The list, with the user's own prices in it.
    """

    date: str
    per_million: Mapping[str, float]

    def cost(self, provider: str, model: str, tokens: int) -> float | None:
        """Give the price of some tokens; None when none is known."""
        price = self.per_million.get(f"{provider}/{model}")
        return None if price is None else price * tokens / _MILLION


@cache
def _listed() -> dict[str, Any]:
    return json.loads(Path(__file__).with_name("prices.json").read_text(encoding="utf-8"))


def prices(own: Mapping[str, float] | None = None) -> Prices:
    """Give the list prices, with a user's own in their place."""
    listed = _listed()
    return Prices(listed["date"], {**listed["per_million_tokens"], **(own or {})})


@dataclass(frozen=True)
class Budget:
    """What may be spent on indexing in a day; None for no limit."""

    tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Spent:
    """What was used; models in ``unpriced`` are not in ``cost``."""

    requests: int = 0
    texts: int = 0
    tokens: int = 0
    cached: int = 0
    cost: float = 0.0
    unpriced: tuple[str, ...] = ()


def estimated_tokens(texts: list[str] | tuple[str, ...]) -> int:
    """Estimate the tokens of some texts."""
    return sum(-(-weigh(text) // WEIGHT_PER_TOKEN) for text in texts)


@dataclass(frozen=True)
class Meter:
    """Counts, and stops when the budget of the day is used up.

    Attributes:
        ledger: Where the counts are kept.
        clock: Gives now; a day is one of UTC.
        prices: What tokens cost.
        budget: What may be spent.
    """

    ledger: Ledger
    clock: Clock
    prices: Prices = field(default_factory=prices)
    budget: Budget = Budget()

    @property
    def limited(self) -> bool:
        """Whether there is a budget."""
        return self.budget.tokens is not None or self.budget.cost is not None

    def today(self) -> str:
        """Give the day that is counted now."""
        return self.clock().astimezone(UTC).date().isoformat()

    def count(
        self, provider: str, model: str, *, requests: int = 0, texts: int = 0, tokens: int = 0, cached: int = 0
    ) -> None:
        """Add to what was used today."""
        self.ledger.add_usage(Usage(self.today(), provider, model, requests, texts, tokens, cached))

    def count_cached(self, provider: str, model: str, texts: int) -> None:
        """Add texts that were known already; what is never billed is not counted."""
        if not provider.startswith("local"):
            self.count(provider, model, cached=texts)

    def spent_on(self, day: str) -> Spent:
        """Add up what was used on a day, over all providers."""
        rows = [usage for usage in self.ledger.usage(day) if usage.day == day]
        costs = {f"{row.provider}/{row.model}": self.prices.cost(row.provider, row.model, row.tokens) for row in rows}
        return Spent(
            requests=sum(usage.requests for usage in rows),
            texts=sum(usage.texts for usage in rows),
            tokens=sum(usage.tokens for usage in rows),
            cached=sum(usage.cached for usage in rows),
            cost=sum(cost for cost in costs.values() if cost is not None),
            unpriced=tuple(name for name, cost in costs.items() if cost is None),
        )

    def tokens_left(self, provider: str, model: str) -> float:
        """Give the tokens that the budget of the day still covers."""
        spent, budget = self.spent_on(self.today()), self.budget
        left = float("inf") if budget.tokens is None else float(budget.tokens - spent.tokens)
        price = self.prices.cost(provider, model, 1)
        if budget.cost is not None and price:
            left = min(left, (budget.cost - spent.cost) / price)
        return left

    def check(self, provider: str, model: str, tokens: int) -> None:
        """Refuse a call that the budget of the day does not cover.

        Raises:
            QuotaError: It does not; code BUDGET_REACHED.
            ProviderError: A budget in money is set and the price is not known.
        """
        budget = self.budget
        spent = self.spent_on(self.today())
        if budget.tokens is not None and spent.tokens + tokens > budget.tokens:
            raise self._reached(f"{budget.tokens:,} tokens ({spent.tokens:,} used)")
        if budget.cost is not None:
            self._check_cost(budget.cost, spent, self.prices.cost(provider, model, tokens), f"{provider}/{model}")

    def _check_cost(self, budget: float, spent: Spent, cost: float | None, name: str) -> None:
        if cost is None:
            raise ProviderError(
                f"No price is known for {name}, so [embedding] budget.daily_cost cannot be kept.",
                code="PRICE_UNKNOWN",
                action=f'Set [embedding] prices, such as {{"{name}" = 0.1}}, or budget.daily_tokens instead.',
            )
        if spent.cost + cost > budget:
            raise self._reached(f"${budget:g} (${spent.cost:.4f} used)")

    def _reached(self, what: str) -> QuotaError:
        now = self.clock().astimezone(UTC)
        midnight = datetime(now.year, now.month, now.day, tzinfo=UTC) + timedelta(days=1)
        return QuotaError(
            f"The daily embedding budget of {what} is reached; indexing goes on after {midnight:%Y-%m-%d %H:%M} UTC.",
            code="BUDGET_REACHED",
            action="Raise [embedding] budget, or wait; searches are not limited.",
        )
