"""Cuts against the grapheme clusters of the ``regex`` package, which the hook must not load.

Python 3.11 knows Unicode 14, the package a later one: characters that are not assigned in
the former are left out.
"""

from __future__ import annotations

import pytest
import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.graphemes import safe_cut

# What joins: accents, emoji with skin and joiners, flags, Hangul, Thai, Indic conjuncts, prepended marks.
JOINING = (
    "\r\n\u0300\u0301\u200d\u200c\ufe0f\U0001f3fd\U000e0067\U000e007f\U0001f1e9\U0001f1ea\U0001f469\U0001f527\u261d"
    "\u1100\u1161\u11a8\uac00\uac01\ud55c\ua960\ud7cb\u115f\u1160\u0e01\u0e33\u0e48\u0915\u094d\u0937\u093f\u093c"
    "\u0b95\u0bcd\u09b0\u09cd\u0600\u06dd\u0d4e\U000111c2\U00011a84\u1b44\u3099\u304b\uff76\uff9e\u00ad\ufeff"
)
TEXTS = st.text(
    st.sampled_from(JOINING) | st.sampled_from("ab 中。") | st.characters(exclude_categories=["Cn", "Cs", "Co"]),
    max_size=24,
)


def borders(text: str) -> set[int]:
    return {0, len(text), *(cluster.start() for cluster in regex.finditer(r"\X", text))}


@settings(max_examples=100, deadline=None)
@given(TEXTS)
@example("\r\n")
@example("\u094d\u0915a")
@example("क\u094d\u200d\ufe0fष")
@example("🇩🇪🇫🇷🇯")
@example("👩\u200d🔧👩🏽\u200d🔧")
@example("\U00011a84\u4e2d")
def test_a_cut_never_breaks_a_grapheme(text: str) -> None:
    """C07: at every place of every text."""
    allowed = borders(text)

    cuts = [safe_cut(text, index) for index in range(len(text) + 1)]

    assert set(cuts) <= allowed
    assert all(cut <= index for index, cut in enumerate(cuts))


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_a_cut_that_was_moved_stays_where_it_is(text: str) -> None:
    cuts = [safe_cut(text, index) for index in range(len(text) + 1)]

    assert [safe_cut(text, cut) for cut in cuts] == cuts


@settings(max_examples=50, deadline=None)
@given(
    st.text(st.characters(codec="ascii", exclude_characters="\r"), max_size=20)
    | st.text("中文字符。，日本語", max_size=20)
)
def test_ordinary_text_may_be_cut_anywhere(text: str) -> None:
    assert [safe_cut(text, index) for index in range(len(text) + 1)] == list(range(len(text) + 1))


@pytest.mark.parametrize(
    "cluster",
    ["e\u0301", "👩\u200d🔧", "🇩🇪", "\u1112\u1161\u11ab", "각\u11a8", "กำ", "क\u094dष", "☝🏽", "\r\n", "☝\ufe0f"],
)
def test_what_a_reader_sees_as_one_character_is_kept_whole(cluster: str) -> None:
    """C07, with a letter before and after."""
    text = f"中{cluster}z"

    cuts = {safe_cut(text, index) for index in range(1, len(text))}

    assert cuts == {1, 1 + len(cluster)}


def test_a_flag_is_cut_off_from_the_next_flag_only() -> None:
    text = "🇩🇪🇫🇷🇯🇵"

    assert [safe_cut(text, index) for index in range(7)] == [0, 0, 2, 2, 4, 4, 6]


def test_a_pile_of_marks_that_nobody_reads_may_be_cut() -> None:
    """Such a text must not move a cut without end: chunks would not fill."""
    text = "a" + "\u0301" * 500

    assert safe_cut(text, 300) == 300
    assert safe_cut(text, 60) == 0
