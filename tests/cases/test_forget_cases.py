"""Forgetting: what was taken out of the index stays out, by every way in, and leaves no trace in it."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from clawmark import AsyncMemory, Memory, SearchResult
from clawmark.core.errors import ArgumentError
from clawmark.core.forgetting import Tombstone
from clawmark.stores.codec import pack, pack_vector
from clawmark.stores.sqlite import SqliteStore
from clawmark.sync.embedding import checked
from stub import WordHashEmbedder
from terminal import clawmark
from untouched import untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

SECRET = "The zanzibar passphrase is quokka nine times over."
AROUND = "\n".join(f"Row {number} tells of cranes in the reed near the lake." for number in range(60))
SESSIONS = {"sessions": {"paths": ["chats"]}}


def paths(memory: Memory, query: str = "zanzibar quokka passphrase") -> list[str]:
    response = memory.search(query, max_results=20, min_score=0.0)
    assert response.error is None
    return [result.path for result in response.results]


def dump(memory: Memory) -> list[str]:
    with closing(sqlite3.connect(memory.status().index_path)) as db:
        return list(db.iterdump())


def transcript(*texts: str, session: str | None = "s1") -> str:
    head = [{"type": "session", "id": session}] if session else []
    messages = [
        {"type": "message", "timestamp": "2026-06-01T08:00:00Z", "message": {"role": "user", "content": text}}
        for text in texts
    ]
    return "".join(json.dumps(record) + "\n" for record in (*head, *messages))


# --- a file -------------------------------------------------------------------------------


def test_a_forgotten_file_never_answers_again_by_any_way_into_the_index(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """T03: not by a sync, a forced one, a search, an edit, a rebuild with other settings, another process."""
    file = note("memory/a.md", SECRET)
    note("memory/b.md", "A heron stands in the reed.")
    memory = open_memory(embedder=WordHashEmbedder())
    assert paths(memory)[0] == "memory/a.md"

    with untouched(workspace):
        report = memory.forget(path="memory/a.md")
    assert (report.error, report.documents, report.chunks, report.vectors) == (None, ("memory/a.md",), 1, 1)
    assert "memory/a.md" not in paths(memory)
    memory.sync()
    memory.sync(force=True)
    assert "memory/a.md" not in paths(memory)
    file.write_text(f"{SECRET} And more of it.", encoding="utf-8")
    assert "memory/a.md" not in paths(memory)
    smaller = open_memory(embedder=WordHashEmbedder(), config={"chunking": {"tokens": 100, "overlap": 10}})
    assert smaller.sync().error is None
    assert "memory/a.md" not in paths(smaller)
    found = clawmark("search", "zanzibar", "--workspace", workspace, "--json")
    assert found.json["results"] == []


def test_a_forgotten_file_stays_out_under_another_name_and_as_a_copy(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """Until its content changes: then it is another text."""
    file = note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()
    memory.forget(path="memory/a.md")

    file.rename(workspace / "memory/renamed.md")
    copy = note("memory/deep/copy.md", SECRET)
    memory.sync()
    assert paths(memory) == []
    copy.write_text("The zanzibar ferry sails at nine.", encoding="utf-8")
    memory.sync()
    assert paths(memory) == ["memory/deep/copy.md"]


def test_a_file_can_be_forgotten_before_it_is_ever_indexed(note: Note, open_memory: Open) -> None:
    note("memory/a.md", SECRET)
    memory = open_memory()

    assert memory.forget(path="./memory/a.md").error is None
    assert (paths(memory), memory.sync().chunks) == ([], 0)


def test_a_forgotten_file_is_counted_as_left_out_and_says_why(note: Note, open_memory: Open) -> None:
    """S21: eligible and indexed agree, the file stands apart with its reason; explain and get tell the same."""
    note("memory/a.md", SECRET)
    note("memory/b.md", "A heron stands in the reed.")
    memory = open_memory()
    memory.sync()
    memory.forget(path="memory/a.md")

    status = memory.status()
    assert (status.state, status.files, status.eligible, status.pending) == ("fresh", 1, 1, 0)
    assert [item.to_dict() for item in status.skipped] == [{"path": "memory/a.md", "reason": "forgotten"}]
    explained = memory.explain("zanzibar", path="memory/a.md")
    assert explained.results == ()
    assert [notice.code for notice in explained.warnings] == ["PATH_REJECTED"]
    assert memory.get("memory/a.md").text == SECRET


def test_a_dry_run_tells_the_same_and_changes_nothing(note: Note, open_memory: Open) -> None:
    """T03."""
    note("memory/a.md", SECRET)
    note("memory/b.md", f"{AROUND}\n\nFrom a.md: the zanzibar passphrase is quokka nine times over!\n\n{AROUND}")
    memory = open_memory(embedder=WordHashEmbedder())
    memory.sync()
    before = dump(memory)

    dry = memory.forget(path="memory/a.md", dry_run=True)
    assert dump(memory) == before
    wet = memory.forget(path="memory/a.md")
    assert dry.dry_run
    assert {**dry.to_dict(), "dryRun": False, "cached": wet.cached} == wet.to_dict()


def test_what_was_written_from_it_is_named_with_its_lines_and_stays(note: Note, open_memory: Open) -> None:
    """T03: a passage of eight words, or the name of the file."""
    note("memory/a.md", SECRET)
    note("memory/b.md", f"{AROUND}\n\nI was told that the zanzibar passphrase is quokka nine times over.\n\n{AROUND}")
    note("memory/c.md", "Details: see memory/a.md.")
    note("memory/d.md", "The zanzibar ferry sails at nine.")
    memory = open_memory()
    memory.sync()

    report = memory.forget(path="memory/a.md")
    assert {place.partition("#")[0] for place in report.derived} == {"memory/b.md", "memory/c.md"}
    lines = (memory.get(place.partition("#")[0], lines=200).text for place in report.derived)
    assert all("#L" in place for place in report.derived)
    assert all("zanzibar" in text or "memory/a.md" in text for text in lines)
    assert "memory/b.md" in paths(memory)


def test_what_is_restored_is_indexed_again(note: Note, open_memory: Open) -> None:
    note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()
    memory.forget(path="memory/a.md")

    assert memory.forget(path="memory/a.md", restore=True, dry_run=True).restored
    assert paths(memory) == []
    assert memory.forget(path="memory/a.md", restore=True).error is None
    assert paths(memory) == ["memory/a.md"]
    again = memory.forget(path="memory/a.md", restore=True)
    assert again.error is not None
    assert again.error.code == "NOT_FOUND"


def test_forgetting_twice_is_forgetting_once(note: Note, open_memory: Open) -> None:
    note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()
    memory.forget(path="memory/a.md")

    report = memory.forget(path="memory/a.md")
    assert (report.error, report.documents, report.chunks) == (None, (), 0)


def test_another_agent_keeps_what_one_has_forgotten(note: Note, open_memory: Open) -> None:
    note("memory/a.md", SECRET)
    ann, bob = open_memory(agent="ann"), open_memory(agent="bob")
    ann.sync()
    bob.sync()
    ann.forget(path="memory/a.md")

    assert (paths(ann), paths(bob)) == ([], ["memory/a.md"])


# --- a session ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["s1", "s1.jsonl", "sessions/s1.jsonl"])
def test_a_forgotten_session_is_gone_with_its_archives_and_stays_so(
    workspace: Path, note: Note, open_memory: Open, name: str
) -> None:
    """T02, T03: scanned twice, forced, archived once more, grown by a message; the note about it is named."""
    file = note("chats/s1.jsonl", transcript(SECRET, "and thank you"))
    note("chats/s1.jsonl.reset.2026-06-01", transcript(SECRET))
    note("chats/s2.jsonl", transcript("The zanzibar ferry sails at nine.", session="s2"))
    note("memory/a.md", "Told in chat s1: the zanzibar passphrase is quokka nine times over.")
    memory = open_memory(config=SESSIONS)
    memory.sync()
    assert memory.status().source_counts["sessions"]["files"] == 3

    with untouched(workspace):
        report = memory.forget(session=name)
    assert report.documents == ("sessions/s1.jsonl", "sessions/s1.jsonl.reset.2026-06-01")
    assert report.derived == ("memory/a.md#L1",)
    assert memory.status().source_counts["sessions"]["files"] == 1
    file.write_text(file.read_text(encoding="utf-8") + transcript(SECRET, session=None), encoding="utf-8")
    note("chats/s1.jsonl.reset.2026-06-02", transcript(SECRET, "one more"))
    for force in (False, False, True):
        assert memory.sync(force=force).error is None
        assert sorted(paths(memory)) == ["memory/a.md", "sessions/s2.jsonl"]


def test_a_transcripts_path_stands_for_the_session(note: Note, open_memory: Open) -> None:
    note("chats/s1.jsonl", transcript(SECRET))
    note("chats/s1.jsonl.reset.2026-06-01", transcript(SECRET, "more"))
    memory = open_memory(config=SESSIONS)
    memory.sync()

    assert len(memory.forget(path="sessions/s1.jsonl").documents) == 2
    assert paths(memory) == []


# --- a passage ----------------------------------------------------------------------------


def covers(result: SearchResult, line: int, other: SearchResult) -> bool:
    return result is not other and result.start_line < line <= result.end_line


def test_a_forgotten_passage_is_gone_from_its_chunk_and_from_the_neighbours_that_overlap_it(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """By words, by meaning, in snippets and in explanations; the rest of the file stays, with its line numbers."""
    lines = f"# Lake\n{AROUND}\n{AROUND}\nThe last line is about an osprey.".split("\n")
    file = note("memory/a.md", "\n".join(lines))
    memory = open_memory(embedder=WordHashEmbedder())
    found = memory.search("cranes", max_results=20, min_score=0.0).results
    shared = next(line for one in found for line in (one.start_line,) for two in found if covers(two, line, one))
    lines[shared - 1] = SECRET
    file.write_text("\n".join(lines), encoding="utf-8")
    memory.sync()

    with untouched(workspace):
        report = memory.forget(chunk=f"memory/a.md#L{shared}")
    assert (report.documents, report.chunks, report.vectors) == (("memory/a.md",), 2, 2)
    for force in (False, True):
        memory.sync(force=force)
        for response in (memory.search("zanzibar passphrase", min_score=0.0), memory.explain("zanzibar")):
            assert not any("zanzibar" in result.snippet for result in response.results)
    osprey = memory.search("osprey").results[0]
    assert osprey.end_line == len(lines)
    assert (memory.status().state, memory.status().pending) == ("fresh", 0)
    assert SECRET in memory.get("memory/a.md", lines=500).text


def test_the_place_of_a_result_can_be_pasted_into_forget(note: Note, open_memory: Open) -> None:
    note("memory/a.md", f"{AROUND}\n\n{SECRET}\n\n{AROUND}")
    memory = open_memory()
    place = memory.search("zanzibar").results[0].citation

    memory.forget(chunk=place)
    assert paths(memory, "zanzibar") == []


def test_a_forgotten_passage_stays_out_when_its_file_is_edited_renamed_or_copied(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """It is known again by its lines, wherever they stand."""
    file = note("memory/a.md", f"A heron.\n\n{SECRET}\n- done\n")
    memory = open_memory()
    memory.sync()
    memory.forget(chunk="memory/a.md#L3-L4")

    file.write_text(f"An ibis.\nA new line above.\n\n- {SECRET}\n{SECRET}\n- done\n- done\n", encoding="utf-8")
    memory.sync()
    assert [result.snippet for result in memory.search("zanzibar").results] != []
    file.write_text(f"An ibis.\nA new line above.\n\n{SECRET}\n- done\nMore.", encoding="utf-8")
    file.rename(workspace / "memory/renamed.md")
    note("memory/copy.md", f"Copied:\n{SECRET}")
    memory.sync()
    assert paths(memory, "zanzibar quokka") == []
    assert paths(memory, "ibis") == ["memory/renamed.md"]


def test_a_passage_of_a_session_is_forgotten_by_its_messages(note: Note, open_memory: Open) -> None:
    note("chats/s1.jsonl", transcript("A heron stands there.", SECRET, "An ibis is rare here."))
    memory = open_memory(config=SESSIONS)
    result = memory.search("zanzibar").results[0]

    report = memory.forget(chunk=f"sessions/s1.jsonl#L{result.start_line}-L{result.end_line}")
    assert (report.error, report.chunks) == (None, 1)
    memory.sync(force=True)
    assert paths(memory, "zanzibar heron") == []


def test_a_restored_passage_is_found_again(note: Note, open_memory: Open) -> None:
    note("memory/a.md", f"A heron.\n\n{SECRET}")
    memory = open_memory()
    memory.sync()
    memory.forget(chunk="memory/a.md#L3")
    assert paths(memory, "zanzibar") == []

    assert memory.forget(chunk="memory/a.md#L3", restore=True).error is None
    assert paths(memory, "zanzibar") == ["memory/a.md"]


# --- no trace -----------------------------------------------------------------------------


def test_no_word_and_no_vector_of_it_is_left_in_the_bytes_of_the_index_or_the_cache(
    tmp_path: Path, note: Note, open_memory: Open
) -> None:
    """Not in free pages, in the parts of the full-text index, in journals, in compressed texts."""
    for number in range(150):
        note(f"memory/n{number}.md", f"{AROUND}\nNote {number} about word{number}.")
    file = note("memory/a.md", f"# Quokkaheading\n\n{AROUND}\n{SECRET}")
    embedder = Recording()
    memory = open_memory(embedder=embedder)
    memory.sync()
    for turn in range(3):
        file.write_text(f"# Quokkaheading\n\n{AROUND}\n{SECRET} Turn {turn}.", encoding="utf-8")
        memory.sync()
    texts = [text for text in embedder.texts if "zanzibar" in text.lower() or "Quokkaheading" in text]
    vectors = checked(WordHashEmbedder().embed_documents(texts[-1:]), 1)
    packed, cached = map(pack_vector, vectors), [vector.astype("<f4").tobytes() for vector in vectors]
    folder, store = Path(memory.status().index_path).parent, memory.status().cache
    assert store is not None
    tracks = [b"zanzibar", b"quokkaheading", pack(file.read_text(encoding="utf-8"))[40:120], *packed]
    assert sum(everything(folder).count(track) for track in tracks) >= 3
    assert everything(Path(store["path"]).parent).count(cached[0]) >= 1

    report = memory.forget(path="memory/a.md")
    assert (report.warnings, report.cached >= report.vectors > 0) == ((), True)
    assert [everything(folder).count(track) for track in tracks] == [0] * len(tracks)
    assert everything(folder).count(b"anzibar") == 0
    assert everything(Path(store["path"]).parent).count(cached[0]) == 0
    assert paths(memory, "word7")[0] == "memory/n7.md"


class Recording(WordHashEmbedder):
    """Keeps the texts."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Any:
        self.texts += texts
        return super().embed_documents(texts)


def everything(folder: Path) -> bytes:
    return b"\0".join(file.read_bytes() for file in sorted(folder.iterdir()) if file.is_file())


def test_traces_that_a_reader_keeps_are_told_and_erased_the_next_time(
    tmp_path: Path, note: Note, open_memory: Open
) -> None:
    """Another process reads an older state: nothing answers from it, and the journal goes when it is done."""
    note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()
    index = Path(memory.status().index_path)
    with closing(sqlite3.connect(index, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM chunks").fetchone()
        report = memory.forget(path="memory/a.md")
        assert (report.error, [notice.code for notice in report.warnings]) == (None, ["FORGET_TRACES"])
        assert paths(memory) == []
        reader.execute("ROLLBACK")
    assert memory.forget(path="memory/a.md").warnings == ()
    assert everything(index.parent).count(b"anzibar") == 0


# --- whatever happens to the index --------------------------------------------------------


@pytest.mark.parametrize("harm", ["damaged", "deleted", "tables emptied"])
def test_what_is_forgotten_outlives_the_index(workspace: Path, note: Note, open_memory: Open, harm: str) -> None:
    """T03, L15: a forced sync of a damaged index, or one of a deleted file, takes it from the file beside."""
    note("memory/a.md", SECRET)
    note("memory/b.md", f"A heron.\n\n{SECRET}")
    with Memory(workspace, embedder="none") as memory:
        memory.sync()
        memory.forget(path="memory/a.md")
        memory.forget(chunk="memory/b.md#L3")
        index = Path(memory.status().index_path)
    if harm == "damaged":
        index.write_bytes(b"\0garbage" * 10_000)
    elif harm == "deleted":
        index.unlink()
    else:
        with closing(sqlite3.connect(index)) as db, db:
            db.execute("DROP TABLE tombstones")
    memory = open_memory()
    report = memory.sync(force=True)
    assert (report.error, report.chunks) == (None, 1)
    assert (paths(memory, "zanzibar"), paths(memory, "heron")) == ([], ["memory/b.md"])


def test_an_index_is_not_made_without_what_was_forgotten(workspace: Path, note: Note, open_memory: Open) -> None:
    """When the file beside it cannot be read, nothing is indexed until somebody decides."""
    note("memory/a.md", SECRET)
    with Memory(workspace, embedder="none") as memory:
        memory.forget(path="memory/a.md")
        index = Path(memory.status().index_path)
    index.unlink()
    copy = index.with_name("index.sqlite.forgotten.json")
    copy.write_text("{", encoding="utf-8")
    memory = open_memory()
    error = memory.sync().error
    assert error is not None
    assert (error.code, str(copy) in error.message) == ("FORGOTTEN_UNREADABLE", True)
    assert memory.search("zanzibar").results == ()


@pytest.mark.parametrize(
    "left", ["", '{"format": 1, "tombstones": [["main", "path", "memory/b.md", "path:memory/b.md"]]}']
)
def test_a_sync_mends_the_file_beside_the_index_that_a_killed_process_left_behind(
    note: Note, open_memory: Open, left: str
) -> None:
    """The index is right: a restore, or a forget, has not reached it."""
    note("memory/a.md", SECRET)
    note("memory/b.md", "A heron waits.")
    memory = open_memory(config={"sync": {"on_search": False}}, clock=lambda: datetime.now(UTC))
    memory.sync()
    memory.forget(path="memory/a.md")
    copy = Path(memory.status().index_path).with_name("index.sqlite.forgotten.json")
    right = copy.read_text(encoding="utf-8")
    copy.write_text(left or '{"format": 1, "tombstones": []}', encoding="utf-8")

    assert [finding.code for finding in memory.doctor().findings] == ["FORGOTTEN_COPY_OLD"]
    assert memory.sync().error is None
    assert copy.read_text(encoding="utf-8") == right
    assert memory.doctor().findings == ()
    assert (paths(memory, "zanzibar"), paths(memory, "heron")) == ([], ["memory/b.md"])


def test_an_index_that_is_half_built_with_other_settings_forgets_too(note: Note, open_memory: Open) -> None:
    """T03: work that was under way does not bring it back."""
    note("memory/a.md", SECRET)
    note("memory/b.md", "A heron.")
    memory = open_memory()
    memory.sync()
    other = open_memory(config={"chunking": {"tokens": 100, "overlap": 10}})
    interrupt(other)

    memory.forget(path="memory/a.md")
    other.sync()
    assert paths(other, "zanzibar heron") == ["memory/b.md"]


def interrupt(memory: Memory) -> None:
    """End a pass when everything is read and nothing is published."""

    def stop(stage: str, done: int, total: int) -> None:
        if stage == "reading" and done == total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        memory.sync(progress=stop)


def test_a_pass_that_has_read_a_file_before_it_was_forgotten_does_not_write_it(
    workspace: Path, note: Note, open_memory: Open
) -> None:
    """T03: the pass waits for the transaction of the tombstone, and asks in its own."""
    note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()
    note("memory/a.md", f"{SECRET} Changed.")
    note("memory/b.md", "A heron.")
    reading = threading.Event()
    store = SqliteStore(Path(memory.status().index_path))
    with store.reading("main") as reader:
        state = reader.state()
    assert state is not None
    with store.writing("main", state.identity) as writer:
        pass_ = threading.Thread(
            target=memory.sync, kwargs={"progress": lambda *_: reading.set()}, name="a pass under way"
        )
        pass_.start()
        assert reading.wait(10)
        writer.put_tombstones([Tombstone("path", "memory/a.md", "path:memory/a.md")])
    pass_.join()
    store.close()
    assert paths(memory, "zanzibar heron") == ["memory/b.md"]


# --- how it is asked for ------------------------------------------------------------------


@pytest.mark.parametrize(
    "named", [{}, {"path": "a", "session": "b"}, {"path": ""}, {"chunk": "memory/a.md"}, {"session": 7}]
)
def test_what_does_not_name_one_thing_is_a_wrong_argument(open_memory: Open, named: dict[str, Any]) -> None:
    with pytest.raises(ArgumentError):
        open_memory().forget(**named)


@pytest.mark.parametrize("named", [{"path": "memory/b.md"}, {"session": "s9"}, {"chunk": "memory/a.md#L99"}])
def test_what_nobody_knows_is_not_found(note: Note, open_memory: Open, named: dict[str, str]) -> None:
    note("memory/a.md", SECRET)
    memory = open_memory()
    memory.sync()

    error = memory.forget(**named).error
    assert error is not None
    assert (error.code, bool(error.action)) == ("NOT_FOUND", True)


def test_the_command_forgets_without_asking_and_says_what_it_did(workspace: Path, note: Note) -> None:
    """Exit 0; 1 when there is no such thing; 2 when not exactly one is named."""
    note("memory/a.md", SECRET)
    note("memory/b.md", f"He wrote: {SECRET}")
    at = ("--workspace", workspace)
    clawmark("index", *at)

    dry = clawmark("forget", "--path", "memory/a.md", "--dry-run", *at)
    assert (dry.code, dry.out.splitlines()[0]) == (0, "Would be forgotten: memory/a.md.")
    assert "memory/b.md#L1" in dry.out
    done = clawmark("forget", "--path", "memory/a.md", "--json", *at)
    assert (done.code, done.json["documents"], done.json["chunks"]) == (0, ["memory/a.md"], 1)
    found = clawmark("search", "zanzibar", "--json", *at)
    assert [result["path"] for result in found.json["results"]] == ["memory/b.md"]
    assert clawmark("forget", "--path", "memory/zz.md", *at).code == 1
    assert clawmark("forget", *at).code == 2
    assert clawmark("forget", "--path", "a", "--chunk", "b", *at).code == 2
    assert clawmark("forget", "--path", "memory/a.md", "--restore", *at).code == 0
    assert len(clawmark("search", "zanzibar", "--json", *at).json["results"]) == 2


def test_an_asynchronous_memory_forgets_too(workspace: Path, note: Note) -> None:
    note("memory/a.md", SECRET)

    async def run() -> tuple[int, int]:
        async with AsyncMemory(workspace, embedder="none") as memory:
            await memory.sync()
            report = await memory.forget(path="memory/a.md")
            return report.chunks, len((await memory.search("zanzibar")).results)

    assert asyncio.run(run()) == (1, 0)
