"""Writing notes: the files are changed, and the next search knows of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from clawmark.core.model import WriteReport
from clawmark.engine.arguments import text_argument
from clawmark.engine.freshness import Freshener
from clawmark.engine.places import existing_workspace, writer_lock_path
from clawmark.files import FileRules


class Pen:
    """Writes the memory files of one workspace.

    Args:
        rules: Which files are memory.
        freshener: Is told that files have changed.
        environ: Where the user's folders are looked up.
        indexes: Whether a search looks at the files first.
    """

    def __init__(self, rules: FileRules, freshener: Freshener, *, environ: Mapping[str, str], indexes: bool) -> None:
        self._rules = rules
        self._freshener = freshener
        self._environ = environ
        self._indexes = indexes

    def append(self, path: str, text: str) -> WriteReport:
        """See ``Memory.append``."""
        from clawmark.files.writing import append_note  # most processes only read

        self._check(path, text)
        return self._told(append_note(self._rules, path, text, lock_path=self._lock_path()))

    def write(self, path: str, text: str, *, expected_hash: str | None) -> WriteReport:
        """See ``Memory.write``."""
        from clawmark.files.writing import write_note

        self._check(path, text)
        text_argument("expected_hash", expected_hash, optional=True)
        written = write_note(self._rules, path, text, expected_hash=expected_hash, lock_path=self._lock_path())
        return self._told(written)

    def _check(self, path: str, text: str) -> None:
        text_argument("path", path)
        text_argument("text", text)
        # A workspace that is gone is not made anew by its first note.
        existing_workspace(self._rules.workspace)

    def _lock_path(self) -> Path:
        return writer_lock_path(self._rules.workspace, self._environ)

    def _told(self, report: WriteReport) -> WriteReport:
        # Also when nothing changed: another process may have written the same text.
        self._freshener.forget_check()
        return replace(report, indexed=self._indexes)
