"""docs/doctor.md names every finding that the source can make, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
SOURCES = sorted((ROOT / "src" / "clawmark").rglob("*.py"))

# Errors that keep a check from being run are findings by their own code.
FROM_ERRORS = {"FORGOTTEN_UNREADABLE", "INDEX_FOREIGN", "INDEX_NEWER", "INDEX_PERMISSION", "INDEX_BUSY"}


def made_in_source() -> Iterator[str]:
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("Finding", "Fault"):
                code = node.args[0]
                if isinstance(code, ast.Constant):
                    yield str(code.value)


def test_every_finding_is_on_the_page_once_with_its_repair() -> None:
    rows = re.findall(r"^\| `([A-Z0-9_]+)` \| (.+?) \| (.+?) \| (yes|no) \|$", PAGE, flags=re.MULTILINE)
    shown = [row[0] for row in rows]

    assert len(shown) == len(set(shown))
    assert set(shown) == {*made_in_source(), *FROM_ERRORS}
