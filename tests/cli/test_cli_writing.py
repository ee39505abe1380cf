"""``clawmark append``: from an argument, from a pipe, and what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmark import Memory
from terminal import clawmark, clawmark_process


def _append(workspace: Path, *arguments: str, stdin: str | bytes | None = None):
    return clawmark("append", *arguments, "--workspace", workspace, stdin=stdin)


def test_an_append_says_what_it_did_and_where(zoo: Path) -> None:
    """I01: also what it left out."""
    new = _append(zoo, "memory/2026-06-02.md", "The crane has laid.\n\nTwo eggs.")
    partly = _append(zoo, "memory/2026-06-02.md", "Two eggs.\nOne is blue.")
    again = _append(zoo, "memory/2026-06-02.md", "Two eggs.")

    assert (new.code, new.out, new.err) == (0, "Created: memory/2026-06-02.md:1-3, 31 bytes.\n", "")
    assert partly.out == "Appended: memory/2026-06-02.md:5, 14 bytes.\n1 duplicate block skipped.\n"
    assert (again.code, again.out) == (0, "Unchanged: memory/2026-06-02.md holds it already.\n")
    assert clawmark("search", "blue", "--workspace", zoo).out.startswith("1. memory/2026-06-02.md:")


def test_json_is_the_wire_shape_of_the_report(zoo: Path) -> None:
    ran = _append(zoo, "MEMORY.md", "The crane has laid.", "--json")
    with Memory(zoo, embedder="none") as memory:
        again = memory.append("MEMORY.md", "The crane has laid.")

    assert ran.code == 0
    assert ran.json.keys() == again.to_dict().keys()
    assert (ran.json["status"], ran.json["startLine"], ran.json["hash"]) == ("appended", 5, again.hash)


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_without_a_text_stdin_is_appended(zoo: Path, arguments: tuple[str, ...]) -> None:
    ran = _append(zoo, "memory/小满.md", *arguments, stdin="小满对花生过敏。\n".encode())

    assert (ran.code, ran.out) == (0, "Created: memory/小满.md:1, 25 bytes.\n")
    assert (zoo / "memory/小满.md").read_text(encoding="utf-8") == "小满对花生过敏。\n"


@pytest.mark.parametrize("text", ["- fed the lion", "-- a dash", "---\n\nA rule.", "-> an arrow", "* x", "# Heading"])
def test_a_text_that_begins_as_markdown_does_is_no_option(zoo: Path, text: str) -> None:
    ran = clawmark("append", "memory/list.md", text, "--workspace", zoo)

    assert ran.code == 0
    assert (zoo / "memory/list.md").read_text(encoding="utf-8") == f"{text}\n"


def test_an_option_is_still_one_and_a_text_may_look_like_it_behind_two_dashes(zoo: Path) -> None:
    assert _append(zoo, "memory/list.md", "--unknown").code == 2
    assert clawmark("append", "--workspace", zoo, "memory/list.md", "--", "--help").code == 0
    assert (zoo / "memory/list.md").read_text(encoding="utf-8") == "--help\n"


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (("../ws-other/a.md", "New."), None, 1, "may not be written"),
        (("memory/a.txt", "New."), None, 1, "not a Markdown file"),
        (("MEMORY.md", " "), None, 2, "empty"),
        (("MEMORY.md",), b"", 2, "empty"),
        (("MEMORY.md",), b"caf\xe9", 2, "not UTF-8"),
        ((), None, 2, "PATH"),
    ],
)
def test_what_cannot_be_written_is_told_on_stderr(
    zoo: Path, arguments: tuple[str, ...], stdin: bytes | None, code: int, said: str
) -> None:
    before = (zoo / "MEMORY.md").read_bytes()
    ran = clawmark_process("append", "--workspace", zoo) if not arguments else _append(zoo, *arguments, stdin=stdin)

    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert (zoo / "MEMORY.md").read_bytes() == before


def test_a_broken_byte_on_the_command_line_is_refused(zoo: Path) -> None:
    """Such an argument reaches Python as half a surrogate pair."""
    ran = clawmark_process("append", "--workspace", zoo, "MEMORY.md", "caf\udce9")

    assert (ran.code, ran.out) == (2, "")
    assert "not valid Unicode" in ran.err
