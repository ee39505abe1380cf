"""Looks at the files behind hits: is what was found still there?"""

from __future__ import annotations

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
            self._seen[key] = _compare(locate(self._rules, *key), candidate)
        return self._seen[key]


def _compare(path: Path | None, candidate: Candidate) -> Look:
    try:
        found = path.stat() if path is not None else None
    except OSError:
        found = None
    if found is None:
        return "gone"
    return "same" if (found.st_size, modified_ns(found)) == (candidate.size, candidate.mtime_ns) else "changed"
