"""Which places are looked at: the settings of ``[files]`` and ``[sessions]``, and the roots they name.

Paths here are plain strings: a scan of ten thousand notes has no time for more.
"""

from __future__ import annotations

import os
from collections.abc import Container
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import Literal

from clawmark.core.errors import ConfigError
from clawmark.files.names import NOTE_SUFFIX

Source = Literal["memory", "sessions"]

# A transcript grows for months and is read line by line, so the limit of notes is
# too low for it. This one only keeps a runaway log out.
MAX_SESSION_BYTES = 200_000_000
ROOT_FILES = ("MEMORY.md", "USER.md")
MEMORY_FOLDER = "memory"
SESSIONS_PREFIX = "sessions"


@dataclass(frozen=True)
class ExtraPath:
    """One more Markdown file, or folder of Markdown files, that belongs to the memory.

    Attributes:
        path: Absolute, relative to the workspace, or starting with ``~``.
        pattern: POSIX glob on the path below the folder; ``*`` stops at ``/``,
            ``**`` does not. None takes every ``*.md``. No meaning for a file.
    """

    path: str
    pattern: str | None = None


@dataclass(frozen=True)
class FileRules:
    """What decides whether a file is memory, a transcript, or neither.

    Attributes:
        workspace: The folder with ``MEMORY.md`` and ``memory/``.
        extra_paths: More files and folders; their order is irrelevant.
        include: Gitignore-style globs on stored paths; when there is one, only matches count.
        exclude: Gitignore-style globs on stored paths that never count.
        follow_links: True follows symbolic links that stay inside the workspace
            and the extra paths; False leaves every link out.
        max_bytes: Notes above this size are not indexed. Transcripts have the
            limit ``MAX_SESSION_BYTES`` instead.
        session_paths: Folders of transcripts, relative to the workspace, absolute, or with ``~``.
    """

    workspace: Path
    extra_paths: tuple[ExtraPath, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    max_bytes: int = 10_000_000
    session_paths: tuple[str, ...] = ()


@dataclass(frozen=True)
class Root:
    """A file or a folder where the search for files starts.

    Attributes:
        source: What its files are.
        absolute: Its place, normalised, links not resolved.
        stored: Stored path of it; "" for the workspace itself.
        base: Links are looked for below this folder: the workspace, or the folder
            that holds a root outside of it.
        kind: "any" when only the disk can tell a file from a folder.
        pattern: Glob segments on the path below the root.
        configured: True when a setting names it, so that its absence is worth a line.
    """

    source: Source
    absolute: str
    stored: str
    base: str
    kind: Literal["file", "folder", "any"] = "any"
    pattern: tuple[str, ...] = ()
    configured: bool = True

    def parts_below(self, absolute: str) -> tuple[str, ...] | None:
        """Give the names between the root and a path; None when it lies elsewhere."""
        path = PurePath(absolute)
        return path.relative_to(self.absolute).parts if path.is_relative_to(self.absolute) else None

    def wants(self, name: str) -> bool:
        """Tell whether a file of this name is a candidate, or worth a line in a report."""
        return name.endswith(NOTE_SUFFIX) if self.source == "memory" else ".jsonl" in name

    def takes(self, absolute: str) -> bool:
        """Tell whether the pattern of the root lets a path below it in."""
        if not self.pattern or absolute == self.absolute:
            return True
        return glob_matches(self.parts_below(absolute) or (), self.pattern)


def workspace_folder(rules: FileRules) -> str:
    """Give the workspace as an absolute, normalised path; links in it stay."""
    return os.path.normpath(rules.workspace.absolute())


def stored_path(workspace: str, absolute: str) -> str:
    """Give the path that results carry: relative to the workspace, with ``/``."""
    try:
        relative = os.path.relpath(absolute, workspace)
    except ValueError:  # another drive on Windows: no relative path exists
        relative = absolute
    relative = relative.replace(os.sep, "/")
    return "" if relative == "." else relative


def memory_roots(rules: FileRules) -> tuple[Root, ...]:
    """List the roots of memory files: ``MEMORY.md``, ``USER.md``, ``memory/``, the extra paths.

    Extra paths are trimmed, expanded, resolved against the workspace, and listed
    once each, in the order of their paths.

    Raises:
        ConfigError: If an extra path contains a NUL character.

    Source:
        recall-spec 1.1, newest version.
    """
    workspace = workspace_folder(rules)
    fixed = [_fixed_root(workspace, name, "file") for name in ROOT_FILES]
    fixed.append(_fixed_root(workspace, MEMORY_FOLDER, "folder"))
    extras = {(_absolute(workspace, extra.path), _segments(extra.pattern)) for extra in rules.extra_paths}
    named = sorted((place, pattern) for place, pattern in extras if place is not None)
    return *fixed, *(_configured_root(workspace, place, pattern=pattern) for place, pattern in named)


def session_roots(rules: FileRules) -> tuple[Root, ...]:
    """List the folders of transcripts in the order of the setting, each once.

    Raises:
        ConfigError: If a path contains a NUL character.
    """
    workspace = workspace_folder(rules)
    places = dict.fromkeys(_absolute(workspace, path) for path in rules.session_paths)
    return tuple(_configured_root(workspace, place, source="sessions") for place in places if place is not None)


def roots_of(rules: FileRules, source: Source) -> tuple[Root, ...]:
    """List the roots of one source."""
    return memory_roots(rules) if source == "memory" else session_roots(rules)


def free_session_path(root: Root, stored: str, taken: Container[str]) -> str:
    """Give the stored path of a transcript: if another folder's has it, with the folder's name, then a number.

    >>> root = Root("sessions", "/w/logs", "sessions", "/w")
    >>> free_session_path(root, "sessions/s.jsonl", {"sessions/s.jsonl"})
    'sessions/logs/s.jsonl'
    """
    folder, below = PurePath(root.absolute).name, stored.removeprefix(f"{SESSIONS_PREFIX}/")
    number, path = 1, stored
    while path in taken:
        path = f"{SESSIONS_PREFIX}/{folder}{f'-{number}' if number > 1 else ''}/{below}"
        number += 1
    return path


def glob_matches(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Tell whether path segments match glob segments, case-sensitively.

    >>> glob_matches(("a", "b.md"), ("**", "*.md")), glob_matches(("a", "b.md"), ("*.md",))
    (True, False)
    """
    if not pattern:
        return not parts
    if pattern[0] == "**":
        return any(glob_matches(parts[start:], pattern[1:]) for start in range(len(parts) + 1))
    return bool(parts) and fnmatchcase(parts[0], pattern[0]) and glob_matches(parts[1:], pattern[1:])


def _fixed_root(workspace: str, name: str, kind: Literal["file", "folder"]) -> Root:
    place = os.path.normpath(f"{workspace}{os.sep}{name}")
    return Root("memory", place, name, workspace, kind=kind, configured=False)


def _configured_root(
    workspace: str, absolute: str, *, source: Source = "memory", pattern: tuple[str, ...] = ()
) -> Root:
    inside = PurePath(absolute).is_relative_to(workspace)
    base = workspace if inside else str(PurePath(absolute).parent)
    stored = stored_path(workspace, absolute) if source == "memory" else SESSIONS_PREFIX
    kind = "any" if source == "memory" else "folder"
    return Root(source, absolute, stored, base, kind=kind, pattern=pattern)


def _absolute(workspace: str, path: str) -> str | None:
    text = path.strip()
    if "\0" in text:
        raise ConfigError(
            f"The configured path {path!r} contains a NUL character.",
            action="Correct the path in [files] extra_paths or [sessions] paths.",
        )
    return os.path.normpath(Path(workspace, _expanded(text))) if text else None


def _expanded(text: str) -> str:
    if text != "~" and not text.startswith(("~/", f"~{os.sep}")):
        return text
    try:
        return str(Path(text).expanduser())
    except RuntimeError:  # no home folder is known: the path is then reported as missing
        return text


def _segments(pattern: str | None) -> tuple[str, ...]:
    segments: list[str] = []
    for segment in (pattern or "").strip().split("/"):
        # "" and "." change nothing, and a second "**" only costs time.
        if segment not in ("", ".") and not (segment == "**" and segments[-1:] == ["**"]):
            segments.append(segment)
    return tuple(segments)
