"""The files of a workspace: which count, what is in them, and what may be read."""

from __future__ import annotations

from clawmark.files.filters import IGNORE_FILE, matcher
from clawmark.files.found import FoundFile, Scan
from clawmark.files.growing import open_growing
from clawmark.files.names import is_memory_path, nearest_names
from clawmark.files.paths import find_workspace, locate, resolve_note
from clawmark.files.read import read_window, window_of
from clawmark.files.rules import MAX_SESSION_BYTES, ExtraPath, FileRules, Source
from clawmark.files.scan import scan_files
from clawmark.files.stray import STRAYS_ACTION, strays_message
from clawmark.files.text import (
    ChangedWhileReadingError,
    FileBytes,
    NoteText,
    UnreadableNoteError,
    modified_ns,
    read_bytes,
    read_note,
)
from clawmark.files.watchable import WatchPlan, watch_plan

__all__ = [
    "IGNORE_FILE",
    "MAX_SESSION_BYTES",
    "STRAYS_ACTION",
    "ChangedWhileReadingError",
    "ExtraPath",
    "FileBytes",
    "FileRules",
    "FoundFile",
    "NoteText",
    "Scan",
    "Source",
    "UnreadableNoteError",
    "WatchPlan",
    "find_workspace",
    "is_memory_path",
    "locate",
    "matcher",
    "modified_ns",
    "nearest_names",
    "open_growing",
    "read_bytes",
    "read_note",
    "read_window",
    "resolve_note",
    "scan_files",
    "strays_message",
    "watch_plan",
    "window_of",
]
