"""``clawmark mcp install``: one entry more in a client's settings, and nothing else changed."""

from __future__ import annotations

import json
import os
import stat
import sys
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client.stdio import StdioServerParameters

from clawmark.mcp_server.clients import CLIENTS
from mcp import Client
from terminal import KEYWORD, Ran, clawmark

# Client to its file below the home folder, and the table of servers in it.
FILES = {
    name: (str(client.file("user", home=Path(), project=Path(), environ={})), client.table)
    for name, client in CLIENTS.items()
}
PROJECT_FILES = {
    "claude-code": ".mcp.json",
    "cursor": ".cursor/mcp.json",
    "codex": ".codex/config.toml",
    "vscode": ".vscode/mcp.json",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own."""
    folder = tmp_path / "person"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "APPDATA"):
        monkeypatch.delenv(name, raising=False)
    return folder


def install(client: str, workspace: Path, *options: str) -> Ran:
    return clawmark("mcp", "install", client, "--workspace", workspace, *options)


def loaded(file: Path) -> Any:
    text = file.read_text(encoding="utf-8")
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def test_each_file_is_the_one_that_its_client_reads() -> None:
    endings = {
        "claude-code": ".claude.json",
        "claude-desktop": "Claude/claude_desktop_config.json",
        "cursor": ".cursor/mcp.json",
        "codex": ".codex/config.toml",
        "vscode": "Code/User/mcp.json",
    }

    assert {name: Path(file).as_posix().endswith(endings[name]) for name, (file, _) in FILES.items()} == dict.fromkeys(
        endings, True
    )


@pytest.mark.parametrize("client", FILES)
def test_a_client_without_settings_gets_a_file_with_the_server(home: Path, zoo: Path, client: str) -> None:
    ran = install(client, zoo)
    file = home / FILES[client][0]
    entry = loaded(file)[FILES[client][1]]["clawmark"]

    assert ran.code == 0
    assert entry["command"] == sys.executable
    assert entry["args"] == ["-m", "clawmark", "mcp", "--workspace", str(zoo)]
    assert str(file) in ran.out + ran.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("client", FILES)
def test_the_entry_starts_a_server_that_answers(home: Path, zoo: Path, client: str) -> None:
    install(client, zoo)
    entry = loaded(home / FILES[client][0])[FILES[client][1]]["clawmark"]
    source = str(Path(__file__).parents[2] / "src")
    server = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={**entry["env"], **KEYWORD, "PYTHONPATH": source}
    )

    async def ask() -> Any:
        async with Client(server) as client:
            return await client.call_tool("memory_search", {"query": "zebra"})

    assert anyio.run(ask).structured_content["results"]


@pytest.mark.parametrize("client", PROJECT_FILES)
def test_the_settings_of_a_project_are_in_its_folder(
    home: Path, zoo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, client: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = install(client, zoo, "--scope", "project")

    assert ran.code == 0
    assert "clawmark" in loaded(tmp_path / PROJECT_FILES[client])[FILES[client][1]]
    assert list(home.iterdir()) == []


def test_a_client_without_settings_per_project_says_so(home: Path, zoo: Path) -> None:
    ran = install("claude-desktop", zoo, "--scope", "project")

    assert ran.code == 2
    assert "--scope user" in ran.err


_JSON = """{
\t"theme": "dark",
\t"mcpServers": {
\t\t"other": {"command": "其他", "args": ["--a"]}
\t},
\t"projects": {"/x": {"n": 1.50}}
}
"""
_TOML = """# my settings
model = "gpt"   # the good one

[mcp_servers.other]
command = "other"  # keep me

[profiles.x]
a = 1
"""


def test_other_entries_stay_and_the_file_as_it_was_is_kept(home: Path, zoo: Path) -> None:
    file = home / ".claude.json"
    file.write_text(_JSON, encoding="utf-8")
    file.chmod(0o640)
    ran = install("claude-code", zoo)
    now = loaded(file)
    backup = file.with_name(".claude.json.clawmark-backup")

    assert ran.code == 0
    assert now["mcpServers"].pop("clawmark")
    assert now == json.loads(_JSON)
    assert list(json.loads(_JSON)) == list(now)
    assert '\t"theme": "dark"' in file.read_text(encoding="utf-8")
    assert "其他" in file.read_text(encoding="utf-8")
    assert backup.read_text(encoding="utf-8") == _JSON
    assert str(backup) in ran.err
    assert stat.S_IMODE(file.stat().st_mode) == stat.S_IMODE(backup.stat().st_mode) == 0o640


def test_comments_and_order_of_toml_stay(home: Path, zoo: Path) -> None:
    file = home / ".codex" / "config.toml"
    file.parent.mkdir()
    file.write_text(_TOML, encoding="utf-8")
    install("codex", zoo)
    text = file.read_text(encoding="utf-8")
    now = tomllib.loads(text)

    assert now["mcp_servers"].pop("clawmark")
    assert now == tomllib.loads(_TOML)
    for line in _TOML.splitlines():
        assert line in text.splitlines()


@pytest.mark.parametrize("client", FILES)
def test_a_dry_run_shows_the_change_and_makes_none(home: Path, zoo: Path, client: str) -> None:
    ran = install(client, zoo, "--dry-run")

    assert ran.code == 0
    assert list(home.iterdir()) == []
    assert f"+++ {home / FILES[client][0]}" in ran.out
    assert '"mcp"' in ran.out


def test_the_change_that_was_made_is_shown(home: Path, zoo: Path) -> None:
    file = home / ".cursor" / "mcp.json"
    file.parent.mkdir()
    file.write_text('{"mcpServers": {"other": {"command": "x"}}}', encoding="utf-8")
    ran = install("cursor", zoo)
    data = json.loads(install("cursor", zoo, "--name", "second", "--json").out)

    assert any(line.startswith("+") and '"clawmark"' in line for line in ran.out.splitlines())
    assert (data["changed"], data["file"], data["backup"]) == (True, str(file), f"{file}.clawmark-backup")
    assert set(loaded(file)["mcpServers"]) == {"other", "clawmark", "second"}


def test_installing_twice_changes_nothing_the_second_time(home: Path, zoo: Path) -> None:
    for client, (name, _) in FILES.items():
        install(client, zoo)
        before = (home / name).read_bytes()
        ran = install(client, zoo)

        assert (ran.code, (home / name).read_bytes()) == (0, before)
        assert "already" in ran.out
        assert not (home / f"{name}.clawmark-backup").exists()


@pytest.mark.parametrize(
    ("client", "text"),
    [
        ("claude-code", '{"mcpServers": {'),
        ("claude-code", "[]"),
        ("claude-code", '{"mcpServers": []}'),
        ("claude-code", '{"a": 1, "a": 2}'),
        ("vscode", '{\n  // a comment\n  "servers": {}\n}'),
        ("codex", "model = "),
        ("codex", 'mcp_servers = "x"'),
        ("cursor", "\udcff"),
    ],
)
def test_a_file_that_is_not_understood_is_left_as_it_is(home: Path, zoo: Path, client: str, text: str) -> None:
    file = home / FILES[client][0]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    before = file.read_bytes()
    ran = install(client, zoo)

    assert (ran.code, ran.out) == (1, "")
    assert str(file) in ran.err
    assert "hint:" in ran.err
    assert file.read_bytes() == before
    assert [entry.name for entry in file.parent.iterdir() if "clawmark" in entry.name] == []


def test_a_link_to_the_settings_stays_one(home: Path, zoo: Path) -> None:
    """Many people keep their settings in a repository."""
    real = home / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    link = home / ".claude.json"
    link.symlink_to(real)
    install("claude-code", zoo)

    assert link.is_symlink()
    assert "clawmark" in loaded(real)["mcpServers"]


def test_agent_configuration_and_writing_are_part_of_the_entry(home: Path, zoo: Path, tmp_path: Path) -> None:
    config = tmp_path / "my.toml"
    config.write_text("[query]\nmax_results = 3\n", encoding="utf-8")
    options = ["--agent", "bob", "--config", os.path.relpath(config), "--write"]
    before = clawmark("mcp", "--workspace", zoo, *options[:-1], "install", "cursor", "--name", "a")
    after = install("cursor", zoo, *options, "--name", "b")
    servers = loaded(home / ".cursor" / "mcp.json")["mcpServers"]

    assert (before.code, after.code) == (0, 0)
    assert servers["b"]["args"] == [*servers["a"]["args"], "--write"]
    assert servers["a"]["args"][3:] == ["--workspace", str(zoo), "--agent", "bob", "--config", str(config)]


def test_a_wrong_setting_is_said_before_anything_is_changed(home: Path, zoo: Path, tmp_path: Path) -> None:
    config = tmp_path / "my.toml"
    config.write_text("[query]\nmax_result = 3\n", encoding="utf-8")
    ran = install("cursor", zoo, "--config", str(config))

    assert ran.code == 2
    assert "max_results" in ran.err
    assert list(home.iterdir()) == []
