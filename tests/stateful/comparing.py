"""Two indexes of the same files, row by row and answer by answer; and one answer against the disk."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from ground import LOGS, MORE_LOGS, WORDS, is_regular

from clawmark import Memory, SearchResponse, SearchResult
from clawmark.core.ports import Reader
from clawmark.stores.sqlite import SqliteStore
from stub import WordHashEmbedder

QUERIES = ("walrus harbour", "kettle", "lantern in the meadow", "user pepper", "mark00003", "汉字", "quarry orchard")
INDEX = Path(".clawmark/index.sqlite")
# What rendering and masking put between the words of a file.
_NOT_OF_THE_FILE = ("User:", "Assistant:")
_MASKS = ("***", "…")


@contextmanager
def fresh_index(workspace: Path, place: Path, open_memory: Callable[..., Memory]) -> Iterator[Memory]:
    """Index the files anew, with the same things forgotten."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    forgotten = workspace / f"{INDEX}.forgotten.json"
    if forgotten.exists():
        shutil.copy(forgotten, place / "fresh.sqlite.forgotten.json")
    with open_memory(store=f"sqlite:///{place / 'fresh.sqlite'}") as memory:
        memory.sync()
        yield memory


def differences(one: Any, other: Any, place: str = "") -> list[str]:
    """Name the places where two values differ, with both."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted({*one, *other}, key=str)
        return [text for name in names for text in differences(one.get(name), other.get(name), f"{place}.{name}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [text for number, pair in pairs for text in differences(*pair, f"{place}[{number}]")]
    return [] if one == other else [f"{place}: {one!r} is not {other!r}"]


def rows_of(index: Path) -> dict[str, Any]:
    """Give everything that an index holds, without its internal numbers."""
    store = SqliteStore(index)
    with closing(store):
        assert store.faults("main") == []
        generations = len(store.identities("main"))
        with store.reading("main") as reader:
            return {"generations": generations, **_rows(reader)}


def _rows(reader: Reader) -> dict[str, Any]:
    state = reader.state()
    if state is not None:
        return {
            "identity": dict(state.identity),
            "complete": state.complete,
            # An index that has lost its last vector still knows whose they were.
            "space": state.facts.get("space") if any(count["vectors"] for count in reader.counts().values()) else None,
            "failed": state.facts.get("failed"),
            "counts": {name: count for name, count in reader.counts().items() if any(count.values())},
            "statistics": _statistics(reader),
            "documents": [_document(reader, row) for row in reader.documents()],
        }
    return {}


def _statistics(reader: Reader) -> Any:
    terms = _vocabulary(reader)
    found = reader.statistics(terms)
    return found.chunks, found.average_length, {term: found.document_frequency.get(term, 0) for term in terms}


def _vocabulary(reader: Reader) -> list[str]:
    words = {word.strip(".,:#").lower() for row in reader.documents() for word in reader.document_text(row.id).split()}
    return sorted({*WORDS, *words} - {""})


def _document(reader: Reader, row: Any) -> dict[str, Any]:
    chunks = reader.chunks(row.id)
    known = {item.id: item for item in reader.candidates([chunk.id for chunk in chunks], WORDS)}
    near = [reader.cosines(question, [chunk.id for chunk in chunks]) for question in _questions()]
    return {
        "row": (row.source, row.path, row.hash, row.size, row.mtime_ns, row.time_ms, row.rejected, dict(row.meta)),
        "text": reader.document_text(row.id),
        "chunks": [
            {
                "span": (chunk.start_line, chunk.end_line, chunk.start, chunk.end),
                "key": chunk.embedding_key,
                "embedded": chunk.embedded,
                "length": known[chunk.id].length,
                "terms": dict(known[chunk.id].frequencies),
                "kind": known[chunk.id].kind,
                "cosines": [round(cosines[chunk.id].best, 5) for cosines in near if chunk.id in cosines],
            }
            for chunk in chunks
        ],
    }


def _questions() -> list[np.ndarray]:
    return [WordHashEmbedder().embed_query(word) for word in WORDS[:3]]


def answers_of(memory: Memory) -> list[Any]:
    """Give the answers to a handful of questions, without what depends on the place of the index."""
    return [_answer(memory.search(query, max_results=50, min_score=0.0)) for query in QUERIES] + [
        _answer(memory.search(query)) for query in QUERIES[:2]
    ]


def _answer(response: SearchResponse) -> Any:
    answer = response.to_dict()
    # A search repeats what the pass that it started has met.
    codes = [notice["code"] for notice in answer.pop("warnings") if notice["code"] != "FILES_FAILED"]
    return {**{name: value for name, value in answer.items() if name != "tookMs"}, "codes": codes}


def numbers_of(memory: Memory) -> dict[str, Any]:
    """Give the status, without what depends on the place of the index or on what was done before."""
    status = memory.status().to_dict()
    local = ["indexPath", "bytesByPart", "cache", "cost", "lastSync"]
    if not (status["vector"] or {}).get("vectors"):
        local += ["provider", "model", "dimensions", "vector"]
    return {name: value for name, value in status.items() if name not in local}


def assert_is_on_disk(workspace: Path, response: SearchResponse, *, follow_links: bool) -> None:
    """Check that each result's file is there, and that a fresh one says what the file says."""
    for result in response.results:
        files = [file for file in _files_of(workspace, result) if is_regular(file, follow_links=follow_links)]
        assert files, f"{result.path} answers and is no file"
        if not result.stale:
            unknown = [_unknown_words(file, result.snippet) for file in files]
            assert [] in unknown, f"{result.path} answers {unknown}"


def _files_of(workspace: Path, result: SearchResult) -> list[Path]:
    """Give the files that a result may be of: the path of a transcript does not always name its folder."""
    if result.source == "memory":
        return [workspace / result.path]
    below = result.path.removeprefix("sessions/")
    return [workspace / below, workspace / LOGS / below, workspace / MORE_LOGS / below]


def _unknown_words(file: Path, snippet: str) -> list[str]:
    text = file.read_text(encoding="utf-8", errors="replace").replace("\\n", "\n")
    return [word for word in snippet.split() if not _is_known(word, text)]


def _is_known(word: str, text: str) -> bool:
    # The first and the last word of a snippet may be cut.
    return word in text or word in _NOT_OF_THE_FILE or any(mask in word for mask in _MASKS)
