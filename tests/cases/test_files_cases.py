"""Index and files: open is ready, the index is disposable, folders can be kept out, a huge note is read in part."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark import Memory, PathNotAllowedError
from stub import StubEmbedder
from terminal import clawmark, clawmark_process, python
from untouched import snapshot, untouched

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

MEGABYTE = 1_000_000


def test_one_process_indexes_and_the_next_finds(note: Note, workspace: Path) -> None:
    """L14: there is no loading step that only the creating process did."""
    note("memory/a.md", "The zebra sleeps.\n")
    first = clawmark_process("index", "--workspace", workspace, "--json")
    second = clawmark_process("search", "--workspace", workspace, "--json", "zebra")

    assert (first.code, first.json["added"]) == (0, 1)
    assert (second.code, second.json["stale"], second.json["warnings"]) == (0, False, [])
    assert [result["path"] for result in second.json["results"]] == ["memory/a.md"]


def test_an_index_with_vectors_is_ready_in_the_next_process(note: Note, workspace: Path, open_memory: Open) -> None:
    """L14: the vector leg answers at once too, also in a second memory of the same process."""
    note("memory/a.md", "The zebra sleeps.\n")
    assert open_memory(embedder=StubEmbedder({"zebra": 0.9})).sync().texts_embedded == 1
    stub = StubEmbedder({"zebra": 0.9})
    response = open_memory(embedder=stub).search("zebra")

    assert (response.mode, [result.path for result in response.results]) == ("hybrid", ["memory/a.md"])
    assert stub.document_calls == 0


def _fill(note: Note) -> None:
    for number in range(8):
        note(f"memory/n{number}.md", f"# Note {number}\n\nThe zebra number {number} sleeps {'long ' * number}.\n")
    note("MEMORY.md", "# Memory\n\nZebras sleep standing.\n")


def test_a_deleted_index_comes_back_as_it_was(note: Note, workspace: Path, open_memory: Open) -> None:
    """L15: same results as before, and no file of the user changed."""
    _fill(note)
    note("notes.txt", "not a note")
    note("clawmark.toml", "[query]\nmin_score = 0.3\n")
    before = _answers(open_memory())
    with untouched(workspace):
        shutil.rmtree(workspace / ".clawmark")
        report = open_memory().sync()

        assert (report.added, report.error) == (9, None)
        assert _answers(open_memory()) == before


def test_an_index_of_which_only_the_file_is_deleted_is_made_again(note: Note, workspace: Path) -> None:
    """L15: at the command line, with what lay beside the file left behind."""
    _fill(note)
    first = clawmark("search", "--workspace", workspace, "--json", "zebra")
    (workspace / ".clawmark" / "index.sqlite").unlink()
    with untouched(workspace):
        report = clawmark("index", "--workspace", workspace, "--json")
        second = clawmark("search", "--workspace", workspace, "--json", "zebra")

    assert (report.code, report.json["added"]) == (0, 9)
    assert second.json["results"] == first.json["results"]


def test_everything_derived_lies_in_one_folder_that_git_ignores(note: Note, workspace: Path) -> None:
    """L15: nothing else appears in the workspace, whatever is run."""
    _fill(note)
    before = snapshot(workspace)
    for arguments in (["index"], ["index", "--force"], ["search", "zebra"], ["explain", "zebra"], ["status", "--deep"]):
        assert clawmark(*arguments, "--workspace", workspace).code == 0

    assert snapshot(workspace) == before
    assert (workspace / ".clawmark" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def _answers(memory: Memory) -> list[dict[str, object]]:
    answers = [memory.search(question).to_dict() for question in ("zebra", "number 3", "standing", "long long")]
    return [{name: value for name, value in answer.items() if name != "tookMs"} for answer in answers]


@pytest.fixture
def crowded(note: Note) -> None:
    note("memory/.work/x.md", "A zebra in a work folder.\n")
    note("memory/reports/r.md", "A zebra in a report.\n")
    note("memory/reports/deep/r.md", "A zebra in a deep report.\n")
    note("memory/a.md", "A zebra in a note.\n")


def _found(memory: Memory) -> list[str]:
    return sorted(result.path for result in memory.search("zebra").results)


def test_hidden_folders_and_excluded_globs_are_not_indexed(crowded: None, open_memory: Open) -> None:
    """S24: only a.md, and the reasons for the others."""
    memory = open_memory(config={"files": {"exclude": ["memory/reports/**"]}})
    report = memory.sync()

    assert (report.added, _found(memory)) == (1, ["memory/a.md"])
    assert {item.path: item.reason for item in report.skipped} == {
        "memory/.work": "hidden folder",
        "memory/reports/r.md": "excluded by [files] exclude",
        "memory/reports/deep/r.md": "excluded by [files] exclude",
    }


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("clawmark.toml", '[files]\nexclude = ["memory/reports/**"]\n'),
        (".clawmarkignore", "# generated\nmemory/reports/\n"),
        ("clawmark.toml", '[files]\ninclude = ["memory/*.md"]\n'),
    ],
    ids=["exclude", "ignore file", "include"],
)
def test_what_is_excluded_later_is_gone_after_the_next_sync(
    crowded: None, note: Note, workspace: Path, open_memory: Open, file: str, text: str
) -> None:
    """S24: pruning lasts, at both doors; what was excluded can come back."""
    assert _found(open_memory()) == ["memory/a.md", "memory/reports/deep/r.md", "memory/reports/r.md"]
    note(file, text)
    report = clawmark("index", "--workspace", workspace, "--json")
    found = clawmark("search", "--workspace", workspace, "--json", "zebra")

    assert (report.code, report.json["removed"], report.json["unchanged"]) == (0, 2, 1)
    assert [result["path"] for result in found.json["results"]] == ["memory/a.md"]
    assert _found(open_memory()) == ["memory/a.md"]
    with pytest.raises(PathNotAllowedError):
        open_memory().get("memory/reports/r.md")

    (workspace / file).unlink()
    assert _found(open_memory()) == ["memory/a.md", "memory/reports/deep/r.md", "memory/reports/r.md"]


def test_a_search_already_obeys_a_new_exclusion(crowded: None, note: Note, workspace: Path) -> None:
    """S24: without an explicit sync, also in text; the count of files agrees."""
    assert clawmark("search", "--workspace", workspace, "zebra").out.count("\n   why:") == 3
    note(".clawmarkignore", "memory/reports/\n")
    ran = clawmark("search", "--workspace", workspace, "zebra")
    status = clawmark("status", "--workspace", workspace, "--json").json

    assert ran.out.count("\n   why:") == 1
    assert "memory/a.md" in ran.out
    assert (status["files"], status["eligible"], status["state"]) == (1, 1, "fresh")


_PEAK = """
import json, resource, sys
from clawmark import Memory
with Memory(sys.argv[1]) as memory:
    memory.search("zebra")
    memory.get("memory/small.md", from_line=1, lines=5)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    window = memory.get("memory/huge.md", from_line=10, lines=5)
    beyond = memory.get("memory/huge.md", from_line=1000, lines=5)
    report = memory.sync()
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
# Linux counts kilobytes, macOS bytes.
unit = 1 if sys.platform == "darwin" else 1024
print(json.dumps({"grown": (after - before) * unit, "window": window.to_dict(), "beyond": beyond.to_dict(),
                  "skipped": report.to_dict()["skipped"]}))
"""


@pytest.fixture
def huge(note: Note) -> Path:
    """A note of 500 MB that takes no room on the disk, beside a small one."""
    note("memory/small.md", "The zebra sleeps.\n")
    place = note("memory/huge.md", "".join(f"line {number}\n" for number in range(1, 31)))
    os.truncate(place, 500 * MEGABYTE)
    return place


def test_a_few_lines_of_a_huge_note_take_little_memory(huge: Path, workspace: Path) -> None:
    """F10: 500 MB on the disk, less than 20 MB more in memory; the indexer passes it over with a reason."""
    seen = python(_PEAK, workspace)

    assert seen["window"]["text"] == "line 10\nline 11\nline 12\nline 13\nline 14"
    assert (seen["window"]["from"], seen["window"]["lines"], seen["window"]["nextFrom"]) == (10, 5, 15)
    assert (seen["window"]["hash"], seen["window"]["totalLines"], seen["window"]["truncated"]) == (None, None, True)
    assert (seen["beyond"]["status"], seen["beyond"]["lines"]) == ("ok", 0)
    (skipped,) = seen["skipped"]
    assert skipped["path"] == "memory/huge.md"
    assert "500,000,000" in skipped["reason"]
    assert "10,000,000" in skipped["reason"]
    assert seen["grown"] < 20 * MEGABYTE


def test_the_command_line_reads_a_huge_note_too(huge: Path, workspace: Path) -> None:
    """F10: `get` gives the lines and how to go on; `index` lists the file and succeeds."""
    with untouched(workspace):
        lines = clawmark("get", "--workspace", workspace, "memory/huge.md", "--from-line", "10", "--lines", "5")
        report = clawmark("index", "--workspace", workspace, "--json")
        status = clawmark("status", "--workspace", workspace)

    assert lines.code == 0
    assert lines.out.startswith("line 10\nline 11\nline 12\nline 13\nline 14\n")
    assert "15" in lines.out.splitlines()[-1]
    assert (report.code, report.json["added"]) == (0, 1)
    assert [item["path"] for item in report.json["skipped"]] == ["memory/huge.md"]
    assert "skipped memory/huge.md: larger than the limit" in status.out


def test_a_larger_limit_lets_a_larger_note_in(note: Note, open_memory: Open) -> None:
    """F10: the limit is a setting, and the reason for a skip names it."""
    note("memory/a.md", "The zebra sleeps.\n" + "x\n" * 1_000)
    small = open_memory(config={"files": {"max_bytes": 1_000}}).sync()
    large = open_memory(config={"files": {"max_bytes": 100_000}}).sync()

    assert [item.reason for item in small.skipped] == ["larger than the limit (2,018 of 1,000 bytes)"]
    assert (large.skipped, large.added) == ((), 1)
