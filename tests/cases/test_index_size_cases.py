"""How large an index is: the user case C08."""

from __future__ import annotations

import bisect
import itertools
import json
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asking import ask, run

from clawmark import Memory, Status, SyncReport
from clawmark.embedders.local import LocalEmbedder
from stub import StubEmbedder

PROSE_BYTES = 1_000_000
TOOL_BYTES = 10_000_000
MESSAGES = 1_000
WORDS = 10_000
CONFIG = {"sessions": {"paths": ["sessions"]}}


def word_list(chance: random.Random) -> list[str]:
    """Give distinct words made of syllables, the frequent ones short."""
    syllables = [a + b + c for a in "bcdfghlmnprstvw" for b in "aeiou" for c in ("", "n", "r", "s", "t")]
    words: dict[str, None] = {}
    while len(words) < WORDS:
        most = 2 if len(words) < 400 else 4
        words["".join(chance.choices(syllables, k=chance.randint(1, most)))] = None
    return list(words)


def prose(chance: random.Random) -> Iterator[str]:
    """Give messages of sentences whose words are as frequent as those of a language (Zipf)."""
    words = word_list(chance)
    heights = list(itertools.accumulate(1.0 / (rank + 2.7) for rank in range(WORDS)))

    def sentence() -> str:
        picks = [bisect.bisect(heights, chance.random() * heights[-1]) for _ in range(chance.randint(5, 20))]
        return " ".join(words[pick] for pick in picks).capitalize() + "."

    for _ in range(MESSAGES):
        message = sentence()
        while len(message) < PROSE_BYTES // MESSAGES:
            message += " " + sentence()
        yield message


def transcript(chance: random.Random) -> tuple[str, int, int]:
    """Give a transcript, with the bytes of its prose and of its tool output."""
    lines: list[str] = []
    spoken = structured = 0
    for number, message in enumerate(prose(chance)):
        output = json.dumps([{"id": chance.getrandbits(64), "value": chance.random()} for _ in range(180)])
        role = "user" if number % 2 else "assistant"
        lines += [json.dumps({"role": role, "text": message}), json.dumps({"role": "tool", "text": output})]
        spoken += len(message)
        structured += len(output)
    return "\n".join(lines) + "\n", spoken, structured


@pytest.fixture(scope="module")
def workspace_of_tools(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A workspace with 1 MB of prose among 10 MB of tool output in transcripts."""
    workspace = tmp_path_factory.mktemp("tools")
    text, spoken, structured = transcript(random.Random(20260630))
    assert spoken == pytest.approx(PROSE_BYTES, rel=0.06)
    assert structured >= TOOL_BYTES * 0.9
    (workspace / "sessions").mkdir()
    (workspace / "sessions" / "work.jsonl").write_text(text, encoding="utf-8")
    (workspace / "clawmark.toml").write_text('[sessions]\npaths = ["sessions"]\n', encoding="utf-8")
    return workspace, spoken


class DenseEmbedder(StubEmbedder):
    """Gives vectors of the length of the default embedder, with no zero and no pattern in them.

    The default embedder needs half a minute for these texts; its index has the same size to the byte.
    """

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.texts.extend(texts)
        return np.array([self._dense(text) for text in texts], dtype=np.float32)

    def _dense(self, text: str) -> np.ndarray:
        return np.random.default_rng(zlib.crc32(text.encode())).standard_normal(self.dimensions)


@pytest.fixture(scope="module")
def indexed(
    workspace_of_tools: tuple[Path, int], tmp_path_factory: pytest.TempPathFactory
) -> tuple[SyncReport, Status, int]:
    """The report and the deep status of an index with vectors like the default ones, and the prose in bytes."""
    workspace, spoken = workspace_of_tools
    dimensions = LocalEmbedder.dimensions
    assert dimensions is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLAWMARK_HOME", str(tmp_path_factory.mktemp("home")))
        with Memory(workspace, embedder=DenseEmbedder(dimensions=dimensions)) as memory:
            report = memory.sync()
            status = memory.status(deep=True)
    return report, status, spoken


def test_an_index_with_vectors_is_at_most_three_times_its_prose(indexed: tuple[SyncReport, Status, int]) -> None:
    """C08: the file as it lies on the disk, journal included, with default settings."""
    report, status, spoken = indexed

    assert (report.error, report.failed, report.texts_embedded) == (None, (), report.chunks)
    index = Path(status.index_path)
    size = sum(file.stat().st_size for file in index.parent.glob(f"{index.name}*"))
    assert size <= 3 * spoken, f"{size / spoken:.2f} times the prose: {status.bytes_by_part}"


def test_status_lists_the_bytes_of_each_part(indexed: tuple[SyncReport, Status, int]) -> None:
    """C08: text, vectors and full text, of which none is above the whole."""
    report, status, _ = indexed
    parts = status.bytes_by_part

    assert parts is not None
    assert set(parts) >= {"text", "vectors", "full_text", "file"}
    assert parts["vectors"] % report.chunks == 0
    assert all(size > 0 for size in parts.values())
    assert parts["text"] + parts["vectors"] + parts["full_text"] <= parts["file"]


def test_the_command_line_lists_the_bytes_of_each_part(
    indexed: tuple[SyncReport, Status, int], workspace_of_tools: tuple[Path, int]
) -> None:
    """C08: ``status --deep``, in JSON and in text."""
    workspace = workspace_of_tools[0]

    assert ask(workspace, "status", "--deep")["bytesByPart"] == indexed[1].to_dict()["bytesByPart"]
    assert "full_text" in run(workspace, "status", "--deep").stdout


def test_output_of_tools_is_not_in_the_index(
    indexed: tuple[SyncReport, Status, int], open_memory: Callable[..., Any], workspace_of_tools: tuple[Path, int]
) -> None:
    """C08: the words of its JSON are no words to search for."""
    memory = open_memory(workspace=workspace_of_tools[0], config=CONFIG)

    assert indexed[1].source_counts["sessions"]["chunks"] == indexed[0].chunks
    assert memory.search("id value", min_score=0.0).results == ()
