"""The code blocks of the documentation are run: what would be wrong in one fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FailureOf = Callable[[str], str | None]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def block(language: str, *lines: str) -> str:
    return "\n".join((f"```{language}", *lines, "```", ""))


@pytest.mark.parametrize(
    "shown",
    [
        ("one", "two 0.625", "three"),
        ("...",),
        ("one", "..."),
        ("...", "three"),
        ("...", "one", "...", "two 0.###", "three", "..."),
        ("one", "t... 0.625", "three"),
        (),
    ],
)
def test_output_that_is_what_a_command_prints_passes(failure_of: FailureOf, shown: tuple[str, ...]) -> None:
    assert failure_of(block("console", "$ printf 'one\\ntwo 0.625\\nthree\\n'", *shown)) is None


@pytest.mark.parametrize(
    "shown",
    [
        ("one",),
        ("one", "two 0.625"),
        ("one", "three"),
        ("...", "two"),
        ("one", "two 0.##", "three"),
        ("one", "two 0.624", "three"),
        ("one", "two 0.625", "three", "four"),
    ],
)
def test_output_that_a_command_does_not_print_fails(failure_of: FailureOf, shown: tuple[str, ...]) -> None:
    failure = failure_of(block("console", "$ printf 'one\\ntwo 0.625\\nthree\\n'", *shown))

    assert failure is not None
    assert "two 0.625" in failure


def test_each_command_of_a_block_is_compared_with_the_lines_below_it(failure_of: FailureOf) -> None:
    assert failure_of(block("console", "$ echo a", "a", "", "$ echo b", "b")) is None
    assert failure_of(block("console", "$ echo a", "a", "", "$ echo b", "a")) is not None


def test_a_command_that_fails_fails_also_when_no_output_is_shown(failure_of: FailureOf) -> None:
    failure = failure_of(block("console", "$ echo lost >&2; exit 3"))

    assert failure is not None
    assert "exits 3" in failure
    assert "lost" in failure


def test_python_blocks_of_a_page_share_their_names(failure_of: FailureOf) -> None:
    assert failure_of(block("python", "answer = 42") + block("python", ">>> answer + 1", "43")) is None
    assert failure_of(block("python", ">>> 1 + 1", "3")) is not None


def test_settings_that_do_not_load_fail(failure_of: FailureOf) -> None:
    assert failure_of(block("toml", "[query]", "max_results = 3")) is None
    with pytest.raises(ValueError, match=r"query\.max_results"):
        failure_of(block("toml", "[query]", "max_result = 3"))


def test_settings_with_a_file_name_are_written_there(failure_of: FailureOf, tmp_path: Path) -> None:
    assert failure_of(block("toml", "# clawmark.toml", "enabled = true")) is None

    assert (tmp_path / "clawmark.toml").read_text(encoding="utf-8") == "# clawmark.toml\nenabled = true\n"


@pytest.mark.parametrize("line", ["make test", "make -s demo", "pip install clawmark", "pip install 'clawmark>=0.1'"])
def test_lines_that_install_or_build_this_package_pass(failure_of: FailureOf, line: str) -> None:
    assert failure_of(block("sh", line)) is None


@pytest.mark.parametrize("line", ["make no-such-target", "pip install crabmark", "rm -rf notes"])
def test_lines_that_do_anything_else_fail(failure_of: FailureOf, line: str) -> None:
    assert failure_of(block("sh", "make test", line)) is not None


def test_a_unit_that_starts_a_command_of_ours_passes(failure_of: FailureOf) -> None:
    unit = ("[Service]", "ExecStart=%h/.local/bin/clawmark watch --workspace %h/notes")

    assert failure_of(block("ini", *unit)) is None


@pytest.mark.parametrize("command", ["/bin/rm notes", "/bin/clawmark wash", "/bin/clawmark watch --often"])
def test_a_unit_that_starts_anything_else_fails(failure_of: FailureOf, command: str) -> None:
    assert failure_of(block("ini", "[Service]", f"ExecStart={command}")) is not None


@pytest.mark.parametrize("language", ["", "json", "text", "bash", "python title=x"])
def test_a_block_that_nothing_runs_fails(failure_of: FailureOf, language: str) -> None:
    assert failure_of(block(language, "1 + 1")) is not None
