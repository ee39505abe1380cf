"""What a memory file holds after an append or a write: bytes in, bytes out."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from clawmark.core.blocks import Block, KnownBlocks, blocks_of
from clawmark.core.errors import ArgumentError

_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class WritePlan:
    """A file as it is to be.

    Attributes:
        content: All bytes.
        start_line: First line that is new, from 1; None when nothing changes.
        end_line: Last one.
        skipped: Blocks left out because the file holds them.
    """

    content: bytes
    start_line: int | None = None
    end_line: int | None = None
    skipped: int = 0


def check_text(text: str) -> None:
    """Refuse a text that cannot become part of a note.

    Raises:
        ArgumentError: It is blank, holds a NUL character, or is not valid Unicode.
    """
    if not text.replace("\ufeff", "").strip():
        raise ArgumentError("text is empty: there is nothing to write.", action="Give the text to write.")
    if (place := text.find("\0")) >= 0:
        raise ArgumentError(f"text holds a NUL character at place {place}; notes are text.", action="Remove it.")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"text is not valid Unicode: half a character (U+{ord(text[error.start]):04X}) at place {error.start}.",
            action="Decode its source as UTF-8.",
        ) from error


def plan_append(existing: bytes, text: str) -> WritePlan:
    r"""Put the blocks of a text that a file does not hold behind it.

    Args:
        existing: The file, UTF-8; b"" for a new one.
        text: Not blank; see ``check_text``.

    Returns:
        The file with the new blocks behind a blank line, in the file's line ends, and a
        newline at the end. Existing bytes stay as they are. A block that the file holds
        is left out; a heading, or a line that ends in a colon, only together with all
        that it leads into; of a block that begins with whole blocks of the file, the rest
        is added.

    >>> plan_append(b"Milk is out.", "Milk is out.\nSo is bread.\n")
    WritePlan(content=b'Milk is out.\n\nSo is bread.\n', start_line=3, end_line=3, skipped=1)
    """
    # A byte order mark at the beginning of a line is left over from a file that was pasted.
    lines = [line.rstrip("\r").lstrip("\ufeff") for line in text.split("\n")]
    added, skipped = _new_lines(lines, existing.removeprefix(_MARK).decode().split("\n"))
    if not added:
        return WritePlan(existing, skipped=skipped)
    end = _line_end(existing)
    before = existing + _gap(existing, end)
    start = before.count(b"\n") + 1
    content = before + b"".join(line.encode() + end for line in added)
    return WritePlan(content, start, start + len(added) - 1, skipped)


def plan_write(existing: bytes | None, text: str) -> WritePlan:
    r"""Put a text in the place of a file's content.

    Args:
        existing: The file; None for a new one.
        text: Not blank; see ``check_text``.

    Returns:
        Exactly the text; but a byte order mark stays, and a file with CRLF keeps them.

    >>> plan_write(b"a\r\nb\r\n", "c\nd\n").content
    b'c\r\nd\r\n'
    """
    content = text.encode()
    if existing is not None and content != existing and _line_end(existing) == b"\r\n":
        content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    if existing is not None and existing.startswith(_MARK):
        content = _MARK + content.removeprefix(_MARK)
    if content == existing:
        return WritePlan(content)
    return WritePlan(content, 1, content.count(b"\n") + (not content.endswith(b"\n")))


def _line_end(existing: bytes) -> bytes:
    return b"\r\n" if 2 * existing.count(b"\r\n") > existing.count(b"\n") else b"\n"


def _gap(existing: bytes, end: bytes) -> bytes:
    """Give what must stand between a file and a block: the end of its line, and a blank line."""
    text = existing.removeprefix(_MARK)
    if not text.strip():
        return b"" if not text or text.endswith(b"\n") else end
    last = text.rpartition(b"\n")[2]
    if last:
        return end if not last.decode().strip() else end + end
    return b"" if not text[:-1].rpartition(b"\n")[2].decode().strip() else end


def _new_lines(lines: Sequence[str], file_lines: Sequence[str]) -> tuple[list[str], int]:
    blocks = blocks_of(lines)
    heads = {block.runs[0].lines[0] for block in blocks}
    # Most texts are new from their first words on: then the file need not be taken apart.
    may_hold = not heads.isdisjoint(map(str.rstrip, file_lines))
    kept, skipped = _choose(blocks, KnownBlocks(file_lines if may_hold else ()))
    added: list[str] = []
    for place, block in enumerate(blocks):
        if place not in kept:
            continue
        start = block.start + kept[place]
        if added:
            is_whole = place - 1 in kept and not kept[place]
            added += lines[blocks[place - 1].end : start] if is_whole else [""]
        added += lines[start : block.end]
    return added, skipped


def _choose(blocks: Sequence[Block], known: KnownBlocks) -> tuple[dict[int, int], int]:
    """Give the blocks to add, each with the number of its first lines to leave out, and count what is left out."""
    wordy = _wordy(blocks)
    owners = {run.start: place for place, block in enumerate(blocks) for run in block.runs}
    above = {place: [owners[run.start] for run in blocks[place].runs[0].above] for place in wordy}
    leaders = {leader for place in wordy for leader in above[place] if blocks[leader].leads_in}
    kept: dict[int, int] = {}
    skipped = 0
    # From the end: what a heading leads into decides about it.
    for place in reversed(wordy):
        if place not in kept and place not in leaders:
            held = _held(blocks[place], known)
            skipped += held > 0
            if blocks[place].start + held < blocks[place].end:
                kept[place] = held
        if place in kept:
            kept.update(dict.fromkeys(above[place], 0))
    kept.update(dict.fromkeys([*_ornaments(len(blocks), wordy, kept)], 0))
    return kept, skipped


def _wordy(blocks: Sequence[Block]) -> list[int]:
    """Give the places of the blocks that say something; of all, when none does."""
    found = [place for place, block in enumerate(blocks) if block.has_words or block.leads_in]
    return found or list(range(len(blocks)))


def _held(block: Block, known: KnownBlocks) -> int:
    return block.end - block.start if known.holds(block) else known.held_lines(block)


def _ornaments(count: int, wordy: Sequence[int], kept: Container[int]) -> Iterator[int]:
    """Give the rules and the like that stand between blocks that are added."""
    for place in sorted(set(range(count)) - set(wordy)):
        after = bisect(wordy, place)
        if all(neighbour in kept for neighbour in wordy[max(after - 1, 0) : after + 1]):
            yield place
