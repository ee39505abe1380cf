"""Terms: what holds for every text, and the words, identifiers and scripts that users search for."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clawmark.core.stopwords import BY_LANGUAGE, CJK_PHRASES, stop_words_for
from clawmark.core.tokens import (
    TOKENIZER_VERSION,
    Terms,
    analyse,
    cached_analysis,
    fold,
    has_unspaced_script,
    is_identifier,
    query_terms,
    surfaces,
    text_singles,
    text_terms,
)

PIECES = st.sampled_from(
    [
        "harbour",
        "RFC-0077",
        "src/app/main.py",
        "don't",
        "O’Brien",
        "GitHub",
        "备份",
        "설계",
        "会議",
        "ｶﾅ",
        "ﷺ",
        "25˚C",
        "\u0301",
        "👩\u200d🔧",
    ]
)
TEXTS = st.text(max_size=60) | st.lists(PIECES | st.text(" -_./:#@+'’\n中aZ0", max_size=3), max_size=12).map("".join)
WORDS = st.text("abcdefgxyzäöéñжшλσ0123", min_size=1, max_size=12)


def wide(text: str) -> str:
    """Give the full-width form of ASCII letters and digits."""
    return "".join(
        chr(ord(character) + 0xFEE0) if character.isalnum() and character.isascii() else character for character in text
    )


def found_by(query: str, text: str) -> bool:
    """Tell whether every term of a question is a term, or a single character, of a text."""
    terms = query_terms(query).terms
    return bool(terms) and set(terms) <= {*text_terms(text), *text_singles(text)}


# What holds for every text


@settings(max_examples=100, deadline=None)
@given(TEXTS)
@example("ﷺ-x")
@example("\u0301 a\u0301")
@example("25˚C ℀ ㎏")
@example("'s '' a'' -'- a'b'c")
@example("\ud800")
def test_the_terms_of_any_text_are_never_empty_and_hold_no_white_space(text: str) -> None:
    """X06: no text is refused, whatever is in it."""
    terms = [term for term in text_terms(text) if term != "\n"]

    for term in (*terms, *text_singles(text), *query_terms(text).terms):
        assert term
        assert not any(character.isspace() or character == '"' for character in term)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_terms_of_a_text_are_those_of_its_words_in_order_and_its_lines(text: str) -> None:
    words = surfaces(text)

    expected = [("\n",) if word == "\n" else analyse(word).main for word in words]

    assert text_terms(text) == list(chain.from_iterable(expected))
    assert [cached_analysis(word) for word in words] == [analyse(word) for word in words]


@settings(max_examples=100, deadline=None)
@given(TEXTS)
@example("ｶﾅｶﾅ")
@example("ヿ゛")
def test_the_singles_of_a_text_hold_those_of_its_words(text: str) -> None:
    singles = chain.from_iterable(analyse(word).singles for word in surfaces(text) if word != "\n")

    assert set(singles) <= set(text_singles(text))
    assert len(set(text_singles(text))) == len(text_singles(text))


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_an_ascii_text_has_the_same_words_beside_other_characters(text: str) -> None:
    """The simpler pattern for ASCII texts cuts them alike."""
    assert surfaces(f"{text}\n是") == [*surfaces(text), "\n", "是"]


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_words_lie_in_the_text_in_order(text: str) -> None:
    at = 0
    for word in surfaces(text):
        at = text.index(word, at) + len(word)


@settings(max_examples=100, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=6).map(" ".join))
def test_a_text_has_the_same_terms_in_another_case_or_width(text: str) -> None:
    assert text_terms(text.upper()) == text_terms(text)
    assert text_terms(wide(text)) == text_terms(text)
    assert query_terms(wide(text.upper())) == query_terms(text)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_the_terms_of_a_question_are_distinct_and_all_but_function_words_are_asked(text: str) -> None:
    found = query_terms(text)

    assert len(set(found.terms)) == len(found.terms)
    assert not (found.dropped and found.terms)
    assert not (found.identifier and not found.terms)
    if not found.dropped and surfaces(text.replace("\n", " ")):
        assert found.terms or not text_terms(text.replace("\n", " "))


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    once = fold(fold(text))

    assert fold(once) == once


# Identifiers


@pytest.mark.parametrize(
    ("identifier", "terms"),
    [
        ("RFC-0077", ("rfc-0077", "rfc", "0077")),
        ("v2.3.1", ("v2.3.1", "v2", "3", "1")),
        ("src/app/main.py", ("src/app/main.py", "src", "app", "main", "py")),
        ("ERR_CONN_42", ("err_conn_42", "err", "conn", "42")),
        ("deploy@example.org", ("deploy@example.org", "deploi", "exampl", "org")),
        ("PR#682", ("pr#682", "pr", "682")),
        ("std::vector", ("std::vector", "std", "vector")),
        ("größe_2", ("grosse_2", "gross", "2")),
    ],
)
def test_an_identifier_is_asked_whole_and_in_parts(identifier: str, terms: tuple[str, ...]) -> None:
    """U04."""
    found = query_terms(identifier)

    assert found.terms == terms
    assert found.identifier


@pytest.mark.parametrize("identifier", ["RFC-0077", "v2.3.1", "src/app/main.py", "ERR_CONN_42"])
@pytest.mark.parametrize("sentence", ["see {}.", "({})", "“{}”, again", "`{}`:\nnext line", "见{}。"])
def test_an_identifier_is_found_inside_a_sentence(identifier: str, sentence: str) -> None:
    """U04."""
    assert found_by(identifier, sentence.format(identifier))
    assert found_by(identifier.lower(), sentence.format(identifier))


def test_a_part_of_an_identifier_is_found() -> None:
    """U04."""
    assert found_by("0077", "See RFC-0077.")
    assert found_by("main.py", "in src/app/main.py") is False
    assert found_by("main", "in src/app/main.py")


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("GitHub", ("github", "git", "hub")),
        ("XMLHttpRequest", ("xmlhttprequest", "xml", "http", "request")),
        ("getURL2", ("geturl2", "get", "url", "2")),
        ("API", ("api",)),
        ("v2", ("v2",)),
    ],
)
def test_humps_are_terms_of_their_own(written: str, terms: tuple[str, ...]) -> None:
    assert analyse(written) == Terms(terms)


@pytest.mark.parametrize(
    ("written", "terms"),
    [
        ("Ann's", ("ann",)),
        ("users'x", ("usersx",)),
        ("don't", ("dont",)),
        ("O'Brien", ("obrien", "o", "brien")),
        ("O’Brien", ("obrien", "o", "brien")),
        ("rock'n'roll", ("rocknrol",)),
    ],
)
def test_an_apostrophe_joins(written: str, terms: tuple[str, ...]) -> None:
    assert analyse(written).main[: len(terms)] == terms


@pytest.mark.parametrize(
    "query", ["k=60", "hello.world", "#682", "Min-K%Prob", "o'brien", "budget, roughly?", "col:val", "-x"]
)
def test_a_literal_with_punctuation_is_found_where_it_occurs(query: str) -> None:
    """X06."""
    assert found_by(query, f"The note says {query} and more.")


@pytest.mark.parametrize("query", ["", "  \n", "!!! ... ?", "*", "(", "-", "''"])
def test_a_question_without_words_asks_nothing(query: str) -> None:
    """U03."""
    found = query_terms(query)

    assert found.terms == ()
    assert not found.dropped


@pytest.mark.parametrize("query", ["what is it", "don't", "什么", "wo ist die", "who is she?"])
def test_a_question_of_function_words_asks_nothing_and_says_so(query: str) -> None:
    """U03."""
    found = query_terms(query)

    assert found.terms == ()
    assert found.dropped


def test_ten_thousand_repetitions_ask_one_term() -> None:
    """X06."""
    assert query_terms("b " * 10_000).terms == ("b",)
    assert query_terms("a " * 10_000).dropped


@pytest.mark.parametrize(
    "word", ["INC-90817", "v2.3.1", "ERR_CONN", "src/app", "a@b", "#tag_x", "example.org", "2026", "第3条"]
)
def test_a_word_with_digits_or_inner_signs_is_an_identifier(word: str) -> None:
    assert is_identifier(word)


@pytest.mark.parametrize("word", ["crane", "well-known", "备份", "don't", "naïve_x"])
def test_an_ordinary_word_is_no_identifier(word: str) -> None:
    assert not is_identifier(word)


def test_a_question_is_an_identifier_only_when_all_its_words_are() -> None:
    """R12."""
    assert query_terms("INC-90817").identifier
    assert query_terms("the INC-90817").identifier
    assert not query_terms("INC-90817 harbour").identifier


# Scripts without spaces

NOTES = [
    "仓库钥匙放在三号柜子",
    "昨日の会議で設計書を確認した",
    "오늘 배포파이프라인 점검을 마쳤다",
    "The harbour crane passed its inspection.",
]


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("钥匙", 0),
        ("三号柜", 0),
        ("柜", 0),
        ("設計書", 1),
        ("会議", 1),
        ("배포파이프라인", 2),
        ("점검", 2),
        ("cranes", 3),
    ],
)
def test_a_word_of_any_script_is_found_in_its_own_note_only(query: str, note: int) -> None:
    """C01."""
    assert [found_by(query, text) for text in NOTES] == [number == note for number in range(4)]


def test_a_question_is_cut_where_the_script_changes() -> None:
    """C02: function words fall out of the middle of a run."""
    note = "GitHub备份脚本上传失败，原因是令牌过期。"

    found = query_terms("GitHub备份上传为什么失败").terms

    assert found == ("github", "git", "hub", "备份", "份上", "上传", "失败")
    assert set(found) - {*text_terms(note)} == {"份上"}


@pytest.mark.parametrize(("character", "text"), [("交", "交互设计"), ("カ", "ｶﾅｶﾅ"), ("점", "점검"), ("の", "日の出")])
def test_a_single_character_is_found_inside_a_run(character: str, text: str) -> None:
    """C10: also when it would be a function word in a longer question."""
    assert found_by(character, text)


@pytest.mark.parametrize(
    ("one", "other"), [("ｶﾅ", "カナ"), ("Ｍüller", "muller"), ("CAFÉ", "cafe"), ("Straße", "STRASSE")]
)
def test_spellings_of_one_word_are_one_term(one: str, other: str) -> None:
    assert analyse(one) == analyse(other)
    assert fold(one) == fold(other)


def test_vowel_signs_of_indic_scripts_are_no_accents() -> None:
    assert analyse("हिन्दी").main == ("हिन्दी",)
    assert analyse("कि").main != analyse("का").main


def test_unspaced_scripts_are_told_apart() -> None:
    assert all(has_unspaced_script(text) for text in ("a备", "カ", "한", "ไทย"))
    assert not any(has_unspaced_script(text) for text in ("", "abc", "привет", "é"))


# Function words


def test_function_words_of_one_language_stay_when_another_is_spoken() -> None:
    assert query_terms("wo steht die leiter").terms == ("steht", "leiter")
    assert "die" in query_terms("where did the battery die").terms


@pytest.mark.parametrize("word", ["keys", "home", "test", "problem", "last", "年", "月"])
def test_words_that_people_search_for_are_no_function_words(word: str) -> None:
    assert word not in frozenset().union(*BY_LANGUAGE.values())
    assert word not in CJK_PHRASES


def test_english_always_counts() -> None:
    assert BY_LANGUAGE["en"] <= stop_words_for([])
    assert BY_LANGUAGE["en"] <= stop_words_for(["wo", "steht", "die", "leiter"])
    assert BY_LANGUAGE["de"] <= stop_words_for(["wo", "steht", "die", "leiter"])


def test_longer_phrases_are_cut_out_first() -> None:
    """Else 为什么 would leave 为 behind."""
    assert [len(phrase) for phrase in CJK_PHRASES] == sorted((len(phrase) for phrase in CJK_PHRASES), reverse=True)


def test_what_is_remembered_of_words_is_bounded_and_changes_no_term() -> None:
    text = " ".join(f"w{number}" for number in range(262_200))

    assert text_terms(text) == text.split()
    assert text_terms("w1 cranes") == ["w1", "crane"]


def test_the_tokenizer_has_a_version_that_the_index_remembers() -> None:
    assert TOKENIZER_VERSION >= 1
