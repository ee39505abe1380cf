"""What a hostile review found: an index that mixes, waits, overwrites or keeps silent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from clawmark import ConfigError, Memory
from clawmark.cli.app import app
from stub import StubEmbedder

Note = Callable[[str, str], Path]


class Learning(StubEmbedder):
    """A stub that does not know its dimensions before the first answer."""

    def __init__(self, size: int) -> None:
        super().__init__(model="learning", dimensions=size)
        self.size, self.dimensions = size, None  # pyright: ignore[reportAttributeAccessIssue]

    def embed_documents(self, texts):  # type: ignore[no-untyped-def]
        self.dimensions = self.size
        return super().embed_documents(texts)

    def embed_query(self, text):  # type: ignore[no-untyped-def]
        self.dimensions = self.size
        return super().embed_query(text)


def test_vectors_of_two_lengths_are_never_mixed(workspace: Path, note: Note) -> None:
    """R09: the same model name answers with another length, and the cache knows the old one."""
    note("memory/a.md", "alpha one")
    with Memory(workspace, embedder=Learning(3)) as memory:
        memory.sync()
    note("memory/b.md", "beta two")
    with Memory(workspace, embedder=Learning(4)) as memory:
        report = memory.sync()
        assert (report.pending, report.error, report.failed) == (0, None, ())
        response = memory.search("alpha one")
        assert response.mode == "hybrid"
        assert memory.status().dimensions == 4


def test_a_forced_index_never_removes_a_file_that_is_no_index(workspace: Path, note: Note) -> None:
    precious = note("precious.txt", "years of work")
    with Memory(workspace, embedder="none", store=f"sqlite:///{precious}") as memory:
        report = memory.sync(force=True)
    assert report.error is not None
    assert precious.read_text(encoding="utf-8") == "years of work"


def test_a_store_may_not_be_a_markdown_file(workspace: Path, note: Note) -> None:
    note("MEMORY.md", "# Facts")
    with pytest.raises(ConfigError):
        Memory(workspace, embedder="none", store="sqlite:///MEMORY.md")


def test_a_search_does_not_wait_for_another_process_that_indexes(workspace: Path, note: Note) -> None:
    note("memory/a.md", "alpha one")
    with Memory(workspace, embedder="none") as memory:
        memory.sync()
        note("memory/b.md", "beta two")
        with FileLock(workspace / ".clawmark" / "sync.lock"):
            response = memory.search("alpha")
    assert [result.path for result in response.results] == ["memory/a.md"]
    assert response.stale
    assert "SYNC_RUNNING" in {notice.code for notice in response.warnings}


def test_a_first_search_beside_a_first_index_never_calls_the_index_damaged(workspace: Path, note: Note) -> None:
    note("memory/a.md", "alpha one")
    codes: list[str | None] = []

    def ask() -> None:
        with Memory(workspace, embedder="none") as memory:
            error = memory.search("alpha").error
            codes.append(error.code if error else None)

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [None] * 6


def test_an_answer_says_that_passages_have_no_vector_yet(workspace: Path, note: Note) -> None:
    note("memory/a.md", "alpha one")
    with Memory(workspace, embedder=StubEmbedder()) as memory:
        memory.sync()
    note("memory/b.md", "beta two")
    with Memory(workspace, embedder="none") as memory:
        memory.sync()
    with Memory(workspace, embedder=StubEmbedder()) as memory:
        response = memory.search("alpha")
    assert "VECTORS_PENDING" in {notice.code for notice in response.warnings}


def test_an_index_folder_that_is_a_file_is_an_error_and_no_traceback(workspace: Path, note: Note) -> None:
    note("memory/a.md", "alpha one")
    (workspace / ".clawmark").write_text("in the way", encoding="utf-8")
    with Memory(workspace, embedder="none") as memory:
        assert memory.sync().error is not None
        assert "INDEX_PERMISSION" in {notice.code for notice in memory.search("alpha").warnings}


def test_an_index_folder_that_is_a_link_is_not_followed(workspace: Path, note: Note, tmp_path: Path) -> None:
    note("memory/a.md", "alpha one")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (workspace / ".clawmark").symlink_to(elsewhere)
    with Memory(workspace, embedder="none") as memory:
        memory.sync()
        assert memory.search("alpha").results
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("place", ["memory/a.md:2", "memory/a.md#L2", "memory/a.md#L2-L2"])
def test_a_citation_can_be_pasted_into_get(workspace: Path, note: Note, place: str) -> None:
    note("memory/a.md", "one\ntwo\nthree\n")
    result = CliRunner().invoke(app, ["get", place, "--workspace", str(workspace)])
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "two"


def test_a_folder_whose_notes_do_not_count_is_told_so(workspace: Path, note: Note) -> None:
    note("notes.md", "alpha one")
    with Memory(workspace, embedder="none") as memory:
        memory.sync()
        notices = memory.search("alpha").warnings
    assert any("notes.md" in notice.message for notice in notices)
