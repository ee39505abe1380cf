"""What a session is told at its start: that there is a memory, and how to ask it."""

from __future__ import annotations

import re
from typing import Any

from clawmark.core.recalled import Recalled, harmless, render_recalled
from clawmark.core.trust import flags_of, trust_of, trusts
from clawmark.engine.provenance import Provenance, read_file
from clawmark.hook.index import reading
from clawmark.hook.places import Place
from clawmark.hook.silence import Silence
from clawmark.hook.standing import kept_out

_ROOT = "MEMORY.md"
_HEADING = re.compile(r"^#{1,6}[ \t]+.+$", re.MULTILINE)
_MOST_BYTES = 200_000
# A pointer, not the memory: enough to know what can be asked for.
_MOST_HEADINGS, _MOST_CHARS, _NEWEST = 24, 1_500, 3


def pointer(place: Place) -> str:
    """Say what is remembered and how to recall it.

    Raises:
        Silence: Nothing is indexed.
    """
    with reading(place.index, place.agent) as reader:
        rows = [row for row in reader.documents() if row.rejected is None and row.source in place.choices.sources]
        state = reader.state()
    if not rows:
        raise Silence("the index is empty")
    said = f"{_counted(rows)} of earlier work, decisions, people, preferences and todos are indexed by clawmark"
    synced = str(state.facts.get("last_sync") or "")[:16].replace("T", " ") if state else ""
    lines = [
        f"{said}{f' (last sync {synced} UTC)' if synced else ''}.",
        "Before you answer about any of these, recall them: call memory_search, or run "
        '`clawmark search "QUESTION"`, and read around a hit with memory_get or `clawmark get PATH#L1-L9`.',
    ]
    newest = sorted(row.path for row in rows if row.source == "memory" and re.search(r"/\d{4}-\d\d-\d\d", row.path))
    if newest:
        lines.append(
            f"Newest notes: {', '.join(' '.join(harmless(path).split()) for path in newest[-_NEWEST:][::-1])}."
        )
    contents = _contents(place)
    return "\n".join((*lines, *([contents] if contents else ())))


def _counted(rows: list[Any]) -> str:
    notes = sum(row.source == "memory" for row in rows)
    sessions = len(rows) - notes
    counts = [f"{notes} note{'s' if notes != 1 else ''}"] if notes else []
    counts += [f"{sessions} transcript{'s' if sessions != 1 else ''}"] if sessions else []
    return " and ".join(counts)


def _contents(place: Place) -> str:
    """Give the headings of ``MEMORY.md``, quoted like any recalled text; "" when it may not be shown."""
    follow = place.choices.follow_links
    text = None if kept_out(place, _ROOT) else read_file(place.workspace / _ROOT, _MOST_BYTES, follow_links=follow)
    headings = _HEADING.findall(text or "")[:_MOST_HEADINGS]
    origin = Provenance(place.choices.trust, follow_links=follow).origin(_ROOT, "memory", place.workspace / _ROOT)
    flags = flags_of("\n".join(headings))
    trust = trust_of(origin, flags)
    if not headings or not trusts(trust, place.choices.inject_min):
        return ""
    item = Recalled(_ROOT, 1, (text or "").count("\n") + 1, "\n".join(headings), origin, trust, flags)
    return render_recalled([item], max_chars=_MOST_CHARS)
