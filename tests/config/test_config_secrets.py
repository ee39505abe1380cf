"""A key is used, and never shown."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clawmark.config import LoadedSettings, describe
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]

SECRET = "sk-do-not-show-me"
WITH_SECRETS = {
    "embedding": {
        "api_key": SECRET,
        "headers": {"Authorization": f"Bearer {SECRET}"},
        "base_url": f"https://user:{SECRET}@models.example:8443/v1?key={SECRET}#{SECRET}",
    },
    "store": {"url": f"milvus+http://root:{SECRET}@store.example:19530"},
}


def test_secrets_reach_the_code_that_needs_them(load: Load) -> None:
    embedding = load(WITH_SECRETS).settings.embedding

    assert embedding.api_key == SECRET
    assert embedding.headers == {"Authorization": f"Bearer {SECRET}"}
    assert SECRET in (embedding.base_url or "")


def test_printing_the_settings_shows_no_secret(load: Load) -> None:
    loaded = load(WITH_SECRETS)

    assert SECRET not in f"{loaded!r} {loaded.settings} {loaded.settings.embedding}"


def test_the_list_of_settings_says_only_that_a_secret_is_set(load: Load) -> None:
    rows = {key: value for key, value, _ in describe(load(WITH_SECRETS))}

    assert SECRET not in str(rows)
    assert rows["embedding.api_key"] == "(set)"
    assert rows["embedding.headers"] == {"Authorization": "(set)"}
    assert rows["embedding.base_url"] == "https://***models.example:8443/v1?***"
    assert rows["store.url"] == "milvus+http://***store.example:19530"


def test_a_plain_url_is_shown_as_it_is(load: Load) -> None:
    rows = {key: value for key, value, _ in describe(load({"store": {"url": "sqlite:////var/notes/index.sqlite"}}))}

    assert rows["store.url"] == "sqlite:////var/notes/index.sqlite"


@pytest.mark.parametrize(
    "config",
    [
        {"embedding": {"api_key": [SECRET]}},
        {"embedding": {"api_key": {"token": SECRET}}},
        {"embedding": {"api_key": f"{SECRET}\0"}},
        {"embedding": {"headers": SECRET}},
        {"embedding": {"headers": {"Authorization": [SECRET]}}},
        {"embedding": {"headers": {"Authorization": f"{SECRET}\0"}}},
        {"embedding": {"base_url": f"https://{SECRET}\0"}},
        {"store": {"url": f"{SECRET}\0"}},
    ],
)
def test_an_error_about_a_secret_does_not_repeat_it(refused: Refused, config: dict[str, object]) -> None:
    error = refused(config)

    assert error.code == "BAD_SETTING"
    assert SECRET not in f"{error.message} {error.action} {error!r}"


def test_a_number_as_a_key_is_refused_without_showing_it(refused: Refused) -> None:
    assert "12345678" not in refused({"embedding": {"api_key": 12345678}}).message
