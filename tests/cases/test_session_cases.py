"""User cases about transcripts: T01 to T11, and what S, X and F cases say of them."""

from __future__ import annotations

import json
import os
import sqlite3
import time
import tracemalloc
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from asking import ask, codes, paths, run

from clawmark import ClawmarkError, Memory, PathNotAllowedError
from clawmark.core.model import Spoken
from stub import StubEmbedder

Open = Callable[..., Memory]
Note = Callable[[str, str], Path]

SESSIONS: dict[str, Any] = {"sessions": {"paths": ["chats"]}}


def said(role: str, text: str, **fields: Any) -> str:
    return json.dumps({"role": role, "text": text, **fields}) + "\n"


def openclaw(role: str, content: Any, stamp: str = "2026-06-20T09:00:00Z") -> str:
    return json.dumps({"type": "message", "timestamp": stamp, "message": {"role": role, "content": content}}) + "\n"


def rest(file: Path, seconds: float = 60.0) -> None:
    """Let a file look as if nobody had written to it for a while."""
    moment = time.time() - seconds
    os.utime(file, (moment, moment))


def reasons(memory: Memory) -> dict[str, str]:
    return {entry.path: entry.reason for entry in memory.status().skipped}


# --- which transcripts count: T01, T02, T04, S11, S13, S14, S24 -------------------------------------


def test_a_reset_session_is_still_found_and_a_backup_is_not(note: Note, open_memory: Open) -> None:
    """T01."""
    note("chats/s1.jsonl", said("user", "The crane stands at the lock."))
    note("chats/s2.jsonl.reset.2026-06-01", said("user", "The heron waits at the weir."))
    note("chats/s3.jsonl.bak.1", said("user", "The egret sleeps."))
    memory = open_memory(config=SESSIONS)
    memory.sync()

    assert paths(memory.search("crane")) == ["sessions/s1.jsonl"]
    assert paths(memory.search("heron")) == ["sessions/s2.jsonl.reset.2026-06-01"]
    assert paths(memory.search("egret")) == []
    assert reasons(memory) == {"sessions/s3.jsonl.bak.1": "backup of a transcript"}


def test_a_reset_of_a_live_session_costs_nothing_and_loses_nothing(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    """T01: the archive keeps its vectors under its new name; a new chat takes the old name."""
    embedder = StubEmbedder()
    memory = open_memory(config={**SESSIONS, "cache": {"enabled": False}}, embedder=embedder)
    live = note("chats/s1.jsonl", said("user", "The crane stands at the lock."))
    memory.sync()
    live.rename(workspace / "chats" / "s1.jsonl.reset.2026-06-20")
    note("chats/s1.jsonl", said("user", "A new day, a new heron."))
    report = memory.sync()

    assert (report.moved, report.added, report.changed, report.removed, report.texts_embedded) == (1, 1, 0, 0, 1)
    assert paths(memory.search("crane lock")) == ["sessions/s1.jsonl.reset.2026-06-20"]
    assert paths(memory.search("heron day")) == ["sessions/s1.jsonl"]


def test_a_session_that_is_renamed_after_it_grew_is_read_on(note: Note, open_memory: Open, workspace: Path) -> None:
    config = {**SESSIONS, "chunking": {"tokens": 24, "overlap": 8}, "cache": {"enabled": False}}
    memory = open_memory(config=config, embedder=StubEmbedder())
    live = note("chats/s1.jsonl", "".join(said("user", f"The crane number {n} stands at lock {n}.") for n in range(40)))
    memory.sync()
    with live.open("a", encoding="utf-8") as handle:
        handle.write(said("user", "At last a heron."))
    live.rename(workspace / "chats" / "other.jsonl")
    report = memory.sync()

    assert (report.added, report.changed, report.removed) == (0, 1, 0)
    assert report.texts_embedded <= 2
    assert paths(memory.search("heron", max_results=1)) == ["sessions/other.jsonl"]
    assert memory.status().source_counts["sessions"]["files"] == 1


@pytest.mark.parametrize("deletion", ["unlink", "archive"])
def test_a_deleted_session_is_never_found_again(note: Note, open_memory: Open, workspace: Path, deletion: str) -> None:
    """T02: also when deleting keeps an archive."""
    file = note("chats/s1.jsonl", said("user", "The crane stands at the lock."))
    note("chats/s2.jsonl", said("user", "The heron waits."))
    memory = open_memory(config=SESSIONS)
    memory.sync()
    assert paths(memory.search("crane")) == ["sessions/s1.jsonl"]
    if deletion == "unlink":
        file.unlink()
    else:
        file.rename(workspace / "chats" / "s1.jsonl.deleted.2026-06-20")

    assert paths(memory.search("crane")) == []
    memory.sync()
    assert memory.status().source_counts["sessions"] == {"files": 1, "chunks": 1}


def test_a_forced_index_covers_transcripts_that_were_never_indexed(note: Note, workspace: Path) -> None:
    """T04."""
    for number in range(5):
        rest(note(f"chats/old{number}.jsonl", said("user", f"The crane number {number}.")), 1e8)
    note("clawmark.toml", '[sessions]\npaths = ["chats"]\n')

    assert ask(workspace, "index", "--force")["added"] == 5
    assert ask(workspace, "status")["sourceCounts"] == {"sessions": {"files": 5, "chunks": 5}}


def test_a_folder_of_transcripts_that_is_created_later_is_found(note: Note, open_memory: Open) -> None:
    """S11."""
    note("memory/a.md", "A note.")
    memory = open_memory(config=SESSIONS)
    memory.sync()
    note("chats/s1.jsonl", said("user", "The crane stands at the lock."))
    memory.sync()

    assert paths(memory.search("crane")) == ["sessions/s1.jsonl"]


def test_what_is_no_regular_transcript_is_skipped_and_the_rest_goes_on(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    """S13, S14: a link and a FIFO, each with its reason."""
    elsewhere = note("elsewhere/far.jsonl", said("user", "The egret is far."))
    note("chats/ok.jsonl", said("user", "The crane stands at the lock."))
    (workspace / "chats" / "link.jsonl").symlink_to(elsewhere)
    os.mkfifo(workspace / "chats" / "pipe.jsonl")
    memory = open_memory(config=SESSIONS)
    report = memory.sync()

    assert (report.added, report.failed) == (1, ())
    assert sorted(reasons(memory)) == ["sessions/link.jsonl", "sessions/pipe.jsonl"]
    assert paths(memory.search("egret")) == []


def test_a_linked_transcript_is_followed_when_links_are(note: Note, open_memory: Open, workspace: Path) -> None:
    """S13: and read on under the name of the link when its target grows."""
    target = note("elsewhere/real.jsonl", said("user", "The egret is far."))
    (workspace / "chats").mkdir()
    (workspace / "chats" / "link.jsonl").symlink_to(target)
    memory = open_memory(config={**SESSIONS, "files": {"follow_links": True}})
    memory.sync()
    with target.open("a", encoding="utf-8") as handle:
        handle.write(said("assistant", "A heron is near."))
    memory.sync()

    assert paths(memory.search("heron near")) == ["sessions/link.jsonl"]


def test_a_session_that_is_excluded_later_leaves_the_index(note: Note, open_memory: Open) -> None:
    """S24."""
    note("chats/eval/run.jsonl", said("user", "The crane of the evaluation."))
    note("chats/s1.jsonl", said("user", "The crane at the lock."))
    open_memory(config=SESSIONS).sync()
    memory = open_memory(config={**SESSIONS, "files": {"exclude": ["sessions/eval/**"]}})
    report = memory.sync()

    assert report.removed == 1
    assert paths(memory.search("crane")) == ["sessions/s1.jsonl"]


def test_two_folders_with_a_transcript_of_one_name_keep_both_apart(note: Note, open_memory: Open) -> None:
    note("one/chats/s.jsonl", said("user", "The crane stands at the lock."))
    note("two/chats/s.jsonl", said("user", "The heron waits at the weir."))
    memory = open_memory(config={"sessions": {"paths": ["one/chats", "two/chats"]}})
    memory.sync()

    (crane,), (heron,) = memory.search("crane").results, memory.search("heron").results
    assert (crane.path, heron.path) == ("sessions/s.jsonl", "sessions/chats/s.jsonl")
    assert "crane" in memory.get(crane.path).text
    assert "heron" in memory.get(heron.path).text


# --- increments: T06 (more in tests/sync), T08 ------------------------------------------------------


def test_two_hundred_messages_and_one_more_cost_two_texts(note: Note, open_memory: Open) -> None:
    """T06, with default settings."""
    embedder = StubEmbedder()
    memory = open_memory(config={**SESSIONS, "cache": {"enabled": False}}, embedder=embedder)
    lines = [said("user" if n % 2 else "assistant", f"Message {n}: we spoke of crane {n * 7}.") for n in range(200)]
    file = note("chats/live.jsonl", "".join(lines))
    whole = memory.sync().texts_embedded
    with file.open("a", encoding="utf-8") as handle:
        handle.write(said("user", "One more, about a stork."))
    appended = memory.sync().texts_embedded
    lines[4] = said("user", "Message 4 was edited, and speaks of a pelican now; it is longer than it was before.")
    note("chats/live.jsonl", "".join(lines) + said("user", "One more, about a stork."))
    edited = memory.sync().texts_embedded

    assert whole > 5
    assert 1 <= appended <= 2
    assert 1 <= edited <= 3


def test_a_new_message_of_a_running_chat_is_found_once_it_rests(note: Note, open_memory: Open) -> None:
    """T08: without a sync or a watcher, with role and time."""
    memory = open_memory(config={**SESSIONS, "sync": {"watch_debounce_ms": 200}})
    file = note("chats/live.jsonl", said("user", "The crane stands at the lock."))
    memory.sync()
    with file.open("a", encoding="utf-8") as handle:
        handle.write(said("assistant", "Zygomorphic, I would say.", ts="2026-06-30T09:30:00Z"))

    deadline = time.monotonic() + 30
    while not (response := memory.search("zygomorphic")).results:
        assert response.stale
        assert codes(response) == ["SESSION_GROWING"]
        assert time.monotonic() < deadline
    (hit,) = response.results
    assert not response.stale
    assert hit.session is not None
    assert hit.session.kind == "interactive"
    assert "Assistant: Zygomorphic" in hit.snippet


def test_a_running_chat_that_grew_by_little_is_pending_and_an_answer_says_so(note: Note, open_memory: Open) -> None:
    """T08: never silently stale; a sync always indexes all."""
    memory = open_memory(config={**SESSIONS, "sync": {"watch_debounce_ms": 600_000}})
    note("memory/a.md", "The heron waits.")
    file = note("chats/live.jsonl", said("user", "The crane stands at the lock."))
    memory.sync()
    with file.open("a", encoding="utf-8") as handle:
        handle.write(said("assistant", "Zygomorphic, I would say."))

    response = memory.search("heron zygomorphic")
    assert (paths(response), response.stale, codes(response)) == (["memory/a.md"], True, ["SESSION_GROWING"])
    status = memory.status()
    assert (status.state, status.pending) == ("pending", 1)
    assert "sessions/live.jsonl" in (status.reason or "")
    assert memory.sync().changed == 1
    assert paths(memory.search("zygomorphic")) == ["sessions/live.jsonl"]
    assert memory.status().state == "fresh"


@pytest.mark.parametrize(
    ("settings", "messages"),
    [
        ({"delta_messages": 3}, 3),
        ({"delta_bytes": 100}, 2),
        ({"delta_messages": 0}, 1),
        ({"delta_bytes": 0}, 1),
    ],
)
def test_a_running_chat_that_grew_by_enough_is_indexed_before_the_answer(
    note: Note, open_memory: Open, settings: dict[str, int], messages: int
) -> None:
    """By either threshold, while it is being written; 0 is any growth."""
    config = {"sessions": {"paths": ["chats"], **settings}, "sync": {"watch_debounce_ms": 600_000}}
    memory = open_memory(config=config)
    file = note("chats/live.jsonl", said("user", "The crane stands at the lock."))
    memory.sync()
    with file.open("a", encoding="utf-8") as handle:
        handle.write(said("assistant", "Zygomorphic, I would say.") * messages)

    response = memory.search("zygomorphic")
    assert (paths(response), response.stale) == (["sessions/live.jsonl"], False)


@pytest.mark.parametrize("change", ["rewritten", "shorter", "another file too"])
def test_what_is_more_than_growth_is_indexed_before_the_answer(note: Note, open_memory: Open, change: str) -> None:
    """A running chat may wait only while nothing else differs."""
    memory = open_memory(config={**SESSIONS, "sync": {"watch_debounce_ms": 600_000}})
    line = said("user", "The crane stands at the lock.")
    note("chats/live.jsonl", line * 2)
    memory.sync()
    if change == "another file too":
        note("chats/live.jsonl", line * 2 + said("user", "A stork."))
        note("memory/new.md", "A pelican.")
    else:
        note("chats/live.jsonl", line.replace("crane", "stork") * (2 if change == "rewritten" else 1))

    assert paths(memory.search("stork")) == ["sessions/live.jsonl"]


# --- whose words they are: T07, T09, T10, T11 -------------------------------------------------------


def scheduled(text: str) -> str:
    return said("user", f"[cron:daily] {text}") + said("assistant", text)


def test_a_hundred_scheduled_sessions_do_not_drown_the_users_own(note: Note, open_memory: Open) -> None:
    """T07: by words, and by meaning."""
    phrase = "The nightly backup of the boat shed ran."
    for number in range(100):
        note(f"chats/cron-{number}.jsonl", scheduled(phrase))
    talk = "I was away on the island for a week and then the ferry was late. " * 4
    note("chats/own.jsonl", said("user", f"{talk}{phrase}") + said("assistant", "Good to hear, welcome back."))
    for embedder in ("none", StubEmbedder({"nightly backup": 0.8})):
        memory = open_memory(config=SESSIONS, embedder=embedder)
        memory.sync()
        response = memory.search("nightly backup of the boat shed", max_results=3)

        assert paths(response)[0] == "sessions/own.jsonl"
        first, second = response.results[:2]
        assert first.explanation.importance is None
        assert (second.explanation.importance, second.session and second.session.kind) == (0.5, "scheduled")


def test_kinds_of_session_can_be_left_out_and_let_in_again(note: Note, open_memory: Open) -> None:
    """T07: without naming one, all are indexed; conversations with a person always are."""
    note("chats/cron-1.jsonl", scheduled("The crane report."))
    note("chats/own.jsonl", said("user", "The heron waits."))

    def sync(*kinds: str) -> tuple[Memory, list[str]]:
        config = {"sessions": {"paths": ["chats"], "include_kinds": list(kinds)}}
        memory = open_memory(config=config, embedder=StubEmbedder(otherwise=0.9))
        memory.sync()
        return memory, sorted(paths(memory.search("crane or heron", min_score=0.0)))

    everything = ["sessions/cron-1.jsonl", "sessions/own.jsonl"]
    assert sync()[1] == everything
    memory, found = sync("subagent")
    assert found == ["sessions/own.jsonl"]
    assert reasons(memory) == {"sessions/cron-1.jsonl": "scheduled session, not in [sessions] include_kinds"}
    assert memory.status().state == "fresh"
    assert sync("scheduled")[1] == everything


def test_a_huge_line_stops_nothing(note: Note, open_memory: Open) -> None:
    """T09: 2 MB of tool output, and 2 MB that a person pasted."""
    embedder = StubEmbedder(max_input_tokens=8192)
    huge = "word " * 400_000
    note(
        "chats/s.jsonl",
        openclaw("user", "The crane stands at the lock.")
        + openclaw("toolResult", huge)
        + openclaw("user", huge.replace("word", "paste"))
        + openclaw("assistant", "The heron waits."),
    )
    memory = open_memory(config=SESSIONS, embedder=embedder)
    report = memory.sync()

    assert (report.error, report.failed) == (None, ())
    assert max(len(text) for text in embedder.texts) <= 400 * 4
    assert not any("word word" in text for text in embedder.texts)
    assert [hit.start_line for hit in memory.search("crane lock", min_score=0.0, max_results=1).results] == [1]
    assert [hit.end_line for hit in memory.search("heron waits", min_score=0.0, max_results=1).results] == [4]


def test_recalled_memory_is_no_conversation(note: Note, open_memory: Open) -> None:
    """T10: the note answers, neither the tool result that quotes it nor the fence that recalled it."""
    sentence = "The deploy key lives in vault A."
    note("memory/keys.md", sentence)
    fence = f'<recalled-memory-5e1f source="memory/keys.md">\n{sentence}\n</recalled-memory-5e1f>'
    note(
        "chats/s.jsonl",
        openclaw("user", [{"type": "text", "text": f"{fence}\nWhere did we put it?"}])
        + openclaw("assistant", [{"type": "tool_use", "name": "memory_search", "input": {"query": "deploy key"}}])
        + openclaw("toolResult", [{"type": "text", "text": sentence}])
        + openclaw("user", [{"type": "tool_result", "content": sentence}])
        + openclaw("assistant", "In the safe place."),
    )
    memory = open_memory(config=SESSIONS)
    memory.sync()

    assert paths(memory.search("deploy key vault")) == ["memory/keys.md"]
    assert paths(memory.search("safe place")) == ["sessions/s.jsonl"]
    assert sentence not in memory.get("sessions/s.jsonl").text


def test_every_hit_in_a_transcript_tells_session_kind_time_and_speaker(note: Note, workspace: Path) -> None:
    """T11: on every surface, and in the printed form too."""
    note("clawmark.toml", '[sessions]\npaths = ["chats"]\n')
    header = json.dumps({"type": "session", "id": "group-a", "timestamp": "2026-06-01T08:00:00Z"}) + "\n"
    note("chats/a.jsonl", header + openclaw("user", "The ferry leaves at nine.", "2026-06-01T08:05:00Z"))
    note("chats/cron-b.jsonl", openclaw("assistant", "The ferry leaves at ten.", "2026-06-02T10:00:00+02:00"))
    note("memory/c.md", "The ferry leaves.")

    results = {hit["path"]: hit for hit in ask(workspace, "search", "ferry leaves")["results"]}
    origins = {path: hit.get("session") for path, hit in results.items()}
    assert origins == {
        "memory/c.md": None,
        "sessions/a.jsonl": {
            "id": "group-a",
            "kind": "interactive",
            "role": "user",
            "time": "2026-06-01T08:05:00+00:00",
        },
        "sessions/cron-b.jsonl": {
            "id": "cron-b",
            "kind": "scheduled",
            "role": "assistant",
            "time": "2026-06-02T08:00:00+00:00",
        },
    }
    printed = run(workspace, "search", "ferry leaves").stdout
    assert "said: by the user, 2026-06-01 08:05 UTC, session group-a\n" in printed
    assert "said: by the assistant, 2026-06-02 08:00 UTC, session cron-b (scheduled)\n" in printed


def test_the_time_of_a_hit_is_that_of_its_message(note: Note, open_memory: Open) -> None:
    """A chat of months has many; what has none of its own gets that of the session."""
    days = [
        said("user", f"Day {day}: crane {day}. " + "We talked on. " * 120, ts=f"2026-06-{day:02}") for day in (1, 9)
    ]
    note("chats/long.jsonl", "".join(days) + said("assistant", "Undated stork. " + "And on. " * 240))
    memory = open_memory(config=SESSIONS)
    memory.sync()

    def origin(query: str) -> Spoken | None:
        return memory.search(query, min_score=0.0, max_results=1).results[0].session

    first, second, third = origin("crane 1 day"), origin("crane 9 day"), origin("undated stork")
    assert [str(found.time)[:10] for found in (first, second, third) if found] == [
        "2026-06-01",
        "2026-06-09",
        "2026-06-09",
    ]
    assert [found.role for found in (first, second, third) if found] == ["user", "user", "assistant"]


def test_sessions_decay_by_their_own_time(note: Note, open_memory: Open) -> None:
    """Not by the time of a file that was copied yesterday; the latest message counts, in whatever order."""
    decay = {"query": {"hybrid": {"temporal_decay": {"enabled": True, "half_life_days": 30}}}}
    late, early = "2026-05-31T12:00:00", "2026-01-01T00:00:00+00:00"
    note("chats/s.jsonl", said("user", "The crane.", ts=late) + said("assistant", "The heron.", ts=early))
    memory = open_memory(config={**SESSIONS, **decay})
    memory.sync()

    (hit,) = memory.search("crane").results
    assert (hit.explanation.decay_rule, hit.explanation.age_days) == ("session_time", 30.0)
    assert hit.explanation.decay_multiplier == pytest.approx(0.5)


# --- secrets, bad bytes, reading: spec 7.5, F10, X01, S22 -------------------------------------------


def test_no_secret_of_a_chat_reaches_the_index_the_embedder_or_a_reader(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    """Spec 7.5: masked before anything is stored; also a key that was sent as two messages."""
    embedder = StubEmbedder()
    key = ["MIIEpAIBAAKCAQEA1234", "q83vEjRWeJCrze8S5678", "AAECAwQFBgcICQoL9012"]
    note(
        "chats/s.jsonl",
        said("user", "My token: abcdefgh-swordfish-12345678")
        + said("user", f"-----BEGIN PRIVATE KEY-----\n{key[0]}\n{key[1]}")
        + said("assistant", "Is that all of it?")
        + said("user", f"{key[2]}\n-----END PRIVATE KEY-----\nThat is all."),
    )
    memory = open_memory(config=SESSIONS, embedder=embedder)
    report = memory.sync()

    shown = memory.get("sessions/s.jsonl").text
    stored = "".join(row[0] for row in _texts_in(Path(memory.status().index_path)))
    for secret in ("swordfish", *key):
        assert not any(secret in text for text in (*embedder.texts, shown, stored))
    assert report.redactions == 3
    assert shown.splitlines()[3].endswith("That is all.")


def _texts_in(index: Path) -> list[tuple[str]]:
    from clawmark.stores.codec import unpack

    with closing(sqlite3.connect(index)) as db:
        return [(unpack(row[0]),) for row in db.execute("SELECT text FROM documents")]


def test_bad_bytes_cost_their_line_and_no_other(note: Note, open_memory: Open, workspace: Path) -> None:
    """NUL from a crash, a damaged character, half an object, escapes of what no text may hold."""
    note("chats/s.jsonl", "")
    data = (
        said("user", "The crane stands at the lock.").encode()
        + b"\0\0\0\0\n"
        + b'{"role": "user", "text": "The heron \xff waits."}\r\n'
        + b'{"role": "user", "te\n\n'
        + b'{"role": "assistant", "text": "The egret \\u0000\\ud800 sleeps."}\n'
        + b"\0\0\0"
    )
    (workspace / "chats" / "s.jsonl").write_bytes(data)
    memory = open_memory(config=SESSIONS)
    report = memory.sync()

    assert (report.added, report.failed) == (1, ())
    assert memory.get("sessions/s.jsonl").text.split("\n") == [
        "User: The crane stands at the lock.",
        "",
        "User: The heron \ufffd waits.",
        "",
        "",
        "Assistant: The egret \ufffd sleeps.",
    ]
    assert paths(memory.search("egret sleeps")) == ["sessions/s.jsonl"]


def test_a_transcript_in_which_nobody_spoke_yet_is_found_once_somebody_does(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    note("chats/empty.jsonl", "")
    file = note("chats/new.jsonl", json.dumps({"type": "session", "id": "new"}) + "\n")
    memory = open_memory(config=SESSIONS)
    memory.sync()

    assert reasons(memory) == {"sessions/empty.jsonl": "empty file", "sessions/new.jsonl": "no conversation in it"}
    with file.open("a", encoding="utf-8") as handle:
        handle.write(openclaw("user", "The crane stands at the lock."))
    assert paths(memory.search("crane")) == ["sessions/new.jsonl"]


def test_the_lines_of_a_hit_are_the_lines_that_get_reads(note: Note, open_memory: Open) -> None:
    """Lines of the JSONL file, also after it grew; what is no message is an empty line."""
    config = {**SESSIONS, "chunking": {"tokens": 24, "overlap": 8}}
    blocks = [openclaw("toolResult", "x") + openclaw("user", f"The crane stands at lock {n}.") for n in range(21)]
    file = note("chats/s.jsonl", "".join(blocks[:20]))
    memory = open_memory(config=config)
    memory.sync()
    with file.open("a", encoding="utf-8") as handle:
        handle.write(blocks[20] + "not json\n" + openclaw("assistant", "A unique stork."))
    memory.sync()

    (hit, *_) = memory.search("stork", min_score=0.0).results
    window = memory.get(hit.path, from_line=hit.start_line, lines=hit.end_line - hit.start_line + 1)
    assert hit.end_line == 44
    assert window.text.split("\n")[-1] == "Assistant: A unique stork."
    assert window.total_lines == 44
    assert memory.get(hit.path, from_line=41, lines=4).text.split("\n") == [
        "",
        "User: The crane stands at lock 20.",
        "",
        "Assistant: A unique stork.",
    ]


@pytest.mark.parametrize(
    "path",
    ["sessions/../MEMORY.md", "sessions/%2e%2e/MEMORY.md", "sessions/x\0.jsonl", "sessions/a/..\\..\\b.jsonl"],
)
def test_a_path_out_of_the_transcripts_is_refused(note: Note, open_memory: Open, path: str) -> None:
    """X01."""
    note("MEMORY.md", "Not through here.")
    note("chats/s.jsonl", said("user", "The crane."))
    with pytest.raises(PathNotAllowedError):
        open_memory(config=SESSIONS).get(path)


def test_a_few_lines_of_a_huge_transcript_do_not_cost_its_size(note: Note, open_memory: Open) -> None:
    """F10: 24 MB of tool output are passed over line by line, in reading and in indexing."""
    output = openclaw("toolResult", "x" * 12_000)
    file = note("chats/s.jsonl", output * 2000 + openclaw("user", "The crane.") + output)
    memory = open_memory(config=SESSIONS)
    memory.sync()
    tracemalloc.start()
    try:
        window = memory.get("sessions/s.jsonl", from_line=2001, lines=1)
        with file.open("a", encoding="utf-8") as handle:
            handle.write(openclaw("user", "A heron."))
        report = memory.sync()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert (window.text, window.total_lines) == ("User: The crane.", 2002)
    assert report.changed == 1
    assert peak < 4_000_000


def test_a_transcript_that_cannot_be_read_is_named_and_the_others_are_indexed(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    """A folder took its place between the walk and the reading, or its rights changed."""
    note("chats/ok.jsonl", said("user", "The crane."))
    locked = note("chats/locked.jsonl", said("user", "The heron."))
    if os.geteuid() == 0:
        locked.unlink()
        locked.mkdir()
    else:
        locked.chmod(0)
    memory = open_memory(config=SESSIONS)
    report = memory.sync()

    assert report.added == 1
    assert paths(memory.search("crane")) == ["sessions/ok.jsonl"]


def test_a_rebuild_by_another_process_is_noticed(note: Note, workspace: Path, open_memory: Open) -> None:
    """S22, for transcripts: what the other wrote answers here without a restart."""
    note("clawmark.toml", '[sessions]\npaths = ["chats"]\n')
    note("chats/s.jsonl", said("user", "The crane stands at the lock."))
    memory = open_memory()
    assert ask(workspace, "index", "--force")["added"] == 1

    assert paths(memory.search("crane")) == ["sessions/s.jsonl"]


def test_reading_a_transcript_without_a_folder_of_transcripts_is_refused(open_memory: Open) -> None:
    with pytest.raises(ClawmarkError, match="no transcripts are configured"):
        open_memory().get("sessions/s.jsonl")


# --- forgotten: T03 where sessions grow, and are renamed ----------------------------------------------


def test_a_forgotten_session_stays_forgotten_while_it_grows_and_is_renamed(
    note: Note, open_memory: Open, workspace: Path
) -> None:
    """T03: reading on and following a rename ask the tombstones too."""
    header = json.dumps({"type": "session", "id": "secret-talk"}) + "\n"
    file = note("chats/s1.jsonl", header + "".join(openclaw("user", f"Crane {n} at lock {n}.") for n in range(60)))
    memory = open_memory(config={**SESSIONS, "chunking": {"tokens": 24, "overlap": 8}})
    memory.sync()
    memory.forget(session="secret-talk")
    with file.open("a", encoding="utf-8") as handle:
        handle.write(openclaw("user", "One more crane."))
    memory.sync()
    file.rename(workspace / "chats" / "s1.jsonl.reset.2026-06-20")
    memory.sync()

    assert memory.search("crane", min_score=0.0).results == ()


def test_a_forgotten_passage_that_is_said_again_stays_out(note: Note, open_memory: Open) -> None:
    """T03: in what a chat says later; the rest of it is found."""
    memory = open_memory(config={**SESSIONS, "chunking": {"tokens": 24, "overlap": 8}})
    file = note("chats/s1.jsonl", "".join(said("user", f"The crane number {n} stands at lock {n}.") for n in range(40)))
    note("memory/a.md", "User: The pelican is named Ludwig.")
    memory.sync()
    memory.forget(chunk="memory/a.md#L1")
    with file.open("a", encoding="utf-8") as handle:
        handle.write(said("user", "The pelican is named Ludwig.") + said("user", "A heron came."))
    memory.sync()

    assert "pelican" not in "".join(result.snippet for result in memory.search("pelican Ludwig").results)
    assert paths(memory.search("heron came", max_results=1)) == ["sessions/s1.jsonl"]
