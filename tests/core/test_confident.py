"""When a hit is good enough to be shown unasked."""

from __future__ import annotations

from clawmark.core.confident import coverage, is_confident

IDF = {"queue": 3.0, "retry": 4.0, "polici": 3.0}


def held(*terms: str) -> dict[str, int]:
    return dict.fromkeys(terms, 1)


def test_a_hit_must_hold_the_greater_weight_of_the_question() -> None:
    assert is_confident(held("queue", "retry"), IDF, chunks=100)
    assert not is_confident(held("queue"), IDF, chunks=100)
    assert not is_confident({}, IDF, chunks=100)
    assert not is_confident({}, {}, chunks=100)


def test_one_word_of_several_is_never_enough() -> None:
    assert not is_confident(held("retry"), {"retry": 9.0, "the": 0.1}, chunks=100)


def test_a_question_of_one_word_needs_a_rare_one() -> None:
    assert is_confident(held("kafka"), {"kafka": 4.0}, chunks=100)
    assert not is_confident(held("note"), {"note": 0.3}, chunks=100)


def test_an_identifier_must_be_there_whole_and_meaning_does_not_help() -> None:
    idf = {"tck-1": 5.0, "tck": 1.0, "1": 1.0}

    assert is_confident(held("tck-1", "tck", "1"), idf, chunks=100, identifier=True)
    assert not is_confident(held("tck-1", "tck"), idf, chunks=100, identifier=True, vector_score=0.9)


def test_meaning_alone_must_be_near_and_beside_words_less_so() -> None:
    assert is_confident({}, IDF, chunks=100, vector_score=0.61)
    assert not is_confident({}, IDF, chunks=100, vector_score=0.55)
    assert is_confident(held("retry"), IDF, chunks=100, vector_score=0.55)


def test_a_question_in_doubt_asks_for_more() -> None:
    idf = {"a": 3.2, "b": 3.2, "c": 3.6}

    assert is_confident(held("a", "b"), idf, chunks=100)
    assert not is_confident(held("a", "b"), idf, chunks=100, in_doubt=True)
    assert not is_confident({}, idf, chunks=100, in_doubt=True, vector_score=0.9)


def test_chinese_pairs_across_words_do_not_count_against_a_hit() -> None:
    idf = {"内存": 3.0, "存上": 4.0, "上限": 3.0, "限设": 3.0}

    assert is_confident(held("内存", "上限"), idf, chunks=100)
    assert coverage(held("内存", "上限"), idf) < 0.5
