"""What the store contract fills a store with: small documents of real terms, and unit vectors."""

from __future__ import annotations

import hashlib
import math
import threading
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from clawmark.core.chunking import embedding_text
from clawmark.core.ports import ChunkRow, Document, Filter, Reader, Store
from clawmark.core.tokens import text_singles, text_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

_T = TypeVar("_T")

IDENTITY = {"chunker": 1, "tokens": 400}
OTHER_IDENTITY = {"chunker": 2, "tokens": 400}
DIMENSIONS = 8
SPACE = {"provider": "contract", "model": "one", "dimensions": DIMENSIONS}
OTHER_SPACE = {"provider": "contract", "model": "two", "dimensions": DIMENSIONS}
EVERYTHING = Filter(frozenset({"memory", "sessions"}))


def document(path: str, text: str, *, source: str = "memory", **fields: Any) -> Document:
    """Make a document; *fields* replace what is derived from the text."""
    data = text.encode()
    values: dict[str, Any] = {
        "hash": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "mtime_ns": 1_700_000_000_000_000_000,
        "text": text,
        **fields,
    }
    return Document(source, path, **values)


def chunks_of(text: str, *, context: str = "") -> list[ChunkRow]:
    """Make one chunk of each paragraph."""
    return [_chunk(text, start, end, context) for start, end in _paragraphs(text)]


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for part in text.split("\n\n"):
        if part.strip():
            yield start, start + len(part)
        start += len(part) + 2


def _chunk(text: str, start: int, end: int, context: str) -> ChunkRow:
    part = text[start:end]
    first = text.count("\n", 0, start) + 1
    return ChunkRow(
        start_line=first,
        end_line=first + part.count("\n"),
        start=start,
        end=end,
        context=context,
        terms=tuple(text_terms(part)),
        singles=text_singles(part),
        embedding_key=hashlib.blake2b(embedding_text(context, part).encode(), digest_size=16).digest(),
    )


def put(store: Store, agent: str, path: str, text: str, *, context: str = "", **fields: Any) -> int:
    """Store one document with a chunk per paragraph, in a transaction of its own; give its id."""
    with store.writing(agent, IDENTITY) as writer:
        return writer.replace(document(path, text, **fields), chunks_of(text, context=context))


def remove(store: Store, agent: str, document_id: int) -> None:
    """Remove one document in a transaction of its own."""
    with store.writing(agent, IDENTITY) as writer:
        writer.remove(document_id)


def embed(store: Store, agent: str, cosines: dict[int, float]) -> None:
    """Give chunks a vector with this cosine to ``unit()``."""
    with store.writing(agent, IDENTITY) as writer:
        writer.put_vectors({number: unit(cosine) for number, cosine in cosines.items()}, space=SPACE)


def unit(cosine: float = 1.0) -> NDArray[Any]:
    """Give a unit vector (8,) float32 with this cosine to ``unit()``, the question of all tests."""
    import numpy as np

    vector = np.zeros(DIMENSIONS, dtype=np.float32)
    vector[0], vector[1] = cosine, math.sqrt(1.0 - cosine * cosine)
    return vector


def chunk_ids(store: Store, agent: str, path: str | None = None) -> list[int]:
    """Give the ids of an agent's chunks, of one path or of all."""
    with store.reading(agent) as reader:
        return ids_in(reader, path)


def ids_in(reader: Reader, path: str | None = None) -> list[int]:
    """Give the ids of the chunks in a view, of one path or of all."""
    found = reader.pending(limit=100_000, all_chunks=True)
    return [chunk.id for chunk in found if path in (None, chunk.path)]


def best_of(reader: Reader, chunks: Collection[int]) -> dict[int, float]:
    """Give the cosine of each chunk that has a vector to ``unit()``."""
    return {number: near.best for number, near in reader.cosines(unit(), chunks).items()}


def paths_in(reader: Reader) -> list[str]:
    """Give the paths of the documents in a view."""
    return [row.path for row in reader.documents()]


def in_thread(call: Callable[[], _T]) -> _T:
    """Run a call in another thread, as another part of a program would; give what it gives."""
    outcome: list[_T] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            outcome.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again in the thread of the test
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return outcome[0]
