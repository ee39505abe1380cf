"""Which values a setting takes, and what is said about the others."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.config import LoadedSettings, all_keys, load_settings
from clawmark.config.naming import nearest
from clawmark.config.schema import table_keys, value_at
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]

HYBRID = "query.hybrid"
DECAY = "query.hybrid.temporal_decay"
NOWHERE = {"CLAWMARK_HOME": "/nonexistent/clawmark-tests"}


def loaded_with(config: dict[str, Any]) -> LoadedSettings:
    return load_settings(workspace=None, config=config, environ=NOWHERE)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("query.max_results", 0, "a whole number of at least 1"),
        ("query.max_results", True, "a whole number of at least 1"),
        ("query.max_results", 6.0, "a whole number of at least 1"),
        ("query.max_results", "6", "a whole number of at least 1"),
        ("query.max_results", 10**30, "no larger than"),
        ("query.min_score", 1.01, "a number between 0 and 1"),
        ("query.min_score", -0.01, "a number between 0 and 1"),
        ("query.min_score", math.nan, "a number between 0 and 1"),
        ("query.min_score", False, "a number between 0 and 1"),
        ("query.min_score", None, "a number between 0 and 1"),
        ("query.min_confidence", 2, "a number between 0 and 1"),
        ("query.abstain", 1, "true or false"),
        ("query.ranking", "learned", '"weighted"'),
        (f"{HYBRID}.candidate_multiplier", 0, "between 1 and 20"),
        (f"{HYBRID}.candidate_multiplier", 21, "between 1 and 20"),
        (f"{HYBRID}.text_score", "sum", '"share", "max", "saturation"'),
        (f"{HYBRID}.text_score", ["share"], '"share", "max", "saturation"'),
        (f"{HYBRID}.vector_weight", math.nan, "between 0 and 1"),
        (f"{DECAY}.floor", 1.5, "between 0 and 1"),
        (f"{DECAY}.half_life_days", "30", "a number"),
        ("chunking.tokens", 0, "at least 1"),
        ("embedding.provider", " ", "not blank"),
        ("embedding.timeout", 0, "between 0.001 and 86400"),
        ("embedding.headers", ["a"], "a table of text"),
        ("embedding.headers", {"A": 1}, "text"),
        ("embedding.prices", {"openai/m": "cheap"}, "a number of at least 0"),
        ("embedding.prices", {"openai/m": -1.0}, "a number of at least 0"),
        ("embedding.prices", 3, "a table of numbers"),
        ("files.include", "*.md", 'a list of text, such as ["a", "b"]'),
        ("files.include", ["a", 3], "text"),
        ("files.include", [" "], "not blank"),
        ("files.extra_paths", [3], "text, or a table"),
        ("files.extra_paths", ["a\0b"], "without a NUL character"),
        ("sources", ["notes"], '"memory", "sessions"'),
        ("sessions.include_kinds", ["cron"], '"scheduled"'),
        ("sessions.delta_bytes", -1, "at least 0"),
        ("cache.max_entries", 0, "at least 1"),
        ("citations.mode", True, '"auto", "on", "off"'),
        ("query", 3, "a table"),
        ("query.hybrid", [], "a table"),
    ],
)
def test_a_value_that_cannot_be_used_says_key_place_and_what_was_expected(
    refused: Refused, key: str, value: object, expected: str
) -> None:
    error = refused({key: value})

    assert error.code == "BAD_SETTING"
    assert error.message.startswith(key)
    assert "in config=" in error.message
    assert expected in error.message
    assert error.action


def test_a_number_of_thousands_of_digits_is_refused_like_any_other(refused: Refused) -> None:
    """Python has no text form for it."""
    for key in ("query.max_results", "query.min_score", "chunking.overlap", "citations.mode", "embedding.model"):
        assert refused({key: 10**6000}).code == "BAD_SETTING"


def test_an_error_in_a_file_names_the_file(refused: Refused, workspace_file: Path) -> None:
    workspace_file.write_text("[query]\nmin_score = 3\n")

    assert refused().message == f"query.min_score in {workspace_file} must be a number between 0 and 1, not 3."


def test_an_error_inside_a_rule_names_its_place_in_the_list(refused: Refused) -> None:
    rules = [{"match": "a", "kind": "evergreen"}, {"match": "b", "kind": "forever"}]

    assert f"{DECAY}.rules[2].kind in config=" in refused({f"{DECAY}.rules": rules}).message


def test_a_rule_that_lacks_a_part_says_which(refused: Refused) -> None:
    error = refused({f"{DECAY}.rules": [{"match": "memory/**"}]})

    assert error.code == "BAD_SETTING"
    assert error.message == f"{DECAY}.rules[1].kind in config= is missing."


def test_an_unknown_part_of_a_rule_names_the_nearest(refused: Refused) -> None:
    error = refused({f"{DECAY}.rules": [{"match": "a", "kind": "dated", "halfLifeDays": 3}]})

    assert error.code == "UNKNOWN_SETTING"
    assert error.message.endswith(f"the nearest valid one is {DECAY}.rules[1].half_life_days.")


def test_a_value_is_checked_although_a_stronger_place_replaces_it(refused: Refused, user_file: Path) -> None:
    user_file.write_text("[query]\nmax_results = 0\n")

    assert str(user_file) in refused({"query": {"max_results": 3}}).message


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("minScore", "query.min_score"),
        ("min_score", "query.min_score"),
        ("query.min_scor", "query.min_score"),
        ("query.maxResults", "query.max_results"),
        ("query.vector_weight", "query.hybrid.vector_weight"),
        ("query.hybrid.candidateMultiplier", "query.hybrid.candidate_multiplier"),
        ("query.hybrid.temporal-decay.half-life-days", f"{DECAY}.half_life_days"),
        ("query.hybrid.mmr.lambda_", "query.hybrid.mmr.lambda"),
        ("halfLifeDays", f"{DECAY}.half_life_days"),
        ("extraPaths", "files.extra_paths"),
        ("embedding.modle", "embedding.model"),
        ("apiKey", "embedding.api_key"),
        ("sync.watchDebounceMs", "sync.watch_debounce_ms"),
        ("cache.maxEntries", "cache.max_entries"),
    ],
)
def test_an_unknown_key_is_an_error_that_names_the_nearest(refused: Refused, wrong: str, near: str) -> None:
    """User case U12: nothing that is misspelt is ignored."""
    tables: dict[str, Any] = {}
    *above, last = wrong.split(".")
    inner = tables
    for name in above:
        known = ".".join([*above[: above.index(name)], name]) in table_keys()
        inner = inner.setdefault(name, {}) if known else inner
    inner[last] = 1
    error = refused(tables)

    assert error.code == "UNKNOWN_SETTING"
    assert "in config=" in error.message
    assert f"the nearest valid one is {near}." in error.message


def test_an_unknown_table_names_the_nearest_table(refused: Refused) -> None:
    error = refused({"query": {"temporalDecay": {"enabled": True}}})

    assert error.message == (
        "Unknown setting query.temporalDecay in config=; the nearest valid one is query.hybrid.temporal_decay."
    )


def test_an_unknown_override_is_an_error_too(refused: Refused) -> None:
    error = refused(overrides={"query.min_scor": 0.9})

    assert error.code == "UNKNOWN_SETTING"
    assert "query.min_score" in error.message


@pytest.mark.parametrize(
    ("given", "vector", "text"),
    [
        ({}, 0.7, 0.3),
        ({"vector_weight": 0.6, "text_weight": 0.6}, 0.5, 0.5),
        ({"vector_weight": 2, "text_weight": 1}, 0.5, 0.5),
        ({"vector_weight": 0, "text_weight": 0}, 0.7, 0.3),
        ({"vector_weight": -1, "text_weight": 0.2}, 0.0, 1.0),
        ({"vector_weight": 0.9}, 0.75, 0.25),
    ],
)
def test_weights_are_clamped_and_sum_to_one(load: Load, given: dict[str, float], vector: float, text: float) -> None:
    """Spec 8.5, with the values of its golden group "config"."""
    hybrid = load({"query": {"hybrid": given}}).settings.query.hybrid

    assert hybrid.vector_weight == pytest.approx(vector)
    assert hybrid.text_weight == pytest.approx(text)


@pytest.mark.parametrize(
    ("tokens", "overlap", "expected"), [(10, 50, 9), (1, 80, 0), (400, -5, 0), (400, 399, 399), (400, 400, 399)]
)
def test_the_overlap_stays_below_the_chunk(load: Load, tokens: int, overlap: int, expected: int) -> None:
    chunking = load({"chunking": {"tokens": tokens, "overlap": overlap}}).settings.chunking

    assert (chunking.tokens, chunking.overlap) == (tokens, expected)


@pytest.mark.parametrize(("given", "expected"), [(7, 1.0), (-1, 0.0), (0.4, 0.4), (math.inf, 1.0)])
def test_lambda_is_clamped(load: Load, given: float, expected: float) -> None:
    assert load({"query": {"hybrid": {"mmr": {"lambda": given}}}}).settings.query.hybrid.mmr.lambda_ == expected


@pytest.mark.parametrize("half_life", [0, -3, 0.4, math.nan, math.inf])
def test_any_half_life_is_taken_as_it_is(load: Load, half_life: float) -> None:
    """What switches decay off is judged, and reported, where it applies."""
    found = load({f"{DECAY}.half_life_days": half_life}).settings.query.hybrid.temporal_decay.half_life_days

    assert repr(found) == repr(float(half_life))


def test_whole_numbers_are_numbers(load: Load) -> None:
    found = load({"query": {"min_score": 1}}).settings.query.min_score

    assert (found, type(found)) == (1.0, float)


def test_a_blank_optional_text_is_none(load: Load) -> None:
    assert load({"embedding": {"model": " ", "api_key": ""}}).settings.embedding.model is None


def test_the_order_and_the_repetitions_of_globs_stay(load: Load) -> None:
    globs = ["*.md", "!keep.md", "*.md", "with space\\ "]

    assert load({"files": {"exclude": globs}}).settings.files.exclude == tuple(globs)


def test_a_source_named_twice_counts_once(load: Load) -> None:
    assert load({"sources": ["sessions", "memory", "sessions"]}).settings.sources == ("sessions", "memory")


def test_python_callers_may_give_paths_and_tuples(load: Load) -> None:
    loaded = load({"sessions": {"paths": (Path("logs"),)}, "files": {"extra_paths": [Path("a")]}})

    assert loaded.settings.sessions.paths == ("logs",)
    assert loaded.settings.files.extra_paths[0].path == "a"


UNIT = st.floats(allow_nan=False, min_value=-2, max_value=3)


@settings(max_examples=60)
@given(vector=UNIT, text=UNIT)
def test_whatever_the_weights_they_sum_to_one(vector: float, text: float) -> None:
    hybrid = loaded_with({"query": {"hybrid": {"vector_weight": vector, "text_weight": text}}}).settings.query.hybrid

    assert hybrid.vector_weight + hybrid.text_weight == pytest.approx(1.0)
    assert 0.0 <= hybrid.vector_weight <= 1.0


@settings(max_examples=60)
@given(tokens=st.integers(1, 2000), overlap=st.integers(-10, 4000))
def test_whatever_the_overlap_a_chunk_moves_forward(tokens: int, overlap: int) -> None:
    chunking = loaded_with({"chunking": {"tokens": tokens, "overlap": overlap}}).settings.chunking

    assert 0 <= chunking.overlap < chunking.tokens


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.binary(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["path", "match", "kind", "enabled", "x"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(max_examples=100)
@given(key=st.sampled_from([*all_keys(), *table_keys()]), value=ANYTHING)
def test_a_value_is_used_or_refused_with_a_reason_and_nothing_else(key: str, value: object) -> None:
    try:
        outcome: LoadedSettings | ConfigError = loaded_with({key: value})
    except ConfigError as error:
        outcome = error

    if isinstance(outcome, ConfigError):
        assert outcome.code in {"BAD_SETTING", "UNKNOWN_SETTING"}
        assert key in outcome.message
        assert outcome.action
    else:
        assert key in table_keys() or outcome.origins[key] == "config"


@settings(max_examples=100)
@given(key=st.sampled_from(all_keys()), place=st.integers(0, 200), letter=st.sampled_from(string.ascii_lowercase))
def test_one_wrong_letter_in_the_last_part_still_finds_the_table(key: str, place: int, letter: str) -> None:
    head, _, last = key.rpartition(".")
    place %= len(last)
    wrong = f"{head}.{last[:place]}{letter}{last[place + 1 :]}".lstrip(".")
    near = nearest(wrong, all_keys())

    assert near.rpartition(".")[0] == head


def test_every_value_is_found_by_its_key() -> None:
    loaded = loaded_with({})

    assert [value_at(loaded.settings, key) for key in ("query.hybrid.mmr.lambda", "store.url")] == [0.7, None]
