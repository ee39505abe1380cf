"""The values of the system that clawmark re-implements, newest version (2026.9.6).

Where our contract differs, on purpose:

* The text holds no paging notice; ``next_from``, ``truncated`` and ``cursor`` say it.
* ``from`` or ``lines`` below 1 is a wrong argument, not 1.
* Every refusal is MEMORY_PATH_NOT_ALLOWED, with its reason in the message.
* Files are ordered by path, not by root.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from clawmark.core.errors import ArgumentError, PathNotAllowedError
from clawmark.files import ExtraPath, FileRules, is_memory_path, read_window, scan_files
from clawmark.files.rules import memory_roots
from golden import cases

WriteNote = Callable[..., Path]
NEWEST = "2026.9.6"
ARGUMENTS = {"from": "from_line", "lines": "lines", "maxChars": "max_chars"}

# The workspace that the reading and listing cases were recorded in.
WORKSPACE = {
    "MEMORY.md": "# Facts\nThe user prefers Earl Grey tea.\nOffice router admin lives at 10.0.0.1 with VLAN 20.\n",
    "memory/2026-02-10.md": "# 2026-02-10\nConfigured Omada router, VLAN 20 for IoT.\nDeployed billing service v2.\n",
    "memory/2026-01-11.md": "# 2026-01-11\nRouter firmware upgrade planned. VLAN 10 trunk.\n",
    "memory/topics/billing.md": (
        "# Billing\nInvoices are sent on the first day. Stripe webhook secret rotates quarterly.\n"
    ),
    "memory/会议.md": "# 会议记录\n数据库备份方案每周执行一次。\n",
    "memory/skip.txt": "router",
    "ext/note.md": "external router note\n",
}


def by_id(case: dict[str, Any]) -> str:
    return str(case["id"])


@pytest.fixture
def recorded(ws: Path, note: WriteNote) -> Path:
    for path, content in WORKSPACE.items():
        note(path, content)
    (ws / "memory/link.md").symlink_to(ws / "ext/note.md")
    return ws


def check(rules: FileRules, path: str, given: dict[str, Any], expected: dict[str, Any]) -> None:
    arguments = {ours: given[theirs] for theirs, ours in ARGUMENTS.items() if theirs in given}
    if any(number < 1 for number in arguments.values()):
        with pytest.raises(ArgumentError):
            read_window(rules, path, **arguments)
        return
    if "error" in expected:
        with pytest.raises(PathNotAllowedError):
            read_window(rules, path, **arguments)
        return
    result = read_window(rules, path, **arguments)
    assert result.status == expected["status"]
    assert result.path == expected["path"]
    assert result.text == expected["text"].partition("\n\n[More content available.")[0]
    assert result.lines == expected.get("lines", 0)
    assert result.from_line == expected.get("from", result.from_line)
    assert result.truncated == expected.get("truncated", False)
    assert result.next_from == expected.get("nextFrom")


@pytest.mark.parametrize("case", cases("memory_get", NEWEST, "buildMemoryReadResult"), ids=by_id)
def test_a_window_of_text_is_the_recorded_one(ws: Path, note: WriteNote, case: dict[str, Any]) -> None:
    note("memory/x.md", case["input"]["content"])

    check(FileRules(ws), "memory/x.md", case["input"], case["expected"])


@pytest.mark.parametrize("case", cases("memory_get", NEWEST, "readMemoryFile"), ids=by_id)
def test_a_reading_of_a_path_is_the_recorded_one(recorded: Path, case: dict[str, Any]) -> None:
    given = case["input"]
    extras = tuple(ExtraPath(path) for path in given["extraPaths"])

    check(FileRules(recorded, extra_paths=extras), given["relPath"], given, case["expected"])


@pytest.mark.parametrize("case", cases("path", NEWEST, "isMemoryPath"), ids=by_id)
def test_the_form_of_a_memory_path_is_the_recorded_one(case: dict[str, Any]) -> None:
    assert is_memory_path(case["input"]) == case["expected"]


@pytest.mark.parametrize("case", cases("extra_paths"), ids=by_id)
def test_extra_paths_are_normalised_as_recorded(case: dict[str, Any]) -> None:
    """Only recorded for 2026.3.2; as a set, because our order is that of the paths."""
    extras = tuple(ExtraPath(path) for path in case["input"]["extraPaths"])
    rules = FileRules(Path(case["input"]["workspaceDir"]), extra_paths=extras)

    places = [Path(root.absolute).as_posix() for root in memory_roots(rules) if root.configured]

    assert places == sorted(case["expected"])


@pytest.mark.parametrize("case", cases("list_files", NEWEST), ids=by_id)
def test_the_files_of_a_workspace_are_the_recorded_ones(recorded: Path, case: dict[str, Any]) -> None:
    extras = tuple(ExtraPath(path) for path in case["input"]["extraPaths"])

    scan = scan_files(FileRules(recorded, extra_paths=extras))

    assert [file.path for file in scan.files] == sorted(case["expected"])
    assert [entry.path for entry in scan.skipped] == ["memory/link.md"]


def test_every_group_of_recorded_values_is_there() -> None:
    counts = {group: len(cases(group, NEWEST)) for group in ("memory_get", "path", "list_files")}

    assert counts == {"memory_get": 22, "path": 20, "list_files": 1}
    assert len(cases("extra_paths")) == 2
