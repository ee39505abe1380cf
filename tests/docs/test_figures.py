"""The figures of the documentation are drawn by the code that searches use."""

from __future__ import annotations

import runpy
import xml.etree.ElementTree as ET
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def test_the_figure_of_decay_is_what_the_script_draws_now() -> None:
    """When it is not: python docs/figures.py."""
    drawn = runpy.run_path(str(DOCS / "figures.py"))["decay_svg"]()

    assert (DOCS / "decay.svg").read_text(encoding="utf-8") == drawn


def test_the_figure_holds_one_curve_for_each_half_life_and_floor() -> None:
    figure = ET.parse(DOCS / "decay.svg").getroot()

    assert len(figure.findall("{*}polyline")) == 8
