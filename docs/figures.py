"""Draws docs/decay.svg from the formula that searches use: ``python docs/figures.py``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clawmark.core.decay import bounded_multiplier, decay_multiplier

HALF_LIVES = (7, 30, 90, 180)
FLOORS = (0.0, 0.8)
COLOURS = ("#f0883e", "#d1495b", "#7b4ea3", "#1f6f8b")  # short to long
LAST_DAY = 240

PLOT_WIDTH, PLOT_HEIGHT = 300, 210
LEFT, TOP, GAP, BOTTOM = 56, 72, 64, 48
WIDTH = LEFT + len(FLOORS) * (PLOT_WIDTH + GAP) - GAP + 24
HEIGHT = TOP + PLOT_HEIGHT + BOTTOM


def decay_svg() -> str:
    """Give the figure: one panel per floor, one curve per half-life, a dot where the half-life is over."""
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        ' font-family="sans-serif" font-size="12" fill="#333">',
        "<title>Decay multiplier by age, for half-lives of 7, 30, 90 and 180 days and floors 0 and 0.8</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_legend(),
    ]
    for column, floor in enumerate(FLOORS):
        lines += _panel(LEFT + column * (PLOT_WIDTH + GAP), floor)
    return "\n".join((*lines, "</svg>", ""))


def _legend() -> Iterator[str]:
    yield f'<text x="{LEFT}" y="24">half-life:</text>'
    for place, (half_life, colour) in enumerate(zip(HALF_LIVES, COLOURS, strict=True)):
        x = LEFT + 76 + 110 * place
        yield f'<path d="M{x} 20h28" stroke="{colour}" stroke-width="2"/>'
        yield f'<circle cx="{x + 14}" cy="20" r="4" fill="{colour}"/>'
        yield f'<text x="{x + 36}" y="24">{half_life} days</text>'


def _panel(left: int, floor: float) -> Iterator[str]:
    yield f'<text x="{left}" y="{TOP - 18}" font-size="14" font-weight="bold">floor = {floor:g}</text>'
    yield from _axes(left)
    for half_life, colour in zip(HALF_LIVES, COLOURS, strict=True):
        yield from _curve(left, floor, half_life, colour)


def _axes(left: int) -> Iterator[str]:
    for tenths in range(0, 11, 2):
        y = _y(tenths / 10)
        yield f'<path d="M{left} {y:.1f}h{PLOT_WIDTH}" stroke="#ddd"/>'
        yield f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tenths / 10:g}</text>'
    for day in range(0, LAST_DAY + 1, 60):
        yield f'<text x="{_x(left, day):.1f}" y="{TOP + PLOT_HEIGHT + 18}" text-anchor="middle">{day}</text>'
    middle = left + PLOT_WIDTH / 2
    yield f'<text x="{middle:.1f}" y="{HEIGHT - 10}" text-anchor="middle">age in days</text>'
    middle = TOP + PLOT_HEIGHT / 2
    yield (
        f'<text x="{left - 38}" y="{middle:.1f}" text-anchor="middle"'
        f' transform="rotate(-90 {left - 38} {middle:.1f})">multiplier</text>'
    )


def _curve(left: int, floor: float, half_life: int, colour: str) -> Iterator[str]:
    points = " ".join(
        f"{_x(left, day):.1f},{_y(_multiplier(day, half_life, floor)):.1f}" for day in range(0, LAST_DAY + 1, 2)
    )
    yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>'
    x, y = _x(left, half_life), _y(_multiplier(half_life, half_life, floor))
    yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'


def _multiplier(age_days: float, half_life_days: float, floor: float) -> float:
    return bounded_multiplier(decay_multiplier(age_days, half_life_days), floor)


def _x(left: int, day: float) -> float:
    return left + PLOT_WIDTH * day / LAST_DAY


def _y(multiplier: float) -> float:
    return TOP + PLOT_HEIGHT * (1.0 - multiplier)


if __name__ == "__main__":
    Path(__file__).with_name("decay.svg").write_text(decay_svg(), encoding="utf-8")
