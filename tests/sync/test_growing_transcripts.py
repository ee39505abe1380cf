"""A transcript that grows, in pieces and with rewrites: the index is what a fresh reading gives."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from clawmark import Memory
from clawmark.core.ports import Reader
from clawmark.stores.sqlite import SqliteStore
from stub import StubEmbedder

SESSIONS: dict[str, Any] = {"sessions": {"paths": ["chats"]}, "chunking": {"tokens": 24, "overlap": 8}}


def index_of(memory: Memory) -> dict[str, Any]:
    """Give all that an index holds but the ids, the inodes, and where reading goes on."""
    with closing(sqlite3.connect(memory.status().index_path)) as db:
        generation = db.execute("SELECT id FROM generations WHERE answering").fetchone()[0]
        totals = db.execute("SELECT chunks, total_length FROM generations WHERE answering").fetchone()
        chunks = db.execute(
            "SELECT d.path, c.start_line, c.end_line, c.start, c.stop, c.length, c.embedding_key, c.context, "
            "c.speaker, "
            "c.spoken_ms, v.vector FROM chunks c JOIN documents d ON d.id = c.document "
            "LEFT JOIN vectors v ON v.chunk = c.id ORDER BY d.path, c.id"
        ).fetchall()
        order = {
            row[0]: place
            for place, row in enumerate(
                db.execute("SELECT c.id FROM chunks c JOIN documents d ON d.id = c.document ORDER BY d.path, c.id")
            )
        }
        db.execute(f"CREATE VIRTUAL TABLE temp.words USING fts5vocab (main, terms_{generation}, instance)")
        words = sorted((order[doc], offset, term) for term, doc, _, offset in db.execute("SELECT * FROM temp.words"))
    return {"totals": totals, "chunks": chunks, "words": words, "documents": documents_of(memory)}


def documents_of(memory: Memory) -> list[Any]:
    store = SqliteStore(Path(memory.status().index_path))
    with store.reading("main") as reader:
        rows = [
            (row, {k: v for k, v in row.meta.items() if k not in ("inode", "resume")}) for row in reader.documents()
        ]
        texts = texts_of(reader)
    store.close()
    return [(row.path, row.hash, row.size, row.time_ms, row.rejected, row.chunks, meta) for row, meta in rows] + texts


def texts_of(reader: Reader) -> list[Any]:
    return [(chunk.path, chunk.text) for chunk in reader.pending(limit=10_000, all_chunks=True)]


WORDS = st.sampled_from(
    ["crane", "heron", "锁门", "😀😀", "Read HEARTBEAT.md now", "token: abcdefgh12345678", "egret " * 30]
)
TEXT = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
TIMES = st.sampled_from([None, "2026-06-01T08:00:00", "2026-06-02T08:00:00Z", 1_780_000_000, "never"])


def message(role: str, text: str, time: Any) -> dict[str, Any]:
    return {"type": "message", "id": text[:3], "timestamp": time, "message": {"role": role, "content": text}}


def event(kind: str, text: str) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": kind, "message": text}}


def item(role: str, text: str) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {"type": "response_item", "payload": {"type": "message", "role": role, "content": content}}


ROLES = st.sampled_from(["user", "assistant"])
RECORDS = (
    st.builds(message, ROLES | st.just("toolResult"), TEXT, TIMES)
    | st.builds(message, ROLES, TEXT, TIMES)
    | st.builds(event, st.sampled_from(["user_message", "agent_message"]), TEXT)
    | st.builds(item, ROLES, TEXT)
    | st.builds(
        lambda key, time: {"type": "session", "id": key, "timestamp": time}, st.sampled_from(["a", "cron"]), TIMES
    )
)
BAD = st.sampled_from(
    [b"", b"nothing", b'{"half":', b"\0\0\0", b'{"type":"message","message":{"role":"user","content":"\xff"}}']
)
SPOKEN = st.builds(message, ROLES, TEXT, TIMES).map(lambda record: json.dumps(record).encode())
LINES = st.lists(
    SPOKEN | SPOKEN | RECORDS.map(lambda record: json.dumps(record).encode()) | BAD, min_size=2, max_size=8
)
STEPS = st.tuples(
    st.sampled_from(["append"] * 7 + ["edit", "cut", "insert"]),
    LINES,
    st.sampled_from([True, True, True, False]),
    st.integers(0, 10_000),
)


def changed(data: bytes, step: tuple[str, list[bytes], bool, int]) -> bytes:
    """Let a transcript grow, or be rewritten, cut off anywhere when the step says so."""
    kind, lines, whole, at = step
    more = b"\n".join(lines) + (b"\n" if whole else b"")
    if not whole:
        more = more[: at % (len(more) + 1)]
    place = at % (len(data) + 1)
    if kind == "append":
        return data + more
    if kind == "edit":
        return data[:place] + bytes(byte ^ 1 for byte in data[place : place + 3]) + data[place + 3 :] + more
    return data[:place] if kind == "cut" else data[:place] + more + data[place:]


def spoken(*texts: str) -> list[bytes]:
    return [json.dumps(message("user", text, None)).encode() for text in texts]


EGRETS = "egret " * 30 + " Read HEARTBEAT.md now token: abcdefgh12345678"
TOKEN = json.dumps(message("assistant", "token: abcdefgh12345678 crane crane crane", None)).encode()
# A late header makes the session scheduled: a line that a kept chunk's end holds now counts.
LATE_KIND = [
    ("append", spoken("crane crane", "crane"), True, 0),
    ("append", spoken("crane crane", "crane crane crane"), True, 0),
    ("append", spoken("crane", "crane", EGRETS, "crane"), True, 0),
    ("append", spoken("crane", "Read HEARTBEAT.md now"), True, 0),
    ("append", [json.dumps(event("user_message", "crane")).encode(), *spoken("crane"), TOKEN], True, 0),
    ("append", [b'{"type": "session", "id": "cron", "timestamp": null}', *spoken("crane")], True, 0),
]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(STEPS, min_size=3, max_size=6))
@example(LATE_KIND)
def test_an_index_of_increments_equals_a_fresh_one(steps: list[tuple[str, list[bytes], bool, int]]) -> None:
    """T06: whatever grows, shrinks, or is rewritten between two passes."""
    with TemporaryDirectory() as folder:
        workspace = Path(folder, "ws")
        (workspace / "chats").mkdir(parents=True)
        transcript = workspace / "chats" / "live.jsonl"
        options: dict[str, Any] = {"config": {**SESSIONS, "cache": {"enabled": False}}}
        data = b""
        with Memory(workspace, embedder=StubEmbedder(), **options) as memory:
            for number, step in enumerate(steps):
                data = changed(data, step)
                transcript.write_bytes(data)
                os.utime(transcript, ns=(number, number * 10**9))
                assert not memory.sync().partial
                with Memory(
                    workspace, embedder=StubEmbedder(), store=f"sqlite:///fresh{number}.sqlite", **options
                ) as fresh:
                    fresh.sync()
                    assert index_of(memory) == index_of(fresh)


# --- single steps -------------------------------------------------------------------------------


def said(role: str, text: str, **fields: Any) -> str:
    return json.dumps({"role": role, "text": text, **fields}) + "\n"


def long_talk(count: int, first: int = 0) -> str:
    return "".join(
        said("user" if n % 2 else "assistant", f"Message {n} about crane number {n}.")
        for n in range(first, first + count)
    )


@pytest.fixture
def live(workspace: Path) -> Path:
    (workspace / "chats").mkdir()
    return workspace / "chats" / "live.jsonl"


@pytest.fixture(params=[True, False], ids=["cache", "no cache"])
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {**SESSIONS, "cache": {"enabled": request.param}}


Open = Callable[..., Memory]


def write(file: Path, text: str | bytes, *, append: bool = False) -> None:
    """Write a transcript; its time differs from any before, whatever the clock of the disk tells apart."""
    before = file.stat().st_mtime_ns if file.exists() else 0
    with file.open("ab" if append else "wb") as handle:
        handle.write(text if isinstance(text, bytes) else text.encode())
    os.utime(file, ns=(before + 10**9, before + 10**9))


def resume_of(memory: Memory) -> dict[str, Any]:
    store = SqliteStore(Path(memory.status().index_path))
    with store.reading("main") as reader:
        (row,) = reader.documents()
    store.close()
    return row.meta["resume"]


def test_an_appended_message_costs_the_last_chunk_and_no_other(
    live: Path, open_memory: Open, config: dict[str, Any]
) -> None:
    """T06: at most two texts are embedded, with the embedding cache and without."""
    embedder = StubEmbedder()
    memory = open_memory(embedder=embedder, config=config)
    write(live, long_talk(200))
    first = memory.sync()
    before = len(embedder.texts)
    write(live, said("user", "One more about a unique stork."), append=True)
    second = memory.sync()

    assert first.texts_embedded == first.chunks > 50
    assert (second.changed, second.pending) == (1, 0)
    assert 1 <= second.texts_embedded <= 2
    assert len(embedder.texts) - before == second.texts_embedded
    assert [result.start_line for result in memory.search("unique stork", min_score=0.0).results][:1] != []


def test_an_edited_message_costs_the_chunks_that_hold_it(live: Path, open_memory: Open, config: dict[str, Any]) -> None:
    """T06: message 5 is rewritten in place; what was behind it moved, and is not paid again."""
    memory = open_memory(embedder=StubEmbedder(), config={**config, "chunking": {}})
    lines = long_talk(200).splitlines(keepends=True)
    write(live, "".join(lines))
    memory.sync()
    lines[4] = said("assistant", "Message 4 now speaks of a quite different pelican.")
    write(live, "".join(lines))
    report = memory.sync()

    assert (report.changed, report.pending) == (1, 0)
    assert 1 <= report.texts_embedded <= 3


def test_lines_that_were_read_are_hashed_and_not_parsed_again(live: Path, open_memory: Open) -> None:
    """Reading goes on at the message where the last chunk begins, far behind the first lines."""
    memory = open_memory(config=SESSIONS)
    write(live, long_talk(200))
    memory.sync()
    noted = resume_of(memory)
    write(live, long_talk(1, 200), append=True)
    memory.sync()

    data = live.read_bytes()
    assert noted["line"] > 195
    assert data[: noted["offset"]].count(b"\n") == noted["line"] - 1
    assert resume_of(memory)["size"] == len(data)
    assert resume_of(memory)["offset"] >= noted["offset"]


def test_where_reading_goes_on_is_small_however_long_the_transcript(live: Path, open_memory: Open) -> None:
    memory = open_memory(config=SESSIONS)
    write(live, long_talk(2000))
    memory.sync()

    assert len(json.dumps(resume_of(memory))) < 600


def test_a_half_written_line_waits_for_its_end(live: Path, open_memory: Open) -> None:
    """Also when the half of it would be a secret in the clear."""
    memory = open_memory(config=SESSIONS)
    secret = said("user", "The deploy password: swordfish-1234567890 is new.").encode()
    write(live, long_talk(20).encode() + secret[:60])
    memory.sync()
    assert b"swordfish" in secret[:60]
    assert memory.search("swordfish deploy", min_score=0.0).results == ()
    write(live, secret[60:], append=True)
    report = memory.sync()

    (hit, *_) = memory.search("deploy password", min_score=0.0).results
    assert hit.end_line == 21
    assert report.redactions == 1
    assert "swordfish" not in Path(memory.status().index_path).read_bytes().decode("latin-1")
    assert all("swordfish" not in result.snippet for result in memory.search("deploy", min_score=0.0).results)


def test_a_last_line_without_line_end_that_goes_on_is_read_again(live: Path, open_memory: Open) -> None:
    """It was whole, and is a bad line now."""
    memory = open_memory(config=SESSIONS)
    write(live, long_talk(20) + said("user", "A final pelican.").rstrip("\n"))
    memory.sync()
    assert memory.search("pelican", min_score=0.0).results
    write(live, " and more\n" + long_talk(3, 30), append=True)
    memory.sync()

    assert memory.search("pelican", min_score=0.0).results == ()


def test_a_person_who_joins_a_scheduled_session_changes_what_was_read(live: Path, open_memory: Open) -> None:
    """Turns of the scheduler are left out of a conversation."""
    memory = open_memory(config=SESSIONS)
    beat = said("user", "Read HEARTBEAT.md now") + said("assistant", "The pelican is quiet.")
    write(live, beat * 20)
    memory.sync()
    assert memory.search("pelican", min_score=0.0).results
    write(live, said("user", "Hello, who saw the stork?"), append=True)
    memory.sync()

    assert memory.search("pelican", min_score=0.0).results == ()
    (hit,) = memory.search("stork", min_score=0.0).results
    assert hit.session is not None
    assert hit.session.kind == "interactive"


@pytest.mark.parametrize("length", range(80, 100))
def test_the_last_chunk_is_cut_as_in_a_fresh_index_whatever_its_length(
    live: Path, open_memory: Open, workspace: Path, length: int
) -> None:
    """Around the budget of 96 characters of a chunk."""
    memory = open_memory(config=SESSIONS)
    write(live, long_talk(6))
    memory.sync()
    write(live, said("user", "x" * (length - 60)) + said("assistant", "y" * 40), append=True)
    memory.sync()
    fresh = open_memory(config=SESSIONS, store="sqlite:///fresh.sqlite")
    fresh.sync()

    assert index_of(memory) == index_of(fresh)


def test_a_transcript_that_is_written_while_it_is_read_does_not_fail(live: Path, open_memory: Open) -> None:
    """What is appended belongs to the next pass."""
    memory = open_memory(config=SESSIONS)
    write(live, long_talk(2000))

    def talk() -> None:
        for number in range(300):
            with live.open("a", encoding="utf-8") as handle:
                handle.write(said("user", f"And stork number {number}."))

    writer = threading.Thread(target=talk)
    writer.start()
    reports = [memory.sync() for _ in range(5)]
    writer.join()

    assert [report.failed for report in reports] == [()] * 5
    memory.sync()
    assert memory.status().state == "fresh"
    assert memory.search("stork 299", min_score=0.0).results[0].end_line == 2300


def test_an_index_of_an_older_clawmark_learns_who_spoke(live: Path, open_memory: Open) -> None:
    """The next sync reads the sessions again, and pays for none of their vectors."""
    config = {**SESSIONS, "cache": {"enabled": False}}
    write(live, said("assistant", "A crane stands here.", ts="2026-06-01T08:00:00Z"))
    memory = open_memory(config=config, embedder=StubEmbedder())
    memory.sync()
    index = memory.status().index_path
    memory.close()
    with closing(sqlite3.connect(index)) as db:
        db.execute("ALTER TABLE chunks DROP COLUMN speaker")
        db.execute("ALTER TABLE chunks DROP COLUMN spoken_ms")
        db.execute("PRAGMA user_version = 1")
        db.commit()
    later = open_memory(config=config, embedder=StubEmbedder())
    report = later.sync()

    assert (report.error, report.changed, report.texts_embedded) == (None, 1, 0)
    (hit,) = later.search("crane", min_score=0.0).results
    assert hit.session is not None
    assert (hit.session.role, str(hit.session.time)) == ("assistant", "2026-06-01 08:00:00+00:00")
