"""Reading a transcript as search shows it: one text line per JSONL line, secrets masked."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from clawmark.core.errors import PathNotAllowedError
from clawmark.core.model import ReadResult
from clawmark.files import FileRules, FoundFile, nearest_names, open_growing, read_window, scan_files, window_of


def read_lines(rules: FileRules, path: str, *, masked: bool, **window: Any) -> ReadResult:
    """Give a window of a memory file or of a transcript, by its stored path."""
    if path.startswith("sessions/"):
        return read_transcript(rules, path, masked=masked, **window)
    return read_window(rules, path, **window)


def read_transcript(
    rules: FileRules, path: str, *, masked: bool, from_line: int, lines: int, max_chars: int, cursor: str | None
) -> ReadResult:
    """Give a window of a transcript; lines that are no message are empty, so that numbers agree with search.

    Args:
        rules: Which transcripts count; only those can be read.
        path: Stored path, ``sessions/...``.
        masked: Whether secrets are masked, as in the index.
        from_line: As for ``files.read_window``, like the others.
        lines: Most lines.
        max_chars: Budget.
        cursor: To go on inside a long line.

    Raises:
        PathNotAllowedError: No transcripts are configured, or the path leads elsewhere.
        UnreadableNoteError: The transcript cannot be read.
    """
    if not rules.session_paths:
        raise PathNotAllowedError(
            f"The path {path!r} may not be read: no transcripts are configured.", action="Set [sessions] paths."
        )
    _refuse_escape(path)
    found = {file.path: file for file in scan_files(rules, ("sessions",)).files}
    if path not in found:
        return ReadResult("not_found", path, from_line=from_line, suggestions=nearest_names(path, found))
    content = _rendered(found[path], rules, masked=masked)
    return window_of(path, content, from_line=from_line, lines=lines, max_chars=max_chars, cursor=cursor)


def _refuse_escape(path: str) -> None:
    # Only names that a scan found are opened; a name that means another place is still an attempt.
    decoded = unquote(unquote(path)).replace("\\", "/")
    if "\0" in decoded or ".." in decoded.split("/"):
        raise PathNotAllowedError(f"The path {path!r} may not be read: it leads out of the transcripts.")


def _rendered(file: FoundFile, rules: FileRules, *, masked: bool) -> bytes:
    from clawmark.sessions import parse_session, render_line
    from clawmark.sync.transcripts import TranscriptLines, mask_session

    with open_growing(file, follow_links=rules.follow_links) as (handle, state):
        lines = TranscriptLines(handle, state.st_size)
        session = mask_session(parse_session(lines, name=file.path), redact=masked).session
    texts = {line.line: render_line(line) for line in session.lines}
    return "\n".join(texts.get(number, "") for number in range(1, lines.count + 1)).encode()
