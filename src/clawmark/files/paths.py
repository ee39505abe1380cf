"""From a path that somebody asks for to the file that may be opened, or the reason why not."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from urllib.parse import unquote

from clawmark.core.errors import PathNotAllowedError
from clawmark.files.filters import path_filter
from clawmark.files.links import NOT_FOLLOWED, first_link, is_folder_at, link_bases, resolve_for
from clawmark.files.names import NOTE_SUFFIX, error_text, hidden_reason, is_utf8, kind_of, printable
from clawmark.files.rules import (
    MEMORY_FOLDER,
    SESSIONS_PREFIX,
    FileRules,
    Root,
    free_session_path,
    memory_roots,
    session_roots,
    stored_path,
    workspace_folder,
)
from clawmark.files.text import UnreadableNoteError

# No file of that name can exist.
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG})
NO_MEMORY = "not MEMORY.md, USER.md, memory/**/*.md or below an extra path"
_MOST_DECODINGS = 3


@dataclass(frozen=True)
class Place:
    """Where an allowed path leads.

    Attributes:
        stored: The path as results carry it.
        absolute: What to open: the resolved target when links were followed.
        exists: False when nothing is there.
    """

    stored: str
    absolute: Path
    exists: bool


def find_workspace(start: Path) -> Path | None:
    """Give the nearest folder, *start* or a parent, with ``MEMORY.md`` or ``memory/``."""
    start = start.absolute()
    for folder in (start, *start.parents):
        if _is_file(folder / "MEMORY.md") or is_folder_at(str(folder / MEMORY_FOLDER)):
            return folder
    return None


def resolve_note(rules: FileRules, path: str) -> Path:
    """Give the file that a path of a memory file stands for; it need not exist.

    Args:
        rules: What counts as memory.
        path: Relative to the workspace, or absolute. Spaces around it are dropped.

    Returns:
        An absolute path. With ``follow_links``, the target of the links on the way.

    Raises:
        PathNotAllowedError: If the path is empty or hides its meaning (NUL, ``%2e%2e``),
            leads outside the memory files, has no ``.md``, is kept out by a setting
            or by a hidden name, passes a link although links are not followed, or
            is no regular file.
        UnreadableNoteError: If the operating system refuses to look.

    Source:
        recall-spec 1.4, newest version.
    """
    return allowed_place(rules, path).absolute


def locate(rules: FileRules, source: str, stored: str) -> Path | None:
    """Give the file behind a stored path of the index, to look at its state; None for a transcript that is gone.

    The path is trusted: nothing is checked. For what a caller names, use ``resolve_note``.
    """
    if source == "memory":
        return Path(os.path.normpath(Path(workspace_folder(rules), stored)))
    below = stored.removeprefix(f"{SESSIONS_PREFIX}/")
    place = next((place for _, place in _transcripts(rules, below)), None)
    # Not there by that name: the first part may be the folder's, as the scan puts it.
    return place or _named_after_folder(rules, stored, below.partition("/")[2])


def _transcripts(rules: FileRules, below: str) -> Iterator[tuple[Root, Path]]:
    places = ((root, Path(root.absolute, below)) for root in session_roots(rules) if below)
    return ((root, place) for root, place in places if os.path.lexists(place))


def _named_after_folder(rules: FileRules, stored: str, below: str) -> Path | None:
    named: dict[str, Path] = {}
    for root, place in _transcripts(rules, below):
        named[free_session_path(root, f"{SESSIONS_PREFIX}/{below}", named)] = place
    return named.get(stored)


def allowed_place(rules: FileRules, path: str) -> Place:
    """Resolve a path as ``resolve_note`` does; tell its stored path and whether it exists."""
    absolute = _absolute(workspace_folder(rules), _plain(path))
    stored = stored_path(workspace_folder(rules), absolute)
    _refuse_encoded(path, stored)
    root = _root_for(rules, path, absolute)
    if reason := path_filter(rules).reason(stored):
        raise _refused(path, reason)
    try:
        target = _target(rules, root, path, absolute)
        mode = os.lstat(target).st_mode
    except OSError as error:
        if error.errno in _ABSENT:
            return Place(stored, Path(absolute), exists=False)
        raise UnreadableNoteError(error_text(error), path=printable(stored)) from error
    if not stat.S_ISREG(mode):
        raise _refused(path, f"not a regular file ({kind_of(mode)})")
    return Place(stored, Path(target), exists=True)


def _plain(path: str) -> str:
    text = path.strip()
    if not text:
        raise _refused(path, "the path is empty")
    if "\0" in text:
        raise _refused(path, "it contains a NUL character")
    if not is_utf8(text):
        raise _refused(path, "it is not valid UTF-8")
    return text


def _absolute(workspace: str, text: str) -> str:
    absolute = os.path.normpath(Path(workspace, text))
    real = os.path.realpath(workspace)
    # A workspace that is reached through a link has two absolute names.
    if not PurePath(absolute).is_relative_to(workspace) and PurePath(absolute).is_relative_to(real):
        return os.path.normpath(Path(workspace, PurePath(absolute).relative_to(real)))
    return absolute


def _refuse_encoded(path: str, stored: str) -> None:
    # Nothing here decodes, so such a name is only ever meant for a layer that does.
    decoded = stored
    for _ in range(_MOST_DECODINGS):
        decoded = unquote(decoded)
    hides_parent = decoded.count("..") > stored.count("..") or _parents(decoded) > _parents(stored)
    if hides_parent or "\0" in decoded:
        raise _refused(path, "it contains an encoded parent folder or NUL")


def _parents(path: str) -> int:
    return path.replace("\\", "/").split("/").count("..")


def _root_for(rules: FileRules, path: str, absolute: str) -> Root:
    """Give the first root that lets the path in, else raise with the first root's reason."""
    against: list[str] = []
    for root in memory_roots(rules):
        if _covers(root, absolute):
            reason = _root_reason(root, absolute)
            if reason is None:
                return root
            against.append(reason)
    raise _refused(path, against[0] if against else NO_MEMORY)


def _covers(root: Root, absolute: str) -> bool:
    below = root.parts_below(absolute)
    return below is not None and (not below or root.kind != "file")


def _root_reason(root: Root, absolute: str) -> str | None:
    if not absolute.endswith(NOTE_SUFFIX):
        return f"not a Markdown file (*{NOTE_SUFFIX})"
    below = root.parts_below(absolute) or ()
    if reason := hidden_reason(below):
        return reason
    return None if root.takes(absolute) else "not in the pattern of the extra path"


def _target(rules: FileRules, root: Root, path: str, absolute: str) -> str:
    link = first_link(root.base, absolute)
    if link is None:
        return absolute
    if not rules.follow_links:
        raise _refused(path, NOT_FOLLOWED)
    target, reason = resolve_for(root, absolute, link_bases(rules, root.source))
    if reason is not None:
        raise _refused(path, reason)
    return target


def _refused(path: str, reason: str) -> PathNotAllowedError:
    return PathNotAllowedError(
        f"The path {path!r} may not be read: {reason}.",
        reason=reason,
        action="Name MEMORY.md, USER.md, a *.md file in memory/, or one below an extra path.",
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
