"""Which place wins, and how each place is read."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.config import LoadedSettings, describe, load_settings, user_cache_dir, user_config_file
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]

NAMES = ("user file", "clawmark.toml", "environment", "config", "argument")


@pytest.mark.parametrize("strongest", range(1, len(NAMES) + 1))
def test_the_stronger_place_wins(
    load: Load, user_file: Path, workspace_file: Path, tmp_path: Path, strongest: int
) -> None:
    given: list[dict[str, object]] = [{}, {}, {}, {}]
    user_file.write_text("[query]\nmax_results = 11\n")
    if strongest > 1:
        workspace_file.write_text("[query]\nmax_results = 12\n")
    if strongest > 2:
        given[0] = {"environ": {"CLAWMARK_QUERY__MAX_RESULTS": "13"}}
    if strongest > 3:
        (tmp_path / "own.toml").write_text("[query]\nmax_results = 14\n")
        given[1] = {"config": tmp_path / "own.toml"}
    if strongest > 4:
        given[2] = {"overrides": {"query.max_results": 15}}
    loaded = load(**given[0], **given[1], **given[2])

    assert loaded.settings.query.max_results == 10 + strongest
    assert loaded.origins["query.max_results"].startswith(NAMES[strongest - 1])


def test_each_origin_names_its_place(load: Load, user_file: Path, workspace_file: Path, tmp_path: Path) -> None:
    user_file.write_text("[cache]\nenabled = false\n")
    workspace_file.write_text("[chunking]\ntokens = 300\n")
    own = tmp_path / "own.toml"
    own.write_text("[citations]\nmode = 'off'\n")
    loaded = load(own, environ={"CLAWMARK_SYNC__WATCH": "false"}, overrides={"query.abstain": True})

    assert {key: origin for key, origin in loaded.origins.items() if origin != "default"} == {
        "cache.enabled": f"user file {user_file}",
        "chunking.tokens": "clawmark.toml",
        "sync.watch": "environment CLAWMARK_SYNC__WATCH",
        "citations.mode": f"config {own}",
        "query.abstain": "argument",
    }
    assert {key: origin for key, _, origin in describe(loaded)} == loaded.origins


def test_layers_are_merged_key_by_key(load: Load, user_file: Path, workspace_file: Path) -> None:
    user_file.write_text("[query]\nmax_results = 3\nmin_score = 0.2\n")
    workspace_file.write_text("[query]\nmin_score = 0.5\n")
    query = load().settings.query

    assert (query.max_results, query.min_score) == (3, 0.5)


def test_a_mapping_has_the_shape_of_the_file(load: Load) -> None:
    loaded = load({"query": {"hybrid": {"mmr": {"enabled": True, "lambda": 0.4}}}})

    assert loaded.settings.query.hybrid.mmr.lambda_ == 0.4
    assert loaded.origins["query.hybrid.mmr.lambda"] == "config"


def test_a_dotted_key_stands_for_its_tables(load: Load) -> None:
    loaded = load({"query.hybrid": {"mmr.enabled": True}, "query.min_score": 0.1})

    assert loaded.settings.query.hybrid.mmr.enabled is True
    assert loaded.settings.query.min_score == 0.1


def test_a_path_and_its_text_are_the_same_configuration(load: Load, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("[query]\nmax_results = 2\n")

    assert load(own) == load(str(own))


def test_a_named_configuration_that_does_not_exist_is_an_error(refused: Refused, tmp_path: Path) -> None:
    error = refused(tmp_path / "missing.toml")

    assert error.code == "CONFIG_NOT_FOUND"
    assert str(tmp_path / "missing.toml") in error.message


def test_the_users_file_need_not_exist(load: Load, user_file: Path) -> None:
    assert not user_file.exists()
    assert load().warnings == ()


def test_the_users_file_may_be_named(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text("[query]\nmax_results = 9\n")
    loaded = load_settings(workspace=None, config=None, environ={"CLAWMARK_HOME": str(home)}, user_file=other)

    assert loaded.settings.query.max_results == 9
    assert loaded.origins["query.max_results"] == f"user file {other}"


@pytest.mark.parametrize("text", ["", "\n", "\ufeff[query]\nmax_results = 7\n", "[query]\r\nmax_results = 7\r\n"])
def test_empty_files_byte_order_marks_and_windows_line_ends_are_read(load: Load, user_file: Path, text: str) -> None:
    user_file.write_bytes(text.encode())

    assert load().settings.query.max_results == (7 if "query" in text else 6)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"[query]\nmax_results = \n", 2),
        (b"[query]\nmax_results = 3\n[query]\n", 3),
        (b"a = [1,\n2,\n", 3),
        (b"[query]\n# caf\xe9\n", 2),
    ],
)
def test_what_is_not_toml_is_reported_with_file_and_line(
    refused: Refused, user_file: Path, content: bytes, line: int
) -> None:
    user_file.write_bytes(content)
    error = refused()

    assert error.code == "BAD_TOML"
    assert f"{user_file}, line {line}" in error.message


@pytest.mark.parametrize("content", ["a = " + "[" * 100_000, "a = " + "9" * 10_000, "# " + "x" * 1_000_001])
def test_a_file_made_to_hurt_is_refused(refused: Refused, workspace_file: Path, content: str) -> None:
    workspace_file.write_text(content)
    error = refused()

    assert error.code in {"BAD_TOML", "CONFIG_UNREADABLE"}
    assert str(workspace_file) in error.message


def test_a_folder_in_the_place_of_a_file_is_refused(refused: Refused, workspace_file: Path, tmp_path: Path) -> None:
    assert refused(tmp_path).code == "CONFIG_UNREADABLE"
    workspace_file.mkdir()

    assert refused().code == "CONFIG_UNREADABLE"


def test_a_pipe_in_the_workspace_is_refused_and_not_waited_for(refused: Refused, workspace_file: Path) -> None:
    os.mkfifo(workspace_file)

    assert refused().code == "CONFIG_UNREADABLE"


def test_what_is_neither_a_path_nor_tables_is_no_configuration(refused: Refused) -> None:
    assert refused(["query"]).code == "BAD_SETTING"
    assert refused("a\0b").code == "CONFIG_UNREADABLE"


def test_without_a_workspace_its_file_is_not_looked_for(workspace_file: Path, home: Path) -> None:
    workspace_file.write_text("nonsense")

    assert load_settings(workspace=None, config=None, environ={"CLAWMARK_HOME": str(home)}).warnings == ()


def test_one_variable_moves_all_that_belongs_to_the_user(tmp_path: Path) -> None:
    environ = {"CLAWMARK_HOME": str(tmp_path)}

    assert user_config_file(environ) == tmp_path / "config.toml"
    assert user_cache_dir(environ) == tmp_path / "cache"


def test_without_that_variable_the_system_says_where() -> None:
    assert user_config_file({}).name == "config.toml"
    assert "clawmark" in str(user_config_file({}))
    assert "clawmark" in str(user_cache_dir({"CLAWMARK_HOME": ""}))
    assert user_cache_dir({}) != user_config_file({}).parent


def test_the_home_of_nobody_is_a_path_that_does_not_exist(refused: Refused) -> None:
    error = refused("~no-such-user-here/own.toml")

    assert error.code == "CONFIG_NOT_FOUND"
    assert "~no-such-user-here/own.toml" in error.message
