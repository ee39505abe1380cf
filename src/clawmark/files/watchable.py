"""Which folders to watch, and which changes in them may matter: the rules of a scan, for single paths.

Folders are watched one by one, never with everything below them, so that what lies in a
hidden or a junk folder costs nothing.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from typing import Literal

from clawmark.core.errors import ClawmarkError
from clawmark.files.filters import IGNORE_FILE, PathFilter, path_filter
from clawmark.files.found import Scan
from clawmark.files.links import is_folder_at
from clawmark.files.names import folder_reason, printable
from clawmark.files.rules import (
    SESSIONS_PREFIX,
    FileRules,
    Root,
    Source,
    roots_of,
    stored_path,
    workspace_folder,
)
from clawmark.files.scan import scan_files

# File times stand still between two ticks of the system's clock.
_CLOCK_TICK_SECONDS = 0.02

Matter = Literal["file", "folder"]
_State = tuple[int, int] | Literal["file"] | None


@dataclass(frozen=True)
class WatchPlan:
    """The folders that one scan listed, and the rules that judge changes in them.

    Attributes:
        workspace: Absolute path.
        folders: Every folder to watch, none of them with what is below it.
        listed: Those that the scan listed; the others hold nothing but roots.
        roots: Where the scan started.
        states: What stood at each root when the plan was made.
        globs: The include and exclude rules; None when they cannot be used.
    """

    workspace: str
    folders: tuple[str, ...]
    listed: frozenset[str]
    roots: tuple[Root, ...]
    states: tuple[_State, ...]
    globs: PathFilter | None

    def judge(self, path: str) -> Matter | None:
        """Say what a change at a path may concern: a file of the memory, a folder of it, or nothing."""
        path = self._as_planned(path)
        if path.casefold() in self._root_paths:
            return "folder" if path in self.listed or is_folder_at(path) else "file"
        if path == self._ignore_file:
            return "file"
        folder, name = os.path.split(path)
        if folder not in self.listed:
            return None
        if path in self.listed or (folder_reason(name) is None and is_folder_at(path)):
            return "folder"
        return "file" if self._is_candidate(path, name) else None

    def is_transcript(self, path: str) -> bool:
        """Tell whether a path lies below a folder of transcripts."""
        return any(root.source == "sessions" for root in self._roots_above(self._as_planned(path)))

    def shown(self, path: str) -> str:
        """Give a path as results carry it, for people."""
        path = self._as_planned(path)
        root = next((root for root in self._roots_above(path) if root.source == "sessions"), None)
        below = "/".join(root.parts_below(path) or ()) if root else ""
        stored = f"{SESSIONS_PREFIX}/{below}" if below else stored_path(self.workspace, path)
        return printable(stored) or "."

    @property
    def places(self) -> tuple[str, ...]:
        """Name the roots that exist, as ``shown`` does."""
        known = zip(self.roots, self.states, strict=True)
        return tuple(dict.fromkeys(self.shown(root.absolute) for root, state in known if state is not None))

    def is_untouched_since(self, moment: float) -> bool:
        """Tell whether no file was made, renamed or removed in a watched folder; edits in place leave no trace there.

        Args:
            moment: Seconds since 1970.
        """
        try:
            return all(Path(folder).stat().st_mtime < moment - _CLOCK_TICK_SECONDS for folder in self.folders)
        except OSError:
            return False

    def is_outdated(self) -> bool:
        """Tell whether a root has appeared, gone, or been replaced: a mount, for one, is no event."""
        return _states(self.roots) != self.states

    @cached_property
    def _root_paths(self) -> frozenset[str]:
        # Without case: on some file systems memory.md is MEMORY.md, and one sync too many is cheap.
        return frozenset({root.absolute.casefold() for root in self.roots} | {self.workspace.casefold()})

    @cached_property
    def _ignore_file(self) -> str:
        return str(PurePath(self.workspace, IGNORE_FILE))

    @cached_property
    def _watched(self) -> frozenset[str]:
        return frozenset(self.folders)

    @cached_property
    def _by_real_path(self) -> dict[str, str]:
        return {os.path.realpath(folder): folder for folder in self.folders}

    def _as_planned(self, path: str) -> str:
        """Undo what macOS does: events there name resolved paths."""
        folder, name = os.path.split(path)
        if folder in self._watched or folder not in self._by_real_path:
            return path
        return str(PurePath(self._by_real_path[folder], name))

    def _roots_above(self, path: str) -> Iterable[Root]:
        return (root for root in self.roots if root.parts_below(path) is not None)

    def _is_candidate(self, path: str, name: str) -> bool:
        if name.startswith("."):
            return False
        roots = (root for root in self._roots_above(path) if root.wants(name) and root.takes(path))
        return any(self._admits(root, path) for root in roots)

    def _admits(self, root: Root, path: str) -> bool:
        if self.globs is None:
            return True
        below = "/".join(root.parts_below(path) or ())
        stored = stored_path(self.workspace, path) if root.source == "memory" else f"{root.stored}/{below}"
        return self.globs.reason(stored) is None


def watch_plan(rules: FileRules, sources: Sequence[Source] = ("memory",)) -> WatchPlan:
    """Walk the files once and say which folders must be watched to notice every later change.

    A workspace that is gone, or an ignore file that cannot be used, gives a plan of the
    little that is known; the sync reports the reason.
    """
    workspace = workspace_folder(rules)
    roots = tuple(root for source in ("memory", "sessions") if source in sources for root in roots_of(rules, source))
    states = _states(roots)
    try:
        scan, globs = scan_files(rules, sources), path_filter(rules)
    except ClawmarkError:
        scan, globs = Scan(), None
    listed = frozenset(scan.folders)
    # A file is watched through its folder: editors replace files, and a watch would go with the old one.
    beside = {str(PurePath(root.absolute).parent) for root, state in zip(roots, states, strict=True) if state == "file"}
    wanted = sorted(listed | beside | {workspace})
    folders = tuple(folder for folder in wanted if is_folder_at(folder) and os.access(folder, os.R_OK))
    return WatchPlan(workspace, folders, listed, roots, states, globs)


def _states(roots: Iterable[Root]) -> tuple[_State, ...]:
    return tuple(_state(root.absolute) for root in roots)


def _state(absolute: str) -> _State:
    try:
        found = Path(absolute).stat()
    except OSError:
        return None
    # The identity of a file changes with every edit of an editor that replaces it.
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else "file"
