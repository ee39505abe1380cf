"""The one walk that decides which files are memory and which are transcripts.

Only names and states of files are looked at; no note is opened. Every trigger and
every count uses this function, so that no two numbers disagree.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from operator import attrgetter
from pathlib import Path, PurePath
from typing import NamedTuple

from clawmark.core.errors import WorkspaceNotFoundError
from clawmark.core.model import PathReason
from clawmark.files.filters import path_filter
from clawmark.files.found import FoundFile, Scan
from clawmark.files.links import BROKEN, NOT_FOLLOWED, first_link, is_folder_at, link_bases, resolve_for
from clawmark.files.names import error_text, folder_reason, is_utf8, kind_of, printable, transcript_reason
from clawmark.files.rules import (
    MAX_SESSION_BYTES,
    FileRules,
    Root,
    Source,
    free_session_path,
    roots_of,
    stored_path,
    workspace_folder,
)
from clawmark.files.text import modified_ns

_NO_UTF8 = "name is not valid UTF-8"
_ABSENT = (FileNotFoundError, NotADirectoryError)


class _Entry(NamedTuple):
    """A candidate: its stored path, where it was met, its state, and where to open it."""

    stored: str
    met_at: str
    state: os.stat_result
    target: str
    name: str


class _Link(NamedTuple):
    """A link to be followed when everything real is known."""

    stored: str
    absolute: str
    root: Root

    @property
    def is_root(self) -> bool:
        return self.absolute == self.root.absolute


def scan_files(rules: FileRules, sources: Sequence[Source] = ("memory",)) -> Scan:
    """Find every file that is to be indexed, and say of all others why not.

    Args:
        rules: What counts.
        sources: "memory", "sessions" or both.

    Returns:
        The files ordered by (source, path), and everything left out with its reason.
        Of two names for one file (hard link, alias, link) the first in the order
        ``MEMORY.md``, ``USER.md``, ``memory/``, extra paths, transcripts stays; real
        names come before links.

    Raises:
        WorkspaceNotFoundError: If the workspace is not a folder. An unmounted
            workspace must not look like one without notes.
        ConfigError: If a glob or the ignore file cannot be used.

    Source:
        recall-spec 1.1, newest version; 7.3 for ignored names; 7.4 for transcripts.
    """
    workspace = workspace_folder(rules)
    if not is_folder_at(workspace):
        raise WorkspaceNotFoundError(
            f"The workspace {printable(workspace)} is not a folder.",
            action="Create it, or name another with --workspace.",
        )
    scanner = _Scanner(rules, workspace)
    for source in ("memory", "sessions"):
        if source in sources:
            scanner.scan_source(source)
    return scanner.result()


class _Scanner:
    """The state of one walk."""

    def __init__(self, rules: FileRules, workspace: str) -> None:
        self._rules = rules
        self._filter = path_filter(rules)
        # A root above the workspace walks down into it: its notes keep their names.
        above = (workspace, *map(str, PurePath(workspace).parents))
        self._above = {place: _as_prefix(stored_path(workspace, place)) for place in above}
        self._files: dict[str, FoundFile] = {}
        self._owners: dict[tuple[int, int], str] = {}
        # By absolute path, so that two roots that meet give one line.
        self._skipped: dict[str, PathReason] = {}
        self._unreadable: dict[str, PathReason] = {}
        self._missing: dict[str, PathReason] = {}
        # Files and root folders that one root at least lets in, whatever another says.
        self._taken: set[str] = set()
        self._links: list[_Link] = []
        self._visited: dict[Root, set[tuple[int, int]]] = {}
        self._bases: tuple[str, ...] = ()
        self._folders: dict[str, None] = {}

    def scan_source(self, source: Source) -> None:
        """Walk the roots of a source, then the links that were met on the way."""
        self._bases = link_bases(self._rules, source) if self._rules.follow_links else ()
        for root in roots_of(self._rules, source):
            self._scan_root(root)
        while self._links:
            links, self._links = sorted(self._links, key=attrgetter("stored", "absolute")), []
            for link in links:
                self._follow(link)

    def result(self) -> Scan:
        """Put everything in order."""
        taken = self._taken
        skipped = (entry for place, entry in self._skipped.items() if place not in taken)
        return Scan(
            files=tuple(sorted(self._files.values(), key=attrgetter("source", "path"))),
            skipped=_in_order(skipped),
            unreadable=_in_order(self._unreadable.values()),
            missing=_in_order(self._missing.values()),
            folders=tuple(sorted(self._folders)),
        )

    def _scan_root(self, root: Root) -> None:
        try:
            link = first_link(root.base, root.absolute)
            state = os.lstat(root.absolute)
        except _ABSENT:
            self._absent(root, "does not exist")
        except OSError as error:
            self._lost(root, error)
        else:
            if link is not None:
                self._meet_link(root, root.absolute, self._configured_path(root))
            else:
                self._enter_root(root, state)

    def _absent(self, root: Root, reason: str) -> None:
        if root.configured:
            self._note(self._missing, root.absolute, self._configured_path(root), reason)

    def _lost(self, root: Root, error: OSError) -> None:
        # The stored path of a transcript does not name its folder, but is what
        # tells which documents may still exist.
        where = f" ({self._configured_path(root)})" if root.source == "sessions" else ""
        self._note(self._unreadable, root.absolute, root.stored, f"{error_text(error)}{where}")

    def _configured_path(self, root: Root) -> str:
        return stored_path(workspace_folder(self._rules), root.absolute)

    def _enter_root(self, root: Root, state: os.stat_result) -> None:
        name = PurePath(root.absolute).name
        if stat.S_ISDIR(state.st_mode) and root.kind != "file":
            self._taken.add(root.absolute)
            self._walk(root, root.absolute, _as_prefix(root.stored))
        elif root.kind == "folder":
            self._note(self._skipped, root.absolute, self._configured_path(root), "not a folder")
        elif not root.wants(name):
            self._note(self._skipped, root.absolute, root.stored, "not a Markdown file (*.md)")
        else:
            self._admit_all(root, [_Entry(root.stored, root.absolute, state, root.absolute, name)])

    def _walk(self, root: Root, absolute: str, prefix: str) -> None:
        """Walk a folder without recursion: notes may lie deeper than Python's stack."""
        found: list[_Entry] = []
        pending = [(absolute, prefix)]
        while pending:
            place, prefix = pending.pop()
            try:
                if not self._rules.follow_links or self._is_first_visit(root, place, prefix):
                    self._list_folder(root, place, prefix, pending, found)
            except FileNotFoundError:
                continue  # deleted since its parent was listed
            except OSError as error:
                self._note(self._unreadable, place, prefix.removesuffix("/"), error_text(error))
        self._admit_all(root, found)

    def _list_folder(
        self, root: Root, place: str, prefix: str, pending: list[tuple[str, str]], found: list[_Entry]
    ) -> None:
        with os.scandir(place) as entries:
            self._folders[place] = None
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    self._enter_folder(root, entry, prefix, pending)
                elif entry.is_symlink():
                    self._meet_link(root, entry.path, prefix + entry.name)
                elif root.wants(entry.name) and root.takes(entry.path):
                    self._look_at(entry, prefix + entry.name, found)

    def _enter_folder(self, root: Root, entry: os.DirEntry[str], prefix: str, pending: list[tuple[str, str]]) -> None:
        reason = folder_reason(entry.name) or (None if is_utf8(entry.name) else _NO_UTF8)
        if reason is not None:
            self._note(self._skipped, entry.path, prefix + entry.name, reason)
            return
        below = f"{prefix}{entry.name}/"
        pending.append((entry.path, self._above.get(entry.path, below) if root.source == "memory" else below))

    def _look_at(self, entry: os.DirEntry[str], stored: str, found: list[_Entry]) -> None:
        if entry.name.startswith("."):
            self._note(self._skipped, entry.path, stored, "hidden file")
            return
        try:
            state = entry.stat(follow_symlinks=False)
            if not state.st_ino:  # Windows: a listing carries no identity
                state = os.lstat(entry.path)
        except FileNotFoundError:
            return
        except OSError as error:
            self._note(self._unreadable, entry.path, stored, error_text(error))
            return
        found.append(_Entry(stored, entry.path, state, entry.path, entry.name))

    def _is_first_visit(self, root: Root, place: str, prefix: str) -> bool:
        state = Path(place).stat()
        visited = self._visited.setdefault(root, set())
        identity = (state.st_dev, state.st_ino)
        if identity in visited:
            reason = "folder already visited (a link leads back to it)"
            self._note(self._skipped, place, prefix.removesuffix("/"), reason)
            return False
        visited.add(identity)
        return True

    def _meet_link(self, root: Root, absolute: str, stored: str) -> None:
        name = PurePath(absolute).name
        is_root = absolute == root.absolute
        is_folder = is_folder_at(absolute)
        if not is_root and not (is_folder or root.wants(name)):
            return
        hidden = None if is_root else folder_reason(name) if is_folder else _hidden_file(name)
        if hidden is not None:
            self._note(self._skipped, absolute, stored, hidden)
        elif not self._rules.follow_links:
            self._note(self._skipped, absolute, stored, NOT_FOLLOWED)
        else:
            self._links.append(_Link(stored, absolute, root))

    def _follow(self, link: _Link) -> None:
        try:
            target, reason = resolve_for(link.root, link.absolute, self._bases)
            state = os.lstat(target)
        except FileNotFoundError:
            self._broken(link)
        except OSError as error:
            if link.is_root:
                self._lost(link.root, error)
            else:
                self._note(self._unreadable, link.absolute, link.stored, error_text(error))
        else:
            if reason is not None:
                self._note(self._skipped, link.absolute, link.stored, reason)
            else:
                self._enter_target(link, target, state)

    def _broken(self, link: _Link) -> None:
        if link.root.configured and link.is_root:
            self._absent(link.root, BROKEN)
        else:
            self._note(self._skipped, link.absolute, link.stored, BROKEN)

    def _enter_target(self, link: _Link, target: str, state: os.stat_result) -> None:
        if stat.S_ISDIR(state.st_mode) and link.root.kind != "file":
            stored = link.root.stored if link.is_root else link.stored
            self._walk(link.root, link.absolute, _as_prefix(stored))
        elif link.root.takes(link.absolute):
            name = PurePath(target).name
            self._admit_all(link.root, [_Entry(link.stored, link.absolute, state, target, name)])

    def _admit_all(self, root: Root, entries: list[_Entry]) -> None:
        # Sorted, so that of two names for one file the same one stays on every run.
        for entry in sorted(entries, key=attrgetter("stored")):
            reason = self._reason(root, entry)
            if reason is None:
                self._admit(root, entry)
            else:
                self._note(self._skipped, entry.met_at, entry.stored, reason)

    def _reason(self, root: Root, entry: _Entry) -> str | None:
        if not is_utf8(entry.stored):
            return _NO_UTF8
        if root.source == "sessions" and (reason := transcript_reason(entry.name)):
            return reason
        return self._filter.reason(entry.stored) or self._state_reason(root, entry.state)

    def _state_reason(self, root: Root, state: os.stat_result) -> str | None:
        if not stat.S_ISREG(state.st_mode):
            return f"not a regular file ({kind_of(state.st_mode)})"
        if not state.st_size:
            return "empty file"
        limit = self._rules.max_bytes if root.source == "memory" else MAX_SESSION_BYTES
        if state.st_size > limit:
            return f"larger than the limit ({state.st_size:,} of {limit:,} bytes)"
        return None

    def _admit(self, root: Root, entry: _Entry) -> None:
        if entry.met_at in self._taken:
            return  # two roots that meet
        state = entry.state
        identity = (state.st_dev, state.st_ino)
        owner = self._owners.get(identity) if state.st_ino else None
        if owner is not None:
            self._note(self._skipped, entry.met_at, entry.stored, f"same file as {owner}")
            return
        stored = entry.stored
        if root.source == "sessions":
            stored = free_session_path(root, stored, self._files)
        self._owners[identity] = stored
        self._taken.add(entry.met_at)
        self._files[stored] = FoundFile(
            stored,
            root.source,
            entry.target,
            state.st_size,
            modified_ns(state),
            state.st_ino,
            state.st_dev,
        )

    def _note(self, entries: dict[str, PathReason], absolute: str, stored: str, reason: str) -> None:
        entries.setdefault(absolute, PathReason(printable(stored) or ".", reason))


def _as_prefix(stored: str) -> str:
    return f"{stored}/" if stored else ""


def _hidden_file(name: str) -> str | None:
    return "hidden file" if name.startswith(".") else None


def _in_order(entries: Iterable[PathReason]) -> tuple[PathReason, ...]:
    return tuple(sorted(entries, key=attrgetter("path", "reason")))
