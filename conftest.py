"""Makes the code blocks of README.md and docs/ tests; what they may do stands in tests/docs/doc_blocks.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "tests" / "docs"))

from doc_blocks import PAGES  # noqa: E402 - it is found through the line above

pytest_collect_file = PAGES.pytest()
