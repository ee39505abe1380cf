"""What tombstones hide, and which texts share a passage with another."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmark.core.forgetting import Forgotten, Tombstone, text_tombstone
from clawmark.core.lineage import Lineage
from clawmark.core.ports import Document


def lines_of(*lines: str) -> Forgotten:
    stone = text_tombstone(lines, "chunk:x")
    assert stone is not None
    return Forgotten(frozenset({stone}))


def a_document(**fields: Any) -> Document:
    return Document(**{"source": "memory", "path": "memory/a.md", "hash": "h", "size": 1, "mtime_ns": 1, **fields})


@pytest.mark.parametrize(
    ("stone", "document", "hidden"),
    [
        (Tombstone("path", "memory/a.md", ""), a_document(), True),
        (Tombstone("path", "memory/a.md", ""), a_document(path="memory/b.md"), False),
        (Tombstone("content", "h", ""), a_document(path="memory/b.md"), True),
        (Tombstone("session", "s1", ""), a_document(meta={"session": "s1"}), True),
        (Tombstone("session", "s1", ""), a_document(meta={"session": "s2"}), False),
    ],
)
def test_a_document_is_hidden_by_path_content_or_session(stone: Tombstone, document: Document, hidden: bool) -> None:
    assert Forgotten(frozenset({stone})).hides(document) is hidden


def test_a_telling_line_is_blanked_wherever_it_stands_and_numbers_stay() -> None:
    forgotten = lines_of("The spare key hangs in the cellar.")

    assert forgotten.masked("a\n  The spare  key hangs in the cellar. \r\nb") == "a\n\nb"


def test_a_short_line_goes_with_its_neighbour_and_stays_elsewhere() -> None:
    forgotten = lines_of("- done", "The spare key hangs in the cellar.", "", "- paid")

    text = "- done\nThe spare key hangs in the cellar.\n\n- paid\nother words that stay\n- done\n- paid"
    assert forgotten.masked(text) == "\n\n\n\nother words that stay\n- done\n- paid"


def test_short_lines_alone_are_blanked_only_all_of_them_in_their_order() -> None:
    forgotten = lines_of("pin 4711", "- ok")

    assert forgotten.masked("pin 4711\n\n- ok\nrest") == "\n\n\nrest"
    assert forgotten.masked("pin 4711\nrest\n- ok") == "pin 4711\nrest\n- ok"


def test_blank_lines_are_no_text_to_forget() -> None:
    assert text_tombstone(["", "  "], "chunk:x") is None


@given(st.lists(st.text(alphabet="ab \t\nzü鍵", max_size=30), max_size=8), st.text(max_size=60))
def test_masking_keeps_the_number_of_lines_and_is_done_once(lines: list[str], text: str) -> None:
    stone = text_tombstone(lines, "chunk:x")
    forgotten = Forgotten(frozenset({stone} if stone else ()))
    masked = forgotten.masked(text)

    assert masked.count("\n") == text.count("\n")
    assert all(new in ("", old) for new, old in zip(masked.split("\n"), text.split("\n"), strict=True))


def test_the_digest_tells_tombstones_apart_and_not_their_order() -> None:
    one, two = Tombstone("path", "a", "path:a"), Tombstone("path", "b", "path:b")

    assert Forgotten().digest == ""
    assert Forgotten(frozenset({one, two})).digest == Forgotten(frozenset({two, one})).digest
    assert Forgotten(frozenset({one})).digest != Forgotten(frozenset({two})).digest


def test_a_tombstone_of_a_text_holds_no_word_of_it() -> None:
    stone = text_tombstone(["The zanzibar key"], "chunk:memory/a.md#L1")

    assert stone is not None
    assert "zanzibar" not in repr(stone)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("- remember: THE SPARE KEY hangs\nbehind the boiler in the cellar!", True),
        ("The spare key is lost, and the boiler in the cellar leaks.", False),
        ("备用钥匙挂在地下室的锅炉后面。", True),
        ("Taken from sessions/s1.jsonl last week.", True),
        ("Taken from sessions/s1.jsonl-old last week.", False),
        ("Call Ann tomorrow.", False),
        ("", False),
    ],
)
def test_a_text_shares_a_passage_by_eight_words_a_short_line_or_a_name(text: str, shared: bool) -> None:
    source = (
        "User: The spare key hangs behind the boiler in the cellar.\n"
        "User: 备用钥匙挂在地下室的锅炉后面\nUser: Call Ann tomorrow."
    )
    assert Lineage([source], ["sessions/s1.jsonl"]).shared_by(text) is shared


def test_a_short_line_of_the_source_is_found_as_a_whole() -> None:
    lineage = Lineage(["The code is 7719\n\nbye"])

    assert lineage.shared_by("He said the code is 7719.")
    assert not lineage.shared_by("The code is 7720, bye")
