"""The guard around an embedder: who is called, who waits, and what is said instead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clawmark.core.errors import (
    EmbeddingError,
    InputTooLongError,
    ProviderError,
    QuotaError,
    RateLimitedError,
)
from clawmark.core.ports import Embedder
from clawmark.embedders.circuit import Circuit
from clawmark.embedders.guard import PROBE, Guard, GuardedEmbedder, Manner
from clawmark.embedders.ledger import Ledger
from clawmark.embedders.meter import Budget, Meter, Prices
from clawmark.testing import EmbedderContract
from moving_clock import MovingClock
from stub import StubEmbedder

PATIENT = {"patient": True}


class Scripted:
    """A stub that raises the errors of a list, one a call, and then works."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.stub = StubEmbedder(on_documents=self.fail, on_query=self.fail)

    def fail(self, text: Any) -> None:
        if self.errors:
            raise self.errors.pop(0)


def guarded(
    stub: StubEmbedder, clock: MovingClock, ledger: Ledger | None = None, meter: Meter | None = None, **manner: Any
) -> GuardedEmbedder:
    circuit = Circuit(ledger or Ledger(None), "stub/account", "stub", clock)
    return GuardedEmbedder(Guard(stub, circuit, meter, pause=clock.advance), Manner(**manner))


class TestGuardedEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> Embedder:
        return guarded(StubEmbedder({"key": 0.8}), MovingClock(), patient=True)


def test_indexing_waits_until_a_rate_limit_has_passed() -> None:
    """P02: Retry-After is kept to; progress is told meanwhile."""
    clock, told = MovingClock(), list[tuple[str, int, int]]()
    script = Scripted(RateLimitedError(retry_after=30.0), RateLimitedError(retry_after=30.0))
    embedder = guarded(script.stub, clock, patient=True, told=lambda *step: told.append(step))
    vectors = embedder.embed_documents(["a", "b"])

    assert vectors.shape[0] == 2
    assert script.stub.document_calls == 3
    assert 60 <= clock.seconds < 62
    assert told[0] == ("waiting", 0, 30)
    assert ("waiting", 29, 30) in told


def test_a_rate_limit_without_a_time_is_a_minute() -> None:
    clock, script = MovingClock(), Scripted(RateLimitedError())
    guarded(script.stub, clock, patient=True).embed_documents(["a"])

    assert 60 <= clock.seconds < 61


def test_a_wait_of_an_hour_is_left_to_another_run() -> None:
    clock, script = MovingClock(), Scripted(RateLimitedError(retry_after=3_600.0))
    with pytest.raises(RateLimitedError) as caught:
        guarded(script.stub, clock, patient=True).embed_documents(["a"])

    assert "skipped until 2026-06-30 13:00:00 UTC" in caught.value.message
    assert (clock.seconds, script.stub.document_calls) == (0.0, 1)


def test_a_provider_that_is_always_too_fast_ends_the_patience() -> None:
    clock = MovingClock()
    script = Scripted(*[RateLimitedError(retry_after=30.0) for _ in range(100)])
    with pytest.raises(RateLimitedError):
        guarded(script.stub, clock, patient=True).embed_documents(["a"])

    assert 2 < script.stub.document_calls < 15


def test_a_clock_that_stands_still_ends_the_patience() -> None:
    """Nothing is called within a pause, and nothing hangs."""
    script = Scripted(RateLimitedError(retry_after=30.0))
    circuit = Circuit(Ledger(None), "stub", "stub", lambda: MovingClock()())
    with pytest.raises(RateLimitedError):
        GuardedEmbedder(Guard(script.stub, circuit), Manner(patient=True)).embed_documents(["a"])

    assert script.stub.document_calls == 1


def test_a_question_never_waits() -> None:
    """P02: the limit that indexing met holds for questions, and they are answered at once."""
    clock, script = MovingClock(), Scripted(RateLimitedError(retry_after=30.0))
    embedder = guarded(script.stub, clock)
    with pytest.raises(RateLimitedError):
        embedder.embed_documents(["a"])
    with pytest.raises(RateLimitedError) as caught:
        embedder.embed_query("b")

    assert script.stub.calls == 1
    assert "skipped until" in caught.value.message
    assert caught.value.retry_after == 30.0
    clock.advance(31)
    assert embedder.embed_query("b").shape == (256,)


def test_an_empty_account_is_left_alone_for_an_hour() -> None:
    """P01: the error says when the next try is; what repeats it says that it does."""
    clock, script = MovingClock(), Scripted(QuotaError("stub: quota exhausted (insufficient_quota)"))
    embedder = guarded(script.stub, clock, patient=True)
    with pytest.raises(QuotaError) as first:
        embedder.embed_documents(["a"])
    with pytest.raises(QuotaError) as second:
        embedder.embed_documents(["a"])

    assert first.value.message == ("stub: quota exhausted (insufficient_quota); next try 2026-06-30 13:00:00 UTC")
    assert second.value.message == ("stub: skipped until 2026-06-30 13:00:00 UTC: quota exhausted (insufficient_quota)")
    assert script.stub.calls == 1


def test_who_insists_is_tried_once() -> None:
    """An explicit sync: one call in spite of the pause, then the pause again."""
    clock = MovingClock()
    script = Scripted(QuotaError("stub: empty"), QuotaError("stub: empty"))
    ledger = Ledger(None)
    with pytest.raises(QuotaError):
        guarded(script.stub, clock, ledger).embed_documents(["a"])
    explicit = guarded(script.stub, clock, ledger, insists=True)
    for _ in range(3):
        with pytest.raises(QuotaError):
            explicit.embed_documents(["a"])
    assert script.stub.calls == 2

    assert guarded(script.stub, clock, ledger, insists=True).embed_documents(["a"]).shape[0] == 1
    assert guarded(script.stub, clock, ledger).embed_query("b").shape == (256,)


def test_after_a_pause_one_of_many_tries_first(tmp_path: Path) -> None:
    """P12: others wait for what it finds out, also in other processes."""
    clock, script = MovingClock(), Scripted(ProviderError("stub: down", code="PROVIDER_DOWN"))
    path = tmp_path / "providers.sqlite"
    with pytest.raises(ProviderError):
        guarded(script.stub, clock, Ledger(path)).embed_documents(["a"])
    clock.advance(61)
    one, other = (Circuit(Ledger(path), "stub/account", "stub", clock) for _ in range(2))

    assert one.admit() is None
    assert other.admit() is not None
    one.worked()
    assert other.admit() is None


def test_pauses_grow_while_a_provider_is_down() -> None:
    clock, script = MovingClock(), Scripted(*[ProviderError("stub: down", code="PROVIDER_DOWN") for _ in range(4)])
    ledger = Ledger(None)
    embedder = guarded(script.stub, clock, ledger)
    pauses: list[float] = []
    for _ in range(4):
        with pytest.raises(ProviderError):
            embedder.embed_documents(["a"])
        pause = ledger.pause("stub/account")
        assert pause is not None
        pauses.append(pause.until - clock().timestamp())
        clock.advance(pauses[-1])

    assert pauses == [5.0, 30.0, 180.0, 600.0]


def test_a_text_that_fails_does_not_stop_the_provider() -> None:
    """S16: asked for a harmless text it answers, so the text is at fault."""
    clock = MovingClock()
    stub = StubEmbedder(on_documents=_boom)
    embedder = guarded(stub, clock)
    with pytest.raises(RuntimeError):
        embedder.embed_documents(["a", "BOOM"])

    assert stub.texts == [PROBE]
    assert embedder.embed_documents(["a"]).shape[0] == 1


def _boom(texts: Sequence[str]) -> None:
    if any("BOOM" in text for text in texts):
        raise RuntimeError("cannot embed this")


def test_a_provider_that_fails_for_any_text_is_down() -> None:
    clock = MovingClock()
    script = Scripted(RuntimeError("out of memory"), RuntimeError("out of memory"))
    embedder = guarded(script.stub, clock)
    with pytest.raises(ProviderError) as caught:
        embedder.embed_documents(["a", "b"])
    with pytest.raises(ProviderError):
        embedder.embed_query("c")

    assert "stub: out of memory; next try" in caught.value.message
    assert script.stub.calls == 2


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), BrokenPipeError("pipe"), EOFError("end")])
def test_a_connection_that_broke_is_tried_again_at_once(error: Exception) -> None:
    """P17: of a plug-in too."""
    script = Scripted(error)

    assert guarded(script.stub, MovingClock()).embed_documents(["a"]).shape[0] == 1
    script.errors.append(error)
    assert guarded(script.stub, MovingClock()).embed_query("a").shape == (256,)


def test_a_provider_that_cannot_be_reached_is_called_twice_and_no_text_is_blamed() -> None:
    """P12: a second broken connection is the provider's fault; nothing is halved."""
    script = Scripted(*[ConnectionRefusedError("refused") for _ in range(9)])
    embedder = guarded(script.stub, MovingClock())
    for _ in range(3):
        with pytest.raises(ProviderError) as caught:
            embedder.embed_documents(["a", "b"])

    assert caught.value.code == "PROVIDER_DOWN"
    assert script.stub.calls == 2


def test_two_questions_in_a_row_that_fail_pause_the_provider() -> None:
    script = Scripted(*[RuntimeError("bad day") for _ in range(9)])
    embedder = guarded(script.stub, MovingClock())
    for _ in range(4):
        with pytest.raises((RuntimeError, ProviderError)):
            embedder.embed_query("a")

    assert script.stub.query_calls == 2


def test_a_text_above_the_limit_is_no_failure_of_the_provider() -> None:
    clock, script = MovingClock(), Scripted(InputTooLongError("too long"))
    embedder = guarded(script.stub, clock)
    with pytest.raises(InputTooLongError):
        embedder.embed_documents(["a"])

    assert embedder.embed_query("a").shape == (256,)


def test_a_model_that_is_loading_is_not_waited_for() -> None:
    """F07: answers are by keyword, and say so."""
    seen: list[str] = []
    embedder: Any = None

    def ask_meanwhile(text: str) -> None:
        with pytest.raises(ProviderError) as caught:
            embedder.embed_query("where?")
        seen.append(caught.value.code)

    guard = Guard(StubEmbedder(on_query=ask_meanwhile))
    embedder = GuardedEmbedder(guard)
    guard.load()

    assert seen == ["MODEL_LOADING"]
    assert not guard.loading


# --- budget -------------------------------------------------------------------------------


def test_a_budget_of_tokens_stops_indexing_and_no_question() -> None:
    """P12: with the time at which it goes on."""
    clock, stub = MovingClock(), StubEmbedder()
    meter = Meter(Ledger(None), clock, budget=Budget(tokens=10))
    embedder = guarded(stub, clock, meter=meter)
    embedder.embed_documents(["four", "four"])
    with pytest.raises(QuotaError) as caught:
        embedder.embed_documents(["word " * 20])

    assert caught.value.code == "BUDGET_REACHED"
    assert "10 tokens (2 used)" in caught.value.message
    assert "2026-07-01 00:00 UTC" in caught.value.message
    assert embedder.embed_query("word " * 20).shape == (256,)
    assert stub.document_calls == 1
    clock.advance(86_400)
    assert embedder.embed_documents(["four"]).shape[0] == 1


def test_a_budget_of_money_counts_at_the_price_of_the_model() -> None:
    clock, ledger = MovingClock(), Ledger(None)
    prices = Prices("2026-01-01", {"stub/stub-1": 1_000_000.0})
    embedder = guarded(StubEmbedder(), clock, meter=Meter(ledger, clock, prices, Budget(cost=2.5)))
    embedder.embed_documents(["four", "four"])
    with pytest.raises(QuotaError) as caught:
        embedder.embed_documents(["four"])

    assert "$2.5 ($2.0000 used)" in caught.value.message


def test_a_budget_of_money_needs_a_price() -> None:
    clock = MovingClock()
    embedder = guarded(StubEmbedder(), clock, meter=Meter(Ledger(None), clock, budget=Budget(cost=2.5)))
    with pytest.raises(ProviderError) as caught:
        embedder.embed_documents(["four"])

    assert caught.value.code == "PRICE_UNKNOWN"
    assert '"stub/stub-1" = 0.1' in caught.value.action


# --- ledger -------------------------------------------------------------------------------


def test_a_ledger_that_is_no_database_is_replaced_by_memory(tmp_path: Path) -> None:
    path = tmp_path / "providers.sqlite"
    path.write_bytes(b"this is not a database" * 100)
    ledger = Ledger(path)
    meter = Meter(ledger, MovingClock())
    meter.count("openai", "m", requests=1, texts=2, tokens=3)

    assert meter.spent_on("2026-06-30").tokens == 3
    assert path.read_bytes() == b"this is not a database" * 100


def test_reading_makes_no_file(tmp_path: Path) -> None:
    path = tmp_path / "cache" / "providers.sqlite"
    ledger = Ledger(path)

    assert (ledger.pause("a"), ledger.learned("a", 0.0), ledger.usage("2026-01-01")) == (None, None, [])
    assert not path.parent.exists()


def test_usage_of_processes_adds_up(tmp_path: Path) -> None:
    path = tmp_path / "providers.sqlite"
    for _ in range(3):
        ledger = Ledger(path)
        Meter(ledger, MovingClock()).count("openai", "m", requests=1, texts=2, tokens=3, cached=4)
        ledger.close()
    (usage,) = Ledger(path).usage("2026-06-30")

    assert (usage.requests, usage.texts, usage.tokens, usage.cached) == (3, 6, 9, 12)


def test_vectors_pass_through_unchanged() -> None:
    stub = StubEmbedder({"key": 0.8})
    embedder = guarded(stub, MovingClock())

    np.testing.assert_array_equal(embedder.embed_documents(["a key"]), stub.embed_documents(["a key"]))


@pytest.mark.parametrize("kind", [RateLimitedError, QuotaError, ProviderError])
def test_errors_keep_their_kind(kind: type[EmbeddingError]) -> None:
    with pytest.raises(kind):
        guarded(Scripted(kind("stub: no")).stub, MovingClock()).embed_query("a")
