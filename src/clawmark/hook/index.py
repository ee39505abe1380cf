"""A read-only view of the index: no lock, no file of its own, nothing written."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from clawmark.core.ports import Reader
from clawmark.hook.silence import Silence
from clawmark.stores.matrix import MatrixCache
from clawmark.stores.sqlite_read import SqliteReader
from clawmark.stores.sqlite_schema import SCHEMA_VERSION, read_version

# A prompt waits for this; a checkpoint of a writer is over sooner.
_BUSY_SECONDS = 0.5


@contextmanager
def reading(index: Path, agent: str) -> Generator[Reader]:
    """Open a view of the generation that answers for an agent.

    Raises:
        Silence: There is none.
    """
    with closing(_connected(index)) as db:
        db.execute("BEGIN")
        version = read_version(db, str(index))
        if version == 0:
            raise Silence("the index is only being made")
        if version < SCHEMA_VERSION:
            raise Silence("the index is of an older clawmark; the next search renews it")
        row = db.execute(
            "SELECT id FROM generations WHERE agent = ? ORDER BY answering DESC, id DESC LIMIT 1", (agent,)
        ).fetchone()
        if row is None:
            raise Silence(f"the agent {agent!r} has no index")
        yield SqliteReader(db, row[0], MatrixCache(), str(index), agent)


def _connected(index: Path) -> sqlite3.Connection:
    uri = f"file:{quote(index.as_posix())}?mode=ro"
    try:
        return _checked(uri)
    except sqlite3.OperationalError:
        # A folder that may not be written has no room for the shared memory of WAL. Without a log
        # beside it the file is complete, and nobody changes it there.
        log = Path(f"{index}-wal")
        if log.exists() and log.stat().st_size:
            raise
        return _checked(f"{uri}&immutable=1")


def _checked(uri: str) -> sqlite3.Connection:
    db = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        # The file may have come with a clone: nothing in its schema runs code.
        db.execute("PRAGMA trusted_schema = OFF")
        db.execute("PRAGMA temp_store = MEMORY")
        db.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        db.close()
        raise
    return db
