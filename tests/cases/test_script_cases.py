"""Chinese, Japanese, Korean, and other scripts: the user cases C01 to C11."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import regex
from asking import ask, codes, paths, run

from clawmark import Memory
from clawmark.core.chunking import chunk_text
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

THREE_SCRIPTS = {
    "memory/zh.md": "仓库钥匙放在三号柜子",
    "memory/ja.md": "昨日の会議で設計書を確認した",
    "memory/ko.md": "오늘 배포파이프라인 점검을 마쳤다",
    "memory/en.md": "The warehouse was painted yesterday.",
}


def down(texts: object) -> None:
    """Fail as a provider that is away does."""
    raise ConnectionError("provider is down")


# C01


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("钥匙", "memory/zh.md"),
        ("三号柜", "memory/zh.md"),
        ("匙", "memory/zh.md"),
        ("柜子", "memory/zh.md"),
        ("設計書", "memory/ja.md"),
        ("会議", "memory/ja.md"),
        ("議", "memory/ja.md"),
        ("배포파이프라인", "memory/ko.md"),
        ("점검", "memory/ko.md"),
        ("검", "memory/ko.md"),
    ],
)
def test_a_word_of_any_length_finds_its_note_and_no_other(query: str, path: str, note: Note, open_memory: Open) -> None:
    """C01: by keyword, inside words too, with no setting to find."""
    for name, text in THREE_SCRIPTS.items():
        note(name, text)

    response = open_memory().search(query)

    assert paths(response) == [path]
    assert response.results[0].text_score


def test_the_command_line_finds_words_of_all_three_scripts(note: Note, workspace: Path) -> None:
    """C01: the same at the other door."""
    for name, text in THREE_SCRIPTS.items():
        note(name, text)

    found = {query: paths(ask(workspace, "search", query)) for query in ("钥匙", "会議", "점검")}

    assert found == {"钥匙": ["memory/zh.md"], "会議": ["memory/ja.md"], "점검": ["memory/ko.md"]}
    assert "仓库钥匙放在三号柜子" in run(workspace, "search", "钥匙").stdout


# C02


def test_a_question_that_mixes_latin_and_chinese_without_spaces_finds_its_note(note: Note, open_memory: Open) -> None:
    """C02: the run is cut where scripts meet, and its parts count."""
    note("memory/backup.md", "GitHub备份脚本上传失败，原因是令牌过期。")
    others = ("GitHub 的新闻很多。", "脚本写得很好。", "上传了三张照片。", "今天没有失败。", "Lunch was late.")
    for number, text in enumerate(others):
        note(f"memory/other-{number}.md", text)

    response = open_memory().search("GitHub备份上传为什么失败")

    assert paths(response)[0] == "memory/backup.md"
    first = response.results[0].text_score
    assert first is not None
    assert first > max(result.score for result in response.results[1:])


# C04

MEETING = "明天下午三点开项目评审会"


@pytest.fixture
def told_twice(workspace: Path, note: Note) -> dict[str, dict[str, list[str]]]:
    """The same sentence as a note and as a message; the configuration that indexes both."""
    note("memory/plan.md", MEETING)
    line = json.dumps({"role": "user", "text": MEETING, "ts": "2026-06-29T10:00:00Z"}, ensure_ascii=False)
    note("sessions/chat.jsonl", line + "\n")
    note("clawmark.toml", '[sessions]\npaths = ["sessions"]\n')
    return {"sessions": {"paths": ["sessions"]}}


@pytest.mark.parametrize(("source", "path"), [("memory", "memory/plan.md"), ("sessions", "sessions/chat.jsonl")])
def test_a_chinese_word_is_found_in_notes_and_in_transcripts_alike(
    source: str, path: str, told_twice: dict[str, dict[str, list[str]]], workspace: Path, open_memory: Open
) -> None:
    """C04: one tokenizer for every source, at both doors."""
    response = open_memory(config=told_twice).search("项目评审", sources=[source])

    assert [(result.path, result.source) for result in response.results] == [(path, source)]
    assert MEETING in response.results[0].snippet
    assert paths(ask(workspace, "search", "项目评审", "--sources", source)) == [path]


# C05


def test_a_chinese_word_is_found_while_the_provider_is_down(note: Note, open_memory: Open) -> None:
    """C05: the answer is by keyword, and says why."""
    note("memory/zh.md", "系统先核对用户身份，再打开大门。")
    note("memory/en.md", "The gate is green.")
    with open_memory(embedder=StubEmbedder()) as before:
        assert before.sync().texts_embedded == 2
    memory = open_memory(embedder=StubEmbedder(on_documents=down, on_query=down))

    response = memory.search("用户身份")

    assert (response.error, response.mode, paths(response)) == (None, "keyword", ["memory/zh.md"])
    assert response.fallback is not None
    assert (response.fallback.from_provider, response.provider) == ("stub", None)
    assert "provider is down" in response.fallback.reason
    assert codes(response) == ["QUERY_EMBEDDING_FAILED"]


def test_a_chinese_word_is_found_when_the_provider_has_never_answered(note: Note, open_memory: Open) -> None:
    """C05: the provider fails from the first note on; the notes are indexed for words all the same."""
    note("memory/zh.md", "系统先核对用户身份，再打开大门。")
    note("memory/en.md", "The gate is green.")
    memory = open_memory(embedder=StubEmbedder(on_documents=down, on_query=down))

    response = memory.search("用户身份")

    assert (response.error, response.mode, paths(response)) == (None, "keyword", ["memory/zh.md"])
    assert response.fallback is not None
    assert response.warnings


# C07


def emoji_line(letters: int) -> str:
    # A letter of its own for each line: equal texts are embedded once.
    letter = "abcdefghijklmnopqrstu"[letters - 1590]
    return letter * letters + "🌸" + "👩\u200d🔧" + letter * 50


def test_no_character_is_cut_in_two_where_a_chunk_ends(note: Note, open_memory: Open) -> None:
    """C07: an emoji, and one made of three characters, at each place around the border."""
    lines = [emoji_line(letters) for letters in range(1590, 1611)]
    for number, line in enumerate(lines):
        note(f"memory/{number:02}.md", line)
    embedder = StubEmbedder(max_batch_items=1)

    report = open_memory(embedder=embedder, config={"chunking": {"overlap": 0}}).sync()

    assert (report.failed, report.added, len(embedder.texts)) == ((), 21, 42)
    assert "".join(embedder.texts) == "".join(lines)
    assert not any("\ufffd" in text for text in embedder.texts)
    clusters = [cluster for text in embedder.texts for cluster in regex.findall(r"\X", text) if not cluster.isascii()]
    assert clusters == ["🌸", "👩\u200d🔧"] * 21


@pytest.mark.parametrize("letters", range(1590, 1611))
def test_chunks_that_overlap_hold_whole_characters_too(letters: int) -> None:
    """C07: with the default overlap each chunk begins and ends between characters."""
    line = emoji_line(letters)
    whole = set(regex.findall(r"\X", line))

    parts = [line[chunk.start : chunk.end] for chunk in chunk_text(line, tokens=400, overlap=80)]

    assert all(set(regex.findall(r"\X", part)) <= whole for part in parts)
    assert all(part.encode().decode() == part for part in parts)


# C09


def test_the_passage_cited_is_the_one_that_holds_the_phrase(note: Note, workspace: Path, open_memory: Open) -> None:
    """C09: the phrase stands in paragraph 37 of 50, in a text without spaces."""
    filler = "清晨的市场里摆满了蔬菜和水果，摊主们一边整理货物一边聊着天气。" * 6
    paragraphs = [f"第{number}段。{filler}" for number in range(1, 51)]
    paragraphs[36] += "备用发电机的油箱在地下二层。"
    note("memory/long.md", "\n\n".join(paragraphs) + "\n")
    line = 2 * 36 + 1

    (first, *_) = open_memory().search("备用发电机的油箱").results

    assert first.start_line <= line <= first.end_line
    assert first.end_line - first.start_line < 10
    assert "备用发电机的油箱在地下二层" in first.snippet
    assert "备用发电机的油箱在地下二层" in run(workspace, "search", "备用发电机的油箱").stdout


def test_the_snippet_of_one_very_long_chinese_line_holds_the_phrase(note: Note, open_memory: Open) -> None:
    """C09: the same inside a single line."""
    filler = "清晨的市场里摆满了蔬菜和水果，摊主们一边整理货物一边聊着天气。" * 60
    note("memory/line.md", f"{filler}备用发电机的油箱在地下二层。{filler}")

    (first, *_) = open_memory().search("备用发电机的油箱").results

    assert "备用发电机的油箱在地下二层" in first.snippet


# C10


@pytest.mark.parametrize("embedder", ["none", StubEmbedder()], ids=["keyword", "hybrid"])
@pytest.mark.parametrize("query", ["交", "交互", ""])
def test_a_question_to_a_fresh_workspace_gives_nothing_and_no_failure(
    query: str, embedder: StubEmbedder | str, open_memory: Open
) -> None:
    """C10: one character, two, none; what is asked is answered with a hint that nothing is indexed."""
    response = open_memory(embedder=embedder).search(query)

    assert (response.results, response.error) == ((), None)
    assert codes(response) == (["INDEX_MISSING"] if query else [])


@pytest.mark.parametrize("query", ["交", "交互", ""])
def test_the_command_line_says_that_a_fresh_workspace_has_no_index(query: str, workspace: Path) -> None:
    """C10: exit code 0, and where the index would be."""
    result = run(workspace, "search", query)

    assert (result.exit_code, ask(workspace, "search", query)["results"]) == (0, [])
    assert not query or "No index yet" in result.stdout


def test_the_command_line_calls_an_empty_index_empty(note: Note, workspace: Path) -> None:
    """C10: all notes are gone since the index was made."""
    file = note("memory/a.md", "交互设计")
    assert run(workspace, "index").exit_code == 0
    file.unlink()

    result = run(workspace, "search", "交")

    assert result.exit_code == 0
    assert "The index is empty" in result.stdout


# C11


def test_chunks_of_chinese_text_keep_to_the_budget(note: Note, open_memory: Open) -> None:
    """C11: 1,600 characters cost 1,600 tokens, not 400."""
    line = "".join(chr(0x4E00 + number * 7 % 2000) for number in range(1600))
    note("memory/han.md", line)
    embedder = StubEmbedder(max_batch_items=1)

    report = open_memory(embedder=embedder, config={"chunking": {"tokens": 400, "overlap": 0}}).sync()

    assert report.chunks >= 4
    assert max(map(len, embedder.texts)) <= 400
    assert "".join(embedder.texts) == line


def test_sentences_of_a_transcript_keep_to_the_budget_too(workspace: Path, open_memory: Open) -> None:
    """C11: one message of 1,600 characters."""
    file = workspace / "sessions" / "chat.jsonl"
    file.parent.mkdir()
    text = "清晨的市场里摆满了蔬菜和水果。" * 107
    file.write_text(json.dumps({"role": "user", "text": text}, ensure_ascii=False) + "\n", encoding="utf-8")
    embedder = StubEmbedder()

    open_memory(embedder=embedder, config={"sessions": {"paths": ["sessions"]}}).sync()

    assert han_counts(embedder.texts)
    assert max(han_counts(embedder.texts)) <= 400


def han_counts(texts: Sequence[str]) -> list[int]:
    return [sum("\u4e00" <= character <= "\u9fff" for character in text) for text in texts]
