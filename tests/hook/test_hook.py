"""What the hook recalls, and what it keeps to itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clawmark import Memory
from clawmark.config import Settings, user_cache_dir, user_config_file
from clawmark.config.naming import RESERVED
from clawmark.files import find_workspace
from clawmark.hook import choices
from clawmark.hook.places import find_place, user_folders
from clawmark.hook.silence import Silence

Ask = Callable[..., str]
Note = Callable[[str, str], Path]
PROMPT = "What did we settle on for the job queue?"


def test_a_recalled_passage_names_its_place_its_date_and_its_origin(indexed: Path, ask: Ask) -> None:
    block = ask(PROMPT)

    assert "memory/2026-06-01.md#L1-L3 (2026-06-01, origin owner)" in block
    assert block.startswith("<clawmark-memory>\n")
    assert block.endswith("\n</clawmark-memory>")


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a function that sorts the job queue.",
        "What did we settle on for the wedding cake?",
        "Who is the president of Brazil?",
        "Did the giraffe ever learn to whistle in Antarctica?",
        "/recall what did we settle on for the job queue?",
        "!echo what did we settle on for the job queue",
        "thanks",
        "",
    ],
)
def test_nothing_is_said_where_nothing_is_sure(indexed: Path, ask: Ask, prompt: str) -> None:
    assert ask(prompt) == ""


def test_a_memory_is_found_from_a_folder_below_and_by_the_environment(indexed: Path, ask: Ask, tmp_path: Path) -> None:
    (indexed / "src" / "deep").mkdir(parents=True)

    assert "RabbitMQ" in ask(PROMPT, cwd=indexed / "src" / "deep")
    assert ask(PROMPT, cwd=tmp_path) == ""
    assert "RabbitMQ" in ask(PROMPT, cwd=tmp_path, environ={"CLAWMARK_WORKSPACE": str(indexed)})
    assert "RabbitMQ" in ask(PROMPT, cwd=tmp_path, workspace=str(indexed))


def test_the_hook_and_the_command_line_find_the_same_workspace(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name / "x" / "y").mkdir(parents=True)
    (tmp_path / "a" / "MEMORY.md").touch()
    (tmp_path / "b" / "memory").mkdir()
    (tmp_path / "b" / "x" / "MEMORY.md").mkdir()  # a folder of this name is no memory

    for start in (tmp_path / "a" / "x" / "y", tmp_path / "a", tmp_path / "b" / "x" / "y"):
        expected = find_workspace(start)
        with pytest.raises(Silence):  # no index yet
            find_place({"cwd": str(start)}, {}, {})
        from clawmark.hook.places import nearest

        assert nearest(str(start)) == expected


def test_a_deleted_note_is_not_recalled(indexed: Path, ask: Ask) -> None:
    (indexed / "memory" / "2026-06-01.md").unlink()

    assert ask(PROMPT) == ""


def test_a_passage_that_was_taken_out_of_its_note_is_not_recalled(indexed: Path, ask: Ask, note: Note) -> None:
    note("memory/2026-06-01.md", "# Architecture\n\nNothing to see.\n")

    assert ask(PROMPT) == ""


def test_a_passage_that_moved_within_its_note_is_recalled_where_it_stands(indexed: Path, ask: Ask, note: Note) -> None:
    text = (indexed / "memory" / "2026-06-01.md").read_text(encoding="utf-8")
    note("memory/2026-06-01.md", f"New first line.\n\n{text}")

    assert "memory/2026-06-01.md#L3-L5" in ask(PROMPT)


def test_a_note_that_became_a_link_is_not_recalled(indexed: Path, ask: Ask) -> None:
    file = indexed / "memory" / "2026-06-01.md"
    file.rename(indexed / "elsewhere.md")
    file.symlink_to(indexed / "elsewhere.md")

    assert ask(PROMPT) == ""


@pytest.mark.parametrize("pattern", ["memory/2026-*.md", "2026-06-01.md", "memory/"])
def test_a_note_that_is_kept_out_since_is_not_recalled(indexed: Path, ask: Ask, note: Note, pattern: str) -> None:
    note(".clawmarkignore", f"{pattern}\n")

    assert ask(PROMPT) == ""


def test_an_exclusion_in_the_settings_counts_at_once(indexed: Path, ask: Ask, note: Note) -> None:
    note("clawmark.toml", '[files]\nexclude = ["memory/2026-*"]\n')

    assert ask(PROMPT) == ""


def test_without_an_index_with_memory_off_and_with_a_wrong_setting_nothing_is_said(
    indexed: Path, ask: Ask, start: Callable[..., str]
) -> None:
    assert ask(PROMPT, environ={"CLAWMARK_ENABLED": "false"}) == ""
    assert ask(PROMPT, environ={"CLAWMARK_QUERY__MAX_RESULTS": "none"}) == ""
    assert ask(PROMPT, agent="somebody") == ""
    (indexed / ".clawmark").rename(indexed / "moved")
    assert ask(PROMPT) == ""
    assert start() == ""


def test_a_damaged_full_text_index_is_no_answer(indexed: Path, ask: Ask) -> None:
    from clawmark.core.errors import StoreError

    with closing(sqlite3.connect(indexed / ".clawmark" / "index.sqlite")) as db:
        db.execute("UPDATE terms_1_data SET block = x'ff00ff00ff00'")
        db.commit()

    with pytest.raises(StoreError):
        ask(PROMPT)


def test_an_index_without_room_for_its_shared_memory_is_read_as_it_is(indexed: Path, ask: Ask) -> None:
    """As in a folder that may not be written: WAL cannot be shared there."""
    index = indexed / ".clawmark" / "index.sqlite"
    with closing(sqlite3.connect(index)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    for suffix in ("-wal", "-shm"):
        Path(f"{index}{suffix}").unlink(missing_ok=True)
    Path(f"{index}-shm").mkdir()

    assert "RabbitMQ" in ask(PROMPT)


def test_the_hook_writes_nothing(indexed: Path, ask: Ask) -> None:
    before = {path: path.read_bytes() for path in indexed.rglob("*.sqlite")}

    ask(PROMPT)

    assert {path: path.read_bytes() for path in indexed.rglob("*.sqlite")} == before


def test_the_answer_stays_within_its_budget(note: Note, open_memory: Callable[..., Memory], ask: Ask) -> None:
    for day in range(1, 29):
        note(f"memory/2026-05-{day:02d}.md", "The job queue broke and the job queue was mended. " * 60)
    open_memory().sync()

    assert 500 < len(ask("What happened with the job queue?", environ={"CLAWMARK_QUERY__MAX_RESULTS": "50"})) <= 4_000


def test_chinese_questions_find_chinese_notes(note: Note, open_memory: Callable[..., Memory], ask: Ask) -> None:
    note("memory/2026-06-02.md", "# 六月二日\n\n小满对榛子过敏，点心里不能放坚果。\n")
    note("memory/2026-06-03.md", "# 六月三日\n\n我们决定缓存用本地文件，不用Redis。\n")
    open_memory().sync()

    assert "榛子" in ask("小满对什么过敏来着？")
    assert "本地文件" in ask("上次说缓存用什么？")
    assert ask("上次说的望远镜镜片多少钱？") == ""


def test_decay_and_the_number_of_results_are_heeded(note: Note, open_memory: Callable[..., Memory], ask: Ask) -> None:
    note("memory/2020-01-01.md", "The gate code is 1111.")
    note("memory/2026-06-01.md", "The gate code is 2222.")
    open_memory().sync()

    one = ask(
        "What was the gate code again?",
        environ={"CLAWMARK_QUERY__MAX_RESULTS": "1", "CLAWMARK_QUERY__HYBRID__TEMPORAL_DECAY__ENABLED": "true"},
    )

    assert "2222" in one
    assert "1111" not in one


def test_a_session_is_told_that_there_is_a_memory_and_how_to_ask(indexed: Path, start: Callable[..., str]) -> None:
    said = start()

    assert said.startswith("4 notes of earlier work")
    assert "last sync 2026-06-30 12:00 UTC" in said
    assert "memory_search" in said
    assert "memory/2026-06-01.md" in said
    assert "> ## Work" in said
    assert "Ilka" not in said  # the notes themselves come when they are asked for
    assert len(said) < 2_500


@pytest.mark.parametrize("source", ["resume", "fork"])
def test_a_session_that_goes_on_is_not_told_again(indexed: Path, start: Callable[..., str], source: str) -> None:
    assert start(source) == ""


def test_headings_that_may_not_be_injected_are_left_out(indexed: Path, start: Callable[..., str], note: Note) -> None:
    note("MEMORY.md", "---\norigin: external\n---\n# Buy now\n")

    said = start()

    assert said.startswith("4 notes")
    assert "Buy now" not in said


def test_the_defaults_of_the_hook_are_those_of_the_settings() -> None:
    assert choices.Choices() == choices.choices_of(Settings())
    assert set(RESERVED) == choices.NO_SETTINGS


@pytest.mark.parametrize("home", ["", "/tmp/somewhere"])
def test_the_folders_of_the_user_are_those_of_the_library(home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAWMARK_HOME", home)

    assert user_folders(os.environ) == (user_config_file(os.environ), user_cache_dir(os.environ))
