"""The index against the files, in numbers: ``Memory.status``."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from clawmark.core.errors import StoreError
from clawmark.core.model import Mode, PathReason, Status
from clawmark.core.ports import IndexState, Reader
from clawmark.files import Scan, scan_files, strays_message
from clawmark.sync import Changes, Workplace
from clawmark.sync.reconcile import compare


def status_of(place: Workplace, *, provider: str | None, deep: bool, cache: dict[str, Any] | None) -> Status:
    """Compare files and index; walks the files, loads no model.

    Args:
        place: The index and the files.
        provider: Name of the configured provider; None in keyword mode.
        deep: Also measure the parts of the index.
        cache: What is known of the embedding cache.
    """
    scan = scan_files(place.rules, place.sources)
    try:
        with place.store.reading(place.agent) as reader:
            return _status(place, scan, reader, provider=provider, deep=deep, cache=cache)
    except StoreError as error:
        return _broken(place, scan, error, cache)


def _status(
    place: Workplace, scan: Scan, reader: Reader, *, provider: str | None, deep: bool, cache: dict[str, Any] | None
) -> Status:
    state = reader.state()
    rows = {(row.source, row.path): row for row in reader.documents()} if state else {}
    counts = reader.counts() if state else {}
    changes = compare(scan, rows, place.recipe)
    space: dict[str, Any] = (state.facts.get("space") if state else None) or {}
    chunks = sum(count["chunks"] for count in counts.values())
    vectors = sum(count["vectors"] for count in counts.values())
    foreign = bool(provider and space and space["provider"] != provider)
    unembedded = (chunks if foreign else chunks - vectors) if provider else 0
    failed = _failed(state, scan)
    pending = len(changes.fresh) + len(changes.touched) + unembedded
    condition, reason = _condition(state, changes, unembedded, failed)
    if condition == "fresh" and state is not None and dict(state.identity) != place.recipe.identity():
        condition, reason = "pending", "the settings that make chunks have changed; the next sync builds a new index"
    if not scan.files and reason is None:
        reason = strays_message(place.rules)
    mode: Mode = "hybrid" if provider and vectors and not foreign else "keyword"
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
        skipped=(*scan.skipped, *changes.rejected),
        source_counts={
            source: {"files": count["files"], "chunks": count["chunks"]} for source, count in sorted(counts.items())
        },
        bytes_by_part=reader.bytes_by_part() if state and deep else _file_size(place),
        watch=None,
        cache=cache,
        vector={"vectors": vectors, "dimensions": space.get("dimensions")} if state else None,
        fts={"available": True} if state else None,
        last_sync=_moment(state),
    )


def _condition(
    state: IndexState | None, changes: Changes, unembedded: int, failed: tuple[PathReason, ...]
) -> tuple[Any, str | None]:
    if state is None:
        return "pending", "no index yet"
    error = state.facts.get("error")
    if error:
        return "failed", f"{error['message']} (last sync {state.facts.get('last_sync')})"
    if failed:
        return "failed", f"{failed[0].path}: {failed[0].reason}"
    if changes:
        names = changes.paths
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return "pending", f"not indexed as they are now: {', '.join(names[:3])}{more}"
    if unembedded:
        return "pending", f"{unembedded} chunks have no vector yet"
    return ("fresh", None) if state.complete else ("pending", "the first index is not finished")


def _failed(state: IndexState | None, scan: Scan) -> tuple[PathReason, ...]:
    noted: list[dict[str, str]] = state.facts.get("failed", []) if state else []
    reasons = {item["path"]: item["reason"] for item in noted} | {item.path: item.reason for item in scan.unreadable}
    return tuple(PathReason(path, reason) for path, reason in sorted(reasons.items()))


def _file_size(place: Workplace) -> dict[str, int] | None:
    from pathlib import Path

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
        skipped=scan.skipped,
        source_counts={},
        bytes_by_part=_file_size(place),
        watch=None,
        cache=cache,
        vector=None,
        fts=None,
        last_sync=None,
    )
