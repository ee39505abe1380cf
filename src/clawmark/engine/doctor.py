"""``Memory.doctor``: everything that can be wrong with an index, by name, each with its one repair.

A check is a function that yields findings. It looks, and changes nothing; what can be
repaired safely names a repair of ``engine.repairs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from clawmark.core.errors import ClawmarkError, StoreCorruptError
from clawmark.core.forgetting import Forgotten
from clawmark.core.model import DoctorReport, Finding, Notice, Status
from clawmark.core.ports import Embedder
from clawmark.engine import machine
from clawmark.engine.repairs import Synchronise, repair_all
from clawmark.engine.upkeep import is_damaged
from clawmark.files import STRAYS_ACTION, Scan, scan_files, strays_message
from clawmark.sync import Workplace
from clawmark.sync.checking import INCONSISTENT_ACTION
from clawmark.sync.locking import is_locked
from clawmark.sync.purging import hidden_rows

# A journal beyond this has not been moved into the file for a long time: 4 MB is usual.
MOST_JOURNAL_BYTES = 64_000_000
# Clocks of two machines may differ by this without harm.
CLOCK_SLACK = timedelta(minutes=5)
# The index of an agent that nobody has asked or synced for so long is probably left over.
IDLE = timedelta(days=180)

_SYNC = "Run `clawmark index`."
_FORCE = "Run `clawmark index --force`."
_FIX = "Run `clawmark doctor --fix`."


@dataclass(frozen=True)
class Checkup:
    """What the checks look at.

    Attributes:
        place: The index and the files.
        status: Gives the status; may raise what a walk over the files raises.
        warnings: What the settings had to say.
        embedder: Gives the embedder, or None in keyword mode; may raise.
        other_index: Where the index lies while the workspace is read-only.
        now: The time.
    """

    place: Workplace
    status: Callable[[], Status]
    warnings: Sequence[Notice]
    embedder: Callable[[], Embedder | None]
    other_index: Path
    now: datetime

    @cached_property
    def scan(self) -> Scan:
        """The files."""
        return scan_files(self.place.rules, self.place.sources)

    @cached_property
    def index(self) -> Path | None:
        """The file of the index; None when the store is no file."""
        path = getattr(self.place.store, "path", None)
        return path if isinstance(path, Path) else None


def examine(checkup: Checkup) -> tuple[Finding, ...]:
    """Run every check; one that cannot be run says why, and does not keep the others from it."""
    found: list[Finding] = []
    for check in CHECKS:
        try:
            found += check(checkup)
        except ClawmarkError as error:
            found.append(Finding(error.code, error.message, error.action, repair=_repair_of(error)))
    # A fault that several checks meet is one finding.
    return tuple({(finding.code, finding.message): finding for finding in found}.values())


def diagnose(checkup: Checkup, synchronise: Synchronise | None) -> DoctorReport:
    """Examine, repair what can be repaired, and examine again.

    Args:
        checkup: What to look at.
        synchronise: Runs a pass; None to change nothing.
    """
    before = examine(checkup)
    names = {finding.repair for finding in before if finding.repair}
    if synchronise is None or not names:
        return DoctorReport(before)
    repair_all(names, checkup.place, synchronise)
    after = examine(replace(checkup))
    left = {finding.code for finding in after}
    return DoctorReport(after, tuple(finding for finding in before if finding.repair and finding.code not in left))


def _repair_of(error: ClawmarkError) -> str | None:
    return "rebuild" if isinstance(error, StoreCorruptError) else None


def _machine(checkup: Checkup) -> Iterator[Finding]:
    yield from machine.sqlite_findings(machine.sqlite_features())


def _folder(checkup: Checkup) -> Iterator[Finding]:
    if checkup.index is not None:
        yield from machine.folder_findings(checkup.index.parent)
        yield from machine.file_system_findings(checkup.index.parent, machine.mounts())


def _lock(checkup: Checkup) -> Iterator[Finding]:
    lock = checkup.place.lock_path
    if lock is not None and lock.exists() and not lock.is_file():
        yield Finding("LOCK_UNUSABLE", f"{lock} is in the way of the lock file.", "Remove it.")


def _settings(checkup: Checkup) -> Iterator[Finding]:
    for notice in checkup.warnings:
        yield Finding("SETTING_IGNORED", notice.message, notice.action)


def _notes(checkup: Checkup) -> Iterator[Finding]:
    for missing in checkup.scan.missing:
        yield Finding("PATH_MISSING", f"{missing.path} is configured, but {missing.reason}.", "Create it, or unset it.")
    if not checkup.scan.files:
        strays = strays_message(checkup.place.rules)
        text = strays or f"There is no note in {checkup.place.rules.workspace}."
        yield Finding("NO_NOTES", text, STRAYS_ACTION if strays else "Write a note into memory/.")
    limit = (checkup.now + CLOCK_SLACK).timestamp() * 1e9
    late = [file.path for file in checkup.scan.files if file.mtime_ns > limit]
    if late:
        message = f"{len(late)} files are dated in the future, such as {late[0]}: they seem never to age."
        yield Finding("TIME_IN_FUTURE", message, "Correct the clock, then `touch` them.")


def _file(checkup: Checkup) -> Iterator[Finding]:
    store = checkup.place.store
    if is_damaged(store):
        yield Finding("INDEX_CORRUPT", f"The index {store.location} is damaged.", _FORCE, repair="rebuild")
        return
    for fault in store.faults(checkup.place.agent):
        yield Finding(fault.code, fault.message, INCONSISTENT_ACTION, repair="mend")
    identities = store.identities(checkup.place.agent)
    wanted = checkup.place.recipe.identity()
    left = [identity for identity in identities[1:] if identity != wanted]
    if left and not is_locked(checkup.place.lock_path):
        yield Finding("GENERATIONS_LEFT", f"{len(left)} unfinished indexes are left over.", _SYNC, repair="sync")


def _journal(checkup: Checkup) -> Iterator[Finding]:
    journal = Path(f"{checkup.index}-wal")
    if checkup.index is not None and journal.is_file() and journal.stat().st_size > MOST_JOURNAL_BYTES:
        message = f"The journal {journal} has {journal.stat().st_size:,} bytes."
        yield Finding("JOURNAL_LARGE", message, _FIX, repair="journal")


def _forgotten(checkup: Checkup) -> Iterator[Finding]:
    with checkup.place.store.reading(checkup.place.agent) as reader:
        forgotten = Forgotten(reader.tombstones())
        present = [row.path for row in hidden_rows(reader, forgotten)] if forgotten.tombstones else []
    if present:
        message = f"{len(present)} files hold what was forgotten, such as {present[0]}."
        yield Finding("FORGOTTEN_PRESENT", message, _FIX, repair="purge")
    if getattr(checkup.place.store, "copy_differs", bool)():
        message = "The file that keeps what was forgotten beside the index is not up to date."
        yield Finding("FORGOTTEN_COPY_OLD", message, _FIX, repair="copy")


def _freshness(checkup: Checkup) -> Iterator[Finding]:
    """Only what the status has not already been told by other checks."""
    with checkup.place.store.reading(checkup.place.agent) as reader:
        state = reader.state()
    status = checkup.status()
    if state is None:
        if checkup.scan.files:
            yield Finding("INDEX_MISSING", f"There is no index yet ({status.index_path}).", _SYNC, repair="sync")
        return
    error: dict[str, Any] | None = state.facts.get("error")
    if error:
        when = state.facts.get("last_sync")
        yield Finding("SYNC_FAILED", f"The last sync failed ({when}): {error['message']}", error["action"], "sync")
    for item in status.failed:
        yield Finding("FILE_FAILED", f"{item.path}: {item.reason}", f"Repair the file. {_SYNC}")
    if status.pending and not is_locked(checkup.place.lock_path):
        yield Finding("INDEX_BEHIND", f"{status.pending} files or chunks wait: {status.reason}.", _SYNC, repair="sync")
    if status.last_sync is not None and status.last_sync > checkup.now + CLOCK_SLACK:
        message = f"The last sync is dated {status.last_sync.isoformat()}, which is to come."
        yield Finding("CLOCK_BACK", message, f"Correct the clock. {_SYNC}")


def _provider(checkup: Checkup) -> Iterator[Finding]:
    try:
        embedder = checkup.embedder()
        if embedder is not None:
            embedder.embed_query("heron")
    except ClawmarkError as error:
        yield Finding("PROVIDER_UNAVAILABLE", f"{error.code}: {error.message}", error.action)
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything
        message = f"The embedding provider fails: {type(error).__name__}: {error}"
        yield Finding("PROVIDER_UNAVAILABLE", message, "Run `clawmark config`, and check [embedding].")


def _cache(checkup: Checkup) -> Iterator[Finding]:
    cache = checkup.place.cache
    if cache is None:
        return
    if cache.is_damaged():
        yield Finding("CACHE_DAMAGED", f"The embedding cache {cache.path} is damaged.", _FIX, repair="cache")
    elif cache.stats()["entries"] > cache.max_entries:
        message = f"The embedding cache holds {cache.stats()['entries']:,} vectors of at most {cache.max_entries:,}."
        yield Finding("CACHE_TOO_LARGE", message, _FIX, repair="cache")


def _others(checkup: Checkup) -> Iterator[Finding]:
    if checkup.index not in (None, checkup.other_index) and checkup.other_index.is_file():
        message = f"An index of the time when the workspace was read-only is left: {checkup.other_index.parent}."
        yield Finding("INDEX_LEFT", message, "Delete that folder, unless others cannot write here.")
    for agent in checkup.place.store.agents():
        if agent == checkup.place.agent:
            continue
        with checkup.place.store.reading(agent) as reader:
            state = reader.state()
        last = state.facts.get("last_sync") if state else None
        if last and checkup.now - datetime.fromisoformat(last) > IDLE:
            message = f"The agent {agent!r} has not been synced since {last}."
            yield Finding("AGENT_IDLE", message, f"Run `clawmark index --agent {agent}`, or delete the index file.")


Check = Callable[[Checkup], Iterator[Finding]]
CHECKS: tuple[Check, ...] = (
    _machine,
    _folder,
    _lock,
    _settings,
    _notes,
    _file,
    _journal,
    _forgotten,
    _freshness,
    _provider,
    _cache,
    _others,
)
