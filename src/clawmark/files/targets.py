"""From a path that somebody wants to write to the folder and the name, or the reason why not."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from clawmark.core.errors import PathNotAllowedError
from clawmark.files.links import BROKEN, target_reason
from clawmark.files.paths import NO_MEMORY, allowed_place
from clawmark.files.rules import FileRules, workspace_folder

_NOT_WRITTEN = "only MEMORY.md, USER.md and memory/**/*.md are written"


@dataclass(frozen=True)
class Target:
    """A file that may be written; it need not exist.

    Attributes:
        stored: The path as results carry it.
        base: The workspace; followed links lead below it, too.
        folders: Names from there to the file's folder. None of them was a link.
        name: Of the file.
    """

    stored: str
    base: str
    folders: tuple[str, ...]
    name: str


def writable_target(rules: FileRules, path: str) -> Target:
    """Find where a path of a memory file may be written.

    Only the workspace's own memory is: extra paths and transcripts belong to others.

    Args:
        rules: What counts as memory.
        path: As for ``resolve_note``.

    Raises:
        PathNotAllowedError: As for ``resolve_note``; also for a file below an extra
            path, and for one that would not be indexed.
        UnreadableNoteError: If the operating system refuses to look.
    """
    own = replace(rules, extra_paths=(), session_paths=())
    try:
        place = allowed_place(own, path)
        absolute = str(place.absolute)
        if not place.exists and rules.follow_links:
            absolute = _followed(own, path, absolute)
    except PathNotAllowedError as error:
        raise _refused(path, error.reason) from error
    return _target(rules, place.stored, absolute)


def _followed(rules: FileRules, path: str, absolute: str) -> str:
    """Resolve the links on the way to a file that is to be made."""
    target = os.path.realpath(absolute)
    bases = (os.path.realpath(workspace_folder(rules)),)
    reason = BROKEN if Path(absolute).is_symlink() else target_reason(target, bases, is_folder=False)
    if reason is not None:
        raise PathNotAllowedError(f"The path {path!r} leads astray.", reason=reason)
    return target


def _target(rules: FileRules, stored: str, absolute: str) -> Target:
    base = workspace_folder(rules)
    if not PurePath(absolute).is_relative_to(base):
        base = os.path.realpath(base)
    *folders, name = PurePath(absolute).relative_to(base).parts
    return Target(stored, base, tuple(folders), name)


def _refused(path: str, reason: str) -> PathNotAllowedError:
    reason = _NOT_WRITTEN if reason == NO_MEMORY else reason
    return PathNotAllowedError(
        f"The path {path!r} may not be written: {reason}.",
        reason=reason,
        action="Name MEMORY.md, USER.md, or a *.md file in memory/ that no rule keeps out of the index.",
    )
