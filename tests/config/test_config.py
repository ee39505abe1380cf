"""Settings as users meet them: through `Memory`, at the command line, in answers and in errors."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmark import ClawmarkError, ConfigError, Memory
from clawmark.config import all_keys, describe
from terminal import clawmark

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]


@pytest.fixture
def user_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file, which need not exist."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("CLAWMARK_HOME", str(home))
    return home / "config.toml"


@pytest.fixture
def workspace_file(workspace: Path) -> Path:
    return workspace / "clawmark.toml"


def _shown(workspace: Path, *options: str | Path, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    ran = clawmark("config", "--workspace", workspace, "--json", *options, env=env)
    assert ran.code == 0, ran.err
    return ran.json


# --- layers -------------------------------------------------------------------------------


def test_each_layer_is_stronger_than_the_one_before(
    note: Note, workspace: Path, user_file: Path, workspace_file: Path, tmp_path: Path
) -> None:
    """Defaults, the user's file, the workspace's, environment, --config, arguments: seen in real answers."""
    for number in range(9):
        note(f"memory/n{number}.md", f"zebra {number}\n")
    config = tmp_path / "mine.toml"
    env = {"CLAWMARK_QUERY__MAX_RESULTS": "4"}

    def found(*options: str | Path, env: Mapping[str, str] | None = None) -> int:
        ran = clawmark("search", "zebra", "--workspace", workspace, "--json", *options, env=env)
        return len(ran.json["results"])

    seen = [found()]
    user_file.write_text("[query]\nmax_results = 2\n", encoding="utf-8")
    seen.append(found())
    workspace_file.write_text("[query]\nmax_results = 3\n", encoding="utf-8")
    seen.append(found())
    seen.append(found(env=env))
    config.write_text("[query]\nmax_results = 5\n", encoding="utf-8")
    seen.append(found("--config", config, env=env))
    seen.append(found("--config", config, "--max-results", "7", env=env))

    assert seen == [6, 2, 3, 4, 5, 7]
    assert _shown(workspace, "--config", config, env=env)["query.max_results"]["origin"] == f"config {config}"
    assert _shown(workspace, env=env)["query.max_results"]["origin"] == "environment CLAWMARK_QUERY__MAX_RESULTS"
    assert _shown(workspace)["query.max_results"] == {"value": 3, "origin": "clawmark.toml"}


def test_python_takes_a_path_or_tables(workspace: Path, tmp_path: Path, open_memory: Open) -> None:
    """The same settings, trusted alike; an argument of `Memory` wins over both."""
    config = tmp_path / "mine.toml"
    config.write_text('[query]\nmin_score = 0.2\n[embedding]\nprovider = "local"\n', encoding="utf-8")
    tables = {"query": {"min_score": 0.2}, "embedding": {"provider": "local"}}
    by_path, by_tables = open_memory(config=config), open_memory(config=tables)

    assert by_path.settings.settings == by_tables.settings.settings
    assert by_path.settings.origins["query.min_score"] == f"config {config}"
    assert by_tables.settings.origins["query.min_score"] == "config"
    assert by_path.search("zebra").mode == "keyword"  # embedder="none" is the argument of the fixture


def test_a_configuration_named_in_the_environment_is_like_the_option(workspace: Path, tmp_path: Path) -> None:
    config = tmp_path / "mine.toml"
    config.write_text("[query]\nmax_results = 5\n", encoding="utf-8")

    assert _shown(workspace, env={"CLAWMARK_CONFIG": str(config)})["query.max_results"]["value"] == 5


# --- errors -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("config", "near"),
    [
        ({"query": {"min_scor": 0.9}}, "query.min_score"),
        ({"query": {"minScore": 0.9}}, "query.min_score"),
        ({"qurey": {"min_score": 0.9}}, "query"),
        ({"max_results": 3}, "query.max_results"),
        ({"query": {"hybrid": {"temporal_decay": {"halflife": 3}}}}, "half_life_days"),
        ({"files": {"ignore": []}}, "files."),
    ],
    ids=str,
)
def test_an_unknown_setting_names_the_nearest_at_both_doors(
    workspace: Path, tmp_path: Path, config: dict[str, Any], near: str
) -> None:
    """U12: nothing that was written is silently ignored."""
    with pytest.raises(ConfigError) as caught:
        Memory(workspace, config=config)
    file = tmp_path / "mine.toml"
    file.write_text(_toml(config), encoding="utf-8")
    ran = clawmark("search", "zebra", "--workspace", workspace, "--config", file, "--json")

    assert caught.value.code == "UNKNOWN_SETTING"
    assert near in caught.value.message
    assert isinstance(caught.value, ValueError)
    assert ran.code == 2
    assert near in ran.json["error"]["message"]
    assert str(file) in ran.json["error"]["message"]
    assert ran.json["error"]["action"]


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("query.max_results", 0, "at least 1"),
        ("query.max_results", "six", "whole number"),
        ("query.max_results", 2.5, "whole number"),
        ("query.min_score", 1.1, "between 0 and 1"),
        ("query.min_score", True, "number"),
        ("query.ranking", "magic", "weighted"),
        ("query.hybrid.text_score", "sum", '"share"'),
        ("chunking.tokens", -1, "at least 1"),
        ("files.max_bytes", 0, "at least 1"),
        ("files.exclude", "memory/*", "list"),
        ("sources", ["mail"], '"memory"'),
        ("sync.on_search", "yes", "true or false"),
    ],
    ids=str,
)
def test_a_value_of_the_wrong_type_or_out_of_range_says_what_is_expected(
    workspace: Path, workspace_file: Path, key: str, value: object, expected: str
) -> None:
    """In Python and in the environment alike, with the key and the place."""
    with pytest.raises(ConfigError) as caught:
        Memory(workspace, config={key: value})

    assert caught.value.code in ("BAD_SETTING", "UNKNOWN_SETTING")
    assert key in caught.value.message
    assert expected in caught.value.message
    name = "CLAWMARK_" + key.upper().replace(".", "__")
    ran = clawmark("status", "--workspace", workspace, "--json", env={name: json.dumps(value)})
    assert ran.code == 2
    assert name in ran.json["error"]["message"]


@pytest.mark.parametrize("text", ["[query\n", "query = {\n", "[query]\nmin_score = .5\n", "\x00", "a = 1\na = 2\n"])
def test_a_file_that_is_not_toml_is_named_with_its_line(workspace: Path, workspace_file: Path, text: str) -> None:
    workspace_file.write_text(text, encoding="utf-8")
    ran = clawmark("search", "zebra", "--workspace", workspace, "--json")

    assert (ran.code, ran.json["error"]["code"]) == (2, "BAD_TOML")
    assert str(workspace_file) in ran.json["error"]["message"]
    assert "line " in ran.json["error"]["message"]


def test_a_provider_that_does_not_exist_is_an_error_before_any_work(note: Note, workspace: Path) -> None:
    note("memory/a.md", "zebra\n")
    ran = clawmark("index", "--workspace", workspace, "--json", env={"CLAWMARK_EMBEDDING__PROVIDER": "locl"})

    assert (ran.code, ran.json["error"]["code"]) == (2, "UNKNOWN_PROVIDER")
    assert "'local'" in ran.json["error"]["action"]
    assert not (workspace / ".clawmark").exists()


# --- environment --------------------------------------------------------------------------


def test_the_environment_takes_toml_values_and_plain_text(workspace: Path) -> None:
    env = {
        "CLAWMARK_QUERY__MIN_SCORE": "0.2",
        "CLAWMARK_QUERY__HYBRID__MMR__ENABLED": "true",
        "CLAWMARK_FILES__EXCLUDE": '["memory/old/**"]',
        "CLAWMARK_EMBEDDING__MODEL": "text-embedding-3",
        "CLAWMARK_QUERY__MIN_CONFIDENCE": "",
    }
    shown = {key: row["value"] for key, row in _shown(workspace, env=env).items()}

    assert (shown["query.min_score"], shown["query.hybrid.mmr.enabled"]) == (0.2, True)
    assert (shown["files.exclude"], shown["embedding.model"]) == (["memory/old/**"], "text-embedding-3")
    assert shown["query.min_confidence"] is None


def test_a_misspelt_variable_is_an_error(workspace: Path) -> None:
    ran = clawmark("status", "--workspace", workspace, "--json", env={"CLAWMARK_QUERY__MIN_SCOR": "0.2"})

    assert (ran.code, ran.json["error"]["code"]) == (2, "UNKNOWN_SETTING")
    assert "CLAWMARK_QUERY__MIN_SCORE" in ran.json["error"]["message"]


# --- a workspace that came from somewhere else --------------------------------------------


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ('[embedding]\nbase_url = "http://evil.example"\n', "embedding.base_url"),
        ('[embedding]\napi_key = "sk-theirs"\n', "embedding.api_key"),
        ('[embedding]\nheaders = {X = "y"}\n', "embedding.headers"),
        ('[embedding]\nprovider = "openai"\n', "embedding.provider"),
        ('[embedding]\nmodel = "/tmp/evil.bin"\n', "embedding.model"),
        ('[store]\nurl = "sqlite:////tmp/evil.sqlite"\n', "store.url"),
        ('[files]\nextra_paths = ["/etc"]\n', "files.extra_paths"),
        ("[files]\nfollow_links = true\n", "files.follow_links"),
        ('[sessions]\npaths = ["/etc"]\n', "sessions.paths"),
        ('[sessions]\npaths = ["../outside"]\n', "sessions.paths"),
        ('[sessions]\npaths = ["link"]\n', "sessions.paths"),
        ("[sessions]\nredact = false\n", "sessions.redact"),
        ("enabled = false\n", "enabled"),
    ],
)
def test_what_a_workspace_may_not_decide_is_ignored_with_a_warning_in_every_answer(
    note: Note, workspace: Path, workspace_file: Path, user_file: Path, text: str, key: str
) -> None:
    """A cloned repository cannot send notes away, read outside, or switch a protection off."""
    outside = workspace.parent / "outside"
    outside.mkdir()
    (outside / "s.jsonl").write_text('{"role": "user", "content": "zebra swordfish"}\n', encoding="utf-8")
    (workspace / "link").symlink_to(outside)
    note("memory/a.md", "zebra\n")
    workspace_file.write_text(text, encoding="utf-8")
    found = clawmark("search", "zebra", "--workspace", workspace, "--json")
    plain = clawmark("search", "swordfish", "--workspace", workspace)

    assert (found.code, [result["path"] for result in found.json["results"]]) == (0, ["memory/a.md"])
    (notice,) = found.json["warnings"]
    assert notice["code"] == "UNTRUSTED_SETTING"
    assert key in notice["message"]
    assert str(workspace_file) in notice["message"]
    assert str(user_file) in notice["action"]
    assert plain.out == "No matches.\n"
    assert plain.err.startswith(f"warning: {key} in {workspace_file} is ignored")
    assert "sk-theirs" not in found.out + plain.err
    assert _shown(workspace)[key]["origin"] in ("default", "environment CLAWMARK_EMBEDDING__PROVIDER")


def test_a_workspace_may_tune_itself_and_switch_vectors_off(
    workspace: Path, workspace_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranking, chunking, include and exclude, its own transcripts, and `provider = "none"`."""
    (workspace / "logs").mkdir()
    workspace_file.write_text(
        '[query]\nmax_results = 3\n[chunking]\ntokens = 200\n[files]\nexclude = ["memory/old/**"]\n'
        '[sessions]\npaths = ["logs"]\n[embedding]\nprovider = "none"\n',
        encoding="utf-8",
    )
    with Memory(workspace) as memory:
        settings, warnings = memory.settings.settings, memory.settings.warnings
        response = memory.search("zebra")

    assert warnings == ()
    assert (settings.query.max_results, settings.chunking.tokens) == (3, 200)
    assert (settings.sessions.paths, settings.sources) == (("logs",), ("memory", "sessions"))
    assert (settings.embedding.provider, response.mode, response.warnings[-1].code) == (
        "none",
        "keyword",
        "INDEX_MISSING",
    )


def test_the_same_file_handed_over_by_its_owner_is_trusted(workspace: Path, workspace_file: Path) -> None:
    workspace_file.write_text("enabled = false\n", encoding="utf-8")
    ran = clawmark("search", "zebra", "--workspace", workspace, "--config", workspace_file, "--json")

    assert (ran.code, ran.json["error"]["code"]) == (1, "MEMORY_DISABLED")


# --- secrets ------------------------------------------------------------------------------

_SECRET: dict[str, Any] = {
    "embedding": {
        "provider": "openai",
        "api_key": "sk-secret-1",
        "headers": {"Authorization": "Bearer sk-secret-2"},
        "base_url": "https://ann:sk-secret-3@example.org/v1?key=sk-secret-4",
    }
}


def test_no_secret_is_in_a_repr_a_description_or_an_answer(note: Note, workspace: Path) -> None:
    """X05's kin: what is configured never comes back."""
    note("memory/a.md", "zebra\n")
    with Memory(workspace, config=_SECRET) as memory:
        rows = {key: value for key, value, _ in describe(memory.settings)}
        told = [repr(memory.settings), str(memory.settings.settings), json.dumps(rows)]
        told += [json.dumps(value.to_dict()) for value in (memory.search("zebra"), memory.sync(), memory.status())]
        settings = memory.settings.settings

    assert settings.embedding.api_key == "sk-secret-1"
    assert tuple(rows) == all_keys()
    assert (rows["embedding.api_key"], rows["embedding.headers"]) == ("(set)", {"Authorization": "(set)"})
    assert [text for text in told if "sk-secret" in text] == []


def test_an_error_about_a_secret_does_not_repeat_it(workspace: Path) -> None:
    with pytest.raises(ClawmarkError) as caught:
        Memory(workspace, config={"embedding": {"api_key": ["sk-secret-1"]}})

    assert "embedding.api_key" in caught.value.message
    assert "sk-secret" not in f"{caught.value!r}{caught.value.action}"


def _toml(tables: Mapping[str, Any], prefix: str = "") -> str:
    plain = "".join(f"{key} = {json.dumps(value)}\n" for key, value in tables.items() if not isinstance(value, dict))
    nested = [
        f"[{prefix}{key}]\n{_toml(value, f'{prefix}{key}.')}"
        for key, value in tables.items()
        if isinstance(value, dict)
    ]
    return plain + "".join(nested)
