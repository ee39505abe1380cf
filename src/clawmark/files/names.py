"""What a name alone tells about a file: memory or not, hidden, junk, transcript, similar."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable
from datetime import date
from difflib import SequenceMatcher

NOTE_SUFFIX = ".md"
# Folders that hold machinery, never notes, in any case. recall-spec 7.3; the last
# two are clawmark's own and a repair copy of OpenClaw's (1.1).
JUNK_FOLDERS = frozenset(
    {".git", "node_modules", ".pnpm-store", ".venv", "venv", ".tox", "__pycache__", ".clawmark", ".openclaw-repair"}
)

_TRANSCRIPT = re.compile(r".+\.jsonl(\.reset\..+)?", re.DOTALL)
_NOT_TRANSCRIPTS = (
    ("checkpoint", "checkpoint copy of a transcript"),
    ("trajectory", "trace of a run, not a transcript"),
    ("deleted", "deleted transcript"),
    ("bak", "backup of a transcript"),
)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
# difflib's own cutoff for "close"; a file of the same folder may be less alike.
_ALIKE = 0.6
_ALIKE_IN_FOLDER = 0.4
_FOLDER_BONUS = 0.1
_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISLNK, "symbolic link"),
    (stat.S_ISFIFO, "FIFO"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def is_memory_path(rel: str) -> bool:
    """Tell whether a path that is relative to the workspace names memory by its form.

    Says nothing about escape: ``../memory/x.md`` passes, as in the source, so the
    caller rejects paths that leave the workspace first.

    Source:
        recall-spec 1.3, newest version.

    >>> is_memory_path("./memory/x.md"), is_memory_path("notes/x.md")
    (True, False)
    """
    path = rel.strip().lstrip("./").replace("\\", "/")
    return path in ("MEMORY.md", "USER.md") or path.lower() == "dreams.md" or path.startswith("memory/")


def folder_reason(name: str) -> str | None:
    """Say why a folder of this name is never entered; None when it may be."""
    if name.lower() in JUNK_FOLDERS:
        return "junk folder"
    return "hidden folder" if name.startswith(".") else None


def hidden_reason(parts: tuple[str, ...]) -> str | None:
    """Say which rule on names keeps a path out, its last part being a file."""
    for name in parts[:-1]:
        if reason := folder_reason(name):
            return reason
    return "hidden file" if parts and parts[-1].startswith(".") else None


def transcript_reason(name: str) -> str | None:
    """Say why a file whose name contains ``.jsonl`` is no transcript; None when it is one.

    Transcripts are ``*.jsonl`` and, after a reset, ``*.jsonl.reset.<anything>``.
    Copies that the agent keeps for itself repeat other transcripts.

    >>> transcript_reason("s1.jsonl.reset.2026-06-01"), transcript_reason("s3.jsonl.bak.1")
    (None, 'backup of a transcript')
    """
    words = name.lower().split(".")
    for word, reason in _NOT_TRANSCRIPTS:
        if word in words and (word in ("checkpoint", "trajectory") or not _TRANSCRIPT.fullmatch(name)):
            return reason
    return None if _TRANSCRIPT.fullmatch(name) else "not named *.jsonl or *.jsonl.reset.*"


def is_utf8(name: str) -> bool:
    """Tell whether a name from the disk is valid text."""
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def printable(path: str) -> str:
    r"""Give a path in a form that can be printed: bytes that are no UTF-8 become ``\xNN``."""
    return path if is_utf8(path) else os.fsencode(path).decode("utf-8", "backslashreplace")


def error_text(error: OSError) -> str:
    """Give an operating system error as its symbol and its text."""
    return f"{errno.errorcode.get(error.errno or 0, 'OSError')}: {error.strerror or error}"


def kind_of(mode: int) -> str:
    """Name what a file mode stands for."""
    return next((kind for is_kind, kind in _KINDS if is_kind(mode)), "special file")


def nearest_names(name: str, candidates: Iterable[str], *, limit: int = 5) -> tuple[str, ...]:
    """List the existing paths that somebody who asked for *name* may have meant.

    Args:
        name: A path that does not exist.
        candidates: Paths that do.
        limit: Most paths to give, >= 0.

    Returns:
        For a name with a date, the files of the same folder whose dates are
        nearest, newest first. Then the paths that are spelled alike, most alike
        first; the same folder counts for more. Ties by path.

    >>> nearest_names("memory/2026-06-30.md", ["memory/2026-06-28.md", "memory/2026-06-29.md"])
    ('memory/2026-06-29.md', 'memory/2026-06-28.md')
    """
    others = sorted(set(candidates) - {name})
    found = dict.fromkeys(_dated_neighbours(name, others, limit))
    if len(found) < limit:
        found |= dict.fromkeys(_spelled_alike(name, others))
    return tuple(found)[:limit]


def _dated_neighbours(name: str, others: list[str], limit: int) -> list[str]:
    folder = name.rpartition("/")[0]
    wanted = _day_in(name)
    if wanted is None:
        return []
    days = ((_day_in(other), other) for other in others if other.rpartition("/")[0] == folder)
    dated = [(day, other) for day, other in days if day is not None]
    near = sorted(dated, key=lambda item: (abs(item[0] - wanted), -item[0], item[1]))[:limit]
    return [other for _, other in sorted(near, key=lambda item: (-item[0], item[1]))]


def _day_in(path: str) -> int | None:
    match = _DATE.search(path.rpartition("/")[2])
    try:
        return date.fromisoformat(match.group()).toordinal() if match else None
    except ValueError:  # looks like a date, but no calendar has it
        return None


def _spelled_alike(name: str, others: list[str]) -> list[str]:
    folder, base = _folder_and_stem(name)
    matcher = SequenceMatcher(autojunk=False, b=base)
    ranked: list[tuple[float, str]] = []
    for other in others:
        its_folder, its_base = _folder_and_stem(other)
        is_near = its_folder == folder
        ratio = _ratio(matcher, its_base, _ALIKE_IN_FOLDER if is_near else _ALIKE)
        if ratio:
            ranked.append((-ratio - _FOLDER_BONUS * is_near, other))
    return [other for _, other in sorted(ranked)]


def _folder_and_stem(path: str) -> tuple[str, str]:
    folder, _, base = path.casefold().rpartition("/")
    return folder, base.removesuffix(NOTE_SUFFIX)


def _ratio(matcher: SequenceMatcher[str], text: str, cutoff: float) -> float:
    matcher.set_seq1(text)
    # The two cheap upper bounds first: most of ten thousand names end there.
    if matcher.real_quick_ratio() < cutoff or matcher.quick_ratio() < cutoff:
        return 0.0
    ratio = matcher.ratio()
    return ratio if ratio >= cutoff else 0.0
