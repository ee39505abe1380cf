"""Providers that fail, refuse, or come late: what is called, what is answered, what is said."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import servers
from clawmark import Memory, QuotaError, SearchResponse
from moving_clock import MovingClock
from servers import KEY, ProviderServer, serving
from stub import StubEmbedder
from terminal import clawmark

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def server() -> Iterator[ProviderServer]:
    with serving(servers.OpenAiProtocol()) as running:
        yield running


@pytest.fixture
def notes(note: Note) -> None:
    for number in range(12):
        note(f"memory/n{number}.md", f"Note number {number}: {'swordfish' if number == 7 else 'herring'} in the ice.\n")


def found(response: SearchResponse) -> list[str]:
    return [result.path for result in response.results]


def reason(response: SearchResponse) -> str:
    assert response.fallback is not None
    return response.fallback.reason


# --- quota and rates ----------------------------------------------------------------------


def test_an_empty_account_is_called_twice_at_most(
    notes: None, note: Note, open_memory: Open, server: ProviderServer
) -> None:
    """P01: ten passes of ten starts and five searches within ten minutes; one was asked for by hand."""
    server.always = server.protocol.quota()
    clock = MovingClock()
    options: dict[str, Any] = {"config": {"embedding": server.settings()}, "embedder": None, "clock": clock}
    report = open_memory(**options).sync()
    responses: list[SearchResponse] = []
    for number in range(10):
        clock.advance(45)
        note(f"memory/later-{number}.md", f"Later note {number} of swordfish.\n")
        with open_memory(**options) as memory:
            responses.append(memory.search("swordfish", max_results=20))

    assert len(server.requests) <= 2
    assert report.error is not None
    assert (report.error.code, report.partial, report.pending) == ("QUOTA_EXHAUSTED", True, 12)
    assert "quota exhausted" in report.error.message
    assert "next try 2026-06-30 13:00:00 UTC" in report.error.message
    for response in responses:
        assert response.mode == "keyword"
        assert "memory/n7.md" in found(response)
        assert any("quota exhausted" in notice.message and "13:00" in notice.message for notice in response.warnings)


def test_a_quota_error_of_any_embedder_is_treated_alike(notes: None, note: Note, open_memory: Open) -> None:
    """P01: a plug-in raises ``QuotaError``."""
    clock = MovingClock()
    stub = StubEmbedder(on_documents=_refusing(QuotaError("stub: quota exhausted")))
    memory = open_memory(embedder=stub, clock=clock)
    memory.sync()
    for _ in range(5):
        clock.advance(60)
        response = memory.search("swordfish")

    assert stub.calls == 1
    assert (response.mode, found(response)) == ("keyword", ["memory/n7.md"])


def _refusing(error: Exception) -> Callable[[Any], None]:
    def refuse(texts: Any) -> None:
        raise error

    return refuse


def test_whoever_asks_by_hand_is_tried_at_once(notes: None, open_memory: Open, server: ProviderServer) -> None:
    """P01: credit was added; no hour is waited."""
    server.turns.append(server.protocol.quota())
    options: dict[str, Any] = {"config": {"embedding": server.settings()}, "embedder": None}
    open_memory(**options).sync()
    memory = open_memory(**options)

    assert memory.sync().error is None
    assert memory.search("swordfish").mode == "hybrid"
    assert memory.status().state == "fresh"


def test_indexing_waits_for_a_rate_limit_and_a_question_does_not(
    notes: None, open_memory: Open, server: ProviderServer
) -> None:
    """P02: refused with Retry-After 30 until a minute has passed; no call within a pause."""
    clock = MovingClock(step=0.5)
    times: list[float] = []

    def limited(handler: Any, asked: servers.Asked) -> None:
        times.append(clock.seconds)
        turn = servers.rate_limit(30) if clock.seconds < 60 else servers.succeed
        turn(handler, asked)

    server.always = limited
    memory = open_memory(config={"embedding": server.settings()}, embedder=None, clock=clock)
    stages: list[str] = []
    asked_meanwhile: list[SearchResponse] = []

    def progress(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        if stage == "waiting" and not asked_meanwhile:
            asked_meanwhile.append(memory.search("swordfish"))

    report = memory.sync(progress=progress)

    assert (report.error, report.pending, report.texts_embedded) == (None, 0, 12)
    assert 60 <= clock.seconds <= 130
    refused = [moment for moment in times if moment < 60]
    assert len(refused) <= 3
    assert all(later - earlier >= 29 for earlier, later in zip(refused, times[1:], strict=False))
    assert "waiting" in stages
    assert (asked_meanwhile[0].mode, found(asked_meanwhile[0])) == ("keyword", ["memory/n7.md"])


def test_a_question_that_meets_a_rate_limit_is_answered_by_keyword(
    notes: None, open_memory: Open, server: ProviderServer
) -> None:
    memory = open_memory(config={"embedding": server.settings()}, embedder=None)
    memory.sync()
    server.always = servers.rate_limit(30)
    first, second = memory.search("swordfish"), memory.search("swordfish")

    assert (first.mode, second.mode) == ("keyword", "keyword")
    assert "too many requests" in reason(first)
    assert "skipped until 2026-06-30 12:00:30 UTC" in reason(second)
    assert len([asked for asked in server.requests if asked.texts == ("swordfish",)]) == 1


# --- sizes --------------------------------------------------------------------------------


def test_a_provider_of_ten_texts_a_request_gets_ten(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """P03: 95 notes, a refusal in free text; the next run begins with what worked."""
    for number in range(95):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    server.always = servers.above(10, servers.refuse(400, "-", "batch size must not be larger than 10"))
    options: dict[str, Any] = {"config": {"embedding": server.settings(), "cache": {"enabled": False}}}
    report = open_memory(embedder=None, **options).sync()
    refused = [size for size in server.sizes if size > 10]
    before = len(server.requests)
    for number in range(95):
        note(f"memory/n{number}.md", f"Another herring, number {number}.\n")
    again = open_memory(embedder=None, **options).sync()

    assert (report.error, report.failed, report.pending, report.texts_embedded) == (None, (), 0, 95)
    assert len(refused) <= 5
    assert again.texts_embedded == 95
    assert max(server.sizes[before:]) <= 10


def test_a_slow_model_is_indexed_in_small_batches(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """P09: the timeout is a setting, and status shows it."""
    for number in range(17):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    done = threading.Event()
    server.always = servers.above(4, servers.hang(done))
    memory = open_memory(config={"embedding": server.settings(timeout=0.5)}, embedder=None)
    try:
        report = memory.sync()
    finally:
        done.set()

    assert (report.error, report.failed, report.texts_embedded) == (None, (), 17)
    vector = memory.status().vector
    assert vector is not None
    assert vector["timeout"] == 0.5


def test_an_oversized_text_does_not_sink_the_others(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """P04: it gets the vector of its beginning; no text is sent twice that was answered."""
    for number in range(8):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    note("memory/long.md", "word " * 200 + "\n")
    server.always = servers.containing("word " * 100, server.protocol.too_long())
    report = open_memory(config={"embedding": server.settings()}, embedder=None).sync()

    assert (report.error, report.failed, report.pending) == (None, (), 0)


# --- faults -------------------------------------------------------------------------------


def test_a_server_that_is_down_is_called_a_few_times_and_all_is_made_up_for(
    note: Note, open_memory: Open, server: ProviderServer
) -> None:
    """P12: a hundred notes one by one and twenty searches of as many processes in five minutes."""
    clock = MovingClock()
    server.always = servers.refuse(503)
    options: dict[str, Any] = {"config": {"embedding": server.settings()}, "embedder": None, "clock": clock}
    for number in range(100):
        clock.advance(3)
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
        if number % 5 == 0:
            with open_memory(**options) as memory:
                assert memory.search("herring").mode == "keyword"
    calls = len(server.requests)
    server.always = None
    clock.advance(600)
    with open_memory(**options) as memory:
        memory.search("herring")
    # Its end waits for the work in the background.
    memory = open_memory(**options)

    assert calls <= 10
    assert memory.status().pending == 0
    assert memory.search("herring").mode == "hybrid"


def test_a_plug_in_that_is_down_is_called_a_few_times_and_all_is_made_up_for(note: Note, open_memory: Open) -> None:
    """P12: within one process, whose embedder the user made."""
    clock, healthy = MovingClock(), threading.Event()
    stub = StubEmbedder(on_documents=_down_until(healthy), on_query=_down_until(healthy))
    for number in range(20):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    memory = open_memory(embedder=stub, clock=clock)
    assert memory.sync().error is not None
    for _ in range(20):
        clock.advance(15)
        assert memory.search("herring").mode == "keyword"
    calls = stub.calls
    healthy.set()
    clock.advance(600)

    assert calls <= 10
    assert memory.sync().pending == 0
    assert memory.search("herring").mode == "hybrid"


def _down_until(healthy: threading.Event) -> Callable[[Any], None]:
    def fail(texts: Any) -> None:
        if not healthy.is_set():
            raise RuntimeError("provider is down")

    return fail


def test_a_question_that_comes_too_late_is_not_asked_again_at_once(notes: None, open_memory: Open) -> None:
    """P10: the second question does not queue behind the first, and says so."""
    answer = threading.Event()
    stub = StubEmbedder(on_query=lambda text: answer.wait(30))
    memory = open_memory(embedder=stub)
    memory.sync()
    try:
        first = memory.search("swordfish", deadline=0.3)
        second = memory.search("swordfish", deadline=30)
        assert not answer.is_set()
    finally:
        answer.set()

    assert (first.mode, second.mode) == ("keyword", "keyword")
    assert (found(first), found(second)) == (["memory/n7.md"], ["memory/n7.md"])
    assert reason(first) == "vector leg timed out"
    assert "skipped until" in reason(second)
    assert stub.query_calls == 1
    assert memory.search("swordfish", deadline=30).mode == "hybrid"


def test_an_embedder_of_one_call_at_a_time_gets_one_from_many_threads(note: Note, open_memory: Open) -> None:
    """P11: fifty notes while questions come in."""
    for number in range(50):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    entered = threading.Lock()

    def alone(texts: Any) -> None:
        assert entered.acquire(blocking=False)
        entered.release()

    memory = open_memory(embedder=StubEmbedder(on_documents=alone, on_query=alone))
    threads = [threading.Thread(target=memory.search, args=("herring",)) for _ in range(4)]
    for thread in threads:
        thread.start()
    report = memory.sync()
    for thread in threads:
        thread.join()

    assert (report.error, report.failed, memory.status().pending) == (None, (), 0)


def test_a_key_that_is_refused_for_a_question_leaves_the_words(
    notes: None, open_memory: Open, server: ProviderServer
) -> None:
    """P16: indexed with a good key; then not authorised."""
    memory = open_memory(config={"embedding": server.settings()}, embedder=None)
    memory.sync()
    server.always = servers.refuse(401)
    response = memory.search("swordfish")

    assert (response.mode, response.error, found(response)) == ("keyword", None, ["memory/n7.md"])
    assert "not authorised" in reason(response)
    assert response.fallback is not None
    assert response.fallback.from_provider == "openai"


def test_a_connection_that_breaks_costs_no_answer(notes: None, open_memory: Open, server: ProviderServer) -> None:
    """P17: the first question works; the second meets a dead connection; two to five work."""
    memory = open_memory(config={"embedding": server.settings()}, embedder=None)
    memory.sync()
    modes = [memory.search("swordfish").mode]
    server.turns.append(servers.cut)
    modes += [memory.search("swordfish").mode for _ in range(4)]

    assert modes == ["hybrid"] * 5


@pytest.mark.parametrize("name", ["NaN", "shape"])
def test_a_bad_answer_stores_nothing(notes: None, open_memory: Open, server: ProviderServer, name: str) -> None:
    """Neither in the index nor in the cache; what was good before stays."""
    bad = servers.changed(_spoiled) if name == "NaN" else servers.reply(200, {"data": []})
    server.always = bad
    memory = open_memory(config={"embedding": server.settings()}, embedder=None)
    report = memory.sync()
    status = memory.status()

    assert report.partial
    assert (report.texts_embedded, report.pending) == (0, 12)
    assert status.cache is not None
    assert status.cache["entries"] == 0
    assert len(server.requests) <= 12


def _spoiled(answer: Any) -> None:
    for row in answer["data"]:
        row["embedding"][0] = float("nan")


def test_one_bad_note_costs_itself(note: Note, open_memory: Open, server: ProviderServer) -> None:
    """S16: nine of ten are embedded; the tenth is found by its words; the exit code says partial."""
    for number in range(9):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    note("memory/bad.md", "BOOM goes the swordfish.\n")
    server.always = servers.containing("BOOM", servers.refuse(400, "-", "content policy"))
    env = _env(server)
    report = clawmark("index", "--json", "--workspace", note("MEMORY.md", "x\n").parent, env=env)
    answer = clawmark("search", "swordfish", "--json", "--workspace", note("MEMORY.md", "x\n").parent, env=env)

    assert report.code == 1
    assert report.json["textsEmbedded"] == 10
    assert [failed["path"] for failed in report.json["failed"]] == ["memory/bad.md"]
    assert "content policy" in report.json["failed"][0]["reason"]
    assert report.json["error"] is None
    assert answer.json["results"][0]["path"] == "memory/bad.md"


def test_a_provider_that_dies_half_way_leaves_numbers_that_add_up(
    note: Note, workspace: Path, server: ProviderServer
) -> None:
    """S20: what is done, what is pending, and an exit code that is not 0."""
    for number in range(300):
        note(f"memory/n{number}.md", f"Herring number {number}.\n")
    server.turns += [servers.succeed] * 2
    server.always = servers.refuse(401)
    ran = clawmark("index", "--json", "--workspace", workspace, env=_env(server))
    plain = clawmark("index", "--workspace", workspace, env=_env(server))

    assert ran.code == plain.code == 1
    assert 0 < ran.json["textsEmbedded"] < 300
    assert ran.json["textsEmbedded"] + ran.json["pending"] == 300
    assert f"{ran.json['pending']} chunks still without a vector" in plain.out
    assert "not authorised" in plain.err


def test_a_restart_pays_for_nothing(notes: None, open_memory: Open, server: ProviderServer) -> None:
    """S18: three restarts, no call, all files there."""
    options: dict[str, Any] = {"config": {"embedding": server.settings()}, "embedder": None}
    open_memory(**options).sync()
    calls = len(server.requests)
    for _ in range(3):
        with open_memory(**options) as memory:
            report, status = memory.sync(), memory.status()
            assert (report.unchanged, report.texts_embedded, status.files, status.state) == (12, 0, 12, "fresh")

    assert len(server.requests) == calls


def test_two_agents_pay_once(notes: None, open_memory: Open, server: ProviderServer) -> None:
    """F01: and the meter says what was spared."""
    options: dict[str, Any] = {"config": {"embedding": server.settings()}, "embedder": None}
    first = open_memory(agent="one", **options).sync()
    second = open_memory(agent="two", **options)
    again = second.sync()
    (row,) = second.costs().rows

    assert first.texts_embedded == 12
    assert (again.texts_embedded, again.pending) == (0, 0)
    assert (row.texts, row.cached) == (12, 12)


def test_a_model_that_is_loading_is_said_so(notes: None, open_memory: Open) -> None:
    """F07: a search meanwhile is by keyword; then hybrid."""
    loaded = threading.Event()
    stub = StubEmbedder(on_query=lambda text: loaded.wait(30))
    memory = open_memory(embedder=stub)
    memory.sync()
    memory.load_model()
    try:
        early = memory.search("swordfish")
    finally:
        loaded.set()
    while memory.search("swordfish").mode != "hybrid":
        pass

    assert (early.mode, found(early)) == ("keyword", ["memory/n7.md"])
    assert "model loading" in reason(early)
    assert [notice.code for notice in early.warnings] == ["MODEL_LOADING"]


def _env(server: ProviderServer) -> dict[str, str]:
    return {
        "CLAWMARK_EMBEDDING__PROVIDER": "openai",
        "CLAWMARK_EMBEDDING__BASE_URL": server.url,
        "OPENAI_API_KEY": KEY,
    }
