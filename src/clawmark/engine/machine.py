"""What the machine must offer to an index: SQLite, a folder to write to, a local disk."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from clawmark.core.model import Finding

# The oldest that has the name ``sqlite_schema`` and updates several columns from a query.
OLDEST_SQLITE = (3, 33, 0)
_MOUNTS = Path("/proc/self/mountinfo")
# SQLite's journal needs memory that processes share, which these do not offer.
_NETWORK = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "davfs"})
_NETWORK_PREFIXES = ("fuse.sshfs", "fuse.rclone", "fuse.s3fs", "fuse.davfs", "fuse.gcsfuse", "fuse.glusterfs")


@dataclass(frozen=True)
class SqliteFeatures:
    """What the SQLite of this Python can do."""

    version: tuple[int, ...]
    full_text: bool
    json: bool


def sqlite_features() -> SqliteFeatures:
    """Ask this Python's SQLite, by using what is needed."""
    with closing(sqlite3.connect(":memory:")) as db:
        full_text = _works(db, "CREATE VIRTUAL TABLE words USING fts5 (terms, content = '')")
        return SqliteFeatures(sqlite3.sqlite_version_info, full_text, _works(db, "SELECT json_valid('[]')"))


def _works(db: sqlite3.Connection, statement: str) -> bool:
    try:
        db.execute(statement)
    except sqlite3.OperationalError:
        return False
    return True


def sqlite_findings(features: SqliteFeatures) -> Iterator[Finding]:
    """Name what an SQLite lacks."""
    action = "Use a Python with a newer SQLite, such as one from python.org."
    if features.version < OLDEST_SQLITE:
        version, oldest = (".".join(map(str, number)) for number in (features.version, OLDEST_SQLITE))
        yield Finding("SQLITE_OLD", f"This Python has SQLite {version}; {oldest} is needed.", action)
    if not features.full_text:
        yield Finding("FTS5_MISSING", "This Python's SQLite has no full-text search (FTS5).", action)
    if not features.json:
        yield Finding("JSON_MISSING", "This Python's SQLite has no JSON functions.", action)


def folder_findings(folder: Path) -> Iterator[Finding]:
    """Tell why a folder, which may be to be made, cannot hold an index."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir():
        yield Finding(
            "FOLDER_UNUSABLE", f"{nearest} is in the way of the index folder.", "Move it, or set [store] url."
        )
    elif not os.access(nearest, os.W_OK | os.X_OK):
        action = "Change its permissions, or set [store] url in your own configuration file."
        yield Finding("FOLDER_UNUSABLE", f"The index folder {nearest} cannot be written to.", action)


def mounts() -> str:
    """Give Linux's list of mounts; "" elsewhere."""
    try:
        return _MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def file_system_findings(folder: Path, mountinfo: str) -> Iterator[Finding]:
    """Tell whether a folder lies on another machine's disk.

    Args:
        folder: Where the index is.
        mountinfo: Mounts as in ``/proc/self/mountinfo``.
    """
    kind = _file_system(PurePosixPath(os.path.realpath(folder)), mountinfo)
    if kind in _NETWORK or kind.startswith(_NETWORK_PREFIXES):
        message = f"The index folder {folder} lies on a network file system ({kind}), where SQLite cannot lock safely."
        yield Finding("NETWORK_FOLDER", message, "Set [store] url to a local disk in your own configuration file.")


def _file_system(folder: PurePosixPath, mountinfo: str) -> str:
    """Give the type of the mount that holds a folder: the deepest one, of equals the last."""
    best, kind = -1, ""
    for line in mountinfo.splitlines():
        left, separator, right = line.partition(" - ")
        if not separator:
            continue
        point = PurePosixPath(left.split()[4].replace("\\040", " "))
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), right.split()[0]
    return kind
