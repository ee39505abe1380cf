"""The doctor: each fault has a stable name and one repair, and ``--fix`` carries out what loses nothing."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from filelock import FileLock

from clawmark import Memory
from clawmark.core.errors import EmbeddingError
from clawmark.engine import machine
from stub import StubEmbedder, WordHashEmbedder
from terminal import clawmark, clawmark_process
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

_NOTES = 12
NOW = datetime(2026, 6, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def note(note: Note) -> Note:
    """Write a note of the day before: the clock of these tests stands still."""

    def write(path: str, text: str) -> Path:
        file = note(path, text)
        stamp = (NOW - timedelta(days=1)).timestamp()
        os.utime(file, (stamp, stamp))
        return file

    return write


@pytest.fixture
def index(workspace: Path, note: Note) -> Path:
    """The file of a sound index with vectors, closed."""
    for number in range(_NOTES):
        note(f"memory/n{number:02}.md", f"The heron number {number} stands there, word{number}.")
    with Memory(workspace, embedder=WordHashEmbedder(), clock=lambda: NOW) as memory:
        assert memory.sync().error is None
    return workspace / ".clawmark" / "index.sqlite"


def codes(memory: Memory) -> list[str]:
    return [finding.code for finding in memory.doctor().findings]


def run(index: Path, *statements: str) -> None:
    with closing(sqlite3.connect(index)) as db, db:
        for statement in statements:
            db.execute(statement)


def check_sound(memory: Memory) -> None:
    assert codes(memory) == []
    assert (memory.status().state, memory.status().chunks, memory.status().pending) == ("fresh", _NOTES, 0)
    assert memory.search("word7").results[0].path == "memory/n07.md"
    assert memory.sync().error is None


# --- rows that contradict each other ------------------------------------------------------

_FAULTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "a chunk twice": (
        "ROWS_DOUBLED",
        (
            "INSERT INTO chunks (document, start_line, end_line, start, stop, length, embedding_key, context) "
            "SELECT document, start_line, end_line, start, stop, length, embedding_key, context FROM chunks LIMIT 1",
        ),
    ),
    "a sum wrong": ("COUNTS_WRONG", ("UPDATE generations SET chunks = chunks + 1",)),
    "a file with another number of chunks": ("COUNTS_WRONG", ("UPDATE documents SET chunks = 7 WHERE id = 3",)),
    "chunks lost": ("COUNTS_WRONG", ("DELETE FROM chunks WHERE id IN (2, 3)",)),
    "a file lost": ("ROWS_ORPHANED", ("DELETE FROM documents WHERE id = 4",)),
    "vectors of nothing": ("ROWS_ORPHANED", ("INSERT INTO vectors (chunk, vector) VALUES (9999, x'00')",)),
    "a full-text table of nothing": ("ROWS_ORPHANED", ("CREATE VIRTUAL TABLE terms_77 USING fts5 (terms)",)),
    "words lost": ("WORDS_WRONG", ("DELETE FROM terms_1_docsize WHERE id = 2",)),
    "the full-text table lost": ("WORDS_WRONG", ("DROP TABLE terms_1",)),
    "vectors of another length": ("VECTORS_WRONG", ("UPDATE vectors SET vector = x'000000' WHERE chunk < 4",)),
    "two that answer": (
        "GENERATIONS_WRONG",
        ("INSERT INTO generations (agent, identity, answering) VALUES ('main', '{}', 1)",),
    ),
}


@pytest.mark.parametrize("name", _FAULTS)
@pytest.mark.parametrize("repair", ["doctor", "force"])
def test_rows_that_contradict_each_other_are_named_everywhere_and_mended_in_one_pass(
    index: Path, workspace: Path, open_memory: Open, name: str, repair: str
) -> None:
    """L10, L13: by doctor, status and sync; ``--fix`` and a forced sync mend, and embed nothing that is known."""
    code, statements = _FAULTS[name]
    run(index, *statements)
    embedder = StubEmbedder()
    embedder.provider, embedder.model, embedder.dimensions = "fake", "fake-64", 64
    memory = open_memory(embedder=embedder)
    with untouched(workspace):
        assert code in codes(memory)
        assert memory.status().state == "failed"
        if name != "two that answer":  # which every pass sets right by itself
            report = memory.sync()
            assert report.error is not None
            assert report.partial
            lost = name == "the full-text table lost"  # nothing can be written any more
            assert report.error.code == ("INDEX_CORRUPT" if lost else "INDEX_INCONSISTENT")
            assert memory.status().state == "failed"
        if repair == "doctor":
            assert code in [finding.code for finding in memory.doctor(fix=True).repaired]
        else:
            assert memory.sync(force=True).error is None
        check_sound(memory)
    assert embedder.document_calls == 0


def test_vectors_that_vanish_while_they_are_written_are_a_fault_and_come_from_the_cache(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """L10: chunks = vectors + what is listed as pending or failed, else the sync says so."""
    embedder = StubEmbedder()
    memory = open_memory(embedder=embedder)
    memory.sync()
    index = Path(memory.status().index_path)
    run(index, "CREATE TRIGGER lose BEFORE INSERT ON vectors WHEN NEW.chunk % 2 BEGIN SELECT RAISE(IGNORE); END")
    for number in range(10):
        note(f"memory/n{number}.md", f"Heron number {number}.")
    report = memory.sync()
    assert report.error is not None
    assert (report.error.code, report.pending, report.texts_embedded) == ("INDEX_INCONSISTENT", 5, 10)
    status = memory.status()
    assert (status.state, status.pending, status.vector) == ("failed", 5, {"vectors": 5, "dimensions": 256})

    run(index, "DROP TRIGGER lose")
    again = memory.sync()
    assert (again.error, again.pending, again.texts_embedded) == (None, 0, 0)
    assert memory.status().state == "fresh"


# --- the file, its folder and what lies beside --------------------------------------------


def test_a_sound_index_has_no_findings(index: Path, workspace: Path, open_memory: Open) -> None:
    """Exit 0, and one line."""
    check_sound(open_memory(embedder=WordHashEmbedder()))
    ran = clawmark("doctor", "--workspace", workspace)
    assert (ran.code, ran.out) == (0, "Nothing is wrong.\n")


def test_no_index_yet_is_a_finding_that_fix_repairs(workspace: Path, note: Note) -> None:
    """Exit 1 with findings, in text and as data."""
    note("memory/a.md", "A heron.")
    at = ("--workspace", workspace)
    found = clawmark("doctor", "--json", *at)
    assert (found.code, [item["code"] for item in found.json["findings"]]) == (1, ["INDEX_MISSING"])
    assert found.json["findings"][0].keys() == {"code", "message", "action", "repair"}
    fixed = clawmark("doctor", "--fix", *at)
    assert (fixed.code, fixed.out.splitlines()[-1]) == (0, "Nothing is wrong.")
    assert fixed.out.startswith("repaired INDEX_MISSING")
    assert clawmark("search", "heron", "--json", *at).json["results"]


def test_a_damaged_index_is_rebuilt(index: Path, open_memory: Open) -> None:
    index.write_bytes(b"\0garbage" * 5_000)
    memory = open_memory(embedder=WordHashEmbedder())

    assert "INDEX_CORRUPT" in codes(memory)
    assert "INDEX_CORRUPT" in [finding.code for finding in memory.doctor(fix=True).repaired]
    check_sound(memory)


@pytest.mark.parametrize(
    ("code", "statements"),
    [("INDEX_NEWER", ("PRAGMA user_version = 99",)), ("INDEX_FOREIGN", ("PRAGMA application_id = 7",))],
)
def test_what_is_not_ours_is_named_and_never_touched(
    index: Path, open_memory: Open, code: str, statements: tuple[str, ...]
) -> None:
    """L03: a newer index and a foreign one are told apart from damage, and not repaired."""
    run(index, *statements)
    before = index.read_bytes()
    report = open_memory(embedder=WordHashEmbedder()).doctor(fix=True)

    assert code in [finding.code for finding in report.findings]
    assert index.read_bytes() == before


def test_four_troubles_with_the_index_have_four_names(index: Path, open_memory: Open, workspace: Path) -> None:
    """L03: a lock, a folder in the way, damage and a newer schema; only damage offers a rebuild."""
    memory = open_memory(embedder=WordHashEmbedder())
    with closing(sqlite3.connect(index, isolation_level=None)) as db:
        run(index, "PRAGMA user_version = 99")
        newer = memory.search("heron").error
        run(index, "PRAGMA user_version = 1")
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        with FileLock(workspace / ".clawmark" / "sync.lock"):
            locked = {notice.code: notice for notice in memory.search("absent words entirely").warnings}
    memory.close()
    content = index.read_bytes()
    index.write_bytes(content[: len(content) // 2])
    damaged = open_memory(embedder=WordHashEmbedder()).search("heron").error
    index.unlink()
    index.mkdir()
    folder = open_memory(embedder=WordHashEmbedder()).search("heron").error

    assert newer is not None
    assert damaged is not None
    assert folder is not None
    assert (newer.code, damaged.code, folder.code) == ("INDEX_NEWER", "INDEX_CORRUPT", "INDEX_PERMISSION")
    assert [("--force" in error.action) for error in (newer, damaged, folder)] == [False, True, False]
    assert not any("--force" in notice.action for notice in locked.values())


def test_a_file_in_the_way_of_the_folder_is_a_finding(workspace: Path, note: Note, open_memory: Open) -> None:
    note("memory/a.md", "A heron.")
    (workspace / ".clawmark").write_text("in the way", encoding="utf-8")

    assert "FOLDER_UNUSABLE" in codes(open_memory())


def test_a_folder_in_the_way_of_the_lock_is_a_finding(index: Path, open_memory: Open) -> None:
    lock = index.with_name("sync.lock")
    lock.unlink(missing_ok=True)
    lock.mkdir()

    assert codes(open_memory(embedder=WordHashEmbedder())) == ["LOCK_UNUSABLE"]


def test_a_lock_file_of_a_dead_process_is_no_lock(index: Path, workspace: Path, note: Note) -> None:
    """L07: locks are the system's and die with their process; what is left of one does not block."""
    script = "import os, sys; from filelock import FileLock; FileLock(sys.argv[1]).acquire(); os.kill(os.getpid(), 9)"
    lock = index.with_name("sync.lock")
    killed = subprocess.run([sys.executable, "-c", script, str(lock)], check=False)
    assert (killed.returncode, lock.exists()) == (-9, True)
    note("memory/new.md", "An egret.")
    found = clawmark("search", "egret", "--workspace", workspace, "--json")

    assert [result["path"] for result in found.json["results"]] == ["memory/new.md"]
    assert clawmark("doctor", "--workspace", workspace).code == 0


def test_a_long_journal_is_moved_into_the_file(index: Path, open_memory: Open) -> None:
    journal = Path(f"{index}-wal")
    journal.touch()
    os.truncate(journal, 65_000_000)
    memory = open_memory(embedder=WordHashEmbedder())

    assert codes(memory) == ["JOURNAL_LARGE"]
    assert [finding.code for finding in memory.doctor(fix=True).repaired] == ["JOURNAL_LARGE"]
    assert journal.stat().st_size < 1_000_000
    check_sound(memory)


def test_what_killed_rebuilds_left_is_swept(index: Path, open_memory: Open) -> None:
    """L04: an unfinished index of other settings; named, and gone after the next sync."""
    for tokens in (50, 60, 70):
        other = open_memory(embedder=WordHashEmbedder(), config={"chunking": {"tokens": tokens, "overlap": 0}})
        _interrupt(other)
    memory = open_memory(embedder=WordHashEmbedder())
    assert codes(memory) == ["GENERATIONS_LEFT"]
    memory.sync()
    check_sound(memory)
    with closing(sqlite3.connect(index)) as db:
        assert db.execute("SELECT count(*) FROM generations").fetchone() == (1,)
        assert len(db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%fts5%'").fetchall()) == 1


def _interrupt(memory: Memory) -> None:
    def stop(stage: str, done: int, total: int) -> None:
        if stage == "reading" and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.sync(progress=stop)


# --- files, settings, provider, cache -----------------------------------------------------


def test_files_that_the_index_lags_behind_are_a_finding_that_fix_repairs(
    index: Path, note: Note, open_memory: Open
) -> None:
    note("memory/new.md", "An egret.")
    memory = open_memory(embedder=WordHashEmbedder())

    assert codes(memory) == ["INDEX_BEHIND"]
    assert [finding.code for finding in memory.doctor(fix=True).repaired] == ["INDEX_BEHIND"]
    assert codes(memory) == []


def test_a_configured_path_that_is_not_there_is_a_finding(index: Path, open_memory: Open) -> None:
    """S11: until it appears."""
    memory = open_memory(embedder=WordHashEmbedder(), config={"files": {"extra_paths": ["extra"]}})

    assert codes(memory) == ["PATH_MISSING"]


def test_a_workspace_without_notes_names_those_that_lie_elsewhere(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    note("notes/a.md", "A heron.")
    (finding,) = open_memory().doctor().findings

    assert (finding.code, "notes/a.md" in finding.message, "extra_paths" in finding.action) == ("NO_NOTES", True, True)


def test_files_of_the_future_are_a_finding(index: Path, workspace: Path, open_memory: Open) -> None:
    stamp = (NOW + timedelta(days=400)).timestamp()
    os.utime(workspace / "memory/n03.md", (stamp, stamp))
    memory = open_memory(embedder=WordHashEmbedder())
    memory.sync()

    assert codes(memory) == ["TIME_IN_FUTURE"]


def test_a_setting_that_a_workspace_may_not_set_is_a_finding(index: Path, workspace: Path, open_memory: Open) -> None:
    (workspace / "clawmark.toml").write_text('[store]\nurl = "sqlite:////tmp/other.sqlite"\n', encoding="utf-8")

    assert codes(open_memory(embedder=WordHashEmbedder())) == ["SETTING_IGNORED"]


def test_a_provider_that_cannot_start_is_a_finding(index: Path, open_memory: Open) -> None:
    found = open_memory(embedder="openai").doctor().findings

    assert "PROVIDER_UNAVAILABLE" in [finding.code for finding in found]
    assert any("OPENAI_API_KEY" in finding.action for finding in found)


@pytest.mark.parametrize("error", [EmbeddingError("The key is refused."), OSError("no route")])
def test_a_provider_that_fails_is_a_finding(index: Path, open_memory: Open, error: Exception) -> None:
    def fail(query: str) -> None:
        raise error

    embedder = StubEmbedder(dimensions=64, on_query=fail)
    embedder.provider, embedder.model = "fake", "fake-64"
    (finding,) = open_memory(embedder=embedder).doctor().findings

    assert (finding.code, str(error) in finding.message) == ("PROVIDER_UNAVAILABLE", True)


def test_a_failed_sync_is_a_finding_with_its_time_and_its_repair(index: Path, note: Note, open_memory: Open) -> None:
    note("memory/new.md", "An egret.")
    open_memory(embedder="openai").sync()
    found = {finding.code: finding for finding in open_memory(embedder="openai").doctor().findings}

    assert NOW.isoformat() in found["SYNC_FAILED"].message
    assert "OPENAI_API_KEY" in found["SYNC_FAILED"].action


def test_a_file_that_cannot_be_embedded_is_a_finding(index: Path, note: Note, open_memory: Open) -> None:
    def refuse(texts: object) -> None:
        if any("poison" in text for text in texts):  # type: ignore[attr-defined]
            raise ValueError("refused")

    note("memory/new.md", "A poison dart frog.")
    embedder = StubEmbedder(dimensions=64, on_documents=refuse)
    embedder.provider, embedder.model = "fake", "fake-64"
    memory = open_memory(embedder=embedder)
    memory.sync()
    found = {finding.code: finding for finding in memory.doctor().findings}

    assert "memory/new.md" in found["FILE_FAILED"].message


def test_a_damaged_cache_is_thrown_away_and_made_again(index: Path, open_memory: Open) -> None:
    memory = open_memory(embedder=WordHashEmbedder())
    cache = memory.status().cache
    assert cache is not None
    memory.close()
    Path(cache["path"]).write_bytes(b"\0garbage" * 1000)
    memory = open_memory(embedder=WordHashEmbedder())

    assert codes(memory) == ["CACHE_DAMAGED"]
    assert [finding.code for finding in memory.doctor(fix=True).repaired] == ["CACHE_DAMAGED"]
    check_sound(memory)


def test_a_cache_above_its_cap_is_pruned(index: Path, open_memory: Open) -> None:
    """L11: also when the cap was lowered and nothing new is embedded."""
    memory = open_memory(embedder=WordHashEmbedder(), config={"cache": {"max_entries": 5}})

    assert codes(memory) == ["CACHE_TOO_LARGE"]
    memory.doctor(fix=True)
    cache = memory.status().cache
    assert cache is not None
    assert cache["entries"] == 5
    check_sound(memory)


def test_an_index_of_a_time_when_the_workspace_was_read_only_is_a_finding(
    index: Path, workspace: Path, open_memory: Open
) -> None:
    from clawmark.engine.places import index_of_read_only

    other = index_of_read_only(workspace, dict(os.environ))
    other.parent.mkdir(parents=True)
    other.write_bytes(b"")

    assert codes(open_memory(embedder=WordHashEmbedder())) == ["INDEX_LEFT"]


def test_an_agent_that_nobody_has_synced_for_long_is_a_finding(index: Path, workspace: Path, open_memory: Open) -> None:
    with Memory(workspace, agent="old", embedder="none", clock=lambda: NOW - timedelta(days=300)) as old:
        old.sync()
    (finding,) = open_memory(embedder=WordHashEmbedder()).doctor().findings

    assert (finding.code, "'old'" in finding.message) == ("AGENT_IDLE", True)


def test_a_sync_of_the_future_is_a_finding(index: Path, open_memory: Open) -> None:
    assert codes(open_memory(embedder=WordHashEmbedder(), clock=lambda: NOW - timedelta(hours=12))) == ["CLOCK_BACK"]


def test_what_is_forgotten_and_yet_present_is_removed(index: Path, workspace: Path, open_memory: Open) -> None:
    """As after a copy of an old index file was put back."""
    memory = open_memory(embedder=WordHashEmbedder())
    old = index.read_bytes()
    memory.forget(path="memory/n03.md")
    memory.close()
    run(index, "DELETE FROM documents WHERE path = 'memory/n03.md'")
    index.write_bytes(old)
    run(index, "INSERT INTO tombstones VALUES ('main', 'path', 'memory/n03.md', 'path:memory/n03.md')")
    memory = open_memory(embedder=WordHashEmbedder(), config={"sync": {"on_search": False}})

    assert codes(memory) == ["FORGOTTEN_PRESENT", "FORGOTTEN_COPY_OLD"]
    assert len(memory.doctor(fix=True).repaired) == 2
    assert memory.search("word3").results == ()
    assert codes(memory) == []


# --- the machine --------------------------------------------------------------------------


def test_this_machine_can_hold_an_index() -> None:
    assert list(machine.sqlite_findings(machine.sqlite_features())) == []


def test_an_sqlite_that_is_old_or_lacks_a_part_is_named() -> None:
    good = machine.sqlite_features()
    bad = replace(good, version=(3, 20, 1), full_text=False, json=False)

    assert [finding.code for finding in machine.sqlite_findings(bad)] == ["SQLITE_OLD", "FTS5_MISSING", "JSON_MISSING"]
    assert "3.20.1" in next(machine.sqlite_findings(bad)).message


@pytest.mark.parametrize(
    ("folder", "codes"),
    [("/mnt/share/ws/.clawmark", ["NETWORK_FOLDER"]), ("/mnt/shared/ws", []), ("/mnt/share/local/ws", []), ("/", [])],
)
def test_a_folder_on_another_machines_disk_is_named(folder: str, codes: list[str]) -> None:
    mounts = (
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "40 22 0:45 / /mnt/share rw,relatime shared:2 - nfs4 host:/share rw\n"
        "41 40 8:2 / /mnt/share/local rw - xfs /dev/sdb1 rw\n"
        "nonsense\n"
    )

    assert [finding.code for finding in machine.file_system_findings(Path(folder), mounts)] == codes


# --- several processes --------------------------------------------------------------------


def test_a_process_that_saw_a_broken_index_sees_the_rebuilt_one(
    index: Path, workspace: Path, open_memory: Open
) -> None:
    """S22: no restart, whatever file is behind the name now."""
    memory = open_memory(embedder=WordHashEmbedder(), config={"sync": {"on_search": False}})
    assert memory.search("word7").results
    with index.open("r+b") as file:
        file.write(b"\0garbage" * 3_000)
    Path(f"{index}-wal").unlink(missing_ok=True)
    other = open_memory(embedder=WordHashEmbedder(), config={"sync": {"on_search": False}})
    assert other.search("word7").error is not None

    assert clawmark_process("index", "--force", "--workspace", workspace).code == 0
    for asking in (memory, other):
        response = asking.search("word7")
        assert (response.error, response.results[0].path) == (None, "memory/n07.md")


def test_an_index_whose_metadata_were_lost_serves_again_by_itself(index: Path, open_memory: Open) -> None:
    """S26: the next search makes it again from files and cache; what is left of the old rows is named and mended."""
    run(index, "DELETE FROM generations")
    embedder = StubEmbedder(dimensions=64)
    embedder.provider, embedder.model = "fake", "fake-64"
    memory = open_memory(embedder=embedder)

    assert memory.search("word7").results[0].path == "memory/n07.md"
    assert embedder.document_calls == 0
    memory.doctor(fix=True)
    check_sound(memory)


@pytest.mark.parametrize("spelling", ["same", "order", "slash"])
def test_equal_settings_in_another_spelling_are_the_same_index(
    workspace: Path, note: Note, open_memory: Open, tmp_path: Path, spelling: str
) -> None:
    """S26: nothing is read or embedded again."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x.md").write_text(f"An egret in {name}.", encoding="utf-8")
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    open_memory(embedder=WordHashEmbedder(), config={"files": {"extra_paths": [one, two]}}).sync(force=True)
    spelled = {"same": [one, two], "order": [two, one], "slash": [f"{one}/", f"{two}/."]}[spelling]
    place = Path(f"{workspace}/memory/..") if spelling == "slash" else workspace
    memory = open_memory(workspace=place, embedder=WordHashEmbedder(), config={"files": {"extra_paths": spelled}})

    assert memory.status().state == "fresh"
    report = memory.sync()
    assert (report.added, report.changed, report.removed, report.texts_embedded) == (0, 0, 0, 0)


def test_a_tombstone_is_data_and_not_part_of_the_identity(index: Path, open_memory: Open) -> None:
    memory = open_memory(embedder=WordHashEmbedder())
    memory.forget(path="memory/n03.md")

    assert memory.status().state == "fresh"
