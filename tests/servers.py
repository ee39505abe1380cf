"""Providers for tests: a real HTTP server on this machine for each protocol.

A server answers with vectors that depend on the text alone. What it does otherwise is
said by turns: each is one answer, in order; then ``always`` counts, then success.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

DIMENSIONS = 32
KEY = "sk-test-0123456789abcdef"


@dataclass(frozen=True)
class Asked:
    """One request, as the server read it."""

    path: str
    headers: Mapping[str, str]
    body: Any
    texts: tuple[str, ...]


class Protocol:
    """OpenAI's shapes, and those of the providers that are asked alike."""

    name = "openai"
    variable = "OPENAI_API_KEY"

    def texts(self, path: str, body: Any) -> list[str]:
        assert path == "/embeddings", path
        return body["input"]

    def dimensions(self, body: Any) -> int:
        return body.get("dimensions") or body.get("output_dimension") or DIMENSIONS

    def success(self, rows: list[Any], body: Any) -> Any:
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        tokens = sum(len(text.split()) for text in body["input"])
        return {"object": "list", "data": data, "model": body["model"], "usage": {"total_tokens": tokens}}

    def refusal(self, status: int, code: str, message: str) -> Any:
        return {"error": {"message": message, "type": code, "param": None, "code": code}}

    def too_long(self) -> Turn:
        return refuse(400, "context_length_exceeded", "This model's maximum context length is 8192 tokens.")

    def quota(self) -> Turn:
        return refuse(429, "insufficient_quota", "You exceeded your current quota.")

    def unordered(self, answer: Any) -> bool:
        """Shuffle the rows, when the protocol numbers them."""
        answer["data"] = answer["data"][::-1]
        return True

    def rows_of(self, answer: Any) -> list[Any]:
        return [row["embedding"] for row in answer["data"]]


class OpenAiProtocol(Protocol):
    pass


class MistralProtocol(Protocol):
    name = "mistral"
    variable = "MISTRAL_API_KEY"

    def refusal(self, status: int, code: str, message: str) -> Any:
        return {"object": "error", "message": message, "type": code, "param": None, "code": code}

    def too_long(self) -> Turn:
        return refuse(400, "3210", "Too many tokens overall, split into more batches.")


class VoyageProtocol(Protocol):
    name = "voyage"
    variable = "VOYAGE_API_KEY"

    def refusal(self, status: int, code: str, message: str) -> Any:
        return {"detail": message} if code == "-" else {"detail": message, "code": code}

    def too_long(self) -> Turn:
        return refuse(400, "-", "Request to model failed. The example at index 0 has too many tokens.")


class GeminiProtocol(Protocol):
    name = "gemini"
    variable = "GEMINI_API_KEY"

    def texts(self, path: str, body: Any) -> list[str]:
        model, _, method = path.removeprefix("/models/").partition(":")
        requests = [body] if method == "embedContent" else body["requests"]
        assert method in {"embedContent", "batchEmbedContents"}, path
        assert {request["model"] for request in requests} == {f"models/{model}"}
        return [request["content"]["parts"][0]["text"] for request in requests]

    def dimensions(self, body: Any) -> int:
        first = body["requests"][0] if "requests" in body else body
        return first.get("outputDimensionality") or DIMENSIONS

    def success(self, rows: list[Any], body: Any) -> Any:
        if "requests" not in body:
            return {"embedding": {"values": rows[0]}}
        return {"embeddings": [{"values": row} for row in rows]}

    def refusal(self, status: int, code: str, message: str) -> Any:
        return {"error": {"code": status, "message": message, "status": code}}

    def too_long(self) -> Turn:
        return refuse(400, "INVALID_ARGUMENT", "The input token count (3000) exceeds the maximum of 2048.")

    def quota(self) -> Turn:
        violation = {"quotaId": "EmbedContentRequestsPerDayPerProjectPerModel-FreeTier"}
        return reply(
            429,
            {
                "error": {
                    "code": 429,
                    "message": "You exceeded your current quota.",
                    "status": "RESOURCE_EXHAUSTED",
                    "details": [
                        {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]},
                        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "22s"},
                    ],
                }
            },
        )

    def unordered(self, answer: Any) -> bool:
        return False

    def rows_of(self, answer: Any) -> list[Any]:
        return [row["values"] for row in answer.get("embeddings") or [answer["embedding"]]]


class OllamaProtocol(Protocol):
    name = "ollama"
    variable = "OLLAMA_API_KEY"

    def texts(self, path: str, body: Any) -> list[str]:
        assert path == "/api/embed", path
        return body["input"]

    def success(self, rows: list[Any], body: Any) -> Any:
        return {"model": body["model"], "embeddings": rows, "total_duration": 1, "prompt_eval_count": len(rows)}

    def refusal(self, status: int, code: str, message: str) -> Any:
        return {"error": message} if code == "-" else {"error": message, "code": code}

    def too_long(self) -> Turn:
        return refuse(400, "-", "the input length exceeds the context length")

    def unordered(self, answer: Any) -> bool:
        return False

    def rows_of(self, answer: Any) -> list[Any]:
        return answer["embeddings"]


PROTOCOLS = (OpenAiProtocol(), GeminiProtocol(), VoyageProtocol(), MistralProtocol(), OllamaProtocol())


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in one packet; otherwise each answer waits 40 ms for an acknowledgement.
    wbufsize = -1
    server: ProviderServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        texts = tuple(self.server.protocol.texts(self.path, body))
        asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body, texts)
        self.server.take(asked)(self, asked)

    def send(self, status: int, content: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def cut(self) -> None:
        self.close_connection = True

    def answer(self, asked: Asked) -> Any:
        protocol = self.server.protocol
        rows = [vector_of(text, protocol.dimensions(asked.body)) for text in asked.texts]
        return protocol.success(rows, asked.body)

    def log_message(self, format: str, *args: object) -> None:
        pass


Turn = Callable[[_Handler, Asked], None]


class ProviderServer(ThreadingHTTPServer):
    """A provider; ``requests`` holds what it was asked."""

    daemon_threads = True

    def __init__(self, protocol: Protocol) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.protocol = protocol
        self.requests: list[Asked] = []
        self.turns: deque[Turn] = deque()
        self.always: Turn | None = None
        self._lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    @property
    def sizes(self) -> list[int]:
        """Texts of each request."""
        return [len(asked.texts) for asked in self.requests]

    @property
    def texts(self) -> list[str]:
        """All texts that were asked for, in order."""
        return [text for asked in self.requests for text in asked.texts]

    def settings(self, **more: Any) -> dict[str, Any]:
        """The ``[embedding]`` table that leads here."""
        return {"provider": self.protocol.name, "base_url": self.url, "api_key": KEY, **more}

    def take(self, asked: Asked) -> Turn:
        with self._lock:
            self.requests.append(asked)
            return self.turns.popleft() if self.turns else self.always or succeed


@contextmanager
def serving(protocol: Protocol) -> Iterator[ProviderServer]:
    """Run a provider in a thread."""
    with ProviderServer(protocol) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def vector_of(text: str, dimensions: int = DIMENSIONS) -> list[float]:
    """One direction per text, of a length that is not 1; words in common bring texts nearer."""
    words = [word.strip(".,?!:|").lower() for word in text.split()] or [text]
    seeds = [int.from_bytes(hashlib.sha256(word.encode("utf-8", "replace")).digest()[:8], "big") for word in words]
    total = sum(np.random.default_rng(seed).normal(size=dimensions) for seed in seeds)
    return [round(float(number), 6) for number in total]


# --- turns --------------------------------------------------------------------------------


def succeed(handler: _Handler, asked: Asked) -> None:
    handler.send(200, json.dumps(handler.answer(asked)).encode())


def reply(status: int, body: Any, headers: Mapping[str, str] | None = None) -> Turn:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return lambda handler, asked: handler.send(status, content, headers)


def refuse(status: int, code: str = "-", message: str = "no", headers: Mapping[str, str] | None = None) -> Turn:
    def turn(handler: _Handler, asked: Asked) -> None:
        body = handler.server.protocol.refusal(status, code, message)
        handler.send(status, json.dumps(body).encode(), headers)

    return turn


def rate_limit(seconds: float | None = None) -> Turn:
    return refuse(429, "rate_limit_exceeded", "Too fast.", {} if seconds is None else {"Retry-After": str(seconds)})


def cut(handler: _Handler, asked: Asked) -> None:
    """Close the connection without a word."""
    handler.cut()


def cut_in_the_middle(handler: _Handler, asked: Asked) -> None:
    """Close the connection within the answer."""
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"data": [')
    handler.cut()


def hang(until: threading.Event) -> Turn:
    """Give no answer until an event, then none at all."""

    def turn(handler: _Handler, asked: Asked) -> None:
        until.wait(30)
        handler.cut()

    return turn


def above(items: int, otherwise: Turn) -> Turn:
    """Succeed up to a number of texts."""
    return lambda handler, asked: (succeed if len(asked.texts) <= items else otherwise)(handler, asked)


def containing(word: str, otherwise: Turn) -> Turn:
    """Succeed unless a text holds a word."""
    return lambda handler, asked: (otherwise if any(word in text for text in asked.texts) else succeed)(handler, asked)


def changed(change: Callable[[Any], Any]) -> Turn:
    """Answer with success, changed."""

    def turn(handler: _Handler, asked: Asked) -> None:
        answer = handler.answer(asked)
        answer = change(answer) or answer
        handler.send(200, json.dumps(answer).encode())

    return turn


def echo_secrets(status: int) -> Turn:
    """Repeat everything that was sent, headers too, as the words of a refusal."""

    def turn(handler: _Handler, asked: Asked) -> None:
        said = f"refused {dict(asked.headers)} {KEY[:12]}... {asked.body}"
        handler.send(status, json.dumps(handler.server.protocol.refusal(status, "-", said)).encode())

    return turn
