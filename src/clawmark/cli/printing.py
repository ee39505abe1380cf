"""Answers as text that reads well without colour."""

from __future__ import annotations

from collections.abc import Iterator

from clawmark.core.model import (
    Explanation,
    Notice,
    PathReason,
    ReadResult,
    SearchResponse,
    SearchResult,
    Spoken,
    Status,
    SyncReport,
    WriteReport,
)


def response_lines(response: SearchResponse) -> Iterator[str]:
    """Give a search response: results with place, score and reason, then what is worth saying."""
    for place, result in enumerate(response.results, start=1):
        yield from result_lines(place, result)
        yield ""
    if not response.results:
        yield no_result(response)
    if response.omitted:
        yield f"{response.omitted} more left out by --max-chars."


def result_lines(place: int, result: SearchResult) -> Iterator[str]:
    """Give one result: where, how sure, why, and the passage."""
    span = f"{result.start_line}" if result.start_line == result.end_line else f"{result.start_line}-{result.end_line}"
    stale = "  (changed since it was indexed)" if result.stale else ""
    yield f"{place}. {result.path}:{span}  score {result.score:.3f}{stale}{_caution(result)}"
    yield f"   why: {reason(result.explanation)}"
    if result.session is not None:
        yield f"   said: {said(result.session)}"
    for line in result.snippet.splitlines():
        yield f"   | {line}"


def said(spoken: Spoken) -> str:
    """Say in one line who said something, when, and in which conversation."""
    when = "" if spoken.time is None else f", {spoken.time:%Y-%m-%d %H:%M} UTC"
    kind = "" if spoken.kind in {"interactive", "unknown"} else f" ({spoken.kind})"
    return f"by the {spoken.role}{when}, session {spoken.id}{kind}"


def _caution(result: SearchResult) -> str:
    """Say who a text is from when its source does not tell, and what is suspicious about it."""
    usual = "agent" if result.source == "sessions" else "owner"
    said = [] if result.origin in (None, usual) else [f"from {result.origin}"]
    said += result.flags
    return f"  ({', '.join(said)})" if said else ""


def reason(explanation: Explanation) -> str:
    """Say in one line where a score comes from."""
    parts: list[str] = []
    if explanation.vector_score is not None:
        parts.append(f"meaning {explanation.vector_score:.2f}")
    if explanation.text_score is not None:
        parts.append(f"words {explanation.text_score:.2f}")
    if explanation.importance is not None:
        parts.append(f"origin x{explanation.importance:g}")
    if explanation.decay_rule not in (None, "off") and explanation.decay_multiplier is not None:
        parts.append(f"age x{explanation.decay_multiplier:.2f} ({explanation.decay_rule})")
    if explanation.relaxed:
        parts.append(f"below {explanation.threshold:g}, fills a free place: found by its words")
    return ", ".join(parts)


def no_result(response: SearchResponse) -> str:
    """Say why there is no result."""
    for notice in response.warnings:
        if notice.code in {"INDEX_MISSING", "INDEX_EMPTY", "NOTHING_TO_SEARCH"}:
            return notice.message
    if response.filtered and response.best_filtered is not None:
        return (
            f"No matches above the threshold; {response.filtered} below it, the best at {response.best_filtered:.3f}."
        )
    return "No matches."


def window_lines(result: ReadResult) -> Iterator[str]:
    """Give a window of a file, and how to go on, as options of the command line."""
    if not result.lines and result.total_lines is not None:
        yield f"[{result.path} has {result.total_lines} lines.]"
        return
    yield result.text
    if result.cursor is not None:
        yield f"\n[Line {result.from_line} goes on: --cursor {result.cursor}]"
    elif result.next_from is not None:
        yield f"\n[More lines: --from-line {result.next_from}]"


def explanation_lines(response: SearchResponse) -> Iterator[str]:
    """Give every number of every result."""
    yield f"mode {response.mode}, provider {response.provider or '-'}, model {response.model or '-'}"
    for place, result in enumerate(response.results, start=1):
        yield ""
        yield f"{place}. {result.path}:{result.start_line}-{result.end_line}"
        for name, value in result.explanation.to_dict().items():
            if value is not None:
                yield f"   {name:<20} {_number(value)}"
        yield f"   {'score':<20} {_number(result.score)}"
    if not response.results:
        yield no_result(response)


def notice_lines(notices: tuple[Notice, ...], *, without: str | None = None) -> Iterator[str]:
    """Give warnings, each with its next step; only the step of what has been said already."""
    for notice in notices:
        if notice.message == without:
            yield from [f"hint: {notice.action}"] if notice.action else []
            continue
        message = notice.message if notice.message.endswith((".", "!", "?")) else f"{notice.message}."
        yield f"warning: {message}" + (f" {notice.action}" if notice.action else "")


def report_lines(report: SyncReport) -> Iterator[str]:
    """Give what a sync did."""
    counts = [
        f"{number} {name}"
        for name, number in (
            ("added", report.added),
            ("changed", report.changed),
            ("moved", report.moved),
            ("removed", report.removed),
            ("unchanged", report.unchanged),
        )
        if number
    ]
    yield f"Indexed: {', '.join(counts) or 'no files'}; {report.chunks} chunks, {report.texts_embedded} texts embedded."
    if report.redactions:
        yield f"{report.redactions} secrets masked."
    if report.pending:
        yield f"{report.pending} chunks still without a vector."
    yield from reason_lines("failed", report.failed)
    if report.skipped:
        yield f"{len(report.skipped)} skipped; `clawmark status` lists them."


def written_lines(report: WriteReport) -> Iterator[str]:
    """Give what an append did."""
    if report.start_line is None:
        yield f"Unchanged: {report.path} holds it already."
        return
    span = f"{report.start_line}" if report.start_line == report.end_line else f"{report.start_line}-{report.end_line}"
    yield f"{report.status.capitalize()}: {report.path}:{span}, {report.bytes_written:,} bytes."
    if report.duplicates_skipped:
        blocks = "block" if report.duplicates_skipped == 1 else "blocks"
        yield f"{report.duplicates_skipped} duplicate {blocks} skipped."


def status_lines(status: Status) -> Iterator[str]:
    """Give the state of the index."""
    yield f"State:      {status.state}" + (f" ({status.reason})" if status.reason else "")
    yield f"Workspace:  {status.workspace} (agent {status.agent})"
    yield f"Index:      {status.index_path}"
    yield f"Files:      {status.files} of {status.eligible} indexed, {status.chunks} chunks, {status.pending} pending"
    for source, counts in status.source_counts.items():
        yield f"  {source:<9} {counts['files']} files, {counts['chunks']} chunks"
    model = f"{status.provider}/{status.model}, {status.dimensions} dimensions" if status.provider else "none"
    yield f"Vectors:    {model}"
    yield f"Mode:       {status.mode}"
    if status.vector and "resting_until" in status.vector:
        yield f"Resting:    until {status.vector['resting_until']} ({status.vector['reason']})"
    today = status.cost
    if today and today["requests"]:
        yield f"Today:      {today['texts']:,} texts embedded, {today['tokens']:,} tokens, ${today['cost']:.4f}"
    if status.bytes_by_part:
        yield "Bytes:      " + ", ".join(f"{part} {size:,}" for part, size in status.bytes_by_part.items())
    yield f"Last sync:  {status.last_sync.isoformat(timespec='seconds') if status.last_sync else 'never'}"
    yield from reason_lines("failed", status.failed)
    yield from reason_lines("skipped", status.skipped)


def reason_lines(word: str, items: tuple[PathReason, ...]) -> Iterator[str]:
    """Give paths with their reasons."""
    for item in items:
        yield f"  {word} {item.path}: {item.reason}"


def _number(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
