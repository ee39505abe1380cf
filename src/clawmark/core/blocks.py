"""The blocks of a Markdown text, and which of them a file holds already.

A *run* is a series of lines without a blank one; a heading is a run of its own. A
*block* is what is kept or left out as a whole: one run, or several that would break
apart, such as a fenced piece of code with blank lines.

Runs are cut line by line, without regard to fences, so that the runs of a file and of
what is put behind it are the runs of both together. Only so is a second append of the
same text sure to find all that the first one added.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Lines = tuple[str, ...]

_HEADING = re.compile(r" {0,3}(#{1,6})(?:\s|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)")
# Backticks later in the line make it a piece of code within a sentence.
_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
# A line such as "Open questions:" leads into what follows, below every heading.
_LEAD_IN_LEVEL = 7
# A line that begins so belongs to the one above it: a nested item, a row of a table.
_CONTINUES = (" ", "\t", "|")


@dataclass(frozen=True, eq=False)
class Run:
    """Consecutive lines that are not blank.

    Attributes:
        lines: Without white space at their ends.
        start: Place of the first line in the text, from 0.
        level: 1 to 6 of a heading, 7 of a line that ends in a colon, else None.
        above: The headings and lead-ins that it stands under, outermost first.
    """

    lines: Lines
    start: int
    level: int | None
    above: tuple[Run, ...]

    @property
    def end(self) -> int:
        """Place behind the last line."""
        return self.start + len(self.lines)

    @property
    def context(self) -> tuple[Lines, ...]:
        """The texts of what it stands under."""
        return tuple(run.lines for run in self.above)


@dataclass(frozen=True, eq=False)
class Block:
    """What an append takes or leaves as a whole.

    Attributes:
        runs: At least one.
        is_fenced: True when it holds fenced code.
    """

    runs: tuple[Run, ...]
    is_fenced: bool = False

    @property
    def start(self) -> int:
        """Place of the first line."""
        return self.runs[0].start

    @property
    def end(self) -> int:
        """Place behind the last line."""
        return self.runs[-1].end

    @property
    def leads_in(self) -> bool:
        """Tell whether it is a heading, or a line that means nothing without what follows."""
        return len(self.runs) == 1 and self.runs[0].level is not None and not self.is_fenced

    @property
    def has_words(self) -> bool:
        """Tell a block with something to say from a rule or an ornament."""
        return any(map(_has_words, (run.lines for run in self.runs)))


def runs_of(lines: Sequence[str]) -> list[Run]:
    """Cut lines into runs, and find out under what each stands.

    >>> [(run.lines, run.start) for run in runs_of(["# Day", "One", "two ", "", "three"])]
    [(('# Day',), 0), (('One', 'two'), 1), (('three',), 4)]
    """
    found: list[Run] = []
    above: list[Run] = []
    for start, part in _cut(lines):
        level = _level(part)
        while level is not None and above and (above[-1].level or 0) >= level:
            above.pop()
        run = Run(part, start, level, tuple(above))
        found.append(run)
        if level is not None:
            above.append(run)
    return found


def blocks_of(lines: Sequence[str]) -> list[Block]:
    """Cut lines into blocks; fenced code and indented continuations stay with what they belong to.

    >>> [len(block.runs) for block in blocks_of(["Run:", "```", "a", "", "b", "```", "", "- x", "", "  more", "", "y"])]
    [2, 2, 1]
    """
    groups: list[list[Run]] = []
    fence = ""
    for run in runs_of(lines):
        if fence or (groups and _continues(groups[-1], run)):
            groups[-1].append(run)
        else:
            groups.append([run])
        fence = _fence_after(run.lines, fence)
    return [Block(tuple(runs), _has_fence(runs)) for runs in groups]


class KnownBlocks:
    """What a file holds, ready to be asked.

    A block counts as held only under the same headings: what is done is not what is to do.
    A block without a heading of its own may stand anywhere.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._runs = runs_of(lines)
        self._contexts: dict[Lines, set[tuple[Lines, ...]]] = {}
        self._places: dict[Lines, list[int]] = {}
        self._starting: dict[str, set[Lines]] = {}
        for place, run in enumerate(self._runs):
            self._contexts.setdefault(run.lines, set()).add(run.context)
            self._places.setdefault(run.lines, []).append(place)
            if run.level is None:
                self._starting.setdefault(run.lines[0], set()).add(run.lines)

    def holds(self, block: Block) -> bool:
        """Tell whether the file has a block, its runs one behind the other."""
        first = block.runs[0]
        if len(block.runs) == 1:
            return self._has(first.lines, first.context)
        wanted = [run.lines for run in block.runs]
        return any(self._stands_at(place, wanted, first.context) for place in self._places.get(first.lines, ()))

    def _stands_at(self, place: int, wanted: list[Lines], context: tuple[Lines, ...]) -> bool:
        found = self._runs[place : place + len(wanted)]
        return [run.lines for run in found] == wanted and _ends_with(found[0].context, context)

    def _has(self, lines: Lines, context: tuple[Lines, ...]) -> bool:
        return any(_ends_with(place, context) for place in self._contexts.get(lines, ()))

    def held_lines(self, block: Block) -> int:
        """Count the lines at the beginning of a block that are whole blocks of the file.

        Every way to cover the beginning is looked at, so that a file with more blocks
        never holds less.
        """
        run = block.runs[0]
        if len(block.runs) > 1 or block.is_fenced or run.level is not None:
            return 0
        reached = {0}
        for place in range(len(run.lines)):
            if place in reached:
                reached.update(self._ends(run, place))
        return max(reached)

    def _ends(self, run: Run, place: int) -> Iterator[int]:
        for part in self._starting.get(run.lines[place], ()):
            end = place + len(part)
            if run.lines[place:end] == part and _may_end(run.lines, end, part) and self._has(part, run.context):
                yield end


def _cut(lines: Sequence[str]) -> Iterator[tuple[int, Lines]]:
    part: list[str] = []
    for place, line in enumerate((*map(str.rstrip, lines), "")):
        is_heading = _HEADING.match(line) is not None
        if part and (not line or is_heading):
            yield place - len(part), tuple(part)
            part = []
        if is_heading:
            yield place, (line,)
        elif line:
            part.append(line)


def _level(part: Lines) -> int | None:
    if heading := _HEADING.match(part[0]):
        return len(heading[1])
    *before, last = part
    if before and (underline := _UNDERLINE.fullmatch(last)):
        return 1 if underline[1].startswith("=") else 2
    return _LEAD_IN_LEVEL if last.endswith((":", "：")) else None


def _continues(group: Sequence[Run], run: Run) -> bool:
    if len(group) == 1 and group[0].level is not None:
        return False  # what is below a heading stands under it anyway
    return run.lines[0].startswith(_CONTINUES) and not _HEADING.match(run.lines[0])


def _has_fence(runs: Sequence[Run]) -> bool:
    return any(_FENCE.match(line) for run in runs for line in run.lines)


def _fence_after(lines: Lines, fence: str) -> str:
    """Give the fence that is open behind some lines; "" when none is."""
    for line in lines:
        match = _FENCE.match(line)
        if match is None:
            continue
        if not fence:
            fence = match[1]
        elif match[1].startswith(fence) and line.strip() == match[1]:
            fence = ""
    return fence


def _ends_with(context: tuple[Lines, ...], end: tuple[Lines, ...]) -> bool:
    return not end or context[-len(end) :] == end


def _may_end(lines: Lines, end: int, part: Lines) -> bool:
    return end == len(lines) or (not lines[end].startswith(_CONTINUES) and _has_words(part))


def _has_words(lines: Lines) -> bool:
    return any(char.isalnum() for line in lines for char in line)
