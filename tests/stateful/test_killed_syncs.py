"""A process that dies while it indexes: what it leaves is true, and the next sync finishes it."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
from dying import killed_sync
from editing import RECIPES
from ground import LOGS
from test_index_equals_files import FilesAndIndex


@pytest.fixture
def machine() -> Iterator[FilesAndIndex]:
    """A workspace with an index that is behind its files in every way."""
    made = FilesAndIndex()
    made.begin([], cache=False, decay=True)
    for name in ("a", "b", "2026-06-01", "sub/a", "sub/d"):
        made.write(f"memory/{name}.md", "walrus harbour %\n# Heading\n\n" + "quarry % meadow\n" * 20)
    made.append_message(f"{LOGS}/one.jsonl", "openclaw", "user", "walrus %")
    made.sync(force=False)
    made.write("memory/b.md", "kettle lantern %")
    made.delete("memory/a.md")
    made.rename_folder("memory/sub", "memory/far")
    made.write("MEMORY.md", "pepper %\n" * 60)
    made.append_message(f"{LOGS}/one.jsonl", "openclaw", "assistant", "harbour %")
    yield made
    made.teardown()


@pytest.mark.parametrize(
    ("stage", "after", "force", "recipe"),
    [
        ("reading", 0, False, {}),
        ("reading", 1, False, {}),
        ("embedding", 0, False, {}),
        # A forced sync embeds nothing again: it is killed while it reads.
        ("reading", 1, True, {}),
        ("embedding", 1, False, RECIPES[1]),
        ("reading", 1, False, RECIPES[1]),
        ("embedding", 2, False, RECIPES[1]),
    ],
)
def test_after_a_kill_nothing_false_answers_and_the_next_sync_finishes_the_index(
    machine: FilesAndIndex, stage: str, after: int, recipe: dict[str, int], *, force: bool
) -> None:
    machine.options["recipe"] = recipe
    died = killed_sync(machine.workspace, machine.config, machine.model, stage=stage, after=after, force=force)

    assert died == -signal.SIGKILL
    machine.nothing_answers_that_is_not_there()
    machine.reopen()
    machine.sync(force=False)
