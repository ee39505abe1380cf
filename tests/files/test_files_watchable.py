"""Which folders are watched, and which changes in them matter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.files import ExtraPath, FileRules, WatchPlan, watch_plan


@pytest.fixture
def top(tmp_path: Path) -> Path:
    folder = tmp_path / "ws"
    for name in ("memory/a/b", "memory/.git/objects", "memory/node_modules/x", "other", ".venv/lib"):
        (folder / name).mkdir(parents=True)
    (folder / "MEMORY.md").write_text("# Facts\n", encoding="utf-8")
    return folder


def plan_of(top: Path, **options: object) -> WatchPlan:
    return watch_plan(FileRules(top, **options), ("memory", "sessions"))  # pyright: ignore[reportArgumentType]


def below(plan: WatchPlan, top: Path) -> list[str]:
    return [Path(folder).relative_to(top).as_posix() for folder in plan.folders]


def test_folders_are_watched_but_no_junk_hidden_or_other_ones(top: Path) -> None:
    assert below(plan_of(top), top) == [".", "memory", "memory/a", "memory/a/b"]


@pytest.mark.parametrize(
    ("path", "matter"),
    [
        ("MEMORY.md", "file"),
        ("USER.md", "file"),
        (".clawmarkignore", "file"),
        ("memory", "folder"),
        ("memory/new.md", "file"),
        ("memory/a/b/deleted.md", "file"),
        ("memory/a", "folder"),
        ("memory/.git", None),
        ("memory/node_modules", None),
        ("memory/.git/x.md", None),
        ("memory/.hidden.md", None),
        ("memory/.a.md.swp", None),
        ("memory/a.md~", None),
        ("memory/a.txt", None),
        ("memory/secret/x.md", None),
        ("memory/a/secret.md", None),
        ("other", None),
        ("README.md", None),
        (".clawmark", None),
        ("notes.jsonl", None),
    ],
)
def test_only_changes_of_memory_matter(top: Path, path: str, matter: str | None) -> None:
    plan = plan_of(top, exclude=("secret*",))

    assert plan.judge(str(top / path)) == matter


def test_a_folder_that_was_watched_matters_when_it_is_gone(top: Path) -> None:
    plan = plan_of(top)
    (top / "memory/a/b").rmdir()

    assert plan.judge(str(top / "memory/a/b")) == "folder"


def test_a_new_folder_matters_unless_it_is_junk(top: Path) -> None:
    plan = plan_of(top)
    (top / "memory/new").mkdir()
    (top / "memory/venv").mkdir()

    assert plan.judge(str(top / "memory/new")) == "folder"
    assert plan.judge(str(top / "memory/venv")) is None


def test_an_extra_file_is_watched_through_its_folder_and_alone_matters(top: Path, tmp_path: Path) -> None:
    extra = tmp_path / "elsewhere" / "facts.md"
    extra.parent.mkdir()
    extra.write_text("x", encoding="utf-8")
    plan = plan_of(top, extra_paths=(ExtraPath(str(extra)),))

    assert str(extra.parent) in plan.folders
    assert plan.judge(str(extra)) == "file"
    assert plan.judge(str(extra.with_name("other.md"))) is None


def test_the_pattern_of_an_extra_path_counts(top: Path, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    plan = plan_of(top, extra_paths=(ExtraPath(str(tmp_path / "docs"), "day-*.md"),))

    assert plan.judge(str(tmp_path / "docs/day-1.md")) == "file"
    assert plan.judge(str(tmp_path / "docs/week-1.md")) is None


def test_transcripts_are_told_from_notes(top: Path) -> None:
    (top / "chats").mkdir()
    plan = plan_of(top, session_paths=("chats",))

    assert plan.judge(str(top / "chats/one.jsonl")) == "file"
    assert plan.judge(str(top / "chats/one.md")) is None
    assert plan.is_transcript(str(top / "chats/one.jsonl"))
    assert not plan.is_transcript(str(top / "memory/a.md"))
    assert plan.shown(str(top / "chats/one.jsonl")) == "sessions/one.jsonl"
    assert plan.places == ("MEMORY.md", "memory", "chats")


@pytest.mark.parametrize(
    "change",
    [
        lambda top: (top / "late").mkdir(),
        lambda top: (top / "memory").rename(top / "old"),
        lambda top: top.rename(top.with_name("moved")),
    ],
)
def test_a_root_that_comes_or_goes_makes_a_plan_outdated(top: Path, change: Callable[[Path], object]) -> None:
    plan = plan_of(top, extra_paths=(ExtraPath("late"),))
    assert not plan.is_outdated()

    change(top)

    assert plan.is_outdated()


def test_an_edit_by_replacing_a_root_file_does_not(top: Path) -> None:
    plan = plan_of(top)
    (top / "new").write_text("# Other\n", encoding="utf-8")
    (top / "new").replace(top / "MEMORY.md")

    assert not plan.is_outdated()


def test_a_workspace_that_is_gone_gives_a_plan_without_folders(tmp_path: Path) -> None:
    assert plan_of(tmp_path / "nowhere").folders == ()


def test_with_an_unusable_ignore_file_its_repair_is_still_noticed(top: Path) -> None:
    (top / ".clawmarkignore").mkdir()
    plan = plan_of(top)

    assert plan.folders == (str(top),)
    assert plan.judge(str(top / ".clawmarkignore")) == "file"


def test_a_change_named_by_its_resolved_path_is_recognised(top: Path, tmp_path: Path) -> None:
    """MacOS names resolved paths in events."""
    (tmp_path / "link").symlink_to(top)
    plan = plan_of(tmp_path / "link")

    assert plan.judge(str(top.resolve() / "memory/a/x.md")) == "file"
    assert plan.shown(str(top.resolve() / "memory/a/x.md")) == "memory/a/x.md"
