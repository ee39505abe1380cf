"""Takes out of the index what tombstones hide, and what they hid before.

Every way into the index builds documents with ``Recipe.forgotten``; this is for rows
that were built with other tombstones.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmark.core.forgetting import FORGOTTEN, HIDDEN_LINES, Forgotten
from clawmark.core.ports import DocumentRow, Reader, Store, Writer

FACT = "forgotten"


def hidden_rows(reader: Reader, forgotten: Forgotten) -> Iterator[DocumentRow]:
    """Give the documents that hold something forgotten."""
    for row in reader.documents():
        if row.rejected is not None:
            continue
        if forgotten.hides(row) or (forgotten.hides_lines and _holds_lines(reader, row, forgotten)):
            yield row


def marked_rows(reader: Reader) -> list[DocumentRow]:
    """Give the documents that were shortened, or left out, because of a tombstone."""
    return [row for row in reader.documents() if row.rejected == FORGOTTEN or row.meta.get(HIDDEN_LINES)]


def purge(store: Store, agent: str, identity: Mapping[str, Any], forgotten: Forgotten) -> bool:
    """Remove from one generation every document that was built with other tombstones.

    They are files that the index does not have, from then on, and the next pass reads
    them again as far as they are not forgotten.

    Returns:
        Whether anything was removed.
    """
    with store.reading(agent, identity) as reader:
        state = reader.state()
        if (state.facts.get(FACT, "") if state else "") == forgotten.digest:
            return False
        empty = (row for row in reader.documents() if row.rejected is not None and forgotten.hides(row))
        old = {row.id for row in (*marked_rows(reader), *hidden_rows(reader, forgotten), *empty)}
    with store.writing(agent, identity) as writer:
        remove_all(writer, old)
        writer.put_facts({FACT: forgotten.digest})
    return bool(old)


def remove_all(writer: Writer, numbers: set[int]) -> None:
    """Remove documents by id."""
    for number in sorted(numbers):
        writer.remove(number)


def _holds_lines(reader: Reader, row: DocumentRow, forgotten: Forgotten) -> bool:
    text = reader.document_text(row.id)
    return forgotten.masked(text) != text
