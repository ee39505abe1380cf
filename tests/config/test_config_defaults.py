"""What holds when nobody says anything, and the list of what can be said."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import FrozenInstanceError
from typing import Any

import pytest

from clawmark.config import LoadedSettings, Settings, all_keys, describe
from clawmark.config.schema import fields_by_key, value_at
from clawmark.config.settings import ExtraPathSettings
from clawmark.core.decay import DecayRule

Load = Callable[..., LoadedSettings]

# The table of the design, key by key.
DEFAULTS: dict[str, Any] = {
    "enabled": True,
    "sources": ["memory"],
    "query.max_results": 6,
    "query.min_score": 0.35,
    "query.min_confidence": None,
    "query.abstain": False,
    "query.ranking": "weighted",
    "query.hybrid.enabled": True,
    "query.hybrid.vector_weight": 0.7,
    "query.hybrid.text_weight": 0.3,
    "query.hybrid.candidate_multiplier": 4,
    "query.hybrid.text_score": "share",
    "query.hybrid.mmr.enabled": False,
    "query.hybrid.mmr.lambda": 0.7,
    "query.hybrid.temporal_decay.enabled": False,
    "query.hybrid.temporal_decay.half_life_days": 30.0,
    "query.hybrid.temporal_decay.floor": 0.0,
    "query.hybrid.temporal_decay.rules": [],
    "chunking.tokens": 400,
    "chunking.overlap": 80,
    "embedding.provider": "local",
    "embedding.model": None,
    "embedding.fallback": "none",
    "embedding.dimensions": None,
    "embedding.base_url": None,
    "embedding.api_key": None,
    "embedding.headers": {},
    "embedding.timeout": None,
    "embedding.prices": {},
    "embedding.batch.enabled": False,
    "embedding.batch.wait": True,
    "embedding.batch.concurrency": 2,
    "embedding.batch.poll_interval_ms": 2000,
    "embedding.batch.timeout_minutes": 60,
    "embedding.budget.daily_tokens": None,
    "embedding.budget.daily_cost": None,
    "files.extra_paths": [],
    "files.include": [],
    "files.exclude": [],
    "files.follow_links": False,
    "files.max_bytes": 10_000_000,
    "sessions.paths": [],
    "sessions.delta_bytes": 100_000,
    "sessions.delta_messages": 50,
    "sessions.redact": True,
    "sessions.include_kinds": [],
    "sync.on_session_start": True,
    "sync.on_search": True,
    "sync.watch": True,
    "sync.watch_debounce_ms": 1500,
    "sync.interval_minutes": 0,
    "cache.enabled": True,
    "cache.max_entries": None,
    "store.url": None,
    "citations.mode": "auto",
    "trust.rules": [],
    "trust.inject_min": "tool",
}


def test_without_any_file_every_setting_has_the_default_of_the_design(load: Load) -> None:
    assert {key: value for key, value, _ in describe(load())} == DEFAULTS


def test_without_any_file_every_setting_says_that_it_is_a_default(load: Load) -> None:
    loaded = load()

    assert loaded.settings == Settings()
    assert loaded.origins == dict.fromkeys(all_keys(), "default")
    assert loaded.warnings == ()


def test_the_keys_are_those_of_the_design() -> None:
    assert set(all_keys()) == set(DEFAULTS)


@pytest.mark.parametrize("key", sorted(DEFAULTS))
def test_a_default_that_is_written_down_changes_nothing(load: Load, key: str) -> None:
    default = value_at(Settings(), key)
    written: Any = [] if default == () else default
    if written is None:
        assert fields_by_key()[key].optional

    assert load({key: written}).settings == Settings()


def test_a_multiplier_equal_to_the_shown_default_is_still_known_as_set(load: Load) -> None:
    assert load().settings.query.hybrid.candidate_multiplier is None
    assert load({"query": {"hybrid": {"candidate_multiplier": 4}}}).settings.query.hybrid.candidate_multiplier == 4


def test_sessions_are_a_source_once_their_paths_are_set(load: Load) -> None:
    assert load({"sessions": {"paths": ["logs"]}}).settings.sources == ("memory", "sessions")


def test_sources_that_are_named_stay_as_named(load: Load) -> None:
    assert load({"sources": ["memory"], "sessions": {"paths": ["logs"]}}).settings.sources == ("memory",)


def test_no_source_at_all_is_as_if_none_was_named(load: Load) -> None:
    """Spec 8.5: empty means memory."""
    assert load({"sources": []}).settings.sources == ("memory",)
    assert load({"sources": [], "sessions": {"paths": ["logs"]}}).settings.sources == ("memory", "sessions")


def test_decay_rules_convert_to_those_of_the_core_field_by_field(load: Load) -> None:
    rules = [{"match": "memory/inbox/**", "kind": "file_time", "half_life_days": 10, "floor": 0.5}]
    found = load({"query": {"hybrid": {"temporal_decay": {"rules": rules}}}}).settings.query.hybrid.temporal_decay

    assert DecayRule(**vars(found.rules[0])) == DecayRule("memory/inbox/**", "file_time", 10.0, 0.5)


def test_an_extra_path_may_be_text_or_a_table(load: Load) -> None:
    loaded = load({"files": {"extra_paths": [" ~/notes ", {"path": "../wiki", "pattern": "**/*.md"}]}})

    assert loaded.settings.files.extra_paths == (
        ExtraPathSettings("~/notes"),
        ExtraPathSettings("../wiki", "**/*.md"),
    )


def test_settings_cannot_be_changed_afterwards(load: Load) -> None:
    with pytest.raises(FrozenInstanceError):
        load().settings.query.max_results = 3  # pyright: ignore[reportAttributeAccessIssue]


def test_settings_travel_between_processes(load: Load) -> None:
    settings = load({"files": {"extra_paths": ["x"]}, "embedding": {"headers": {"A": "b"}}}).settings

    assert pickle.loads(pickle.dumps(settings)) == settings
    assert hash(settings) == hash(pickle.loads(pickle.dumps(settings)))


def test_what_is_shown_is_ready_for_json(load: Load) -> None:
    loaded = load(
        {
            "files": {"extra_paths": ["a", {"path": "b", "pattern": "*.md"}]},
            "query": {"hybrid": {"temporal_decay": {"half_life_days": float("nan")}}},
            "trust": {"rules": [{"match": "web/**", "origin": "external"}]},
        }
    )
    shown = {key: value for key, value, _ in describe(loaded)}

    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    assert shown["files.extra_paths"] == [{"path": "a"}, {"path": "b", "pattern": "*.md"}]
    assert shown["query.hybrid.temporal_decay.half_life_days"] == "nan"
    assert shown["trust.rules"] == [{"match": "web/**", "origin": "external"}]


def test_importing_and_loading_without_files_needs_no_third_party_module_and_no_toml(tmp_path: Any) -> None:
    program = (
        "import sys, clawmark.config as c\n"
        "c.load_settings(workspace=None, config={'query.max_results': 3}, environ={'CLAWMARK_HOME': sys.argv[1]})\n"
        "print(sorted({'numpy', 'platformdirs', 'tomllib', 'difflib', 'click'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
