"""Where a text may be cut without breaking what a reader sees as one character.

The rules of UAX #29 (extended grapheme clusters), on the safe side: no cut is
offered inside a cluster; some borders between clusters may be refused. Standard
library only, because the hook must not load anything else; the tests compare it
with the ``regex`` package.
"""

from __future__ import annotations

import unicodedata

_ZERO_WIDTH_JOINER = "\u200d"
# Letters by category that attach to the character before them.
_ATTACHED = frozenset("\u200c\u200d\u0e33\u0eb3\uff9e\uff9f")
# Letters that attach to the character after them.
_PREPENDED = frozenset("\u0d4e\u1cf5\u1cf6\U000111c2\U000111c3\U0001193f\U00011941\U00011a3a\U00011d46") | frozenset(
    map(chr, range(0x11A84, 0x11A8A))
)
# A cluster longer than this is not text that anybody reads; it may be cut.
_LONGEST_CLUSTER = 64


def safe_cut(text: str, index: int) -> int:
    """Move a cut to the left until it breaks no grapheme cluster.

    Returns *index* itself when it is a border, or when the cluster around it is
    longer than 64 characters.

    >>> safe_cut("e\u0301a", 1), safe_cut("ab", 1)
    (0, 1)
    """
    if index <= 0 or index >= len(text):
        return index
    if text.isascii():
        return index - (text[index - 1] == "\r" and text[index] == "\n")
    lowest = max(0, index - _LONGEST_CLUSTER)
    cut = index
    while cut > lowest and _joined(text, cut):
        cut -= 1
    return cut if cut > lowest or cut == 0 else index


def _joined(text: str, index: int) -> bool:
    before, after = text[index - 1], text[index]
    if before.isascii() and after.isascii():
        return before == "\r" and after == "\n"
    return _attaches(after) or _leans_forward(text, index) or _splits_flag(text, index) or _splits_hangul(before, after)


def _attaches(character: str) -> bool:
    if character in _ATTACHED or unicodedata.category(character) in ("Mn", "Me", "Mc"):
        return True
    code = ord(character)
    return 0x1F3FB <= code <= 0x1F3FF or 0xE0020 <= code <= 0xE007F


def _leans_forward(text: str, index: int) -> bool:
    before = text[index - 1]
    if before == _ZERO_WIDTH_JOINER:
        return True
    if unicodedata.category(before) == "Cf" or before in _PREPENDED:
        return True  # such as the Arabic number sign
    # A virama binds the consonants around it, whatever marks stand between.
    at = index - 1
    while at >= 0 and index - at < _LONGEST_CLUSTER and _attaches(text[at]):
        if unicodedata.combining(text[at]) == 9:
            return True
        at -= 1
    return False


def _splits_flag(text: str, index: int) -> bool:
    if not _is_regional(text[index]):
        return False
    start = index
    while start > 0 and _is_regional(text[start - 1]):
        start -= 1
    return (index - start) % 2 == 1


def _is_regional(character: str) -> bool:
    return 0x1F1E6 <= ord(character) <= 0x1F1FF


def _splits_hangul(before: str, after: str) -> bool:
    code, following = ord(before), ord(after)
    leading = 0x1100 <= code <= 0x115F or 0xA960 <= code <= 0xA97C
    if leading and (0x1100 <= following <= 0x11A7 or 0xA960 <= following <= 0xA97C or 0xAC00 <= following <= 0xD7A3):
        return True
    trailing = 0x1160 <= following <= 0x11FF or 0xD7B0 <= following <= 0xD7FB
    return trailing and (0x1160 <= code <= 0x11FF or 0xAC00 <= code <= 0xD7FB)
