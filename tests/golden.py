"""Recorded inputs and outputs of the system that clawmark re-implements.

``tests/data/README.md`` names their origin. Compare floats with a tolerance of 1e-9.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, cast

SPRING = "2026.3.2"
NEWEST = "2026.9.6"

Case = dict[str, Any]

_FILE = Path(__file__).parent / "data" / "golden.json"
# JSON has no word for these.
_NOT_FINITE = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


@cache
def golden() -> dict[str, Any]:
    """Give the whole record: ``meta``, ``fixtures``, ``cases``."""
    return _with_numbers(json.loads(_FILE.read_text(encoding="utf-8")))


def cases(group: str, version: str | None = None, function: str | None = None) -> list[Case]:
    """Give the cases of a group, in recorded order.

    Args:
        group: Such as "merge".
        version: SPRING or NEWEST, with the cases that both have alike; None for all.
        function: The recorded function; None for all.

    Raises:
        KeyError: There are none: a misspelt name must not pass as an empty test.
    """
    found = [
        case
        for case in golden()["cases"]
        if case["group"] == group
        and (version is None or case["version"] in (version, "both"))
        and function in (None, case["function"])
    ]
    if not found:
        raise KeyError(f"No recorded case of {group!r}, version {version!r}, function {function!r}.")
    return found


def case_id(case: Case) -> str:
    """Name a case in a test report: ``@pytest.mark.parametrize(…, ids=case_id)``."""
    return str(case["id"])


def _with_numbers(value: Any) -> Any:
    """Turn "NaN", "Infinity" and "-Infinity" into the numbers that they stand for."""
    if isinstance(value, dict):
        return {key: _with_numbers(item) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [_with_numbers(item) for item in cast("list[Any]", value)]
    return _NOT_FINITE.get(value, value) if isinstance(value, str) else value
