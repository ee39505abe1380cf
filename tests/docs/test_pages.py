"""The pages hang together: links lead somewhere, and each page stays short enough to be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_LINES = {
    "agents.md": 200,
    "architecture.md": 200,
    "automatic-recall.md": 150,
    "concepts.md": 300,
    "doctor.md": 120,
    "forgetting.md": 120,
    "guide.md": 250,
    "providers.md": 150,
    "reference.md": 560,
    "sessions.md": 130,
    "watching.md": 150,
    "writing.md": 90,
}
PAGES = sorted((ROOT / "docs").glob("*.md"))

_CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ITEM = re.compile(r"^(?:\d+\.|-) ", re.MULTILINE)
_SENTENCES = re.compile(r"[a-z0-9`)*][.?!] [A-Z`]")


def prose(page: Path) -> str:
    return _CODE.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES], ids=lambda page: page.name)
def test_every_link_within_the_repository_leads_to_a_file_and_a_heading(page: Path) -> None:
    links = [link for link in _LINK.findall(prose(page)) if "://" not in link]

    assert [link for link in links if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = page.parent / path if path else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_every_page_has_a_limit_of_lines_and_keeps_it() -> None:
    lengths = {page.name: len(page.read_text(encoding="utf-8").splitlines()) for page in PAGES}

    assert lengths.keys() == MOST_LINES.keys()
    assert {name: length for name, length in lengths.items() if length > MOST_LINES[name]} == {}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_line_of_prose_is_one_sentence(page: Path) -> None:
    """Table cells are notes; sentences in them may share a line."""
    lines = [line for line in _ITEM.sub("", prose(page)).splitlines() if not line.startswith("|")]

    assert [line for line in lines if _SENTENCES.search(line)] == []
