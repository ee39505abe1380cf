"""The values that clawmark's calls give back.

Line numbers are 1-based and both ends are included. Scores lie in [0, 1], higher
is better. ``None`` means "this leg gave nothing" or "not probed", never zero.
Every value has ``to_dict()``: the same names in camelCase, the wire shape that all
doors print.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from clawmark.core.trust import Origin

Mode = Literal["hybrid", "keyword", "vector"]
Citations = Literal["auto", "on", "off"]
State = Literal["fresh", "pending", "failed"]
WriteStatus = Literal["created", "appended", "written", "unchanged"]

# Names that the wire shape spells otherwise than camelCase would.
_WIRE_NAMES = {
    ("ReadResult", "from_line"): "from",
    ("Fallback", "from_provider"): "from",
}
# Values that are left out of the wire shape when they are None.
_OPTIONAL_ON_WIRE = {("SearchResult", "citation"), ("SearchResult", "session"), ("Explanation", "importance")}


def camel_case(name: str) -> str:
    """Turn a field name into its wire name.

    >>> camel_case("start_line")
    'startLine'
    """
    head, *rest = name.split("_")
    return head + "".join(part.capitalize() for part in rest)


def _wire_key(key: str) -> str:
    return camel_case(key) if key.isidentifier() else key


def to_wire(value: Any) -> Any:
    """Turn a value, or a container of values, into JSON-ready data."""
    if isinstance(value, Wire):
        return value.to_dict()
    if isinstance(value, dict):
        return {_wire_key(str(key)): to_wire(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, (tuple, list, frozenset)):
        return [to_wire(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, (datetime, date)):
        return value.isoformat()
    return value


@dataclass(frozen=True)
class Wire:
    """Base of the public values: gives each its wire shape."""

    def to_dict(self) -> dict[str, Any]:
        """Give the wire shape: the fields in camelCase, nested values likewise."""
        kind = type(self).__name__
        shape: dict[str, Any] = {}
        for field in fields(self):
            value = getattr(self, field.name)
            if value is None and (kind, field.name) in _OPTIONAL_ON_WIRE:
                continue
            shape[_WIRE_NAMES.get((kind, field.name)) or camel_case(field.name)] = to_wire(value)
        return shape


@dataclass(frozen=True)
class Notice(Wire):
    """Something the reader should know that does not empty the answer."""

    code: str
    message: str
    action: str = ""


@dataclass(frozen=True)
class ErrorInfo(Wire):
    """Why an answer failed: stable code, message, next step."""

    code: str
    message: str
    action: str = ""


@dataclass(frozen=True)
class Fallback(Wire):
    """The provider that should have answered, and why it did not."""

    from_provider: str
    reason: str


@dataclass(frozen=True)
class Explanation(Wire):
    """Every number on the way from the raw legs to the place of a result.

    Attributes:
        cosine: Raw cosine of query and chunk, in [-1, 1].
        bm25: BM25 of the chunk for the query, >= 0, from the agent's own statistics.
        vector_score: The cosine through the embedder's map, in [0, 1].
        text_score: The BM25 as a number in [0, 1].
        vector_weight: Weight of the vector score in the sum.
        text_weight: Weight of the text score in the sum.
        hybrid_score: The weighted sum, before importance and decay.
        age_days: Age of the evidence at the time of the question, >= 0.
        half_life_days: Days after which decay halves the score.
        decay_multiplier: Factor in (0, 1] that decay put on the score.
        decay_rule: Name of the rule that decided it ("off" when decay is off).
        rank_before_diversity: 1-based place before diversity.
        rank_after_diversity: 1-based place after it.
        threshold: The minimum score that applied.
        relaxed: True when the result is below the threshold and fills a free place.
        candidates: Number of candidates of each leg.
        importance: Factor below 1 on the score of a session that nobody holds; None for
            everything else.
    """

    cosine: float | None = None
    bm25: float | None = None
    vector_score: float | None = None
    text_score: float | None = None
    vector_weight: float | None = None
    text_weight: float | None = None
    hybrid_score: float | None = None
    age_days: float | None = None
    half_life_days: float | None = None
    decay_multiplier: float | None = None
    decay_rule: str | None = None
    rank_before_diversity: int | None = None
    rank_after_diversity: int | None = None
    threshold: float | None = None
    relaxed: bool = False
    candidates: dict[str, int] | None = None
    importance: float | None = None


@dataclass(frozen=True)
class Spoken(Wire):
    """Where in which conversation a result was said.

    Attributes:
        id: Id of the session, as its transcript gives it, else its name.
        kind: "interactive", "scheduled", "subagent" or "unknown".
        role: Who says the first line: "user" or "assistant".
        time: When, in UTC: the first dated message of the result, else the last one of the
            session; None when the transcript has no times.
    """

    id: str
    kind: str
    role: str
    time: datetime | None


@dataclass(frozen=True)
class SearchResult(Wire):
    """One chunk that answers, with its place, its scores and the reason for them.

    Attributes:
        date: ISO date of the text, date and time for a session; None for evergreen files.
        origin: Who the text comes from: "owner", "agent", "tool", "external".
        trust: The origin, lowered to "tool" where a flag says so.
        flags: What is suspicious: "instruction-like".
        session: Where in which conversation it was said; None for files.
    """

    path: str
    start_line: int
    end_line: int
    score: float
    confidence: float | None
    vector_score: float | None
    text_score: float | None
    snippet: str
    source: str
    citation: str | None
    stale: bool
    explanation: Explanation
    date: str | None = None
    origin: Origin | None = None
    trust: Origin | None = None
    flags: tuple[str, ...] = ()
    session: Spoken | None = None


@dataclass(frozen=True)
class SearchResponse(Wire):
    """The answer to a question; it failed exactly when ``error`` is set."""

    results: tuple[SearchResult, ...] = ()
    mode: Mode = "keyword"
    provider: str | None = None
    model: str | None = None
    fallback: Fallback | None = None
    citations: Citations = "auto"
    stale: bool = False
    partial: bool = False
    warnings: tuple[Notice, ...] = ()
    error: ErrorInfo | None = None
    filtered: int = 0
    best_filtered: float | None = None
    omitted: int = 0
    abstained: bool = False
    took_ms: float = 0.0


@dataclass(frozen=True)
class ReadResult(Wire):
    """A window of a memory file.

    Attributes:
        status: "ok", or "not_found" (a value, not an error).
        from_line: First line of the window.
        lines: Number of lines returned.
        total_lines: Lines of the file; None for a file above the size limit.
        truncated: True when more remains, in lines or inside a line.
        next_from: Line to continue from; None at the end.
        cursor: Opaque; continues inside a line that is longer than the budget.
        hash: SHA-256 (hex) of the file's bytes; None for a file above the size limit.
        suggestions: Existing paths with similar names, when not found.
    """

    status: Literal["ok", "not_found"]
    path: str
    text: str = ""
    from_line: int = 1
    lines: int = 0
    total_lines: int | None = None
    truncated: bool = False
    next_from: int | None = None
    cursor: str | None = None
    hash: str | None = None
    suggestions: tuple[str, ...] = ()


@dataclass(frozen=True)
class PathReason(Wire):
    """A path and the one-line reason why it is not (fully) indexed."""

    path: str
    reason: str


@dataclass(frozen=True)
class SyncReport(Wire):
    """What a sync did; failures are listed, never raised."""

    added: int = 0
    changed: int = 0
    removed: int = 0
    moved: int = 0
    unchanged: int = 0
    skipped: tuple[PathReason, ...] = ()
    failed: tuple[PathReason, ...] = ()
    pending: int = 0
    chunks: int = 0
    texts_embedded: int = 0
    redactions: int = 0
    partial: bool = False
    error: ErrorInfo | None = None
    took_ms: float = 0.0


@dataclass(frozen=True)
class Status(Wire):
    """The index against the files; None means "not probed"."""

    state: State
    reason: str | None
    workspace: str
    agent: str
    index_path: str
    provider: str | None
    model: str | None
    dimensions: int | None
    mode: Mode
    files: int
    chunks: int
    eligible: int
    pending: int
    failed: tuple[PathReason, ...]
    skipped: tuple[PathReason, ...]
    source_counts: dict[str, dict[str, int]]
    bytes_by_part: dict[str, int] | None
    watch: dict[str, Any] | None
    cache: dict[str, Any] | None
    vector: dict[str, Any] | None
    fts: dict[str, Any] | None
    last_sync: datetime | None
    cost: dict[str, Any] | None = None


@dataclass(frozen=True)
class ForgetReport(Wire):
    """What was, or would be, removed from the index by ``forget``.

    Attributes:
        documents: Stored paths whose text left the index, as a whole or in part.
        chunks: Chunks that held something of it.
        vectors: Vectors of these.
        cached: Vectors that left the embedding cache.
        derived: Citations of passages that share text with it, or name it, and stay.
        dry_run: Nothing was changed.
        restored: It may be indexed again.
        warnings: What is worth knowing.
    """

    documents: tuple[str, ...] = ()
    chunks: int = 0
    vectors: int = 0
    cached: int = 0
    derived: tuple[str, ...] = ()
    dry_run: bool = False
    restored: bool = False
    warnings: tuple[Notice, ...] = ()
    error: ErrorInfo | None = None


@dataclass(frozen=True)
class Finding(Wire):
    """One thing that is wrong with an index.

    Attributes:
        code: Stable identifier.
        message: What is wrong, naming the thing.
        action: Its one repair.
        repair: What ``doctor`` can do about it; None when only its reader can do something.
    """

    code: str
    message: str
    action: str
    repair: str | None = None


@dataclass(frozen=True)
class DoctorReport(Wire):
    """What ``doctor`` found.

    Attributes:
        findings: What is wrong, after repairs.
        repaired: What was wrong, and is no longer.
    """

    findings: tuple[Finding, ...] = ()
    repaired: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class WriteReport(Wire):
    """What ``append`` or ``write`` did to a memory file.

    Attributes:
        path: Stored path.
        bytes_written: Bytes that are new: those added, or all of a written file.
        duplicates_skipped: Blocks left out because the file holds them.
        hash: SHA-256 (hex) of the file as it is now.
        created: True when the file did not exist.
        status: "created", "appended", "written", or "unchanged".
        size: Bytes of the file as it is now.
        start_line: First new line; None when nothing changed.
        end_line: Last one.
        indexed: True when the next search of this process takes the change in before
            it answers; False when that needs a sync.
    """

    path: str
    bytes_written: int
    duplicates_skipped: int
    hash: str
    created: bool = False
    status: WriteStatus = "unchanged"
    size: int = 0
    start_line: int | None = None
    end_line: int | None = None
    indexed: bool = False
