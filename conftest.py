"""Runs the code blocks of README.md and docs/, each page in its own copy of the example workspace.

* ``python``: run in order, in one namespace for a page; a block of ``>>>`` lines is a doctest.
* ``console``: every ``$ command`` runs in a shell and must exit 0; the lines below it must be
  what it prints, errors and warnings included. A line ``...`` stands for any lines, ``...``
  inside a line for any text, ``0.###`` for a number with so many digits behind the point.
* ``toml``: must load as settings; with a file name as comment in the first line it is also
  written to that file.
* ``ini``: must be a systemd unit whose ``ExecStart`` is a command of ours with options that exist.
* ``sh``: ``make TARGET`` must be a target, ``pip install NAME`` must name this package.

A block of any other kind fails.
"""

from __future__ import annotations

import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, chdir
from pathlib import Path
from typing import Any

import click
import pytest
from sybil import Document, Example, Region, Sybil
from sybil.example import SybilFailure
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser
from sybil.parsers.markdown.lexers import RawFencedCodeBlockLexer
from sybil.typing import Parser

from clawmark.cli.app import app
from clawmark.config import load_settings

ROOT = Path(__file__).parent
LANGUAGES = ("python", "console", "toml", "ini", "sh")

_STAY = "_place"  # where a page's namespace keeps what its end must undo
_ANY_INFO = re.compile(r"(?P<language>[^\n]*)\n")
_LOOSE = re.compile(r"(\.\.\.|\d+\.#+)")
_FILE_NAME = re.compile(r"# ([\w.-]+\.toml)\n")
_PIP = re.compile(r"(?:python -m )?pip install (?P<requirement>.+)")
_PATIENCE_SECONDS = 60


def enter_workspace(namespace: dict[str, Any]) -> None:
    """Make a copy of the example workspace the current folder, with nothing of the user's around it."""
    stack = ExitStack()
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="clawmark-docs-")))
    notes = ROOT / "examples" / "workspace"
    shutil.copytree(notes, folder / "workspace", ignore=shutil.ignore_patterns(".clawmark"))
    shutil.copy(f"{notes}.queries.jsonl", folder)
    before = dict(os.environ)
    stack.callback(_restore_environment, before)
    for name in [name for name in before if name.startswith("CLAWMARK_")]:
        del os.environ[name]
    os.environ["CLAWMARK_HOME"] = str(folder / "home")
    os.environ["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), before.get("PATH", "")))
    stack.enter_context(chdir(folder / "workspace"))
    namespace[_STAY] = stack


def leave_workspace(namespace: dict[str, Any]) -> None:
    """Undo ``enter_workspace``."""
    namespace.pop(_STAY).close()


def _restore_environment(before: dict[str, str]) -> None:
    os.environ.clear()
    os.environ.update(before)


def run_console(example: Example) -> str | None:
    """Run each command of a block, and compare what it prints."""
    for command, expected in console_steps(example.parsed):
        run = subprocess.run(
            command,
            shell=True,
            check=False,
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PATIENCE_SECONDS,
        )
        if run.returncode != 0:
            return f"$ {command}\nexits {run.returncode}:\n{run.stdout}"
        if expected and not prints(expected, run.stdout):
            return f"$ {command}\nprints:\n{run.stdout}\ninstead of:\n" + "\n".join(expected)
    return None


def console_steps(source: str) -> Iterator[tuple[str, list[str]]]:
    """Cut a block into commands, each with the lines that it prints."""
    command, output = "", list[str]()
    for line in source.rstrip("\n").split("\n"):
        if line.startswith("$ "):
            if command:
                yield command, output
            command, output = line[2:], []
        elif command:
            output.append(line)
        else:
            raise ValueError(f"A console block begins with a command, not with {line!r}.")
    if command:
        yield command, output


def prints(expected: list[str], printed: str) -> bool:
    """Tell whether a text is what some lines say, blank lines and spaces at the ends aside."""
    text = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").split("\n"))
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else f"{_line_pattern(line)}\n" for line in _trimmed(expected))
    return re.fullmatch(pattern, text) is not None


def _line_pattern(line: str) -> str:
    return "".join(_part_pattern(part) for part in _LOOSE.split(line.rstrip()))


def _part_pattern(part: str) -> str:
    if part == "...":
        return ".*"
    if part.endswith("#") and _LOOSE.fullmatch(part):
        whole, _, digits = part.partition(".")
        return rf"{whole}\.\d{{{len(digits)}}}"
    return re.escape(part)


def _trimmed(lines: list[str]) -> list[str]:
    return "\n".join(lines).strip("\n").split("\n")


def load_toml(example: Example) -> str | None:
    """Load a block as settings; write it to the file that its first line names."""
    load_settings(workspace=None, config=tomllib.loads(example.parsed))
    named = _FILE_NAME.match(example.parsed)
    if named:
        Path(named[1]).write_text(example.parsed, encoding="utf-8")
    return None


def check_unit(example: Example) -> str | None:
    """Check that a systemd unit starts a command of ours; nothing is started."""
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # systemd's names have capitals
    unit.read_string(example.parsed)
    program, *arguments = unit["Service"]["ExecStart"].split()
    if Path(program).name != "clawmark":
        return f"{program} is not clawmark."
    command = app.commands.get(arguments[0])
    if command is None:
        return f"{arguments[0]} is no command."
    try:
        command.make_context(arguments[0], arguments[1:])
    except click.UsageError as error:
        return error.format_message()
    return None


def check_sh(example: Example) -> str | None:
    """Check lines that would install something or take long, without running them."""
    for line in str(example.parsed).splitlines():
        wrong = _wrong_line(line) if line.strip() else None
        if wrong:
            return wrong
    return None


def _wrong_line(line: str) -> str | None:
    words = line.split()
    if words[0] == "make":
        run = subprocess.run(["make", "-n", *words[1:]], cwd=ROOT, check=False, capture_output=True, text=True)
        return None if run.returncode == 0 else f"{line}: {run.stderr}"
    pip = _PIP.fullmatch(line)
    if pip is None:
        return f"{line}: a sh block holds `make TARGET` and `pip install NAME` lines only."
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.split(r"[\s\[<>=~!]", pip["requirement"].strip("'\""))[0]
    return None if named == project["name"] else f"{line}: the package is called {project['name']}."


def other_blocks(document: Document) -> Iterable[Region]:
    """Give the blocks that nothing here runs: each fails."""
    for region in RawFencedCodeBlockLexer(_ANY_INFO)(document):
        language = region.lexemes["language"]
        if language not in LANGUAGES:
            region.evaluator = lambda example, language=language: (
                f"A block of {language or 'no language'!r}: only {', '.join(LANGUAGES)} are run."
            )
            yield region


PARSERS: tuple[Parser, ...] = (
    PythonCodeBlockParser(),
    CodeBlockParser("console", run_console),
    CodeBlockParser("toml", load_toml),
    CodeBlockParser("ini", check_unit),
    CodeBlockParser("sh", check_sh),
    other_blocks,
)
pytest_collect_file = Sybil(
    parsers=PARSERS,
    patterns=("README.md", "docs/*.md"),
    # Patterns match the end of a path.
    excludes=("*/README.md", "*/docs/*.md"),
    setup=enter_workspace,
    teardown=leave_workspace,
).pytest()


@pytest.fixture
def failure_of(tmp_path: Path) -> Callable[[str], str | None]:
    """Run the blocks of a Markdown text where the test stands; give the first failure, None without one."""

    def run(text: str) -> str | None:
        page = tmp_path / "page.md"
        page.write_text(text, encoding="utf-8")
        try:
            for example in Document.parse(str(page), *PARSERS):
                example.evaluate()
        except SybilFailure as failure:
            return failure.result
        return None

    return run
