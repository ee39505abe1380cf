"""Markdown files that lie in a workspace but are no memory: to say so when nothing else is found."""

from __future__ import annotations

import os
from pathlib import Path

from clawmark.files.names import NOTE_SUFFIX, folder_reason, is_memory_path
from clawmark.files.rules import FileRules, workspace_folder

# Enough to see that somebody expected them to count; a home folder must not be walked whole.
_MOST_FOLDERS = 200
_MOST_NOTES = 100


def stray_notes(rules: FileRules) -> tuple[str, ...]:
    """Name Markdown files of the workspace that are not below ``memory/``, at most a hundred.

    Looks at the first two hundred folders, hidden ones and junk left out.
    """
    top = workspace_folder(rules)
    found: list[str] = []
    for visited, (folder, folders, names) in enumerate(os.walk(top)):
        if visited >= _MOST_FOLDERS or len(found) >= _MOST_NOTES:
            break
        folders[:] = sorted(name for name in folders if folder_reason(name) is None)
        notes = [Path(folder, name) for name in names if name.endswith(NOTE_SUFFIX)]
        found += [note.relative_to(top).as_posix() for note in notes]
    return tuple(sorted(path for path in found if not is_memory_path(path.replace(os.sep, "/")))[:_MOST_NOTES])


def strays_message(rules: FileRules) -> str | None:
    """Say which Markdown files were met although none counts; None when there are none."""
    strays = stray_notes(rules)
    if not strays:
        return None
    names = ", ".join(strays[:3]) + (", ..." if len(strays) > 3 else "")
    return (
        f"No notes found: memory is MEMORY.md, USER.md and memory/**/*.md. "
        f"{len(strays)} other Markdown files lie in {rules.workspace} ({names})."
    )


STRAYS_ACTION = "Move them into memory/, or name their folder in [files] extra_paths."
