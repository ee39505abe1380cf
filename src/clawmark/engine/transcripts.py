"""Reading a transcript as search shows it: one text line per JSONL line, secrets masked."""

from __future__ import annotations

from typing import Any

from clawmark.core.errors import PathNotAllowedError
from clawmark.core.model import ReadResult
from clawmark.files import FileRules, nearest_names, read_bytes, read_window, scan_files, window_of


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
        PathNotAllowedError: No transcripts are configured.
    """
    if not rules.session_paths:
        raise PathNotAllowedError(
            f"The path {path!r} may not be read: no transcripts are configured.", action="Set [sessions] paths."
        )
    found = {file.path: file for file in scan_files(rules, ("sessions",)).files}
    if path not in found:
        return ReadResult("not_found", path, from_line=from_line, suggestions=nearest_names(path, found))
    content = _rendered(read_bytes(found[path]).data, path, masked=masked)
    return window_of(path, content, from_line=from_line, lines=lines, max_chars=max_chars, cursor=cursor)


def _rendered(data: bytes, path: str, *, masked: bool) -> bytes:
    from clawmark.redaction import redact
    from clawmark.sessions import parse_session, render_line, split_jsonl

    session = parse_session(split_jsonl(data), name=path)
    texts = {line.line: render_line(line) for line in session.lines}
    total = data.count(b"\n") + (not data.endswith(b"\n"))
    text = "\n".join(texts.get(number, "") for number in range(1, total + 1))
    return (redact(text).text if masked else text).encode()
