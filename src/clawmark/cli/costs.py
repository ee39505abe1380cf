"""``clawmark cost``, and the question before a first index that costs money."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clawmark.cli.frame import USAGE, Choice, common_options, fail, print_json
from clawmark.core.model import ErrorInfo
from clawmark.engine.memory import Memory
from clawmark.engine.spending import CostReport, Estimate


@click.command()
@click.option("--days", type=click.IntRange(min=1), default=30, metavar="N", help="Days to look back. Default: 30.")
@common_options
def cost(choice: Choice, days: int) -> None:
    """Show what embedding has cost, in all workspaces."""
    with choice.open() as memory:
        report = memory.costs(days=days)
    if choice.as_json:
        print_json(report)
        return
    for line in cost_lines(report, days):
        click.echo(line)


def confirm_costs(choice: Choice, memory: Memory) -> None:
    """Ask before notes are sent to a provider that takes money; without a terminal that needs --yes."""
    estimate = memory.estimate()
    if estimate is None:
        return
    question = f"{estimate_text(estimate)} Send them?"
    asked = sys.stdin.isatty() and sys.stderr.isatty()
    if asked and click.confirm(question, default=False, err=True):
        return
    message = "Nothing was sent." if asked else f"{estimate_text(estimate)} Nothing was sent."
    action = "Run `clawmark index --yes` to send them, or choose another [embedding] provider."
    fail(choice, ErrorInfo("CONFIRMATION_NEEDED", message, action), USAGE)


def estimate_text(estimate: Estimate) -> str:
    """Say what a first index will send."""
    price = "at a price that is not known" if estimate.cost is None else f"about ${_amount(estimate.cost)}"
    return (
        f"A first index sends about {estimate.texts:,} texts, {estimate.tokens:,} tokens, to {estimate.provider}"
        f" ({estimate.model}): {price} (list prices of {estimate.prices_of})."
    )


def cost_lines(report: CostReport, days: int) -> Iterator[str]:
    """Give a report as a table."""
    if not report.rows:
        yield f"No texts were sent to a provider in the last {days} days."
        return
    yield f"{'day':<12}{'provider/model':<36}{'requests':>9}{'texts':>9}{'tokens':>13}{'cached':>9}{'cost':>10}"
    for row in report.rows:
        name = f"{row.provider}/{row.model}"
        shown = "?" if row.cost is None else f"${_amount(row.cost)}"
        yield f"{row.day:<12}{name:<36}{row.requests:>9,}{row.texts:>9,}{row.tokens:>13,}{row.cached:>9,}{shown:>10}"
    yield f"Total ${_amount(report.cost)} (list prices of {report.prices_of}, US dollars)."
    limits = [f"{report.budget_tokens:,} tokens"] if report.budget_tokens is not None else []
    limits += [f"${report.budget_cost:g}"] if report.budget_cost is not None else []
    if limits:
        yield f"Budget of a day: {', '.join(limits)}."


def _amount(dollars: float) -> str:
    return f"{dollars:.4f}" if dollars < 1 else f"{dollars:,.2f}"
