"""Transcripts that got another name while their chat goes on.

A reset renames ``chat.jsonl`` to ``chat.jsonl.reset.<time>`` and begins a new
``chat.jsonl``: by names alone the old one changed beyond recognition and an unknown one
appeared. The inode tells who is who. It is a hint only: whoever reads on proves by a
hash that the transcript begins with what was read.
"""

from __future__ import annotations

from collections.abc import Sequence

from clawmark.core.ports import DocumentRow
from clawmark.files import FoundFile

Work = list[tuple[FoundFile, DocumentRow | None]]


def follow_renames(
    fresh: Sequence[FoundFile], touched: Sequence[tuple[FoundFile, DocumentRow]], gone: Sequence[DocumentRow]
) -> tuple[Work, dict[int, DocumentRow]]:
    """Pair files with what the index has of them, under an old name too.

    Args:
        fresh: Files whose path the index does not have.
        touched: Files that differ from the document of their path.
        gone: Documents without a file.

    Returns:
        What to read, renamed files first: their old paths must be free before another
        takes them. And the documents to remove, by id.
    """
    left = [row for found, row in touched if _inode(row) != found.inode]
    by_inode = {_inode(row): row for row in (*left, *gone) if _inode(row)}
    renamed = [(found, by_inode[found.inode]) for found in fresh if _is_session(found) and found.inode in by_inode]
    taken = {row.id for _, row in renamed}
    met = {found.path for found, _ in renamed}
    work: Work = [*renamed]
    work += [(found, None) for found in fresh if found.path not in met]
    work += [(found, None if row.id in taken else row) for found, row in touched]
    return work, {row.id: row for row in gone if row.id not in taken}


def _inode(row: DocumentRow) -> int:
    return int(row.meta.get("inode", 0)) if row.source == "sessions" else 0


def _is_session(found: FoundFile) -> bool:
    return found.source == "sessions" and found.inode != 0
