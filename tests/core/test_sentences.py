"""Sentences of a chunk: every word is in one, none is cut, and there are never too many."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clawmark.core.sentences import BYTES_PER_SENTENCE, sentence_spans

TEXTS = st.text(st.sampled_from('ab .!?。！\n"”)é好 \t-#'), max_size=400)


def _sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in sentence_spans(text)]


@given(TEXTS)
def test_every_character_that_says_something_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentence_spans(text)
    between = [0, *itertools.chain.from_iterable(spans), len(text)]
    gaps = "".join(text[between[at] : between[at + 1]] for at in range(0, len(between), 2))

    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(spans))
    assert not gaps.strip()


@given(TEXTS)
def test_there_are_never_more_sentences_than_the_text_has_room_for(text: str) -> None:
    assert len(sentence_spans(text)) <= max(1, len(text.encode()) // BYTES_PER_SENTENCE)


@given(TEXTS)
def test_a_text_has_no_sentence_exactly_when_it_is_blank(text: str) -> None:
    assert bool(sentence_spans(text)) == bool(text.strip())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        pytest.param(
            "We moved the cutover of the payments service to the ninth of June after the long call with the bank. "
            "Marta wrote the runbook for it and put it beside the old one, in the folder of the platform team.",
            2,
            id="English",
        ),
        pytest.param(
            "我们把支付系统的切换推迟到六月九号，因为银行那边的测试环境还没有准备好，要再等一周。"
            "玛塔把操作手册写好了，放在平台组的文件夹里，和旧的那一份在一起，大家都可以改。",
            2,
            id="Chinese",
        ),
        pytest.param("- the key: blue door\n" * 4, 1, id="short lines join"),
        pytest.param(
            "Version 2.3.1 of app.example.org needs 3.5 GB of memory and runs on the small machine.", 1, id="dots"
        ),
    ],
)
def test_ends_of_sentences_and_lines_are_found(text: str, sentences: int) -> None:
    assert len(_sentences(text)) == sentences
