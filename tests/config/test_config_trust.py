"""A ``clawmark.toml`` that came with a workspace may tune, and never reach out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.config import LoadedSettings
from clawmark.config.schema import value_at
from clawmark.core.errors import ConfigError

Load = Callable[..., LoadedSettings]
Refused = Callable[..., ConfigError]


def test_ranking_chunking_globs_and_citations_may_be_set(load: Load, workspace_file: Path) -> None:
    workspace_file.write_text(
        """
        [query]
        min_score = 0.2
        [query.hybrid.temporal_decay]
        enabled = true
        [[query.hybrid.temporal_decay.rules]]
        match = "memory/lessons/**"
        kind = "evergreen"
        [chunking]
        tokens = 200
        [files]
        include = ["memory/**"]
        exclude = ["memory/drafts/**"]
        [citations]
        mode = "off"
        [sessions]
        paths = ["transcripts", "./more/logs"]
        [embedding]
        provider = "none"
        """
    )
    loaded = load()
    settings = loaded.settings

    assert loaded.warnings == ()
    assert settings.query.min_score == 0.2
    assert settings.query.hybrid.temporal_decay.rules[0].match == "memory/lessons/**"
    assert settings.chunking.tokens == 200
    assert (settings.files.include, settings.files.exclude) == (("memory/**",), ("memory/drafts/**",))
    assert settings.citations.mode == "off"
    assert settings.sessions.paths == ("transcripts", "./more/logs")
    assert settings.sources == ("memory", "sessions")
    assert settings.embedding.provider == "none"


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("enabled", "enabled = false"),
        ("sources", 'sources = ["sessions"]'),
        ("embedding.provider", '[embedding]\nprovider = "openai"'),
        ("embedding.model", '[embedding]\nmodel = "./model.onnx"'),
        ("embedding.fallback", '[embedding]\nfallback = "openai"'),
        ("embedding.base_url", '[embedding]\nbase_url = "https://evil.example/v1"'),
        ("embedding.api_key", '[embedding]\napi_key = "sk-evil"'),
        ("embedding.headers", '[embedding]\nheaders = { X = "evil" }'),
        ("embedding.prices", '[embedding]\nprices = { "openai/m" = 0.0 }'),
        ("embedding.batch.enabled", "[embedding.batch]\nenabled = true"),
        ("embedding.budget.daily_tokens", "[embedding.budget]\ndaily_tokens = 1000000"),
        ("files.extra_paths", '[files]\nextra_paths = ["/etc"]'),
        ("files.follow_links", "[files]\nfollow_links = true"),
        ("files.max_bytes", "[files]\nmax_bytes = 1"),
        ("sessions.redact", "[sessions]\nredact = false"),
        ("sessions.include_kinds", '[sessions]\ninclude_kinds = ["scheduled"]'),
        ("sync.on_search", "[sync]\non_search = false"),
        ("cache.enabled", "[cache]\nenabled = false"),
        ("store.url", '[store]\nurl = "milvus+http://evil.example:1"'),
        ("trust.rules", '[[trust.rules]]\nmatch = "**"\norigin = "owner"'),
    ],
)
def test_everything_else_is_ignored_with_a_notice_that_names_key_file_and_trusted_place(
    load: Load, workspace_file: Path, user_file: Path, key: str, line: str
) -> None:
    workspace_file.write_text(line + "\n")
    loaded = load()

    assert loaded.settings == load({}).settings
    assert loaded.origins[key] == "default"
    (notice,) = loaded.warnings
    assert notice.code == "UNTRUSTED_SETTING"
    assert key in notice.message
    assert str(workspace_file) in notice.message
    assert str(user_file) in notice.action
    assert "--config" in notice.action
    assert "evil" not in f"{notice.message} {notice.action}"


@pytest.mark.parametrize("place", ["user", "config", "environment"])
def test_the_trusted_places_may_set_what_a_workspace_may_not(
    load: Load, user_file: Path, tmp_path: Path, place: str
) -> None:
    line = '[embedding]\nbase_url = "https://mine.example/v1"\n'
    (user_file if place == "user" else tmp_path / "own.toml").write_text(line)
    loaded = load(
        tmp_path / "own.toml" if place == "config" else None,
        environ={"CLAWMARK_EMBEDDING__BASE_URL": "https://mine.example/v1"} if place == "environment" else None,
    )

    assert loaded.settings.embedding.base_url == "https://mine.example/v1"
    assert loaded.warnings == ()


def test_what_the_user_set_stays_when_the_workspace_wants_it_otherwise(
    load: Load, workspace_file: Path, user_file: Path
) -> None:
    user_file.write_text('[embedding]\nprovider = "openai"\n[sessions]\npaths = ["/home/me/logs"]\n')
    workspace_file.write_text('[embedding]\nprovider = "voyage"\n[sessions]\npaths = ["/etc"]\n')
    loaded = load()

    assert loaded.settings.embedding.provider == "openai"
    assert loaded.settings.sessions.paths == ("/home/me/logs",)
    assert len(loaded.warnings) == 2


@pytest.mark.parametrize(
    "path",
    [
        "/etc",
        "..",
        "../other",
        "logs/../../other",
        "~/logs",
        "~root",
        " ../other ",
        "C:\\\\logs",
        "C:logs",
        "\\\\\\\\host\\\\share",
        "..\\\\other",
        "nul\\u0000here",
        "out/logs",
        "out",
        "deep/out/../logs",
    ],
)
def test_a_folder_of_transcripts_outside_the_workspace_is_ignored(
    load: Load, ws: Path, workspace_file: Path, tmp_path: Path, path: str
) -> None:
    (tmp_path / "other" / "logs").mkdir(parents=True)
    (ws / "out").symlink_to(tmp_path / "other")
    (ws / "deep").symlink_to(tmp_path / "other")
    workspace_file.write_text(f'[sessions]\npaths = ["{path}"]\n')
    loaded = load()

    assert loaded.settings.sessions.paths == ()
    assert loaded.settings.sources == ("memory",)
    assert loaded.origins["sessions.paths"] == "default"
    (notice,) = loaded.warnings
    assert notice.code == "UNTRUSTED_SETTING"
    assert "sessions.paths" in notice.message


def test_the_absolute_path_of_a_folder_inside_is_still_not_relative(load: Load, ws: Path, workspace_file: Path) -> None:
    workspace_file.write_text(f"[sessions]\npaths = ['{ws}/logs']\n")

    assert load().settings.sessions.paths == ()


def test_of_several_folders_those_inside_stay(load: Load, workspace_file: Path) -> None:
    workspace_file.write_text('[sessions]\npaths = ["logs", "../other"]\n')
    loaded = load()

    assert loaded.settings.sessions.paths == ("logs",)
    assert loaded.origins["sessions.paths"] == "clawmark.toml"
    assert "'../other'" in loaded.warnings[0].message
    assert "'logs'" not in loaded.warnings[0].message


def test_a_link_that_stays_inside_is_inside(load: Load, ws: Path, workspace_file: Path) -> None:
    (ws / "archive" / "logs").mkdir(parents=True)
    (ws / "logs").symlink_to(ws / "archive" / "logs")
    workspace_file.write_text('[sessions]\npaths = ["logs"]\n')

    assert load().settings.sessions.paths == ("logs",)


def test_a_workspace_reached_through_a_link_is_the_same_workspace(home: Path, ws: Path, tmp_path: Path) -> None:
    from clawmark.config import load_settings

    (tmp_path / "link").symlink_to(ws)
    (ws / "clawmark.toml").write_text('[sessions]\npaths = ["logs"]\n')
    loaded = load_settings(workspace=tmp_path / "link", config=None, environ={"CLAWMARK_HOME": str(home)})

    assert loaded.settings.sessions.paths == ("logs",)


def test_links_in_a_circle_do_not_matter(load: Load, ws: Path, workspace_file: Path) -> None:
    (ws / "a").symlink_to(ws / "b")
    (ws / "b").symlink_to(ws / "a")
    workspace_file.write_text('[sessions]\npaths = ["a/logs", "../x"]\n')

    assert "'../x'" in load().warnings[0].message


def test_an_unknown_key_in_it_is_still_an_error(refused: Refused, workspace_file: Path) -> None:
    workspace_file.write_text('[embedding]\nbase_ulr = "x"\n')
    error = refused()

    assert error.code == "UNKNOWN_SETTING"
    assert str(workspace_file) in error.message
    assert "embedding.base_url" in error.message


def test_a_wrong_type_in_it_is_still_an_error(refused: Refused, workspace_file: Path) -> None:
    workspace_file.write_text("[sessions]\npaths = [3]\n")

    assert refused().code == "BAD_SETTING"


def test_a_workspaces_file_that_the_user_names_is_trusted(load: Load, workspace_file: Path) -> None:
    workspace_file.write_text('[embedding]\nbase_url = "https://mine.example/v1"\n')
    loaded = load(workspace_file)

    assert value_at(loaded.settings, "embedding.base_url") == "https://mine.example/v1"
    assert loaded.warnings == ()
