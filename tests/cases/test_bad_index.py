"""An index that is damaged, foreign or newer: searches say so, a forced sync makes it anew, notes are never touched."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from clawmark import Memory
from stub import WordHashEmbedder
from terminal import clawmark
from untouched import untouched

Open = Callable[..., Memory]
Damage = Callable[[Path], None]

_NOTES = 24


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a finished index of words and vectors."""
    folder = tmp_path_factory.mktemp("built")
    (folder / "memory").mkdir()
    for number in range(_NOTES):
        text = f"The zebra number {number} has stripes, word{number}.\n" * 5
        (folder / "memory" / f"n{number:02}.md").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAWMARK_HOME", str(tmp_path_factory.mktemp("home")))
        with Memory(folder, embedder=WordHashEmbedder()) as memory:
            assert memory.sync().error is None
    return folder


@pytest.fixture
def index(built: Path, workspace: Path) -> Path:
    """The file of that index in a workspace of one test, at rest: no journal beside it."""
    shutil.copytree(built, workspace, dirs_exist_ok=True)
    files = sorted(file.name for file in (workspace / ".clawmark").iterdir())
    assert files == [".gitignore", "index.sqlite", "sync.lock"]
    return workspace / ".clawmark" / "index.sqlite"


def _random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(50_000))


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _header_only(path: Path) -> None:
    os.truncate(path, 100)


def _text_file(path: Path) -> None:
    path.write_text("I am a shopping list.\n" * 100, encoding="utf-8")


def _middle_overwritten(path: Path) -> None:
    with path.open("r+b") as file:
        for offset in range(2 * 8192, path.stat().st_size, 8192):
            file.seek(offset)
            file.write(random.Random(offset).randbytes(4096))


def _statement(sql: str) -> Damage:
    def damage(path: Path) -> None:
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(sql)

    return damage


_DAMAGES: dict[str, Damage] = {
    "random bytes": _random_bytes,
    "truncated": _truncated,
    "header only": _header_only,
    "a text file": _text_file,
    "overwritten": _middle_overwritten,
    "a table lost": _statement("DROP TABLE documents"),
    "texts damaged": _statement("UPDATE documents SET text = x'00ff00ff'"),
    "facts damaged": _statement("UPDATE generations SET facts = '{\"space'"),
    "names damaged": _statement("UPDATE documents SET path = CAST(x'ff80' AS TEXT) WHERE id = 3"),
}


@pytest.mark.parametrize("name", _DAMAGES)
@pytest.mark.parametrize("on_search", [True, False], ids=["syncs on search", "does not"])
def test_a_damaged_index_is_an_error_until_a_forced_sync_makes_it_anew(
    index: Path, workspace: Path, open_memory: Open, name: str, on_search: bool
) -> None:
    """Nothing raises; the error names the file and the repair; afterwards everything is found as before."""
    _DAMAGES[name](index)
    memory = open_memory(embedder=WordHashEmbedder(), config={"sync": {"on_search": on_search}})
    with untouched(workspace):
        for response in (memory.search("zebra stripes"), memory.explain("zebra", path="memory/n02.md")):
            assert response.error is not None
            assert response.error.code == "INDEX_CORRUPT"
            assert str(index) in response.error.message
            assert "index --force" in response.error.action
            assert response.results == ()
        assert memory.get("memory/n02.md").status == "ok"
        if name != "texts damaged":  # which neither of these reads
            _check_told(memory)
    _check_repair(memory, workspace)


def _check_told(memory: Memory) -> None:
    status, report = memory.status(deep=True), memory.sync()
    assert (status.state, status.eligible) == ("failed", _NOTES)
    assert status.reason is not None
    assert "index --force" in status.reason
    assert report.error is not None
    assert (report.error.code, report.partial) == ("INDEX_CORRUPT", True)


def _check_repair(memory: Memory, workspace: Path) -> None:
    with untouched(workspace):
        report = memory.sync(force=True)
        assert (report.error, report.failed, report.pending, report.chunks) == (None, (), 0, _NOTES)
        response = memory.search("zebra stripes", max_results=_NOTES)
        assert response.error is None
        assert {result.path for result in response.results} == {f"memory/n{number:02}.md" for number in range(_NOTES)}
        assert memory.search("word7").results[0].path == "memory/n07.md"
        assert memory.status().state == "fresh"
        assert memory.sync().unchanged == _NOTES


def test_an_empty_file_is_no_index_yet_and_is_filled_by_itself(index: Path, workspace: Path, open_memory: Open) -> None:
    """Nothing is lost in it, so nobody is asked to repair it; another process may just be making it."""
    os.truncate(index, 0)
    idle = open_memory(embedder=WordHashEmbedder(), config={"sync": {"on_search": False}})
    with untouched(workspace):
        response = idle.search("word7")
        assert (response.error, [notice.code for notice in response.warnings]) == (None, ["INDEX_MISSING"])
        assert open_memory(embedder=WordHashEmbedder()).search("word7").results[0].path == "memory/n07.md"
        assert idle.search("word7").results[0].path == "memory/n07.md"


_USED_BY_OTHERS: dict[str, tuple[Damage, str]] = {
    "of another program": (
        lambda path: (path.unlink(), _statement("CREATE TABLE recipes (name TEXT)")(path))[0],
        "INDEX_FOREIGN",
    ),
    "of a newer clawmark": (_statement("PRAGMA user_version = 99"), "INDEX_NEWER"),
    "a folder": (lambda path: (path.unlink(), path.mkdir())[0], "INDEX_PERMISSION"),
}


@pytest.mark.parametrize("name", _USED_BY_OTHERS)
def test_an_index_that_is_not_ours_to_throw_away_is_an_error_and_stays(
    index: Path, workspace: Path, open_memory: Open, name: str
) -> None:
    """A foreign database, or one of a newer version, is not rebuilt, not even when forced."""
    damage, code = _USED_BY_OTHERS[name]
    damage(index)
    before = index.read_bytes() if index.is_file() else b""
    memory = open_memory(embedder=WordHashEmbedder())
    with untouched(workspace):
        outcomes = [memory.search("zebra").error, memory.sync().error, memory.sync(force=True).error]

        assert [outcome and outcome.code for outcome in outcomes] == [code] * 3
        assert all(outcome and outcome.action for outcome in outcomes)
        assert memory.status().state == "failed"
        assert memory.get("memory/n02.md").status == "ok"
    assert (index.read_bytes() if index.is_file() else b"") == before


@pytest.mark.parametrize("name", ["random bytes", "truncated", "a table lost", "of another program"])
def test_the_command_line_says_what_is_wrong_and_exits_1(index: Path, workspace: Path, name: str) -> None:
    """Text on stderr, nothing on stdout; with --json the error object; `index --force` repairs what is ours."""
    ours = name in _DAMAGES
    (_DAMAGES[name] if ours else _USED_BY_OTHERS[name][0])(index)
    with untouched(workspace):
        for command in (["search", "zebra"], ["explain", "zebra"]):
            text = clawmark(*command, "--workspace", workspace)
            data = clawmark(*command, "--workspace", workspace, "--json")
            assert (text.code, text.out, data.code) == (1, "", 1)
            assert text.err.startswith("error: ")
            assert "\nhint: " in text.err
            assert data.json["error"].keys() == {"code", "message", "action"}
            assert data.json["error"]["message"] in text.err
        assert clawmark("index", "--workspace", workspace).code == 1
        status = clawmark("status", "--workspace", workspace)
        assert status.code == 0
        assert "State:      failed" in status.out
        forced = clawmark("index", "--force", "--workspace", workspace, "--json")
        again = clawmark("search", "zebra", "--workspace", workspace, "--json")

    assert (forced.code, again.code) == ((0, 0) if ours else (1, 1))
    if ours:
        assert forced.json["added"] == _NOTES
        assert len(again.json["results"]) == 6


@pytest.mark.parametrize("table", ["data", "idx"])
def test_a_damaged_full_text_index_costs_one_leg_and_no_result(
    index: Path, workspace: Path, open_memory: Open, table: str
) -> None:
    """The answer is by a scan, or by meaning, and says so; a forced sync repairs it."""
    with closing(sqlite3.connect(index)) as db, db:
        for (name,) in db.execute(f"SELECT name FROM sqlite_schema WHERE name LIKE 'terms_%_{table}'").fetchall():
            db.execute(f"DELETE FROM {name}")
    with untouched(workspace):
        keyword = open_memory().search("word7")
        hybrid = open_memory(embedder=WordHashEmbedder()).search("word7")

    assert (keyword.error, keyword.mode) == (None, "keyword")
    assert [result.path for result in keyword.results] == ["memory/n07.md"]
    assert hybrid.error is None
    assert "memory/n07.md" in [result.path for result in hybrid.results]
    if table == "data":
        assert [notice.code for notice in keyword.warnings] == ["TEXT_SCAN"]
        assert [notice.code for notice in hybrid.warnings] == ["TEXT_LEG_FAILED"]
        assert hybrid.mode == "vector"
    _check_repair(open_memory(embedder=WordHashEmbedder()), workspace)


@pytest.mark.parametrize("seed", range(16))
def test_whatever_bytes_of_it_are_wrong_nothing_raises_and_a_forced_sync_repairs(
    index: Path, workspace: Path, open_memory: Open, seed: int
) -> None:
    """Bit rot at random places: an answer, an answer with an error, never an exception."""
    dice = random.Random(seed)
    content = bytearray(index.read_bytes())
    for _ in range(dice.choice((1, 3, 10))):
        length = dice.choice((1, 16, 256, 4096))
        offset = dice.randrange(200, len(content) - length)
        content[offset : offset + length] = dice.randbytes(length)
    index.write_bytes(content)
    memory = open_memory(embedder=WordHashEmbedder())
    with untouched(workspace):
        for _ in range(2):
            memory.search("zebra stripes")
            memory.explain("zebra", path="memory/n02.md")
            memory.search("zebra", paths=["memory/n0*"], since="2020-01-01")
            memory.status(deep=True)
            memory.sync()
    _check_repair(memory, workspace)


def test_an_index_that_is_deleted_while_it_is_open_is_no_error(index: Path, workspace: Path, open_memory: Open) -> None:
    """Derived data may be thrown away at any time; the next process makes it again."""
    memory = open_memory(embedder=WordHashEmbedder())
    assert memory.search("word7").results
    for file in index.parent.iterdir():
        file.unlink()
    index.parent.rmdir()
    with untouched(workspace):
        assert memory.search("word7").error is None
        assert memory.sync().error is None
        found = clawmark("search", "word7", "--workspace", workspace, "--json")

    assert [result["path"] for result in found.json["results"]] == ["memory/n07.md"]
