"""The globs that let stored paths in or keep them out: two settings and ``.clawmarkignore``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from clawmark.core.errors import ConfigError
from clawmark.files.names import error_text
from clawmark.files.rules import FileRules, workspace_folder
from clawmark.files.text import UnreadableNoteError, open_regular

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILE = ".clawmarkignore"
_MAX_IGNORE_BYTES = 1_000_000


@dataclass(frozen=True)
class PathFilter:
    """The globs of one workspace, ready to judge stored paths.

    Attributes:
        include: Only matches count; None lets everything in.
        exclude: Matches of ``[files] exclude`` never count.
        ignored: Nor do matches of the ignore file.
    """

    include: GitIgnoreSpec | None
    exclude: GitIgnoreSpec | None
    ignored: GitIgnoreSpec | None

    def reason(self, path: str) -> str | None:
        """Say which setting keeps a stored path out; None when it counts."""
        if self.exclude is not None and self.exclude.match_file(path):
            return "excluded by [files] exclude"
        if self.ignored is not None and self.ignored.match_file(path):
            return f"excluded by {IGNORE_FILE}"
        if self.include is not None and not self.include.match_file(path):
            return "not in [files] include"
        return None


def path_filter(rules: FileRules) -> PathFilter:
    """Prepare the globs of a workspace; reads its ignore file when there is one.

    Raises:
        ConfigError: If a glob cannot be used, or the ignore file cannot be read.
            Indexing what it may have excluded would be worse than stopping.
    """
    return PathFilter(
        include=_spec(rules.include, "[files] include"),
        exclude=_spec(rules.exclude, "[files] exclude"),
        ignored=_spec(_ignore_lines(rules), IGNORE_FILE),
    )


def matcher(patterns: Sequence[str], path: str) -> bool:
    """Tell whether gitignore-style globs match a stored path.

    Raises:
        ConfigError: If a glob cannot be used.

    >>> matcher(["memory/*", "!memory/old"], "memory/a.md"), matcher([], "memory/a.md")
    (True, False)
    """
    spec = _spec(tuple(patterns), "the patterns")
    return spec is not None and bool(spec.match_file(path))


@lru_cache(maxsize=64)
def _spec(globs: tuple[str, ...], origin: str) -> GitIgnoreSpec | None:
    if not globs:
        return None
    from pathspec import GitIgnoreSpec  # 0.1 s, and most workspaces have no glob

    for glob in globs:
        try:
            GitIgnoreSpec.from_lines([glob])
        except (ValueError, re.error) as error:
            raise ConfigError(
                f"The glob {glob!r} in {origin} cannot be used.", action=f"Correct it in {origin}."
            ) from error
    return GitIgnoreSpec.from_lines(globs)


def _ignore_lines(rules: FileRules) -> tuple[str, ...]:
    # A link to the file is harmless, because nothing but globs is taken from it.
    place = Path(workspace_folder(rules), IGNORE_FILE)
    try:
        with open_regular(place, follow_links=True) as (handle, _):
            content = handle.read(_MAX_IGNORE_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise _unusable(error_text(error)) from error
    except UnreadableNoteError as error:
        raise _unusable(error.reason) from error
    if len(content) > _MAX_IGNORE_BYTES:
        raise _unusable(f"larger than {_MAX_IGNORE_BYTES:,} bytes")
    # Like git: bytes that are no text still name the files that carry them.
    text = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    return tuple(line.removesuffix("\r") for line in text.split("\n"))


def _unusable(reason: str) -> ConfigError:
    return ConfigError(f"{IGNORE_FILE} cannot be used: {reason}.", action=f"Repair or remove {IGNORE_FILE}.")
