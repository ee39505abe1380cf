"""The command line as people use it: help, text, nothing to show, exit codes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from clawmark.cli.app import app
from terminal import clawmark, clawmark_process
from untouched import untouched

Note = Callable[[str, str], Path]

REFERENCE = Path(__file__).parents[2] / "docs" / "reference.md"


def _commands(group: click.Group = app, prefix: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands(command, (*prefix, name))
        yield " ".join((*prefix, name)), command


COMMANDS = dict(_commands())


# --- help ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_every_option_says_what_it_does(name: str) -> None:
    ran = clawmark(*name.split(), "--help")

    assert (ran.code, ran.err) == (0, "")
    assert f"Usage: {app.name} {name}" in ran.out
    assert (COMMANDS[name].help or "").strip().partition("\n")[0].endswith(".")
    undescribed = [
        option.name
        for option in COMMANDS[name].params
        if isinstance(option, click.Option) and not (option.help or "").strip()
    ]
    assert undescribed == []
    assert clawmark(*name.split(), "-h").out == ran.out


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_is_in_the_reference(name: str) -> None:
    text = REFERENCE.read_text(encoding="utf-8")
    options = [option for param in COMMANDS[name].params for option in param.opts if option.startswith("--")]

    assert re.search(rf"^###+ `?clawmark {name}\b", text, flags=re.MULTILINE)
    assert [option for option in options if f"`{option}" not in text and option[2:].replace("-", "_") not in text] == []


@pytest.mark.parametrize("name", [name for name, command in COMMANDS.items() if not isinstance(command, click.Group)])
def test_every_command_takes_the_four_common_options(name: str) -> None:
    options = {option for param in COMMANDS[name].params for option in param.opts}

    assert {"--workspace", "--agent", "--config", "--json"} <= options


def test_without_a_command_the_commands_are_listed() -> None:
    ran = clawmark_process()

    assert ran.code == 2
    assert all(re.search(rf"^  {name.split()[0]}\b", ran.err + ran.out, flags=re.MULTILINE) for name in COMMANDS)


def test_the_version_is_one_line() -> None:
    ran = clawmark_process("--version")

    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"clawmark, version \d+\.\d+\.\d+\S*\n", ran.out)


# --- text ---------------------------------------------------------------------------------


def test_results_read_well_without_colour(zoo: Path) -> None:
    """Place, score, reason and passage; data on stdout, nothing on stderr, no control characters."""
    ran = clawmark_process("search", "zebra apples", "--workspace", zoo, env={"FORCE_COLOR": "1", "TERM": "xterm"})
    lines = ran.out.splitlines()

    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"1\. memory/2026-06-01\.md:\d+(-\d+)?  score 0\.\d{3}", lines[0])
    assert lines[1].startswith("   why: words 0.")
    assert "   | Fed the zebra two apples." in lines
    assert any(line.startswith("2. MEMORY.md:") for line in lines)
    assert not re.search(r"[\x00-\x08\x0b-\x1f]", ran.out)


def test_every_number_of_an_explanation_has_its_name(zoo: Path) -> None:
    ran = clawmark("explain", "zebra apples", "--workspace", zoo)

    assert ran.code == 0
    assert ran.out.startswith("mode keyword, provider -, model -\n")
    for name in ("bm25", "textScore", "hybridScore", "decayMultiplier", "rankAfterDiversity", "threshold", "score"):
        assert re.search(rf"^   {name} +\S", ran.out, flags=re.MULTILINE), name


def test_an_index_run_says_what_it_did(zoo: Path) -> None:
    first = clawmark("index", "--workspace", zoo)
    (zoo / "memory" / "birds.md").unlink()
    (zoo / "memory" / "empty.md").write_bytes(b"")
    second = clawmark("index", "--workspace", zoo)

    assert (first.code, first.err, second.code, second.err) == (0, "", 0, "")
    assert first.out == "Indexed: 3 added; 3 chunks, 0 texts embedded.\n"
    assert second.out.startswith("Indexed: 1 removed, 2 unchanged; 2 chunks, 0 texts embedded.\n1 skipped;")


def test_a_status_names_workspace_agent_and_index(zoo: Path) -> None:
    """I09: so that nobody looks at another index than the one that was written."""
    clawmark("index", "--workspace", zoo)
    ran = clawmark("status", "--workspace", zoo)

    assert ran.code == 0
    for part in (str(zoo), "(agent main)", str(zoo / ".clawmark" / "index.sqlite"), "State:      fresh", "3 of 3"):
        assert part in ran.out


def test_reading_gives_the_lines_and_nothing_else(zoo: Path) -> None:
    whole = clawmark("get", "memory/2026-06-01.md", "--workspace", zoo)
    part = clawmark("get", "memory/2026-06-01.md", "--from-line", "3", "--lines", "1", "--workspace", zoo)

    assert (whole.code, whole.out) == (0, "# Monday\n\nFed the zebra two apples.\nThe lion slept.\n")
    assert part.out.startswith("Fed the zebra two apples.\n")
    assert "4" in part.out.splitlines()[-1]


# --- nothing to show ----------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "  \n\t"], ids=repr)
def test_a_blank_question_is_answered_at_once_with_nothing(zoo: Path, query: str) -> None:
    """U03: no index is made for it, nothing is looked at, and it is no failure."""
    with untouched(zoo):
        data = clawmark("search", query, "--workspace", zoo, "--json")
        text = clawmark("search", query, "--workspace", zoo)

    assert (data.code, text.code) == (0, 0)
    assert (data.json["results"], data.json["error"]) == ([], None)
    assert "why:" not in text.out
    assert not (zoo / ".clawmark").exists()


@pytest.mark.parametrize("command", ["search", "explain"])
def test_no_index_is_called_so_and_not_no_matches(zoo: Path, command: str) -> None:
    """I09: with the place where one would be, and the command that makes it."""
    env = {"CLAWMARK_SYNC__ON_SEARCH": "false"}
    text = clawmark(command, "zebra", "--workspace", zoo, env=env)
    data = clawmark(command, "zebra", "--workspace", zoo, "--json", env=env)

    assert (text.code, data.code) == (0, 0)
    assert f"No index yet ({zoo / '.clawmark' / 'index.sqlite'})" in text.out
    assert "No matches" not in text.out + text.err
    assert "clawmark index" in text.err
    assert [notice["code"] for notice in data.json["warnings"]] == ["INDEX_MISSING"]


@pytest.mark.parametrize("command", ["search", "explain"])
def test_an_empty_index_is_called_so_and_not_no_matches(workspace: Path, command: str) -> None:
    """I09: notes may all be rejected, or gone."""
    (workspace / "memory" / "a.md").write_bytes(b"\xff\xff")
    clawmark("index", "--workspace", workspace)
    options = [[], ["--path", "memory/a.md"]] if command == "explain" else [[]]
    for more in options:
        text = clawmark(command, "zebra", *more, "--workspace", workspace)
        assert (text.code, "The index is empty" in text.out) == (0, True)
        assert str(workspace / ".clawmark" / "index.sqlite") in text.out
        assert "No matches" not in text.out + text.err


def test_no_match_says_what_a_threshold_held_back(zoo: Path) -> None:
    nothing = clawmark("search", "unicorn", "--workspace", zoo)
    strict = clawmark("search", "zebra cranes", "--min-score", "1", "--workspace", zoo)

    assert (nothing.code, nothing.out) == (0, "No matches.\n")
    assert strict.code == 0
    assert re.fullmatch(r"No matches above the threshold; 3 below it, the best at 0\.\d{3}\.\n", strict.out)


# --- exit codes ---------------------------------------------------------------------------


def test_a_note_that_does_not_exist_exits_1_with_its_neighbours(zoo: Path) -> None:
    text = clawmark("get", "memory/2026-06-02.md", "--workspace", zoo)
    data = clawmark("get", "memory/2026-06-02.md", "--workspace", zoo, "--json")

    assert (text.code, text.out, data.code) == (1, "", 1)
    assert "memory/2026-06-01.md" in text.err
    assert (data.json["status"], data.json["suggestions"][0]) == ("not_found", "memory/2026-06-01.md")


def test_a_refused_path_exits_1(zoo: Path) -> None:
    assert clawmark("get", "../secret.md", "--workspace", zoo).code == 1
    assert clawmark("get", "notes/a.txt", "--workspace", zoo, "--json").json["error"]["code"].endswith("NOT_ALLOWED")


def test_a_partial_index_exits_1_and_prints_its_report(zoo: Path) -> None:
    """What was done is data on stdout; what was not is an error on stderr."""
    env = {"CLAWMARK_EMBEDDING__PROVIDER": "openai", "OPENAI_API_KEY": ""}
    text = clawmark("index", "--workspace", zoo, env=env)
    data = clawmark("index", "--workspace", zoo, "--json", env=env)

    assert (text.code, data.code) == (1, 1)
    assert text.out.startswith("Indexed: 3 added")
    assert text.err.startswith("error: no key for provider openai\n\nhint: ")
    assert (data.json["partial"], data.json["pending"]) == (True, 3)
    assert data.json["error"].keys() == {"code", "message", "action"}


@pytest.mark.parametrize(
    "words",
    [
        ["search"],
        ["search", "zebra", "lion"],
        ["search", "zebra", "--max-result-count", "3"],
        ["search", "zebra", "--max-results", "many"],
        ["get"],
        ["get", "MEMORY.md", "--lines"],
        ["index", "now"],
        ["nothing"],
        ["--nothing"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_2_and_is_told_on_stderr(zoo: Path, words: list[str]) -> None:
    ran = clawmark_process(*words, env={"CLAWMARK_WORKSPACE": str(zoo)})

    assert (ran.code, ran.out) == (2, "")
    assert "Error: " in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["search", "zebra", "--max-results", "0"],
        ["search", "zebra", "--min-score", "2"],
        ["search", "zebra", "--min-score", "nan"],
        ["search", "zebra", "--min-confidence", "-1"],
        ["search", "zebra", "--sources", "mail"],
        ["search", "zebra", "--sources", "sessions"],
        ["search", "zebra", "--paths", "[z-a]"],
        ["search", "zebra", "--since", "yesterday"],
        ["search", "zebra", "--asof", "2026-06-30T12:00:00"],
        ["search", "zebra", "--deadline", "0"],
        ["search", "zebra", "--max-chars", "0"],
        ["explain", "zebra", "--max-results", "-1"],
        ["get", "MEMORY.md", "--from-line", "0"],
        ["get", "MEMORY.md", "--lines", "0"],
        ["get", "MEMORY.md", "--max-chars", "0"],
        ["get", "MEMORY.md", "--cursor", "bogus"],
        ["status", "--agent", " "],
        ["status", "--config", "nowhere.toml"],
    ],
    ids=" ".join,
)
def test_a_value_that_cannot_be_used_exits_2_and_is_named(zoo: Path, words: list[str]) -> None:
    """Never a traceback; with --json the error object on stdout."""
    text = clawmark(*words, "--workspace", zoo)
    data = clawmark(*words, "--workspace", zoo, "--json")

    assert (text.code, text.out, data.code) == (2, "", 2)
    assert text.err.startswith("error: ")
    assert data.json.keys() == {"error"}
    assert data.json["error"].keys() == {"code", "message", "action"}
    assert text.err.startswith(f"error: {data.json['error']['message']}")


def test_a_folder_that_is_no_labelled_set_is_a_usage_error(tmp_path: Path) -> None:
    ran = clawmark("eval", tmp_path)

    assert (ran.code, ran.out) == (2, "")
    assert str(tmp_path) in ran.err


def test_a_mistake_of_ours_is_one_line_too(tmp_path: Path) -> None:
    """The outermost frame: settings that contradict each other are met before they are checked."""
    ran = clawmark_process("eval", tmp_path, "--set", "query=1", "--set", "query.min_score=0.2")

    assert ran.code in (1, 2)
    assert ran.out == ""
    assert ran.err.lower().count("error") >= 1
