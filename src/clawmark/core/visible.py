"""The part of a text that a reader sees: no control sequences, nothing hidden, nothing reordered."""

from __future__ import annotations

import re

# Terminal sequences: CSI and OSC (title, links) with their payload, then any other escape.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"
    r"|\x1b[PX^_][^\x1b\x9c]*(?:\x1b\\|\x9c)?"
    r"|\x1b[ -/]*[0-~]?"
)
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
# Controls, marks that reorder text, characters without width, tags and variation selectors
# that carry hidden text, private use, halves of surrogate pairs.
_HIDDEN = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff\ue000-\uf8ff]"
)
# Between letters of scripts that need them, and inside emoji, joiners are spelling.
_JOINERS = re.compile("[\u200c\u200d](?![^\x00-\u02ff])|(?<![^\x00-\u02ff])[\u200c\u200d]")


def visible(text: str) -> str:
    r"""Leave out everything that a reader cannot see; line feeds and tabs stay.

    >>> visible("a\x1b[31mred\x1b[0m\u202e\u200b\r\nb")
    'ared\nb'
    """
    if text.isascii() and text.isprintable():
        return text
    plain = _BREAKS.sub("\n", _ESCAPES.sub("", text))
    return _JOINERS.sub("", _HIDDEN.sub("", plain))
