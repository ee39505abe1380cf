"""Which texts hold a passage of another: what was forgotten may live on in what was written from it."""

from __future__ import annotations

import re
from collections.abc import Iterable

# So many words in the same order are no coincidence; a shorter line counts as a whole.
PASSAGE_WORDS = 8
SHORTEST_LINE = 4

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")
# Who speaks is not part of what was said.
_SPEAKER = re.compile(r"^(?:User|Assistant): ", re.MULTILINE)


class Lineage:
    """The passages of a text, to be looked for in others.

    Args:
        texts: What was forgotten.
        names: Names of it, such as its path: a text that gives one refers to it.

    >>> source = Lineage(["User: the spare key hangs behind the boiler in the cellar"])
    >>> source.shared_by("Remember: The spare key hangs behind the boiler in the basement.")
    True
    """

    def __init__(self, texts: Iterable[str], names: Iterable[str] = ()) -> None:
        self._passages: dict[int, set[tuple[str, ...]]] = {}
        for text in texts:
            self._learn(_SPEAKER.sub("", text))
        # The longest word of each passage: most texts have none of them.
        self._anchors = {max(passage, key=len) for found in self._passages.values() for passage in found}
        spelled = "|".join(re.escape(name) for name in sorted(names) if name)
        self._names = re.compile(rf"(?<![\w-])(?:{spelled})(?![\w-])") if spelled else None

    def shared_by(self, text: str) -> bool:
        """Tell whether a text holds one of the passages, or one of the names."""
        if self._names is not None and self._names.search(text):
            return True
        words = _words(text)
        if self._anchors.isdisjoint(words):
            return False
        return any(
            tuple(words[start : start + length]) in passages
            for length, passages in self._passages.items()
            for start in range(len(words) - length + 1)
        )

    def _learn(self, text: str) -> None:
        words = _words(text)
        for start in range(len(words) - PASSAGE_WORDS + 1):
            self._passages.setdefault(PASSAGE_WORDS, set()).add(tuple(words[start : start + PASSAGE_WORDS]))
        for line in text.splitlines():
            short = _words(line)
            if SHORTEST_LINE <= len(short) < PASSAGE_WORDS:
                self._passages.setdefault(len(short), set()).add(tuple(short))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
