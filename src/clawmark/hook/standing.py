"""Whether what the index holds may still be shown: the index can be older than the files."""

from __future__ import annotations

import os
import stat
from functools import lru_cache
from pathlib import Path

from clawmark.core.globs import globs_match
from clawmark.core.ports import Candidate
from clawmark.engine.provenance import line_of, read_file
from clawmark.hook.places import Place

_IGNORE_FILE = ".clawmarkignore"
_MOST_IGNORE_BYTES = 1_000_000


def standing(place: Place, item: Candidate, text: str) -> tuple[Path, int] | None:
    """Give the file of a hit and the line where its text begins now; None when it may not be shown.

    A file that is gone, is no regular file any more, or is kept out by a setting shows nothing.
    Of a note that changed since it was indexed, only what still stands in it is shown.
    """
    if item.source == "sessions":
        file = _transcript(place, item.path)
        return None if file is None else (file, item.start_line)
    file = Path(os.path.normpath(place.workspace / item.path))
    state = _state(file, follow_links=place.choices.follow_links)
    if state is None or kept_out(place, item.path):
        return None
    if (state.st_size, min(state.st_mtime_ns, 2**63 - 1)) == (item.size, item.mtime_ns):
        return file, item.start_line
    now = read_file(file, place.choices.max_bytes, follow_links=place.choices.follow_links)
    line = None if now is None else line_of(now, text, item.start_line)
    return None if line is None else (file, line)


def _state(file: Path, *, follow_links: bool) -> os.stat_result | None:
    try:
        state = file.stat(follow_symlinks=follow_links)
    except OSError:
        return None
    return state if stat.S_ISREG(state.st_mode) else None


def kept_out(place: Place, path: str) -> bool:
    """Tell whether a setting keeps a stored path out since it was indexed."""
    files = place.choices
    if globs_match(files.exclude, path) or globs_match(_ignored(place.workspace), path):
        return True
    return bool(files.include) and not globs_match(files.include, path)


@lru_cache(maxsize=1)
def _ignored(workspace: Path) -> tuple[str, ...]:
    file = workspace / _IGNORE_FILE
    text = read_file(file, _MOST_IGNORE_BYTES, follow_links=False) if file.exists() else ""
    # Unreadable: what it may keep out is not known, so nothing is shown.
    return ("*",) if text is None else tuple(text.splitlines())


def _transcript(place: Place, path: str) -> Path | None:
    from clawmark.files import FileRules, locate

    rules = FileRules(workspace=place.workspace, session_paths=place.choices.session_paths)
    file = locate(rules, "sessions", path)
    return file if file is not None and _state(file, follow_links=True) is not None else None
