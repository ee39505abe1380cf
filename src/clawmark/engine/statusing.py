"""The index against the files, in numbers: ``Memory.status``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from clawmark.core.digest import content_hash
from clawmark.core.errors import ClawmarkError, StoreError
from clawmark.core.model import Mode, PathReason, State, Status
from clawmark.core.ports import DocumentRow, Filter, IndexState, Reader
from clawmark.files import FoundFile, Scan, UnreadableNoteError, read_bytes, scan_files, strays_message
from clawmark.sync import Changes, Workplace
from clawmark.sync.checking import inconsistency
from clawmark.sync.locking import is_locked
from clawmark.sync.reconcile import compare

# Files with a new time are read to see whether they changed, up to so much: about 0.1 s.
_MOST_BYTES_TO_COMPARE = 20_000_000


@dataclass(frozen=True)
class Provider:
    """What is known of the configured provider without loading its model.

    Attributes:
        name: None in keyword mode.
        error: Why it cannot start; None when nothing is known against it.
    """

    name: str | None
    error: ClawmarkError | None = None


def status_of(place: Workplace, *, provider: Provider, deep: bool, cache: dict[str, Any] | None) -> Status:
    """Compare files and index; walks the files, loads no model.

    Args:
        place: The index and the files.
        provider: The configured provider.
        deep: Also measure the parts of the index.
        cache: What is known of the embedding cache.
    """
    scan = scan_files(place.rules, place.sources)
    try:
        wrong = inconsistency([fault.message for fault in place.store.faults(place.agent)])
        with place.store.reading(place.agent) as reader:
            status = _status(place, scan, reader, provider=provider, deep=deep, cache=cache)
    except StoreError as error:
        return _broken(place, scan, error, cache)
    if wrong is not None and status.state != "failed":
        status = replace(status, state="failed", reason=f"{wrong.message} {wrong.action}")
    if status.state == "pending" and is_locked(place.lock_path):
        status = replace(status, reason=f"{status.reason}; a sync is running")
    return status


def _status(
    place: Workplace, scan: Scan, reader: Reader, *, provider: Provider, deep: bool, cache: dict[str, Any] | None
) -> Status:
    state = reader.state()
    rows = {(row.source, row.path): row for row in reader.documents()} if state else {}
    counts = reader.counts() if state else {}
    changes = _settled(place, compare(scan, rows, place.recipe))
    space: dict[str, Any] = (state.facts.get("space") if state else None) or {}
    chunks = sum(count["chunks"] for count in counts.values())
    vectors = sum(count["vectors"] for count in counts.values())
    foreign = bool(provider.name and space and space["provider"] != provider.name)
    unembedded = (chunks if foreign else chunks - vectors) if provider.name else 0
    failed = _failed(state, scan)
    pending = len(changes.fresh) + len(changes.touched) + unembedded
    condition, reason = _condition(state, changes, unembedded, failed, provider.error)
    if condition == "fresh" and state is not None and dict(state.identity) != place.recipe.identity():
        condition, reason = "pending", "the settings that make chunks have changed; the next sync builds a new index"
    if not scan.files and reason is None:
        reason = strays_message(place.rules)
    answers = provider.name and vectors and not foreign and provider.error is None
    mode: Mode = "hybrid" if answers else "keyword"
    return Status(
        state=condition,
        reason=reason,
        workspace=str(place.rules.workspace),
        agent=place.agent,
        index_path=place.store.location,
        provider=space.get("provider"),
        model=space.get("model"),
        dimensions=space.get("dimensions"),
        mode=mode,
        files=sum(count["files"] for count in counts.values()),
        chunks=chunks,
        eligible=len(scan.files) - len(changes.rejected),
        pending=pending,
        failed=failed,
        skipped=(*scan.missing, *scan.skipped, *changes.rejected),
        source_counts={
            source: {"files": count["files"], "chunks": count["chunks"]} for source, count in sorted(counts.items())
        },
        bytes_by_part=reader.bytes_by_part(deep=deep) if state else _file_size(place),
        watch=None,
        cache=cache,
        vector={"vectors": vectors, "dimensions": space.get("dimensions")} if state else None,
        fts={"available": _finds_words(reader)} if state else None,
        last_sync=_moment(state),
    )


def _settled(place: Workplace, changes: Changes) -> Changes:
    """Take files with a new time, but the size and the content that the index has, for unchanged."""
    left = _MOST_BYTES_TO_COMPARE
    touched: list[tuple[FoundFile, DocumentRow]] = []
    for found, row in changes.touched:
        may_be_same = row.rejected is None and found.size == row.size and found.size <= left
        left -= found.size * may_be_same
        if not (may_be_same and _hash_of(place, found) == row.hash):
            touched.append((found, row))
    same = len(changes.touched) - len(touched)
    return replace(changes, touched=tuple(touched), unchanged=changes.unchanged + same)


def _hash_of(place: Workplace, found: FoundFile) -> str | None:
    try:
        return content_hash(read_bytes(found, follow_links=place.recipe.follow_links).data)
    except UnreadableNoteError:
        return None


def _condition(
    state: IndexState | None,
    changes: Changes,
    unembedded: int,
    failed: tuple[PathReason, ...],
    provider_error: ClawmarkError | None,
) -> tuple[State, str | None]:
    when = f" (last sync {state.facts.get('last_sync')})" if state else ""
    error = state.facts.get("error") if state else None
    if error:
        return "failed", f"{error['message']}{when}"
    if provider_error is not None:
        return "failed", f"{provider_error.message} {provider_error.action}".strip()
    if state is None:
        return "pending", "no index yet"
    if failed:
        return "failed", f"{failed[0].path}: {failed[0].reason}{when}"
    if changes:
        names = changes.paths
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return "pending", f"not indexed as they are now: {', '.join(names[:3])}{more}"
    if unembedded:
        return "pending", f"{unembedded} chunks have no vector yet"
    return ("fresh", None) if state.complete else ("pending", "the first index is not finished")


def _finds_words(reader: Reader) -> bool:
    """Tell whether the full-text index answers at all."""
    try:
        reader.text_candidates(["a"], Filter(frozenset({"memory"})), 1)
    except StoreError:
        return False
    return True


def _failed(state: IndexState | None, scan: Scan) -> tuple[PathReason, ...]:
    noted: list[dict[str, str]] = state.facts.get("failed", []) if state else []
    reasons = {item["path"]: item["reason"] for item in noted} | {item.path: item.reason for item in scan.unreadable}
    return tuple(PathReason(path, reason) for path, reason in sorted(reasons.items()))


def _file_size(place: Workplace) -> dict[str, int] | None:
    path = Path(place.store.location)
    return {"file": path.stat().st_size} if path.is_file() else None


def _moment(state: IndexState | None) -> datetime | None:
    text = state.facts.get("last_sync") if state else None
    return datetime.fromisoformat(text) if text else None


def _broken(place: Workplace, scan: Scan, error: StoreError, cache: dict[str, Any] | None) -> Status:
    return Status(
        state="failed",
        reason=f"{error.message} {error.action}".strip(),
        workspace=str(place.rules.workspace),
        agent=place.agent,
        index_path=place.store.location,
        provider=None,
        model=None,
        dimensions=None,
        mode="keyword",
        files=0,
        chunks=0,
        eligible=len(scan.files),
        pending=len(scan.files),
        failed=(),
        skipped=(*scan.missing, *scan.skipped),
        source_counts={},
        bytes_by_part=_file_size(place),
        watch=None,
        cache=cache,
        vector=None,
        fts=None,
        last_sync=None,
    )
