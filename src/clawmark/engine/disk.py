"""Looks at the files behind hits: is what was found still there?"""

from __future__ import annotations

import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from clawmark.core.ports import Candidate
from clawmark.core.trust import Origin, TrustRule
from clawmark.engine.provenance import Provenance
from clawmark.files import FileRules, locate, modified_ns

Look = Literal["same", "changed", "gone"]


class Disk:
    """Stats the files of hits, each once per search."""

    def __init__(self, rules: FileRules, trust: Sequence[TrustRule] = ()) -> None:
        self._rules = rules
        self._seen: dict[tuple[str, str], Look] = {}
        self._provenance = Provenance(trust, follow_links=rules.follow_links)

    def origin(self, candidate: Candidate) -> Origin:
        """Give the origin of a hit's file, by the rules and by what it says of itself."""
        file = locate(self._rules, candidate.source, candidate.path) if candidate.source == "memory" else None
        return self._provenance.origin(candidate.path, candidate.source, file)

    def look(self, candidate: Candidate) -> Look:
        """Compare a hit's file with what was indexed, by size and time."""
        key = (candidate.source, candidate.path)
        if key not in self._seen:
            path = locate(self._rules, *key)
            self._seen[key] = _compare(path, candidate, follow_links=self._rules.follow_links)
        return self._seen[key]


def _compare(path: Path | None, candidate: Candidate, *, follow_links: bool) -> Look:
    try:
        found = path.stat(follow_symlinks=follow_links) if path is not None else None
    except OSError:
        found = None
    # A folder, a FIFO or a link that took the file's name holds nothing of what was indexed.
    if found is None or not stat.S_ISREG(found.st_mode):
        return "gone"
    return "same" if (found.st_size, modified_ns(found)) == (candidate.size, candidate.mtime_ns) else "changed"
