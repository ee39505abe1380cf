"""Remote providers over real HTTP: what they are sent, and what becomes of each answer."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import servers
from clawmark.core.errors import (
    ConfigError,
    EmbeddingError,
    InputTooLongError,
    ProviderError,
    QuotaError,
    RateLimitedError,
)
from clawmark.core.ports import Embedder
from clawmark.embedders.ledger import Ledger
from clawmark.embedders.registry import Surroundings, make_embedder
from clawmark.testing import EmbedderContract
from servers import KEY, PROTOCOLS, Protocol, ProviderServer, refuse, serving

SNAPSHOTS = Path(__file__).with_name("requests.json")

Make = Callable[..., Any]


@pytest.fixture(params=PROTOCOLS, ids=lambda protocol: protocol.name)
def server(request: pytest.FixtureRequest) -> Iterator[ProviderServer]:
    with serving(request.param) as running:
        yield running


@pytest.fixture
def waits() -> list[float]:
    """Seconds that were waited, by nobody."""
    return []


@pytest.fixture
def make(server: ProviderServer, waits: list[float]) -> Iterator[Make]:
    """Make the embedder for the server; what it would wait is noted."""
    with ExitStack() as stack:

        def maker(ledger: Ledger | None = None, told: Any = lambda *counts: None, **table: Any) -> Any:
            settings = SimpleNamespace(**server.settings(**table))
            around = Surroundings(ledger or Ledger(None), told=told, pause=waits.append)
            made: Any = make_embedder(server.protocol.name, settings, {}, around)
            stack.callback(made.close)
            return made

        yield maker


class TestRemoteEmbedders(EmbedderContract):
    @pytest.fixture
    def embedder(self, make: Make) -> Embedder:
        return make()


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.name)
def test_requests_are_those_of_the_snapshot(protocol: Protocol) -> None:
    """Address, key and body of a question and of two passages, at the provider's own settings."""
    with serving(protocol) as server:
        settings = SimpleNamespace(**server.settings(dimensions=8, headers={"X-Team": "lab"}))
        embedder: Any = make_embedder(protocol.name, settings, {})
        embedder.embed_documents(["The key hangs here.", "Zebra."])
        embedder.embed_query("where is the key?")
        embedder.close()

    shown = ("authorization", "x-goog-api-key", "x-team", "content-type")
    found = [
        {
            "path": one.path,
            "headers": {name: one.headers[name] for name in shown if name in one.headers},
            "body": one.body,
        }
        for one in server.requests
    ]
    assert found == json.loads(SNAPSHOTS.read_text(encoding="utf-8"))[protocol.name]


@pytest.mark.parametrize(
    ("model", "document", "query"),
    [
        ("nomic-embed-text", "search_document: a", "search_query: a"),
        ("mxbai-embed-large", "a", "Represent this sentence for searching relevant passages: a"),
        ("embeddinggemma:300m", "title: none | text: a", "task: search result | query: a"),
        ("all-minilm", "a", "a"),
    ],
)
def test_open_models_get_the_words_they_were_trained_with(model: str, document: str, query: str) -> None:
    with serving(servers.OllamaProtocol()) as server:
        embedder: Any = make_embedder("ollama", SimpleNamespace(**server.settings(model=model)), {})
        embedder.embed_documents(["a"])
        embedder.embed_query("a")
        embedder.close()

    assert server.texts == [document, query]


def test_the_second_generation_of_gemini_takes_its_task_as_words() -> None:
    with serving(servers.GeminiProtocol()) as server:
        embedder: Any = make_embedder("gemini", SimpleNamespace(**server.settings(model="gemini-embedding-2")), {})
        embedder.embed_query("a")
        embedder.close()

    assert server.texts == ["task: search result | query: a"]
    assert "taskType" not in server.requests[0].body


# --- refusals -----------------------------------------------------------------------------


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_is_one_call_and_names_where_to_put_another(
    server: ProviderServer, make: Make, status: int
) -> None:
    """P16: not authorised is not tried again, and not in halves."""
    server.always = refuse(status, "-", f"Incorrect API key provided: {KEY}")
    with pytest.raises(ProviderError) as caught:
        make().embed_documents(["a", "b"])

    assert caught.value.code == "PROVIDER_KEY_REFUSED"
    assert "not authorised" in caught.value.message
    assert server.protocol.variable in caught.value.action
    assert KEY not in caught.value.message + caught.value.action
    assert len(server.requests) == 1


def test_a_key_that_gemini_calls_an_invalid_argument_is_a_refused_key() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    body = {"error": {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": details}}
    with serving(servers.GeminiProtocol()) as server:
        server.always = servers.reply(400, body)
        embedder: Any = make_embedder("gemini", SimpleNamespace(**server.settings()), {})
        with pytest.raises(ProviderError) as caught:
            embedder.embed_query("a")
        embedder.close()

    assert caught.value.code == "PROVIDER_KEY_REFUSED"


def test_an_unknown_model_is_named(server: ProviderServer, make: Make) -> None:
    server.always = refuse(404, "-", "model not found, try pulling it first")
    with pytest.raises(ProviderError) as caught:
        make(model="swordfish").embed_documents(["a", "b"])

    assert caught.value.code == "MODEL_NOT_FOUND"
    assert "'swordfish'" in caught.value.message
    assert "try pulling it" in caught.value.message
    assert len(server.requests) == 1


@pytest.mark.parametrize(("header", "seconds"), [("30", 30.0), ("0.5", 0.5), (None, None)])
def test_a_rate_limit_says_how_long_to_wait(
    server: ProviderServer, make: Make, header: str | None, seconds: float | None
) -> None:
    server.always = servers.rate_limit(None if header is None else float(header))
    with pytest.raises(RateLimitedError) as caught:
        make().embed_documents(["a"])

    assert caught.value.retry_after == seconds
    assert len(server.requests) == 1


def test_a_wait_until_a_date_is_counted_by_the_clock_of_the_server() -> None:
    date, later = "Tue, 30 Jun 2026 12:00:00 GMT", "Tue, 30 Jun 2026 12:01:30 GMT"
    with serving(servers.OpenAiProtocol()) as server:
        server.always = _dated(date, later)
        embedder: Any = make_embedder("openai", SimpleNamespace(**server.settings()), {})
        with pytest.raises(RateLimitedError) as caught:
            embedder.embed_query("a")
        embedder.close()

    assert caught.value.retry_after == 90.0


def _dated(date: str, later: str) -> servers.Turn:
    def turn(handler: Any, asked: servers.Asked) -> None:
        handler.date_time_string = lambda timestamp=None: date
        handler.send(429, b"{}", {"Retry-After": later})

    return turn


def test_gemini_says_in_the_body_how_long_to_wait() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "21.5s"}]
    body = {"error": {"code": 429, "message": "slow down", "status": "RESOURCE_EXHAUSTED", "details": details}}
    with serving(servers.GeminiProtocol()) as server:
        server.always = servers.reply(429, body)
        embedder: Any = make_embedder("gemini", SimpleNamespace(**server.settings()), {})
        with pytest.raises(RateLimitedError) as caught:
            embedder.embed_query("a")
        embedder.close()

    assert caught.value.retry_after == 21.5


def test_an_empty_account_is_told_apart_from_too_fast_by_its_code(server: ProviderServer, make: Make) -> None:
    """P01: both have status 429."""
    server.turns.append(server.protocol.quota())
    embedder = make()
    with pytest.raises(QuotaError) as caught:
        embedder.embed_documents(["a", "b"])

    assert "quota exhausted" in caught.value.message
    assert len(server.requests) == 1


@pytest.mark.parametrize("words", ["429 is the number of this insufficient_quota room", "quota_exceeded"])
def test_words_of_a_message_are_no_codes(server: ProviderServer, make: Make, words: str) -> None:
    """P01: a rate limit whose message speaks of quota is still a rate limit."""
    server.turns.append(refuse(429, "rate_limit_exceeded", words))
    with pytest.raises(RateLimitedError):
        make().embed_documents(["a"])


@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_fault_of_the_server_is_tried_again(
    server: ProviderServer, make: Make, waits: list[float], status: int
) -> None:
    server.turns += [refuse(status), refuse(status)]
    vectors = make().embed_documents(["a", "b"])

    assert vectors.shape == (2, servers.DIMENSIONS)
    assert len(server.requests) == 3
    assert [0.5 <= wait <= 9.0 for wait in waits] == [True, True]


def test_a_server_that_stays_faulty_is_called_three_times(server: ProviderServer, make: Make) -> None:
    server.always = refuse(500)
    with pytest.raises(ProviderError) as caught:
        make().embed_documents(["a", "b"])

    assert caught.value.code == "PROVIDER_DOWN"
    assert server.sizes == [2, 2, 2]


def test_a_question_meets_a_faulty_server_once(server: ProviderServer, make: Make, waits: list[float]) -> None:
    """A question has a person waiting for it."""
    server.always = refuse(503)
    with pytest.raises(ProviderError):
        make().embed_query("a")

    assert (len(server.requests), waits) == (1, [])


def test_a_redirect_is_not_followed(server: ProviderServer, make: Make) -> None:
    """Texts and key go to the address of the settings and nowhere else."""
    with serving(server.protocol) as other:
        server.always = servers.reply(307, {}, {"Location": other.url + "/embeddings"})
        with pytest.raises(ProviderError):
            make().embed_documents(["a"])

    assert other.requests == []


# --- connections --------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [servers.cut, servers.cut_in_the_middle], ids=["at-once", "in-the-middle"])
def test_a_connection_that_breaks_is_made_anew(server: ProviderServer, make: Make, fault: servers.Turn) -> None:
    """P17: the first call works, the connection breaks, calls two to five work."""
    embedder = make()
    embedder.embed_query("first")
    server.turns.append(fault)
    vectors = [embedder.embed_query(f"call {number}") for number in range(2, 6)]

    assert len(vectors) == 4
    assert len(server.requests) == 6


def test_a_server_that_is_not_there_is_named() -> None:
    with serving(servers.OllamaProtocol()) as server:
        settings = SimpleNamespace(**server.settings())
    waits: list[float] = []
    embedder: Any = make_embedder("ollama", settings, {}, Surroundings(pause=waits.append))
    with pytest.raises(ProviderError) as caught:
        embedder.embed_documents(["a"])
    embedder.close()

    assert f"127.0.0.1:{server.server_port} cannot be reached" in caught.value.message
    assert len(waits) == 2


def test_an_answer_that_does_not_come_in_time_ends_with_the_timeout(server: ProviderServer, make: Make) -> None:
    """P09: the time is a setting; one text alone is not tried again."""
    done = threading.Event()
    server.always = servers.hang(done)
    embedder = make(timeout=0.2)
    try:
        with pytest.raises(ProviderError) as caught:
            embedder.embed_documents(["a"])
    finally:
        done.set()

    assert "no answer within 0.2 s" in caught.value.message
    assert len(server.requests) == 1


def test_a_batch_that_is_too_slow_goes_on_in_smaller_ones(server: ProviderServer, make: Make) -> None:
    """P09: a server that manages four texts within the timeout gets four texts."""
    done = threading.Event()
    server.always = servers.above(4, servers.hang(done))
    embedder = make(timeout=0.5)
    try:
        vectors = embedder.embed_documents([f"text {number}" for number in range(16)])
    finally:
        done.set()

    assert vectors.shape[0] == 16
    assert [size for size in server.sizes if size > 4] == [16, 8]
    assert embedder.max_batch_items == 4


# --- sizes --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_limit_that_nobody_documented_is_found_and_remembered(
    server: ProviderServer, make: Make, tmp_path: Path, status: int
) -> None:
    """P03: 95 texts to a server that takes 10; the refusal is free text; the next process begins with what worked."""
    server.always = servers.above(10, refuse(status, "-", "sorry"))
    ledger = Ledger(tmp_path / "providers.sqlite")
    texts = [f"text {number}" for number in range(95)]
    first = make(ledger)
    vectors = np.concatenate([first.embed_documents(texts[at : at + 16]) for at in range(0, 95, 16)])
    refused = [size for size in server.sizes if size > 10]
    ledger.close()

    again = Ledger(tmp_path / "providers.sqlite")
    second = make(again)
    before = len(server.requests)
    second.embed_documents(texts)
    again.close()

    expected = first.embed_documents(texts[:1])
    np.testing.assert_array_equal(vectors[:1], expected)
    assert vectors.shape[0] == 95
    assert len(refused) <= 5
    assert 5 <= second.max_batch_items <= 10
    assert max(server.sizes[before:]) <= 10


def test_a_text_above_the_limit_is_named_as_such(server: ProviderServer, make: Make) -> None:
    """P04: alone it is an InputTooLongError; its neighbours are not paid for twice."""
    server.always = servers.containing("swordfish", server.protocol.too_long())
    embedder = make()
    with pytest.raises(InputTooLongError):
        embedder.embed_documents(["a", "b", "c", "swordfish"])
    answered = len([text for text in server.texts if text.endswith("a")])
    assert embedder.embed_documents(["a", "b"]).shape[0] == 2

    assert len([text for text in server.texts if text.endswith("a")]) == answered
    assert embedder.max_batch_items > 1


def test_texts_are_cut_into_requests_below_the_documented_tokens() -> None:
    """Mistral takes 16,000 tokens in all."""
    with serving(servers.MistralProtocol()) as server:
        embedder: Any = make_embedder("mistral", SimpleNamespace(**server.settings()), {})
        embedder.embed_documents([f"{number} " + "word " * 1_500 for number in range(16)])
        embedder.close()

    assert len(server.requests) > 1
    assert max(sum(len(text) for text in one.texts) // 4 for one in server.requests) <= 12_000


def test_equal_texts_are_sent_once(server: ProviderServer, make: Make) -> None:
    vectors = make().embed_documents(["a", "b", "a"])

    np.testing.assert_array_equal(vectors[0], vectors[2])
    assert server.sizes == [2]


# --- answers ------------------------------------------------------------------------------


def _each(change: Callable[[list[Any]], None]) -> Callable[[ProviderServer], servers.Turn]:
    def turn_of(server: ProviderServer) -> servers.Turn:
        return servers.changed(lambda answer: [change(row) for row in server.protocol.rows_of(answer)] and None)

    return turn_of


def _first(value: Any) -> Callable[[list[Any]], None]:
    def change(row: list[Any]) -> None:
        row[0] = value

    return change


def _all_zero(row: list[Any]) -> None:
    row[:] = [0.0] * len(row)


BAD = {
    "NaN": _each(_first(float("nan"))),
    "infinity": _each(_first(float("inf"))),
    "too-large": _each(_first(1e60)),
    "text": _each(_first("zero")),
    "null": _each(_first(None)),
    "zeros": _each(_all_zero),
    "no-numbers": _each(lambda row: row.clear()),
    "not-JSON": lambda server: servers.reply(200, b"<html>proxy</html>"),
    "another-shape": lambda server: servers.reply(200, {"ok": True}),
    "a-list": lambda server: servers.reply(200, [1, 2]),
    "nothing": lambda server: servers.reply(200, b""),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_answer_is_an_error_and_gives_no_vectors(server: ProviderServer, make: Make, name: str) -> None:
    server.always = BAD[name](server)
    embedder = make()
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(["a", "b"])
    with pytest.raises(EmbeddingError):
        embedder.embed_query("a")

    assert caught.value.code == "BAD_EMBEDDING"
    assert not isinstance(caught.value, (RateLimitedError, QuotaError))


def test_an_answer_with_too_few_vectors_is_an_error(server: ProviderServer, make: Make) -> None:
    server.always = servers.changed(
        lambda answer: next(v for v in answer.values() if isinstance(v, list)).pop() and None
    )
    with pytest.raises(EmbeddingError) as caught:
        make().embed_documents(["a", "b"])

    assert caught.value.code == "BAD_EMBEDDING"


def test_an_answer_of_another_length_than_the_first_is_an_error(server: ProviderServer, make: Make) -> None:
    embedder = make()
    embedder.embed_documents(["a"])
    server.always = _each(lambda row: row.append(1.0))(server)
    with pytest.raises(EmbeddingError) as caught:
        embedder.embed_documents(["b"])

    assert "33 numbers" in caught.value.message


def test_rows_are_put_in_order_by_their_numbers(server: ProviderServer, make: Make) -> None:
    embedder = make()
    straight = embedder.embed_documents(["a", "b", "c"])
    server.always = servers.changed(lambda answer: server.protocol.unordered(answer) and None)

    np.testing.assert_array_equal(embedder.embed_documents(["a", "b", "c"]), straight)


def test_the_length_of_a_vector_is_learned_or_asked_for(server: ProviderServer, make: Make) -> None:
    """P15: no table of names is needed."""
    learned, asked = make(model="nobody-knows-me"), make(model="nobody-knows-me", dimensions=12)
    before = learned.dimensions
    learned.embed_documents(["a"])

    assert (before, learned.dimensions) == (None, servers.DIMENSIONS)
    assert (asked.dimensions, asked.embed_query("a").shape) == (12, (12,))


def test_what_is_paid_for_is_told(server: ProviderServer, make: Make) -> None:
    told: list[tuple[Any, ...]] = []
    server.turns.append(refuse(500))
    make(told=lambda *counts: told.append(counts)).embed_documents(["one two", "three"])

    ((provider, _, texts, tokens),) = told
    assert (provider, texts) == (server.protocol.name, 2)
    assert 0 < tokens < 30


# --- keys and secrets ---------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 404, 429, 500])
@pytest.mark.parametrize("header", ["X-Team", "Authorization"])
def test_a_server_that_repeats_the_key_gives_nothing_away(
    server: ProviderServer, make: Make, status: int, header: str
) -> None:
    """S-secrets: neither whole nor in part, in the message, the action or the chain of causes."""
    server.always = servers.echo_secrets(status)
    with pytest.raises(EmbeddingError) as caught:
        make(headers={header: "Bearer other-secret-42"}).embed_documents(["a"])

    chain: list[BaseException] = []
    error: BaseException | None = caught.value
    while error is not None:
        chain.append(error)
        error = error.__cause__ or error.__context__
    shown = " ".join(f"{one} {one!r} {getattr(one, 'action', '')}" for one in chain)
    assert KEY[:10] not in shown
    assert "other-secret-42" not in shown


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a\nb", "sk-“quoted”"])
def test_a_key_that_no_header_can_carry_is_refused_unseen(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        make_embedder("openai", None, {"OPENAI_API_KEY": key})

    assert key not in f"{caught.value} {caught.value.__cause__!r} {caught.value.__context__!r}"


@pytest.mark.parametrize("url", ["example.com/v1", "ftp://user:hush@host/", "http://", "http://h:hush/"])
def test_an_address_that_is_none_is_refused_unseen(url: str) -> None:
    """It may hold a password."""
    with pytest.raises(ConfigError) as caught:
        make_embedder("openai", SimpleNamespace(base_url=url), {})

    assert "hush" not in f"{caught.value.message} {caught.value.action}"


@pytest.mark.parametrize(
    ("provider", "variable"),
    [
        ("openai", "OPENAI_API_KEY"),
        ("gemini", "GEMINI_API_KEY"),
        ("gemini", "GOOGLE_API_KEY"),
        ("voyage", "VOYAGE_API_KEY"),
    ],
)
def test_keys_come_from_the_environment(provider: str, variable: str) -> None:
    protocol = next(one for one in PROTOCOLS if one.name == provider)
    with serving(protocol) as server:
        settings = SimpleNamespace(provider=provider, base_url=server.url)
        embedder: Any = make_embedder(provider, settings, {variable: KEY})
        embedder.embed_query("a")
        embedder.close()

    sent = server.requests[0].headers
    assert KEY in (sent.get("authorization", "") + sent.get("x-goog-api-key", ""))


def test_an_oauth_token_for_gemini_is_a_bearer() -> None:
    with serving(servers.GeminiProtocol()) as server:
        settings = SimpleNamespace(base_url=server.url, api_key='{"token": "ya29.token"}')
        embedder: Any = make_embedder("gemini", settings, {})
        embedder.embed_query("a")
        embedder.close()

    assert server.requests[0].headers["authorization"] == "Bearer ya29.token"
    assert "x-goog-api-key" not in server.requests[0].headers


def test_a_key_in_the_keyring_of_the_system_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real keyring library, with a keyring of its own kind in memory."""
    import keyring
    from keyring.backend import KeyringBackend

    class InMemory(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return KEY if (service, username) == ("clawmark", "mistral") else None

        def set_password(self, service: str, username: str, password: str) -> None:
            raise NotImplementedError

        def delete_password(self, service: str, username: str) -> None:
            raise NotImplementedError

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())
    try:
        with serving(servers.MistralProtocol()) as server:
            embedder: Any = make_embedder("mistral", SimpleNamespace(base_url=server.url), {})
            embedder.embed_query("a")
            embedder.close()
    finally:
        keyring.set_keyring(before)

    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_compatible_server_needs_no_key() -> None:
    """LM Studio, llama.cpp, vLLM: ``base_url`` is enough."""
    with serving(servers.OpenAiProtocol()) as server:
        embedder: Any = make_embedder("openai", SimpleNamespace(base_url=server.url, model="any"), {})
        embedder.embed_query("a")
        embedder.close()

    assert "authorization" not in server.requests[0].headers


# --- names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provider", "model", "near"),
    [
        ("openai", "text-embedding-3-smal", "text-embedding-3-small"),
        ("gemini", "gemini-embedding-01", "gemini-embedding-001"),
        ("voyage", "voyage-4-larg", "voyage-4-large"),
        ("mistral", "mistral-embd", "mistral-embed"),
        ("local", "use-multilingual", "use-multilingual-v3"),
    ],
)
def test_an_unknown_model_is_an_error_before_any_call(provider: str, model: str, near: str) -> None:
    """P14: the key is not even looked for."""
    with pytest.raises(ConfigError) as caught:
        make_embedder(provider, SimpleNamespace(model=model), {})

    assert caught.value.code == "UNKNOWN_MODEL"
    assert repr(near) in caught.value.action


@pytest.mark.parametrize(
    ("provider", "model", "plain"),
    [
        ("openai", "openai/text-embedding-3-large", "text-embedding-3-large"),
        ("gemini", "models/gemini-embedding-001", "gemini-embedding-001"),
        ("gemini", "google/gemini-embedding-001", "gemini-embedding-001"),
        ("voyage", " voyage/voyage-4-lite ", "voyage-4-lite"),
        ("openai", "", "text-embedding-3-small"),
        ("ollama", None, "nomic-embed-text"),
    ],
)
def test_a_model_may_be_named_with_its_provider(provider: str, model: str | None, plain: str) -> None:
    embedder = make_embedder(provider, SimpleNamespace(model=model, api_key=KEY), {})

    assert embedder is not None
    assert embedder.model == plain


def test_a_model_of_one_length_refuses_another() -> None:
    with pytest.raises(ConfigError, match="1024 numbers, never of 256"):
        make_embedder("mistral", SimpleNamespace(dimensions=256), {})


def test_a_known_model_has_its_length_before_the_first_answer() -> None:
    """So that a cached vector spares the first call."""
    for provider, length in (("openai", 1536), ("gemini", 3072), ("voyage", 1024), ("mistral", 1024)):
        embedder = make_embedder(provider, SimpleNamespace(api_key=KEY), {})
        assert embedder is not None
        assert embedder.dimensions == length
