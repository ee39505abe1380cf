"""The examples in the docstrings of the core, which are its documentation."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "src" / "clawmark" / "core"


@pytest.mark.parametrize("name", sorted(file.stem for file in CORE.glob("*.py") if file.stem != "__init__"))
def test_the_examples_of_a_module_give_what_they_say(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = doctest.testmod(import_module(f"clawmark.core.{name}"))

    assert found.failed == 0, capsys.readouterr().out
