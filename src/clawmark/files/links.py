"""Symbolic links: where they stand on the way to a file, and where they may lead."""

from __future__ import annotations

import os
import stat
from pathlib import Path, PurePath

from clawmark.files.names import folder_reason, hidden_reason
from clawmark.files.rules import FileRules, Root, Source, roots_of, workspace_folder

NOT_FOLLOWED = "symbolic link (links are not followed)"
BROKEN = "broken link (its target does not exist)"
_OUTSIDE = "link leads outside the workspace and the configured paths"


def first_link(base: str, absolute: str) -> str | None:
    """Give the first symbolic link below *base* on the way to a path, the path included.

    Raises:
        OSError: If a part of the way does not exist or cannot be looked at.
    """
    place = base
    for name in PurePath(absolute).relative_to(base).parts:
        place = f"{place.rstrip(os.sep)}{os.sep}{name}"
        if stat.S_ISLNK(os.lstat(place).st_mode):
            return place
    return None


def is_folder_at(absolute: str) -> bool:
    """Tell whether a path leads to a folder, through links too; False when that cannot be told."""
    try:
        return Path(absolute).is_dir()
    except OSError:
        return False


def link_bases(rules: FileRules, source: Source) -> tuple[str, ...]:
    """List the resolved folders and files that a followed link may lead into."""
    places = (workspace_folder(rules), *(root.absolute for root in roots_of(rules, source) if root.configured))
    return tuple(dict.fromkeys(os.path.realpath(place) for place in places))


def target_reason(target: str, bases: tuple[str, ...], *, is_folder: bool) -> str | None:
    """Say why a link may not lead to a resolved path; None when it may.

    Compares path components, so ``/w/ws-other`` is not inside ``/w/ws``. Hidden and
    junk folders below a base stay out, whatever links to them.
    """
    reasons: list[str] = []
    for base in bases:
        if not PurePath(target).is_relative_to(base):
            continue
        reason = _name_reason(PurePath(target).relative_to(base).parts, is_folder=is_folder)
        if reason is None:
            return None
        reasons.append(f"link leads into a {reason}")
    return reasons[0] if reasons else _OUTSIDE


def resolve_for(root: Root, absolute: str, bases: tuple[str, ...]) -> tuple[str, str | None]:
    """Resolve a path with links on its way; give the target and the reason against it.

    Raises:
        OSError: If the target does not exist, or the links go round in a circle.
    """
    target = os.path.realpath(absolute, strict=True)
    is_folder = stat.S_ISDIR(os.lstat(target).st_mode)
    reason = target_reason(target, bases, is_folder=is_folder)
    if reason is None and not is_folder and not root.wants(PurePath(target).name):
        reason = "link leads to a file of another kind"
    return target, reason


def _name_reason(parts: tuple[str, ...], *, is_folder: bool) -> str | None:
    if not is_folder:
        return hidden_reason(parts)
    return next((reason for name in parts if (reason := folder_reason(name))), None)
