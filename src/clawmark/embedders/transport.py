"""HTTP for all providers: one request, one answer, a new connection after a fault."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from clawmark.core.errors import ConfigError
from clawmark.embedders.refusals import BrokenConnectionError, PassingError, SlowAnswerError

_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class Answer:
    """What came back.

    Attributes:
        status: HTTP status.
        body: Parsed JSON; None when it is none.
        retry_after: Seconds that the headers ask to wait.
    """

    status: int
    body: Any
    retry_after: float | None


def is_loopback(url: str) -> bool:
    """Tell whether an address is on this machine."""
    import ipaddress

    host = urlsplit(url).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:  # a name: where it leads is not known before it is asked for
        return False


def check_url(url: str) -> None:
    """Refuse what is no address, without showing it: it may hold a password.

    Raises:
        ConfigError: It is not an address with http or https and a host.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            "embedding.base_url is not an address such as https://example.com/v1.",
            code="BAD_SETTING",
            action="Correct [embedding] base_url.",
        )


class Transport:
    """Sends to one address only; threads and forked processes may share it.

    Args:
        base_url: Requests go below it.
        headers: Sent with each request.
        name: Of the provider, for errors.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], name: str) -> None:
        check_url(base_url)
        self._base_url = base_url
        self._headers = dict(headers)
        self._name = name
        self._lock = threading.Lock()
        self._client: Any = None
        self._owner = 0

    def post(self, path: str, body: Mapping[str, Any], timeout: float) -> Answer:
        """Send JSON and read the answer.

        Raises:
            BrokenConnectionError: It was cut, refused, or answered by something else than HTTP.
            SlowAnswerError: It did not come in time.
        """
        import httpx2

        client = self._connected()
        content = json.dumps(body, ensure_ascii=False).encode("utf-8")
        limits = httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS))
        try:
            response = client.post(self._base_url + path, content=content, timeout=limits)
        except httpx2.ConnectTimeout as error:
            raise self._unreachable(client) from error
        except httpx2.TimeoutException as error:
            self._drop(client)
            raise SlowAnswerError(
                f"{self._name}: no answer within {timeout:g} s", action="Raise [embedding] timeout."
            ) from error
        except httpx2.ConnectError as error:
            raise self._unreachable(client) from error
        except httpx2.HTTPError as error:
            self._drop(client)
            raise BrokenConnectionError(f"{self._name}: the connection broke ({type(error).__name__})") from error
        return Answer(response.status_code, _parsed(response.content), _seconds(response.headers))

    def close(self) -> None:
        """Close the connections; the next request makes new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None and self._owner == os.getpid():
            client.close()

    def _unreachable(self, client: Any) -> PassingError:
        self._drop(client)
        parts = urlsplit(self._base_url)
        where = f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname
        return PassingError(f"{self._name}: {where} cannot be reached", action="Check [embedding] base_url.")

    def _connected(self) -> Any:
        """Give the client; a forked process must not write into its parent's connections."""
        with self._lock:
            if self._client is None or self._owner != os.getpid():
                self._client, self._owner = self._made(), os.getpid()
            return self._client

    def _made(self) -> Any:
        import httpx2

        # A proxy has nothing to do with a server on this machine. A redirect could lead anywhere.
        return httpx2.Client(
            headers={"Content-Type": "application/json", "Accept": "application/json", **self._headers},
            follow_redirects=False,
            trust_env=not is_loopback(self._base_url),
            # Certificates take 50 ms to load.
            verify=self._base_url.startswith("https:"),
        )

    def _drop(self, client: Any) -> None:
        """Close a client that failed; requests of other threads in it are tried again on the next one."""
        with self._lock:
            if self._client is client:
                self._client = None
        client.close()


def _parsed(content: bytes) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _seconds(headers: Mapping[str, str]) -> float | None:
    """Read Retry-After, in seconds or as a date, and its finer relative."""
    fine, plain = headers.get("retry-after-ms", ""), headers.get("retry-after", "").strip()
    if fine.isdigit():
        return int(fine) / 1000
    try:
        return max(0.0, float(plain))
    except ValueError:
        pass
    from email.utils import parsedate_to_datetime

    try:
        # Both dates are the server's, so that no clock of ours has to be right.
        sent = parsedate_to_datetime(headers.get("date", ""))
    except (TypeError, ValueError):
        sent = datetime.now(UTC)
    try:
        return max(0.0, (parsedate_to_datetime(plain) - sent).total_seconds())
    except (TypeError, ValueError):
        return None
