"""The part of a chunk that is shown: source text, short enough, around the best match."""

from __future__ import annotations

import regex
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.snippets import SNIPPET_CHARS, cut_at_border, snippet
from clawmark.core.tokens import query_terms, surfaces

WORDS = st.sampled_from(
    [
        "harbour",
        "crane",
        "inspection",
        "passed.",
        "RFC-0077",
        "备份方案。",
        "钥匙，",
        "e\u0301te\u0301",
        "👩\u200d🔧",
        "\n",
        "\n\n",
        "🇩🇪🇫🇷",
    ]
)
TEXTS = st.lists(WORDS, max_size=60).flatmap(
    lambda words: st.sampled_from([" ", ""]).map(lambda glue: glue.join(words))
)
TERMS = st.dictionaries(st.sampled_from(["crane", "rfc-0077", "备份", "钥", "nothing"]), st.floats(0.1, 9))
LIMITS = st.integers(1, 120)


def borders(text: str) -> set[int]:
    return {0, len(text), *(cluster.start() for cluster in regex.finditer(r"\X", text))}


def weights(query: str) -> dict[str, float]:
    return dict.fromkeys(query_terms(query).terms, 1.0)


@settings(max_examples=100, deadline=None)
@given(TEXTS, TERMS, LIMITS)
@example("e\u0301" * 40, {}, 1)
def test_a_snippet_is_a_part_of_the_text_that_is_short_enough(text: str, terms: dict[str, float], limit: int) -> None:
    """U10."""
    found = snippet(text, terms, limit=limit)

    assert found in text
    assert len(found) <= limit
    # The longest grapheme here has four characters.
    assert found or limit < 4 or not text[:limit].strip("\n")


@settings(max_examples=100, deadline=None)
@given(TEXTS, TERMS, st.integers(8, 120))
def test_a_snippet_cuts_no_grapheme(text: str, terms: dict[str, float], limit: int) -> None:
    """C07: one of the places where it occurs begins and ends between graphemes."""
    found = snippet(text, terms, limit=limit)

    allowed = borders(text)
    starts = [at for at in range(len(text) - len(found) + 1) if text.startswith(found, at)]
    assert any({at, at + len(found)} <= allowed for at in starts)


@settings(max_examples=100, deadline=None)
@given(TEXTS, LIMITS)
def test_a_short_text_is_shown_whole(text: str, limit: int) -> None:
    assert snippet(text[:limit], {"crane": 1.0}, limit=limit) == text[:limit]


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 300), st.integers(0, 300), st.integers(30, 200), st.sampled_from(["word ", "word\n", "字。"]))
def test_a_snippet_contains_the_match_wherever_it_is(before: int, after: int, limit: int, filler: str) -> None:
    """U09."""
    text = f"{filler * before} INC-90817 {filler * after}"

    assert "INC-90817" in snippet(text, weights("INC-90817"), limit=limit)


def test_the_matching_passage_of_a_long_note_is_shown() -> None:
    """U09: line 250 of 300."""
    lines = [f"Line {number} tells of nothing in particular." for number in range(1, 301)]
    lines[249] = "The harbour crane passed its inspection."

    found = snippet("\n".join(lines), weights("harbour crane inspection"))

    assert lines[249] in found
    assert len(found) <= SNIPPET_CHARS


def test_the_matching_paragraph_of_a_chinese_note_is_shown() -> None:
    """C09: paragraph 37 of 50, without any space."""
    paragraphs = [f"第{number}段讲的是完全不相干的事情，没有什么特别之处，读者可以放心跳过。" for number in range(50)]
    paragraphs[37] = "数据库备份方案每周执行一次，恢复演练每季度一次。"

    for glue in ("\n\n", ""):
        found = snippet(glue.join(paragraphs), weights("备份方案执行"), limit=200)

        assert paragraphs[37] in found
        assert len(found) <= 200


def test_a_paragraph_that_is_one_word_is_searched_inside() -> None:
    """C09: a run of unspaced script without any punctuation."""
    text = "无关内容" * 100 + "仓库钥匙放在三号柜子" + "其他事情" * 100

    assert "仓库钥匙放在三号柜子" in snippet(text, weights("仓库钥匙"), limit=100)


def test_a_long_word_whose_spelling_differs_from_its_term_is_shown_from_its_beginning() -> None:
    text = "x " * 100 + "ｶﾅ" * 60 + " y" * 100

    assert "ｶﾅ" in snippet(text, {"カナ": 1.0}, limit=100)


def test_the_window_holds_the_most_of_the_question() -> None:
    filler = "nothing to see here " * 20
    text = f"crane crane crane {filler} the harbour crane passed {filler} harbour {filler}"

    assert "the harbour crane passed" in snippet(text, weights("harbour crane"), limit=120)


def test_a_rarer_term_counts_for_more() -> None:
    filler = "nothing to see here " * 20
    text = f"crane crane {filler} harbour {filler}"

    assert "harbour" in snippet(text, {"crane": 1.0, "harbour": 5.0}, limit=60)


def test_without_a_match_the_beginning_is_shown() -> None:
    text = "The first sentence of the note. " * 40

    found = snippet(text, weights("zorblat"), limit=100)

    assert text.startswith(found)
    assert 60 <= len(found) <= 100


def test_a_match_near_an_end_of_the_text_is_shown_up_to_that_end() -> None:
    filler = "nothing to see here " * 20

    assert snippet(f"crane. {filler}", weights("crane"), limit=60).startswith("crane.")
    assert snippet(f"{filler} the crane.", weights("crane"), limit=60).endswith("the crane.")


def test_a_snippet_begins_at_a_line_or_a_word() -> None:
    text = "\n".join(f"Line {number} tells of nothing." for number in range(60)) + "\ncrane here\n" + "more text " * 60

    found = snippet(text, weights("crane"), limit=120)

    assert found.startswith("crane here\n")
    assert surfaces(found)[-1] in {"more", "text"}


@settings(max_examples=100, deadline=None)
@given(TEXTS, LIMITS)
def test_a_cut_text_is_the_beginning_and_short_enough(text: str, limit: int) -> None:
    found = cut_at_border(text, limit)

    assert text.startswith(found)
    assert len(found) <= limit
    assert (found == text) == (len(text) <= limit)


def test_a_text_is_cut_at_a_line_else_a_sentence_else_a_word() -> None:
    assert cut_at_border("First line of it.\nSecond line", 20) == "First line of it."
    assert cut_at_border("恢复演练每季度一次。谁负责", 11) == "恢复演练每季度一次。"
    assert cut_at_border("several words in a row", 20) == "several words in a"
    assert cut_at_border("x" * 30, 20) == "x" * 20
    assert cut_at_border("short", 20) == "short"
