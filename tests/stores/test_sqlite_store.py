"""The SQLite store under the contract of all stores, and what is its own: one file that can be thrown away."""

from __future__ import annotations

import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from clawmark.core.errors import StoreCorruptError, StoreError
from clawmark.core.ports import Store
from clawmark.stores.sqlite import SqliteStore
from clawmark.testing import StoreContract
from clawmark.testing.samples import EVERYTHING, IDENTITY, chunk_ids, embed, ids_in, paths_in, put, unit

_CRANES = "Two cranes stand at the lock.\n\nA heron waits."


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".clawmark" / "index.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def store(self, path: Path) -> Iterator[Store]:
        opened = SqliteStore(path)
        yield opened
        opened.close()


def test_asking_makes_no_file(store: SqliteStore, path: Path) -> None:
    with store.reading("main") as reader:
        assert reader.state() is None
    assert store.agents() == []

    assert not path.parent.exists()
    assert store.location == str(path)


def test_git_never_sees_the_index(store: SqliteStore, path: Path) -> None:
    put(store, "main", "memory/a.md", _CRANES)

    assert (path.parent / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_a_folder_of_the_users_own_is_not_hidden_from_git(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path / "mine" / "index.sqlite")) as store:
        put(store, "main", "memory/a.md", _CRANES)

    assert not (tmp_path / "mine" / ".gitignore").exists()


def test_an_index_that_is_opened_is_ready(store: SqliteStore, path: Path) -> None:
    """L14: no loading step between opening and asking, whoever wrote it."""
    put(store, "main", "memory/a.md", _CRANES)
    embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 0.5))

    with closing(SqliteStore(path)) as other, other.reading("main") as reader:
        assert reader.text_candidates(["crane"], EVERYTHING, 10) == ids_in(reader)[:1]
        assert len(reader.vector_candidates(unit(), EVERYTHING, 10)) == 2


def test_a_process_that_dies_in_a_transaction_leaves_the_index_as_it_was(store: SqliteStore, path: Path) -> None:
    put(store, "main", "memory/a.md", _CRANES)
    script = (
        "import os, sys; from pathlib import Path\n"
        "from clawmark.stores.sqlite import SqliteStore\n"
        "from clawmark.testing.samples import IDENTITY, chunks_of, document\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "with store.writing('main', IDENTITY) as writer:\n"
        "    for n in range(200): writer.replace(document(f'memory/{n}.md', 'x ' * 5000), chunks_of('x ' * 5000))\n"
        "    os._exit(9)\n"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(path)], check=False, timeout=120)

    assert ended.returncode == 9
    with store.reading("main") as reader:
        assert paths_in(reader) == ["memory/a.md"]
    put(store, "main", "memory/b.md", "An egret.")
    assert _integrity(path) == "ok"


def test_the_file_is_sound_after_many_small_changes(store: SqliteStore, path: Path) -> None:
    dice = random.Random(7)
    for _ in range(60):
        number = put(store, "main", f"memory/{dice.randrange(8)}.md", "heron egret " * dice.randrange(1, 200))
        if dice.random() < 0.3:
            with store.writing("main", IDENTITY) as writer:
                writer.remove(number)

    assert _integrity(path) == "ok"


def test_a_reset_removes_the_index_and_its_journals(store: SqliteStore, path: Path) -> None:
    put(store, "main", "memory/a.md", _CRANES)
    store.reset()

    assert sorted(file.name for file in path.parent.iterdir()) == [".gitignore"]
    with store.reading("main") as reader:
        assert reader.state() is None
    put(store, "main", "memory/b.md", "An egret.")
    with store.reading("main") as reader:
        assert paths_in(reader) == ["memory/b.md"]


def _random_bytes(path: Path) -> None:
    path.write_bytes(random.Random(1).randbytes(20_000))


def _half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE recipes (name TEXT)")


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")


def _lost_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE vectors")
        db.execute("DROP TABLE chunks")


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_random_bytes, "INDEX_CORRUPT"),
        (_half, "INDEX_CORRUPT"),
        (_lost_table, "INDEX_CORRUPT"),
        (_foreign, "INDEX_FOREIGN"),
        (_newer, "INDEX_NEWER"),
        (_folder, "INDEX_PERMISSION"),
    ],
)
def test_a_file_that_cannot_be_used_is_an_error_with_its_cause_and_its_repair(
    store: SqliteStore, path: Path, damage: Callable[[Path], None], code: str
) -> None:
    """U01: one code per cause, one repair that fits."""
    put(store, "main", "memory/a.md", _CRANES)
    store.close()
    damage(path)
    with pytest.raises(StoreError) as reading:
        _read_all(store)
    with pytest.raises(StoreError) as writing:
        put(store, "main", "memory/b.md", "An egret.")

    assert (reading.value.code, writing.value.code) == (code, code)
    assert str(path) in reading.value.message
    assert reading.value.action


def test_a_broken_page_is_noticed_before_a_question_meets_it(store: SqliteStore, path: Path) -> None:
    for number in range(30):
        put(store, "main", f"memory/{number}.md", f"heron {number} " * 300)
    assert not store.is_damaged()
    store.close()
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2 // 8192 * 8192)
        file.write(random.Random(2).randbytes(8192))

    assert store.is_damaged()


def _read_all(store: SqliteStore) -> None:
    with store.reading("main") as reader:
        reader.state()
        reader.documents()
        reader.texts(ids_in(reader))
        reader.vector_candidates(unit(), EVERYTHING, 10)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE documents SET text = x'00ff00ff'",
        "UPDATE documents SET meta = '{\"cut'",
        "UPDATE documents SET hash = CAST(x'ff80' AS TEXT)",
        "UPDATE generations SET facts = 'x'",
        "UPDATE vectors SET vector = x'0011' WHERE chunk = 1",
        "UPDATE vectors SET vector = x'00112233' WHERE chunk = 1",
    ],
    ids=["text", "meta", "hash", "facts", "odd vector", "short vector"],
)
def test_rows_that_cannot_be_decoded_are_a_damaged_index(store: SqliteStore, path: Path, statement: str) -> None:
    """SQLite checks its pages, not what lies in them."""
    put(store, "main", "memory/a.md", _CRANES)
    embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 0.5))
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)

    with pytest.raises(StoreCorruptError):
        _read_all(store)


def test_without_its_full_text_index_the_words_are_still_found_and_counted(store: SqliteStore, path: Path) -> None:
    """The leg fails by name; a scan, and the numbers for ranking, come from the texts."""
    put(store, "main", "memory/a.md", _CRANES)
    put(store, "bob", "memory/a.md", "heron heron")
    with closing(sqlite3.connect(path)) as db, db:
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE name LIKE 'terms_%_data'").fetchall():
            db.execute(f"DELETE FROM {table}")
    cranes, heron = chunk_ids(store, "main")

    with store.reading("main") as reader:
        with pytest.raises(StoreError):
            reader.text_candidates(["heron"], EVERYTHING, 10)
        assert reader.scan_text(["heron"], EVERYTHING) == [heron]
        assert dict(reader.statistics(["heron", "crane", "gull"]).document_frequency) == {"heron": 1, "crane": 1}
        counted = {item.id: dict(item.frequencies) for item in reader.candidates([cranes, heron], ["heron"])}
        assert {number: count for number, count in counted.items() if count} == {heron: {"heron": 1}}


def test_a_file_that_was_removed_is_not_read_any_longer(store: SqliteStore, path: Path) -> None:
    """A long-lived process must not answer from a file that nobody else sees."""
    put(store, "main", "memory/a.md", _CRANES)
    for file in path.parent.glob("index.sqlite*"):
        file.unlink()

    with store.reading("main") as reader:
        assert reader.state() is None


def test_a_file_that_another_process_made_anew_answers_from_the_next_question_on(
    store: SqliteStore, path: Path
) -> None:
    put(store, "main", "memory/a.md", _CRANES)
    embed(store, "main", dict.fromkeys(chunk_ids(store, "main"), 0.5))
    with store.reading("main") as reader:
        reader.vector_candidates(unit(), EVERYTHING, 10)
    other = SqliteStore(path)
    other.reset()
    put(other, "main", "memory/b.md", "A gull.")
    embed(other, "main", dict.fromkeys(chunk_ids(other, "main"), 0.25))
    other.close()

    with store.reading("main") as reader:
        assert paths_in(reader) == ["memory/b.md"]
        assert [round(cosine, 2) for _, cosine in reader.vector_candidates(unit(), EVERYTHING, 10)] == [0.25]


def _integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as db:
        for (table,) in db.execute("SELECT name FROM sqlite_schema WHERE name GLOB 'terms_[0-9]*'").fetchall():
            if table.removeprefix("terms_").isdigit():
                db.execute(f"INSERT INTO {table} ({table}) VALUES ('integrity-check')")
        return db.execute("PRAGMA integrity_check").fetchone()[0]
