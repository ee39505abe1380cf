from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from clawmark.embedders.local import LocalEmbedder

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "daily_notes.py"
HAN = re.compile(r"[\u4e00-\u9fff]")
FUNCTION_WORDS = frozenset(
    re.findall(
        r"[a-z]+",
        """a after an and are as at be because by can did do does for from goes had has have how i in is it its like
        must my not now of on our than that the their they this to up was we were what when where which who why will
        with""",
    )
)


def load_script() -> ModuleType:
    """Load the generator, which is a script outside of any package."""
    spec = importlib.util.spec_from_file_location("daily_notes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks up its own module by name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


daily_notes = load_script()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("daily_notes")


@pytest.fixture(scope="module")
def questions(workspace: Path) -> list[Any]:
    return daily_notes.generate(workspace, notes=200, seed=7)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.md")}


def lines_of(folder: Path) -> dict[str, list[str]]:
    return {path: text.decode().split("\n") for path, text in contents(folder).items()}


def source() -> dict[str, Any]:
    return daily_notes.tomllib.loads(SCRIPT.with_suffix(".toml").read_text(encoding="utf-8"))


def planted() -> dict[str, Any]:
    return source()["planted"]


def sections(folder: Path) -> list[tuple[str, str, list[str]]]:
    """Give path, heading and sentences of every section of the daily notes."""
    found: list[tuple[str, str, list[str]]] = []
    for path in sorted((folder / "memory").glob("*.md")):
        for section in path.read_text(encoding="utf-8").split("\n## ")[1:]:
            heading, body = section.split("\n\n", 1)
            # A full stop ends a sentence; the one in "2.1" or "example.com" does not.
            sentences = re.split(r"\n|(?<=\.) |(?<=。)", body.strip())
            stripped = (sentence.removeprefix("- ") for sentence in sentences)
            found.append((path.name, heading, [sentence for sentence in stripped if sentence]))
    return found


def key_words(text: str) -> set[str]:
    """Give the pairs of Chinese characters and the Latin words of a text, without question words."""
    plain = re.sub("什么|怎么|为什么|哪里|哪个|多少|时候|的|了", " ", text)
    runs = re.findall(r"[\u4e00-\u9fff]+", plain)
    return {run[i : i + 2] for run in runs for i in range(len(run) - 1)} | set(re.findall(r"[A-Za-z]{2,}", plain))


def content_words(text: str) -> set[str]:
    return set(re.findall(r"[a-z0-9]+", text.lower())) - FUNCTION_WORDS


def test_the_same_seed_gives_the_same_bytes_in_another_process(
    workspace: Path, questions: list[Any], tmp_path: Path
) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--notes", "200", "--seed", "7"]
    subprocess.run(command, check=True, capture_output=True, timeout=60, env={**os.environ, "PYTHONHASHSEED": "1"})
    assert contents(tmp_path) == contents(workspace)
    rows = (tmp_path / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(row)["query"] for row in rows] == [question.query for question in questions]


def test_another_seed_gives_other_notes(workspace: Path, questions: list[Any], tmp_path: Path) -> None:
    others = daily_notes.generate(tmp_path, notes=200, seed=8)
    assert contents(tmp_path).keys() == contents(workspace).keys()
    assert contents(tmp_path) != contents(workspace)
    assert [q.line for q in others] != [q.line for q in questions]


def test_two_hundred_notes_weigh_384_kilobytes_within_a_tenth(workspace: Path, questions: list[Any]) -> None:
    sizes = [len(text) for path, text in contents(workspace).items() if path.startswith("memory/")]
    assert len(sizes) == 200
    assert sum(sizes) == pytest.approx(384_000, rel=0.1)
    assert (workspace / "MEMORY.md").is_file()


def test_the_notes_are_the_last_two_hundred_days(workspace: Path, questions: list[Any]) -> None:
    paths = sorted(path for path in contents(workspace) if path.startswith("memory/"))
    assert (paths[0], paths[-1]) == ("memory/2025-12-12.md", "memory/2026-06-29.md")


def test_the_vocabulary_has_at_least_three_thousand_words(workspace: Path, questions: list[Any]) -> None:
    text = "\n".join(text.decode() for text in contents(workspace).values())
    assert len(set(re.findall(r"[a-z]{2,}", text.lower()))) >= 3_000


def test_a_fifth_of_the_paragraphs_is_chinese(workspace: Path, questions: list[Any]) -> None:
    blocks = [
        block
        for text in contents(workspace).values()
        for block in text.decode().split("\n\n")
        if not block.startswith("#")
    ]
    assert sum(bool(HAN.search(block)) for block in blocks) / len(blocks) == pytest.approx(0.2, abs=0.05)


def test_a_note_has_four_to_six_sections_each_on_another_theme(workspace: Path, questions: list[Any]) -> None:
    theme_of = {heading: name for name, theme in source()["themes"].items() for heading in theme["headings"]}
    themes: dict[str, list[str]] = {}
    for path, heading, _ in sections(workspace):
        themes.setdefault(path, []).append(theme_of[heading])
    assert len(themes) == 200
    assert {len(names) for names in themes.values()} <= {4, 5, 6}
    assert all(len(set(names)) == len(names) for names in themes.values())


def test_most_english_sections_have_250_to_500_characters_in_two_to_five_sentences(
    workspace: Path, questions: list[Any]
) -> None:
    english = [sentences for _, heading, sentences in sections(workspace) if not HAN.search(heading)]
    sizes = [len(" ".join(sentences)) for sentences in english]
    assert sum(250 <= size <= 500 for size in sizes) / len(sizes) > 0.9
    assert {len(sentences) for sentences in english} <= {2, 3, 4, 5}


def test_a_chinese_section_is_chinese_throughout(workspace: Path, questions: list[Any]) -> None:
    for _, heading, sentences in sections(workspace):
        assert {bool(HAN.search(sentence)) for sentence in sentences} == {bool(HAN.search(heading))}


def test_an_answer_stands_in_a_section_of_its_own_theme(workspace: Path, questions: list[Any]) -> None:
    heading_of = {sentence: heading for _, heading, sentences in sections(workspace) for sentence in sentences}
    themes = source()["themes"]
    for kind in ("paraphrase", "chinese", "superseded"):
        for theme, *rest in planted()[kind]:
            assert all(heading_of[text] in themes[theme]["headings"] for text in rest[:-2])


def test_the_questions_are_as_many_as_promised(questions: list[Any]) -> None:
    assert Counter(question.kind for question in questions) == {
        "fact": 70,
        "rare_id": 20,
        "paraphrase": 40,
        "chinese": 40,
        "superseded": 15,
        "unanswerable": 20,
    }
    assert len({question.query for question in questions}) == len(questions)


@pytest.mark.parametrize("notes", [2, 30, 200, 3_100])
def test_the_line_of_every_question_contains_its_key(notes: int, tmp_path: Path) -> None:
    questions = daily_notes.generate(tmp_path, notes=notes, seed=11)
    lines = lines_of(tmp_path)
    assert len(lines) == notes + 1
    answerable = [question for question in questions if question.kind != "unanswerable"]
    assert len(answerable) == 185
    for question in answerable:
        assert question.key in lines[question.path][question.line - 1]


def test_a_text_that_makes_a_question_unanswerable_is_in_no_note(workspace: Path, questions: list[Any]) -> None:
    everything = "\n".join(text.decode() for text in contents(workspace).values()).lower()
    unanswerable = [question for question in questions if question.kind == "unanswerable"]
    for question in unanswerable:
        assert (question.path, question.line) == (None, None)
        assert question.key.lower() not in everything


def test_a_rare_id_is_on_its_line_only_among_many_of_the_same_pattern(workspace: Path, questions: list[Any]) -> None:
    lines = lines_of(workspace)
    rare = [question for question in questions if question.kind == "rare_id"]
    assert len({question.query for question in rare}) == 20
    for question in rare:
        hits = [(path, n) for path, text in lines.items() for n, line in enumerate(text, 1) if question.query in line]
        assert hits == [(question.path, question.line)]
    everything = "\n".join("\n".join(text) for text in lines.values())
    assert len(re.findall(r"\bINV-48\d{3}\b", everything)) >= 50


def test_a_fact_names_a_person_who_is_nowhere_else(workspace: Path, questions: list[Any]) -> None:
    lines = lines_of(workspace)
    everything = "\n".join("\n".join(text) for text in lines.values())
    for question in questions:
        if question.kind == "fact":
            names = re.findall(r"[A-Z][a-z]+ [A-Z][a-z]+", question.query)
            name = next(name for name in names if name in lines[question.path][question.line - 1])
            assert everything.count(name) == 1


def test_a_paraphrase_shares_at_most_one_content_word_with_its_line() -> None:
    for _, text, query, _ in planted()["paraphrase"]:
        shared = content_words(text) & content_words(query)
        assert len(shared) <= 1, (text, query, shared)


def test_a_sentence_encoder_relates_every_paraphrase_to_its_own_line_first() -> None:
    rows, embedder = planted()["paraphrase"], LocalEmbedder()
    lines = embedder.embed_documents([text for _, text, _, _ in rows])
    cosines = embedder.embed_documents([query for _, _, query, _ in rows]) @ lines.T
    assert cosines.argmax(axis=1).tolist() == list(range(len(rows)))
    assert cosines.diagonal().min() >= 0.35


def test_at_least_28_of_the_chinese_questions_share_a_key_word_with_their_line() -> None:
    rows = planted()["chinese"]
    assert len(rows) == 40
    assert sum(bool(key_words(text) & key_words(query)) for _, text, query, _ in rows) >= 28


def test_no_other_sentence_answers_a_question_by_accident(workspace: Path, questions: list[Any]) -> None:
    said = {sentence for _, _, sentences in sections(workspace) for sentence in sentences}
    for question in questions:
        if question.kind in ("paraphrase", "chinese", "superseded"):
            words = key_words if HAN.search(question.query) else content_words
            answers = [text for text in said if question.key in text and words(question.query) & words(text)]
            assert len(answers) <= 1, (question.query, answers)


def test_the_outdated_line_is_in_an_earlier_note_and_lacks_the_key(workspace: Path, questions: list[Any]) -> None:
    lines = lines_of(workspace)
    for question in questions:
        if question.kind == "superseded":
            assert question.stale_path[: len("memory/2026-01-01")] < question.path[: len("memory/2026-01-01")]
            assert question.key not in lines[question.stale_path][question.stale_line - 1]


def test_notes_of_another_run_are_not_mixed_in(tmp_path: Path) -> None:
    daily_notes.generate(tmp_path, notes=2)
    with pytest.raises(FileExistsError):
        daily_notes.generate(tmp_path, notes=3)


def test_a_single_note_is_refused_because_nothing_could_supersede(tmp_path: Path) -> None:
    with pytest.raises(ValueError):
        daily_notes.generate(tmp_path, notes=1)
