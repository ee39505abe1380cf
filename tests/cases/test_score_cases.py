"""Ranking and scores: the user cases R08 to R21."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from asking import ASOF, ask, codes, damage_full_text, drop_full_text, file_of, paths, run

from clawmark import Memory
from clawmark.core.scoring import cosine_from_distance, cosine_from_l2
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

DIVERSE = {"mmr": {"enabled": True, "lambda": 0.5}}


class LoudEmbedder(StubEmbedder):
    """Gives questions, too, vectors that are not of unit length."""

    def embed_query(self, text: str) -> np.ndarray:
        return super().embed_query(text) * 13.0


# R08


def test_a_long_vector_does_not_put_its_note_first(note: Note, open_memory: Open) -> None:
    """R08: what counts is the angle, whatever length the provider gives."""
    note("memory/long.md", "Long vector.")
    note("memory/near.md", "Near vector.")
    lengths = {"Long vector.": 12.0}
    embedder = LoudEmbedder({"Long": 0.2, "Near": 0.9}, norm=lambda text: lengths.get(text, 1.0))

    response = open_memory(embedder=embedder).search("which one", min_score=0.0)

    assert paths(response) == ["memory/near.md", "memory/long.md"]
    assert [result.vector_score for result in response.results] == pytest.approx([0.9, 0.2], abs=1e-5)


# R09


def test_vectors_of_another_length_are_never_compared(note: Note, open_memory: Open) -> None:
    """R09: keyword hits still come, with what differs and what to do."""
    note("memory/crane.md", "The crane was inspected.")
    note("memory/other.md", "Nothing about that.")
    with open_memory(embedder=StubEmbedder(otherwise=0.9, dimensions=3)) as before:
        before.sync()

    response = open_memory(embedder=StubEmbedder(otherwise=0.9, dimensions=4)).search("crane")

    assert (response.mode, paths(response)) == ("keyword", ["memory/crane.md"])
    assert response.results[0].vector_score is None
    assert response.fallback is not None
    assert "index 3-dim, provider 4-dim" in response.fallback.reason
    (warning,) = response.warnings
    assert "index 3-dim, provider 4-dim" in warning.message
    assert "clawmark index" in warning.action


def test_a_provider_that_learns_its_length_with_the_first_question_is_refused_too(
    note: Note, open_memory: Open
) -> None:
    """R09: nothing is known of the new vectors until one comes."""
    note("memory/crane.md", "The crane was inspected.")
    with open_memory(embedder=StubEmbedder(otherwise=0.9, dimensions=3)) as before:
        before.sync()
    unaware = UnawareEmbedder(otherwise=0.9, dimensions=4)

    response = open_memory(embedder=unaware).search("crane")

    assert response.mode == "keyword"
    assert response.fallback is not None
    assert "index 3-dim, provider 4-dim" in response.fallback.reason


class UnawareEmbedder(StubEmbedder):
    """Tells the length of its vectors after the first of them only."""

    @property
    def dimensions(self) -> int | None:
        return self._length if self.calls else None

    @dimensions.setter
    def dimensions(self, value: int) -> None:
        self._length = value

    def embed_query(self, text: str) -> np.ndarray:
        self.query_calls += 1
        return np.eye(1, self._length, dtype=np.float32)[0]


def test_another_model_with_vectors_of_the_same_length_is_not_compared_either(note: Note, open_memory: Open) -> None:
    """R09: the name of the model counts, not the number of dimensions."""
    note("memory/crane.md", "The crane was inspected.")
    with open_memory(embedder=StubEmbedder(otherwise=0.9, model="m1")) as before:
        before.sync()

    response = open_memory(embedder=StubEmbedder(otherwise=0.9, model="m2")).search("crane")

    assert response.mode == "keyword"
    assert response.fallback is not None
    assert "stub/m1" in response.fallback.reason
    assert "stub/m2" in response.fallback.reason


def test_indexing_again_brings_the_vectors_of_the_new_provider(note: Note, open_memory: Open) -> None:
    """R09: the step that the warning names is the right one."""
    note("memory/crane.md", "The crane was inspected.")
    with open_memory(embedder=StubEmbedder(otherwise=0.9, dimensions=3)) as before:
        before.sync()
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8, dimensions=4))
    memory.search("crane")

    report = memory.sync()

    assert (report.error, report.failed, report.texts_embedded) == (None, (), 1)
    response = memory.search("crane")
    assert (response.mode, response.fallback, response.warnings) == ("hybrid", None, ())
    assert response.results[0].vector_score == pytest.approx(0.8, abs=1e-5)


# R10

THREE = {"Strong": 0.9, "Middle": 0.5, "Weak": 0.1}


def test_both_doors_show_the_scores_that_were_computed(
    note: Note, workspace: Path, open_memory: Open, table_env: Callable[..., dict[str, str]]
) -> None:
    """R10: three different scores, the same in Python, in JSON and in the text for people."""
    for word in THREE:
        note(f"memory/{word.lower()}.md", f"{word} evidence.")
    env = table_env(THREE)
    assert run(workspace, "index", env=env).exit_code == 0
    question = ("search", "question", "--min-score", "0", "--asof", ASOF)

    here = open_memory(embedder=StubEmbedder(THREE)).search("question", min_score=0.0, asof=ASOF)
    there = ask(workspace, *question, env=env)
    shown = run(workspace, *question, env=env).stdout

    assert paths(here) == ["memory/strong.md", "memory/middle.md", "memory/weak.md"]
    scores = [round(result.score, 4) for result in here.results]
    assert scores == [0.63, 0.35, 0.07]
    assert [round(result["score"], 4) for result in there["results"]] == scores
    assert here.to_dict()["results"] == there["results"]
    assert [f"score {score:.3f}" in shown for score in scores] == [True] * 3


def test_a_score_that_a_leg_did_not_give_is_null(note: Note, workspace: Path) -> None:
    """R10: no constant stands for what is missing, confidence included."""
    note("memory/strong.md", "Strong evidence.")

    (hit,) = ask(workspace, "search", "evidence")["results"]

    assert (hit["vectorScore"], hit["confidence"], hit["explanation"]["cosine"]) == (None, None, None)


# R11


def test_distances_become_similarities_that_are_higher_for_what_is_nearer() -> None:
    """R11: L2 distances of unit vectors, and cosine distances; never below 0."""
    assert [cosine_from_l2(distance) for distance in (0.447, 1.0, 1.549)] == pytest.approx([0.9, 0.5, 0.0], abs=0.01)
    assert [cosine_from_distance(distance) for distance in (0.1, 0.5, 1.2)] == pytest.approx([0.9, 0.5, 0.0])


def test_no_output_holds_a_negative_score(note: Note, open_memory: Open) -> None:
    """R11: a note that points the other way scores 0; its raw cosine stays in the explanation."""
    note("memory/against.md", "Against it.")
    memory = open_memory(embedder=StubEmbedder({"Against": -0.8}))

    (result,) = memory.search("question", min_score=0.0).results

    assert (result.score, result.vector_score) == (0.0, 0.0)
    assert result.explanation.cosine == pytest.approx(-0.8, abs=1e-5)


# R12


def test_the_one_note_with_the_identifier_is_among_the_results(note: Note, open_memory: Open) -> None:
    """R12: ten notes of middling likeness do not push it out."""
    for number in range(10):
        note(f"memory/near-{number}.md", f"Report {number} about an outage.")
    note("memory/c.md", "INC-90817 was closed.")
    memory = open_memory(embedder=StubEmbedder({"Report": 0.7, "INC": 0.05}))

    response = memory.search("INC-90817", max_results=6)

    assert len(response.results) == 6
    assert "memory/c.md" in paths(response)


# R13

TWIN = "The ferry to the island leaves from the second pier every morning at half past eight in calm weather only"
TWINS = {f"{TWIN}.": 0.9, f"{TWIN}!": 0.89, "B another": 0.8}


def twins(note: Note) -> None:
    note("memory/2026-06-29.md", f"{TWIN}.")
    note("memory/a2.md", f"{TWIN}!")
    note("memory/b.md", "B another text with words of its own")


def test_near_duplicates_take_one_place(note: Note, open_memory: Open) -> None:
    """R13: the more relevant of the two, then the other text."""
    twins(note)
    memory = open_memory(embedder=StubEmbedder(TWINS), config={"query": {"hybrid": DIVERSE}})

    assert paths(memory.search("question", max_results=2)) == ["memory/2026-06-29.md", "memory/b.md"]


def test_what_changes_a_score_comes_before_diversity(note: Note, open_memory: Open) -> None:
    """R13: age puts A2 above A1; one of the two is shown, and nothing brings the other back."""
    twins(note)
    decay = {"temporal_decay": {"enabled": True, "half_life_days": 30}}
    memory = open_memory(embedder=StubEmbedder(TWINS), config={"query": {"hybrid": DIVERSE | decay}})

    response = memory.search("question", max_results=3)

    assert paths(response) == ["memory/a2.md", "memory/b.md", "memory/2026-06-29.md"]
    places = [(hit.explanation.rank_before_diversity, hit.explanation.rank_after_diversity) for hit in response.results]
    assert places == [(1, 1), (3, 2), (2, 3)]


# R14


def test_notes_in_different_scripts_are_not_duplicates_of_each_other(note: Note, open_memory: Open) -> None:
    """R14: nothing Latin in any of them."""
    texts = ("Ключ лежит под камнем.", "وصلت السفينة أمس.", "Το πλοίο έφυγε νωρίς.", "仓库在河边。")
    for number, text in enumerate(texts):
        note(f"memory/{number}.md", text)
    note("memory/twin.md", "Ключ лежит под камнем")
    memory = open_memory(embedder=StubEmbedder(otherwise=0.8), config={"query": {"hybrid": DIVERSE}})

    response = memory.search("question", max_results=4)

    assert {result.snippet for result in response.results} == set(texts)


# R18


def test_with_the_text_leg_off_the_vector_score_counts_in_full(note: Note, open_memory: Open) -> None:
    """R18: .45 is not weighed down to .315 below the threshold."""
    note("memory/a.md", "Rope and anchor.")
    memory = open_memory(embedder=StubEmbedder({"Rope": 0.45}), config={"query": {"hybrid": {"enabled": False}}})

    response = memory.search("rope question")

    (result,) = response.results
    assert (response.mode, response.warnings) == ("vector", ())
    assert (result.score, result.vector_score) == pytest.approx((0.45, 0.45), abs=1e-5)
    assert (result.text_score, result.explanation.vector_weight, result.explanation.relaxed) == (None, None, False)


@pytest.mark.parametrize("fault", [drop_full_text, damage_full_text])
def test_with_the_full_text_index_broken_the_vector_score_counts_in_full(
    fault: Callable[[Path], None], note: Note, open_memory: Open
) -> None:
    """R18: the same when the leg failed, and the answer says that it did."""
    note("memory/a.md", "Rope and anchor.")
    memory = open_memory(embedder=StubEmbedder({"Rope": 0.45}))
    memory.sync()
    fault(file_of(memory))

    response = memory.search("rope question")

    (result,) = response.results
    assert (response.error, response.mode, codes(response)) == (None, "vector", ["TEXT_LEG_FAILED"])
    assert (result.score, result.text_score) == (pytest.approx(0.45, abs=1e-5), None)


def test_without_an_embedder_the_text_score_counts_in_full(note: Note, workspace: Path, open_memory: Open) -> None:
    """R18: keyword mode, at both doors."""
    note("memory/a.md", "Rope and anchor.")

    response = open_memory().search("rope question")

    (result,) = response.results
    assert (response.mode, result.vector_score) == ("keyword", None)
    assert result.score == result.text_score
    assert result.score > 0.0
    (hit,) = ask(workspace, "search", "rope question")["results"]
    assert (hit["score"], hit["textScore"]) == (result.score, result.score)


# R21


@pytest.mark.parametrize("embedder", ["none", StubEmbedder()], ids=["keyword", "hybrid"])
def test_a_whole_sentence_finds_the_note_that_holds_two_of_its_words(
    embedder: StubEmbedder | str, note: Note, open_memory: Open
) -> None:
    """R21: filler words and words that no note has do not get in the way."""
    note("memory/harbour.md", "Harbour crane inspection passed on Tuesday.")
    note("memory/other.md", "The list of what was bought in the market last summer.")

    response = open_memory(embedder=embedder).search("what was the result of the harbour crane inspection last week")

    assert paths(response)[0] == "memory/harbour.md"


def test_the_note_with_all_words_ranks_above_the_one_with_two_of_three(
    note: Note, workspace: Path, open_memory: Open
) -> None:
    """R21: both are returned, at both doors."""
    note("memory/two.md", "The harbour crane was painted.")
    note("memory/three.md", "Harbour crane inspection passed on Tuesday.")
    note("memory/none.md", "Beans and tomatoes.")

    assert paths(open_memory().search("harbour crane inspection")) == ["memory/three.md", "memory/two.md"]
    assert paths(ask(workspace, "search", "harbour crane inspection")) == ["memory/three.md", "memory/two.md"]


def test_the_clock_of_the_tests_is_that_of_the_questions() -> None:
    """R10: both doors answer as of the same moment."""
    assert datetime.fromisoformat(ASOF) == datetime(2026, 6, 30, 12, tzinfo=UTC)
