"""Diversity as a function: words of every script (user case R14), and what holds for every list."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmark.core.diversity import jaccard, rerank_for_diversity, similarity, word_set


@dataclass(frozen=True)
class Item:
    number: int
    score: float
    text: str


TEXTS = st.text("ab 数据привет", max_size=12)
SETS = st.frozensets(st.sampled_from("abcde"))
# A few scores, so that ties are common.
SCORES = st.sampled_from([0.0, 0.2, 0.5, 0.5000001, 0.9]) | st.floats(0, 1)


@st.composite
def lists_of_items(draw: st.DrawFn) -> list[Item]:
    found = draw(st.lists(st.tuples(SCORES, TEXTS), max_size=8))
    return [Item(number, score, text) for number, (score, text) in enumerate(found)]


def items_of(*found: tuple[float, str]) -> list[Item]:
    return [Item(number, score, text) for number, (score, text) in enumerate(found)]


def rerank(items: list[Item], relevance: float = 0.7, limit: int | None = None) -> list[Item]:
    return rerank_for_diversity(
        items, relevance=relevance, score=lambda item: item.score, text=lambda item: item.text, limit=limit
    )


def order(items: list[Item], relevance: float = 0.7, limit: int | None = None) -> list[int]:
    return [item.number for item in rerank(items, relevance, limit)]


def by_score(items: list[Item]) -> list[Item]:
    return sorted(items, key=lambda item: -item.score)


def by_the_spec(items: list[Item], relevance: float) -> list[Item]:
    """Spec 6.2 word for word, with no regard for speed."""
    if not items:
        return []
    scores = [item.score for item in items]
    low, high = min(scores), max(scores)
    taken: list[Item] = []
    left = list(items)
    while left:

        def worth(item: Item) -> float:
            share = (item.score - low) / (high - low) if high > low else 1.0
            nearest = max((similarity(item.text, other.text) for other in taken), default=0.0)
            return relevance * share - (1.0 - relevance) * nearest

        best = max(left, key=lambda item: (worth(item), item.score, -item.number))
        left.remove(best)
        taken.append(best)
    return taken


# Words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Сервер базы-данных", {"сервер", "базы", "данных"}),
        ("مفتاح الخادم، الجديد", {"مفتاح", "الخادم", "الجديد"}),
        ("Το κλειδί του διακομιστή.", {"το", "κλειδί", "του", "διακομιστή"}),
        ("हिन्दी भाषा।", {"हिन्दी", "भाषा"}),
        ("סיסמת שרת", {"סיסמת", "שרת"}),
        ("ไทย", {"ไ", "ท", "ย", "ไท", "ทย"}),
        ("数々", {"数", "々", "数々"}),
        ("Ｗｉｄｅ，ｔｅｘｔ", {"ｗｉｄｅ", "ｔｅｘｔ"}),
        ("👍 … — ！", set[str]()),
    ],
)
def test_words_are_seen_in_every_script(text: str, words: set[str]) -> None:
    assert word_set(text) == words


def test_composed_and_decomposed_accents_are_the_same_words() -> None:
    assert word_set("caf\u00e9 \u0439") == word_set("cafe\u0301 \u0438\u0306")
    assert "caf\u00e9" in word_set("caf\u00e9")


@given(st.text(), st.text())
def test_the_words_of_two_lines_are_the_words_of_each(one: str, other: str) -> None:
    # A final sigma, and accents, depend on what stands before them: not across a line.
    assert word_set(f"{one}\n{other}") == word_set(one) | word_set(other)


@given(st.text())
def test_case_makes_no_other_word(text: str) -> None:
    assert word_set(text.lower()) == word_set(text)


# Likeness


@given(SETS, SETS)
def test_the_share_of_common_words_is_symmetric_and_one_only_for_equal_sets(
    one: frozenset[str], other: frozenset[str]
) -> None:
    share = jaccard(one, other)

    assert share == jaccard(other, one)
    assert 0.0 <= share <= 1.0
    assert (share == 1.0) == (one == other)


@given(TEXTS, TEXTS)
def test_likeness_is_symmetric_and_between_zero_and_one(one: str, other: str) -> None:
    assert similarity(one, other) == similarity(other, one)
    assert 0.0 <= similarity(one, other) <= 1.0


@given(st.text())
def test_a_text_is_like_itself(text: str) -> None:
    assert similarity(text, f" {text.lower()}\n") == 1.0


def test_texts_without_words_are_unknown_to_each_other_not_identical() -> None:
    """User case R14."""
    assert similarity("👍👍", "🎉") == 0.0
    assert similarity("!!!", "") == 0.0
    assert similarity(" 👍 ", "👍") == 1.0


# Order


def test_four_notes_of_different_scripts_are_four_different_notes() -> None:
    """User case R14: all at .80, four places."""
    texts = ["Ключ лежит в сейфе", "المفتاح في الخزنة", "Το κλειδί είναι στο χρηματοκιβώτιο", "钥匙在保险柜里"]
    items = items_of(*((0.8, text) for text in texts))

    assert order(items, limit=4) == [0, 1, 2, 3]
    assert all(similarity(one, other) == 0.0 for one in texts for other in texts if one != other)


@pytest.mark.parametrize(
    ("first", "repeated", "other"),
    [
        ("Ключ лежит в сейфе", "Ключ лежит в сейфе.", "Обед в полдень"),
        ("المفتاح في الخزنة", "المفتاح في الخزنة!", "الغداء عند الظهر"),
        ("Το κλειδί στο συρτάρι", "το κλειδί στο συρτάρι;", "Γεύμα το μεσημέρι"),
        ("钥匙在保险柜里", "钥匙在保险柜里。", "中午吃饭"),
        ("กุญแจอยู่ในตู้เซฟ", "กุญแจอยู่ในตู้เซฟ!", "ประชุมพรุ่งนี้"),
    ],
)
def test_a_repeated_note_comes_after_a_different_one_in_every_script(first: str, repeated: str, other: str) -> None:
    """User case R14, the other way round: what is a duplicate is seen as one."""
    assert order(items_of((0.8, first), (0.8, repeated), (0.8, other))) == [0, 2, 1]


@given(lists_of_items(), st.floats(0, 0.999))
def test_the_order_is_that_of_the_spec(items: list[Item], relevance: float) -> None:
    assert rerank(items, relevance) == by_the_spec(items, relevance)


@given(lists_of_items(), st.floats(-1, 2), st.none() | st.integers(0, 9))
def test_every_item_is_given_back_once(items: list[Item], relevance: float, limit: int | None) -> None:
    assert sorted(order(items, relevance, limit)) == list(range(len(items)))


@given(lists_of_items(), st.floats(1, 5))
def test_relevance_alone_is_a_stable_order_by_score(items: list[Item], relevance: float) -> None:
    assert rerank(items, relevance) == by_score(items)


@given(lists_of_items(), st.floats(-5, 0))
def test_a_relevance_below_zero_counts_as_zero(items: list[Item], relevance: float) -> None:
    assert rerank(items, relevance) == rerank(items, 0.0)


@given(lists_of_items(), st.floats(0, 0.999), st.integers(0, 9))
def test_a_limit_fills_the_first_places_alike_and_leaves_the_rest_by_score(
    items: list[Item], relevance: float, limit: int
) -> None:
    limited, whole = rerank(items, relevance, limit), rerank(items, relevance)

    assert limited[:limit] == whole[:limit]
    assert limited[limit:] == [item for item in by_score(items) if item not in whole[:limit]]


@given(lists_of_items().filter(bool), st.floats(0.001, 1))
def test_the_best_item_comes_first(items: list[Item], relevance: float) -> None:
    assert rerank(items, relevance)[0] == by_score(items)[0]


def test_ties_go_to_the_higher_score_then_to_the_earlier_item() -> None:
    assert order(items_of((0.2, "a"), (0.9, "b"), (0.5, "c")), relevance=0.0) == [1, 2, 0]
    assert order(items_of((0.5, "a"), (0.5, "b"), (0.5, "c"))) == [0, 1, 2]
