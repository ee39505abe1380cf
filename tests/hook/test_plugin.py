"""The plugin folder has the shape that Claude Code expects, and its commands exist."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import click

from clawmark.cli.app import app

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "plugin"


def read(path: str) -> Any:
    return json.loads((PLUGIN / path).read_text(encoding="utf-8"))


def test_the_manifest_names_the_package_and_its_version() -> None:
    manifest = read(".claude-plugin/plugin.json")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert (manifest["name"], manifest["version"]) == (project["name"], project["version"])


def test_the_marketplace_leads_to_the_plugin() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))

    assert [entry["name"] for entry in market["plugins"]] == ["clawmark"]
    assert (ROOT / market["plugins"][0]["source"] / ".claude-plugin" / "plugin.json").is_file()


def test_both_events_run_the_hook_with_a_short_timeout_and_cannot_fail() -> None:
    hooks = read("hooks/hooks.json")["hooks"]

    assert set(hooks) == {"UserPromptSubmit", "SessionStart"}
    for groups in hooks.values():
        for entry in (entry for group in groups for entry in group["hooks"]):
            assert entry["type"] == "command"
            assert entry["timeout"] <= 5
            assert entry["command"].endswith("|| true")
            assert entry["command"].split()[:2] == ["clawmark", "hook"]
    assert "hook" in app.list_commands(click.Context(app))


def test_the_session_hook_leaves_out_sessions_that_go_on() -> None:
    matcher = read("hooks/hooks.json")["hooks"]["SessionStart"][0]["matcher"]

    assert {name for name in ("startup", "clear", "compact", "resume", "fork") if re.fullmatch(matcher, name)} == {
        "startup",
        "clear",
        "compact",
    }


def test_the_tools_come_from_the_mcp_server() -> None:
    assert read(".mcp.json") == {"mcpServers": {"clawmark": {"command": "clawmark", "args": ["mcp"]}}}


def test_the_skill_says_what_it_is_for() -> None:
    text = (PLUGIN / "skills" / "recall" / "SKILL.md").read_text(encoding="utf-8")
    head = re.match(r"---\nname: (?P<name>[a-z-]+)\ndescription: (?P<description>.+)\n---\n", text)

    assert head is not None
    assert head["name"] == "recall"
    assert len(head["description"]) <= 1_024
    for word in ("work", "decisions", "dates", "people", "preferences", "todos"):
        assert word in head["description"]
