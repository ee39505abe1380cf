"""Gitignore-style patterns with the standard library, for code that may load nothing else.

The scan of files uses ``pathspec``; the tests compare the two. Case is ignored, because a
pattern that decides about trust must not be evaded by a capital letter.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_PARTS = re.compile(r"(\*\*/|/\*\*\Z|\*+|\?|\[!?\]?[^\]/]*\])")


def glob_matches(pattern: str, path: str) -> bool:
    """Tell whether a pattern matches a stored path, or a folder above it.

    >>> glob_matches("web/", "memory/web/a.md"), glob_matches("memory/*.md", "memory/web/a.md")
    (True, False)
    """
    compiled = _compiled(pattern)
    return compiled is not None and compiled.fullmatch(path) is not None


def globs_match(patterns: Iterable[str], path: str) -> bool:
    """Tell whether a list of patterns, as in an ignore file, takes a path: the last that matches decides.

    >>> globs_match(["memory/**", "!memory/keep.md"], "memory/keep.md")
    False
    """
    taken = False
    for line in patterns:
        pattern, wanted = (line[1:], False) if line.startswith("!") else (line, True)
        if taken is not wanted and not line.startswith("#") and glob_matches(pattern, path):
            taken = wanted
    return taken


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    plain = pattern.rstrip()
    body = re.sub(r"(?:\*\*/)+(?=\*\*(?:/|\Z))", "", plain.strip("/"))
    if not body:
        return None
    # A slash at the beginning or in the middle ties the pattern to the workspace.
    start = "" if "/" in plain.rstrip("/") else "(?:.*/)?"
    end = "/.*" if plain.endswith("/") and (body == "**" or not body.endswith("**")) else "(?:/.*)?"
    middle = "".join(_translated(part) for part in _PARTS.split(body))
    try:
        return re.compile(f"{start}{middle}{end}", re.IGNORECASE | re.DOTALL)
    except re.error:
        return None


def _translated(part: str) -> str:
    if part == "**/":
        return "(?:.*/)?"
    if part == "/**":
        return "/.*"
    if part.startswith("*"):
        return ".*" if len(part) > 1 else "[^/]*"
    if part == "?":
        return "[^/]"
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        inner = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"[{'^/' + inner[1:] if inner.startswith('!') else inner}]"
    return re.escape(re.sub(r"\\(.)", r"\1", part))
