"""Keys: where they come from, and how they stay out of everything that is shown."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping
from urllib.parse import urlsplit

from clawmark.core.errors import ConfigError
from clawmark.core.log import logger
from clawmark.embedders.dialect import Dialect

KEYRING_SERVICE = "clawmark"
HIDDEN = "***"
# What is shorter is a word, not a secret.
_SHORTEST_SECRET = 6
# A server may echo a key that it has cut: so much of either end gives it away.
_TELLING = 8


def find_key(dialect: Dialect, configured: str | None, environ: Mapping[str, str]) -> str | None:
    """Give the key of a provider: from the configuration, the environment, the system's keyring.

    Raises:
        ConfigError: It holds what no header can carry.
    """
    named = next((environ[name] for name in dialect.key_variables if environ.get(name, "").strip()), None)
    key = configured or named or _from_keyring(dialect.name)
    if key is None:
        return None
    key = key.strip()
    if not key.isascii() or not key.isprintable():
        raise ConfigError(
            f"The key for provider {dialect.name} holds characters that no key has.",
            code="BAD_SETTING",
            action="Copy it again, without quotes or line breaks.",
        )
    return key


def _from_keyring(provider: str) -> str | None:
    try:
        import keyring
    except ImportError:
        return None
    try:
        return keyring.get_password(KEYRING_SERVICE, provider)
    except Exception as error:  # noqa: BLE001 - a keyring that cannot be opened raises what its system raises
        logger(__name__).debug("the keyring cannot be read: %s", type(error).__name__)
        return None


def secrets_of(key: str | None, headers: Mapping[str, str], url: str) -> list[str]:
    """List what must not be shown: the key, the values of headers, and what a URL holds of a password."""
    parts = urlsplit(url)
    found = [key or "", *headers.values(), parts.password or "", parts.query]
    if parts.password:
        found.append(b64encode(f"{parts.username}:{parts.password}".encode()).decode())
    return [part for text in found for part in (text, text.rpartition(" ")[2]) if part]


def scrubbed(text: str, secrets: Iterable[str]) -> str:
    """Hide secrets in a text, also when only the beginning or the end of one is there.

    >>> scrubbed("no such key: sk-abcdefgh…", ["sk-abcdefghijklmnop"])
    'no such key: ***…'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) < _SHORTEST_SECRET:
            continue
        text = text.replace(secret, HIDDEN)
        if len(secret) > _TELLING:
            head, tail = re.escape(secret[:_TELLING]), re.escape(secret[-_TELLING:])
            text = re.sub(rf"{head}[\w./+=-]*|[\w./+=-]*{tail}", HIDDEN, text)
    return text
