"""Settings as environment variables."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from clawmark.config import LoadedSettings, all_keys
from clawmark.config.naming import keys_by_variable
from clawmark.config.schema import value_at
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("QUERY__MIN_SCORE", "0.5", "query.min_score", 0.5),
        ("QUERY__MIN_SCORE", " 1 ", "query.min_score", 1.0),
        ("QUERY__MAX_RESULTS", "1_0", "query.max_results", 10),
        ("QUERY__ABSTAIN", "true", "query.abstain", True),
        ("QUERY__HYBRID__MMR__LAMBDA", "0.2", "query.hybrid.mmr.lambda", 0.2),
        ("CITATIONS__MODE", "off", "citations.mode", "off"),
        ("CITATIONS__MODE", '"off"', "citations.mode", "off"),
        ("EMBEDDING__MODEL", "text-embedding-3-small", "embedding.model", "text-embedding-3-small"),
        ("EMBEDDING__API_KEY", "12345", "embedding.api_key", "12345"),
        ("EMBEDDING__API_KEY", "true", "embedding.api_key", "true"),
        ("EMBEDDING__API_KEY", "'quoted", "embedding.api_key", "'quoted"),
        ("EMBEDDING__HEADERS", '{ X-Team = "notes" }', "embedding.headers", {"X-Team": "notes"}),
        ("SOURCES", '["memory", "sessions"]', "sources", ("memory", "sessions")),
        ("FILES__EXCLUDE", "[\n'a',\n'b']", "files.exclude", ("a", "b")),
    ],
)
def test_a_variable_holds_a_toml_value_or_plain_text(load: Load, name: str, text: str, key: str, value: object) -> None:
    loaded = load(environ={f"CLAWMARK_{name}": text})

    assert value_at(loaded.settings, key) == value
    assert loaded.origins[key] == f"environment CLAWMARK_{name}"


def test_rules_fit_into_a_variable(load: Load) -> None:
    text = '[{ match = "memory/lessons/**", kind = "evergreen" }]'
    decay = load(environ={"CLAWMARK_QUERY__HYBRID__TEMPORAL_DECAY__RULES": text}).settings.query.hybrid.temporal_decay

    assert [(rule.match, rule.kind, rule.half_life_days) for rule in decay.rules] == [
        ("memory/lessons/**", "evergreen", None)
    ]


def test_every_setting_has_one_variable() -> None:
    assert list(keys_by_variable().values()) == list(all_keys())


def test_an_empty_variable_is_one_that_is_not_set(load: Load) -> None:
    loaded = load(environ={"CLAWMARK_QUERY__MIN_SCORE": "", "CLAWMARK_EMBEDDING__PROVIDER": "  "})

    assert set(loaded.origins.values()) == {"default"}


def test_variables_of_the_surroundings_are_no_settings(load: Load) -> None:
    environ = {"CLAWMARK_WORKSPACE": "/x", "CLAWMARK_AGENT": "b", "CLAWMARK_CONFIG": "/y", "CLAWMARKER": "z"}

    assert set(load(environ=environ).origins.values()) == {"default"}


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("CLAWMARK_QUERY_MIN_SCORE", "CLAWMARK_QUERY__MIN_SCORE"),
        ("CLAWMARK_QUERY__MIN_SCOR", "CLAWMARK_QUERY__MIN_SCORE"),
        ("CLAWMARK_MIN_SCORE", "CLAWMARK_QUERY__MIN_SCORE"),
        ("CLAWMARK_query__min_score", "CLAWMARK_QUERY__MIN_SCORE"),
        ("CLAWMARK_API_KEY", "CLAWMARK_EMBEDDING__API_KEY"),
        ("CLAWMARK_WORKSPCE", "CLAWMARK_WORKSPACE"),
        ("CLAWMARK_", None),
    ],
)
def test_an_unknown_variable_is_an_error_that_names_the_nearest(refused: Refused, wrong: str, near: str | None) -> None:
    error = refused(environ={wrong: "hush-hush"})

    assert error.code == "UNKNOWN_SETTING"
    assert wrong in error.message
    assert "hush-hush" not in f"{error.message} {error.action}"
    if near:
        assert f"the nearest valid one is {near}." in error.message


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("QUERY__ABSTAIN", "yes"),
        ("QUERY__MAX_RESULTS", "six"),
        ("QUERY__MIN_SCORE", "0.5\nother = 1"),
        ("SOURCES", "memory"),
        ("CITATIONS__MODE", "sometimes"),
    ],
)
def test_a_value_that_cannot_be_used_names_the_variable(refused: Refused, name: str, text: str) -> None:
    error = refused(environ={f"CLAWMARK_{name}": text})

    assert error.code == "BAD_SETTING"
    assert f"CLAWMARK_{name}" in error.message
