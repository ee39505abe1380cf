"""What may answer (dates, paths, sources), and where a file was lost (design, sections 3 and 5)."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from asking import ask, codes, paths, run

from clawmark import ClawmarkError, Memory, SearchResponse
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

SESSIONS = {"sessions": {"paths": ["sessions"]}}


# Dates


@pytest.fixture
def diary(note: Note) -> None:
    """Three dated notes, and knowledge without a date."""
    for path in ("memory/2026-06-01.md", "memory/2026-06-10.md", "memory/2026-06-20-evening.md", "MEMORY.md"):
        note(path, "The ferry left from the pier.")


def days(response: SearchResponse | dict[str, Any]) -> list[str]:
    return sorted(path.removeprefix("memory/")[:10] for path in paths(response))


ALL = ["2026-06-01", "2026-06-10", "2026-06-20", "MEMORY.md"]
BERLIN = timezone(timedelta(hours=2))


@pytest.mark.usefixtures("diary")
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, ALL),
        ({"since": "2026-06-10"}, ALL[1:]),
        ({"since": date(2026, 6, 10)}, ALL[1:]),
        ({"since": datetime(2026, 6, 10, tzinfo=UTC)}, ALL[1:]),
        ({"since": datetime(2026, 6, 10, 0, 0, 1, tzinfo=UTC)}, ALL[2:]),
        ({"since": datetime(2026, 6, 10, 2, tzinfo=BERLIN)}, ALL[1:]),
        ({"since": "2026-06-10T00:00:00Z"}, ALL[1:]),
        ({"until": "2026-06-10"}, [*ALL[:2], ALL[3]]),
        ({"until": date(2026, 6, 10)}, [*ALL[:2], ALL[3]]),
        ({"until": datetime(2026, 6, 9, 23, tzinfo=UTC)}, [ALL[0], ALL[3]]),
        ({"since": "2026-06-02", "until": "2026-06-19"}, [ALL[1], ALL[3]]),
        ({"since": "2026-06-19", "until": "2026-06-02"}, ["MEMORY.md"]),
        ({"since": date.min, "until": date.max}, ALL),
    ],
)
def test_dates_bound_what_may_answer_and_knowledge_always_may(
    options: dict[str, Any], expected: list[str], open_memory: Open
) -> None:
    """Inclusive at both ends; a date, an aware datetime or ISO text."""
    response = open_memory().search("ferry", **options)

    assert (response.error, days(response)) == (None, expected)


@pytest.mark.usefixtures("diary")
def test_the_command_line_takes_dates_as_text(workspace: Path) -> None:
    """The same bounds at the other door."""
    assert days(ask(workspace, "search", "ferry", "--since", "2026-06-10", "--until", "2026-06-10")) == ALL[1::2]


def test_the_date_of_other_files_is_their_own_time(note: Note, workspace: Path, open_memory: Open) -> None:
    """An extra file by its file time, a session by its last message: what decay would use."""
    file = note("extra/plan.md", "The ferry plan.")
    noon = datetime(2026, 6, 10, 12, tzinfo=UTC).timestamp()
    os.utime(file, (noon, noon))
    line = {"role": "user", "text": "Which ferry?", "ts": "2026-06-20T08:00:00Z"}
    note("sessions/chat.jsonl", json.dumps(line) + "\n")
    memory = open_memory(config={"files": {"extra_paths": ["extra"]}, **SESSIONS})

    assert sorted(paths(memory.search("ferry"))) == ["extra/plan.md", "sessions/chat.jsonl"]
    assert paths(memory.search("ferry", until="2026-06-10")) == ["extra/plan.md"]
    assert paths(memory.search("ferry", since="2026-06-11")) == ["sessions/chat.jsonl"]
    assert paths(memory.search("ferry", since="2026-06-20", until="2026-06-20")) == ["sessions/chat.jsonl"]


@pytest.mark.parametrize("name", ["since", "until", "asof"])
@pytest.mark.parametrize(
    "value",
    [
        datetime(2026, 6, 10, tzinfo=UTC).replace(tzinfo=None),
        "2026-06-10T12:00:00",
        "June",
        "2026-02-30",
        20260610,
        datetime(1, 1, 1, tzinfo=BERLIN),
    ],
)
def test_a_moment_that_is_not_clear_is_refused(name: str, value: Any, open_memory: Open) -> None:
    """A datetime without a time zone above all; the message names the argument."""
    with pytest.raises(ClawmarkError, match=name) as raised:
        open_memory().search("ferry", **{name: value})
    assert isinstance(raised.value, ValueError)


@pytest.mark.usefixtures("diary")
def test_the_command_line_refuses_a_moment_without_a_time_zone(workspace: Path) -> None:
    """Exit code 2, with what to write instead."""
    result = run(workspace, "search", "ferry", "--since", "2026-06-10T12:00:00")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "since needs a time zone" in result.stderr


@pytest.mark.usefixtures("diary")
@pytest.mark.parametrize("asof", ["2026-07-01", date(2026, 7, 1), datetime(2026, 7, 1, 2, tzinfo=BERLIN)])
def test_an_answer_can_be_asked_for_as_of_another_day(asof: Any, open_memory: Open) -> None:
    """``asof`` replaces now for decay: thirty days after the first note it has half its score."""
    decay = {"query": {"hybrid": {"temporal_decay": {"enabled": True, "half_life_days": 30}}}}
    memory = open_memory(config=decay)

    aged = {hit.path: hit.explanation for hit in memory.search("ferry", asof=asof).results}

    assert (aged["memory/2026-06-01.md"].age_days, aged["memory/2026-06-01.md"].decay_multiplier) == (
        30.0,
        pytest.approx(0.5),
    )
    assert aged["MEMORY.md"].decay_multiplier == 1.0
    assert {hit.explanation.age_days for hit in memory.search("ferry", asof="2026-01-01").results} == {0.0, None}


# Filters come before limits


@pytest.fixture
def crowd(note: Note) -> None:
    """Three hundred messages and a hundred notes that answer better than the one quiet note."""
    lines = [json.dumps({"role": "user", "text": f"Ferry ferry ferry call {n}. " + "x" * 780}) for n in range(300)]
    note("sessions/crowd.jsonl", "\n".join(lines) + "\n")
    for number in range(100):
        note(f"memory/loud/2026-06-{number % 28 + 1:02}-{number}.md", f"Ferry ferry ferry shout {number}.")
    note("memory/quiet/2026-01-15.md", "A note in which the word ferry stands once among a dozen other words.")


CROWD = {"Ferry ferry": 0.9, "A note": 0.5}


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("embedder", ["none", StubEmbedder(CROWD)], ids=["keyword", "hybrid"])
@pytest.mark.parametrize(
    "options",
    [
        {"paths": ["memory/quiet/**"]},
        {"paths": ["*.md", "!memory/loud/**"]},
        {"until": "2026-01-31"},
        {"sources": ["memory"], "paths": ["quiet/"]},
    ],
)
def test_a_filter_finds_what_hundreds_of_better_hits_would_hide(
    options: dict[str, Any], embedder: StubEmbedder | str, open_memory: Open
) -> None:
    """Both legs are filtered before their limits, and count what the filter lets through."""
    memory = open_memory(embedder=embedder, config=SESSIONS)
    assert "memory/quiet/2026-01-15.md" not in paths(memory.search("ferry"))

    response = memory.search("ferry", **options)

    (result,) = response.results
    assert result.path == "memory/quiet/2026-01-15.md"
    assert result.text_score
    assert result.explanation.candidates == {"vector": int(embedder != "none"), "text": 1}


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("embedder", ["none", StubEmbedder(CROWD)], ids=["keyword", "hybrid"])
def test_a_source_can_be_chosen_however_loud_the_other_is(embedder: StubEmbedder | str, open_memory: Open) -> None:
    """``sources`` before the limit, in both directions."""
    memory = open_memory(embedder=embedder, config=SESSIONS)

    notes = memory.search("ferry", sources=["memory"], max_results=150)
    chats = memory.search("ferry", sources=["sessions"], max_results=6)

    assert len({result.path for result in notes.results}) == 101
    assert {result.source for result in notes.results} == {"memory"}
    assert [result.source for result in chats.results] == ["sessions"] * 6


def test_a_source_that_is_off_is_an_error_not_an_empty_answer(note: Note, workspace: Path, open_memory: Open) -> None:
    """Sessions are off while no folder of transcripts is named."""
    note("memory/a.md", "The ferry left.")

    for sources in (["sessions"], ["memory", "sessions"]):
        with pytest.raises(ClawmarkError, match="sessions"):
            open_memory().search("ferry", sources=sources)
    with pytest.raises(ClawmarkError, match="memory, sessions"):
        open_memory().search("ferry", sources=["memories"])
    assert run(workspace, "search", "ferry", "--sources", "sessions").exit_code == 2


# Where a file was lost

STAGES = {"Shown ": 0.9, "Second ": 0.8, "Third ": 0.7, "Low ": 0.2}


@pytest.fixture
def stages(note: Note) -> None:
    for name in STAGES:
        note(f"memory/{name.strip().lower()}.md", f"{name}evidence of the crossing.")
    note("memory/blank.md", "  \n\n")
    note("memory/crossing/other.md", "Other evidence.")


@pytest.mark.usefixtures("stages")
@pytest.mark.parametrize(
    ("path", "options", "code", "says"),
    [
        ("memory/shown.md", {}, "PATH_SHOWN", "result 1"),
        ("memory/second.md", {}, "PATH_SHOWN", "result 2"),
        ("memory/third.md", {}, "PATH_BEYOND_LIMIT", "place 3"),
        ("memory/low.md", {}, "PATH_BELOW_THRESHOLD", "0.140 is below 0.35"),
        ("memory/second.md", {"max_chars": 60}, "PATH_OVER_BUDGET", "max_chars"),
        ("memory/third.md", {"paths": ["memory/s*"]}, "PATH_NOT_CANDIDATE", "filter"),
        ("memory/gone.md", {}, "PATH_NOT_INDEXED", "not indexed"),
        ("memory/blank.md", {}, "PATH_REJECTED", "blank"),
    ],
)
def test_the_stage_that_held_a_file_back_is_named(
    path: str, options: dict[str, Any], code: str, says: str, open_memory: Open
) -> None:
    """``explain(path=…)``: the code, the numbers, and for a ranked file its own explanation."""
    memory = open_memory(embedder=StubEmbedder(STAGES, otherwise=0.3))

    response = memory.explain("question", path=path, **{"max_results": 2, **options})

    (told,) = [notice for notice in response.warnings if notice.code.startswith("PATH_")]
    assert (told.code, says in told.message, path in told.message) == (code, True, True)
    ranked = code not in {"PATH_NOT_CANDIDATE", "PATH_NOT_INDEXED", "PATH_REJECTED"}
    assert paths(response) == ([path] if ranked else [])
    assert all(result.explanation.hybrid_score is not None for result in response.results)


@pytest.mark.usefixtures("stages")
def test_a_file_that_no_leg_found_is_called_so(open_memory: Open) -> None:
    """By keyword, without a word of the question in it."""
    response = open_memory().explain("shown", path="memory/crossing/other.md")

    assert (paths(response), codes(response)) == ([], ["PATH_NOT_CANDIDATE"])
    assert "words of the question" in response.warnings[0].message


@pytest.mark.usefixtures("stages")
def test_explaining_without_a_path_is_searching(workspace: Path, open_memory: Open) -> None:
    """The same answer; the command line prints every number of it."""
    memory = open_memory()

    explained, found = memory.explain("shown evidence"), memory.search("shown evidence")

    assert explained.results == found.results
    text = run(workspace, "explain", "shown evidence").stdout
    assert all(name in text for name in ("bm25", "textScore", "hybridScore", "decayMultiplier", "threshold"))


@pytest.mark.usefixtures("stages")
def test_the_command_line_tells_where_a_file_was_lost(workspace: Path) -> None:
    """On stderr for people, in the JSON for programs."""
    result = run(workspace, "explain", "shown", "--path", "memory/gone.md")

    assert result.exit_code == 0
    assert "memory/gone.md is not indexed" in result.stderr
    assert codes(ask(workspace, "explain", "shown", "--path", "memory/shown.md")) == ["PATH_SHOWN"]
