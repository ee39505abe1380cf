"""The settings as values: names, types, ranges and defaults, in one place.

The dataclasses mirror the tables of the TOML file; a field's type, and ``Bounds`` in its
metadata, say what its values may be. Nothing else knows a setting by name, except what
depends on two of them (``load``) and what a workspace may decide (``trust``).

Source:
    recall-spec 8.5, design 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

# The orders that can be asked for.
Ranking = Literal["weighted"]
TextScore = Literal["share", "max", "saturation"]
RuleKind = Literal["evergreen", "dated", "file_time"]
CitationMode = Literal["auto", "on", "off"]
SourceName = Literal["memory", "sessions"]
SessionKind = Literal["interactive", "scheduled", "subagent", "unknown"]
Origin = Literal["owner", "agent", "tool", "external"]

# What is shown, and means "the default pool", while nobody set a multiplier.
SHOWN_MULTIPLIER = 4


@dataclass(frozen=True)
class Bounds:
    """What a value may be.

    Attributes:
        least: Smallest number; None for no limit, and then NaN and infinity are numbers too.
        most: Largest number; None for no limit.
        clamp: True moves a number outside to the nearest end instead of refusing it.
        secret: True keeps the value out of every output.
        url: True keeps the parts of the value that may hold a password out of every output.
    """

    least: float | None = None
    most: float | None = None
    clamp: bool = False
    secret: bool = False
    url: bool = False


def _bounded(default: Any, least: float | None = None, most: float | None = None, *, clamp: bool = False) -> Any:
    return field(default=default, metadata={"bounds": Bounds(least, most, clamp)})


def _secret(default: Any) -> Any:
    return field(default=default, repr=False, metadata={"bounds": Bounds(secret=True)})


def _url() -> Any:
    return field(default=None, repr=False, metadata={"bounds": Bounds(url=True)})


@dataclass(frozen=True)
class DecayRuleSettings:
    """One of ``[[query.hybrid.temporal_decay.rules]]``; first match wins.

    Attributes:
        match: Gitignore-style pattern on the stored path.
        kind: "evergreen" never decays; "dated" by the date in the name; "file_time" by
            the file's own time.
        half_life_days: Own half-life; None for the general one.
        floor: Own floor, in [0, 1]; None for the general one.
    """

    match: str
    kind: RuleKind
    half_life_days: float | None = None
    floor: float | None = _bounded(None, 0, 1)


@dataclass(frozen=True)
class TemporalDecaySettings:
    """``[query.hybrid.temporal_decay]``.

    Attributes:
        half_life_days: Days that halve a score; <= 0, NaN or infinity switch decay off.
        floor: Share of the score that never decays, in [0, 1].
    """

    enabled: bool = False
    half_life_days: float = 30.0
    floor: float = _bounded(0.0, 0, 1)
    rules: tuple[DecayRuleSettings, ...] = ()


@dataclass(frozen=True)
class MmrSettings:
    """``[query.hybrid.mmr]``.

    Attributes:
        lambda_: Relevance against diversity, clamped to [0, 1]; the key is ``lambda``.
    """

    enabled: bool = False
    lambda_: float = _bounded(0.7, 0, 1, clamp=True)


@dataclass(frozen=True)
class HybridSettings:
    """``[query.hybrid]``.

    Attributes:
        vector_weight: Share of the vector score, in [0, 1].
        text_weight: Share of the text score; the two sum to 1.
        candidate_multiplier: Pool of candidates per wanted result, 1 to 20; None until a
            user sets it.
    """

    enabled: bool = True
    vector_weight: float = _bounded(0.7, 0, 1, clamp=True)
    text_weight: float = _bounded(0.3, 0, 1, clamp=True)
    candidate_multiplier: int | None = _bounded(None, 1, 20)
    text_score: TextScore = "share"
    mmr: MmrSettings = MmrSettings()
    temporal_decay: TemporalDecaySettings = TemporalDecaySettings()


@dataclass(frozen=True)
class QuerySettings:
    """``[query]``.

    Attributes:
        min_score: Threshold on the score, in [0, 1].
        min_confidence: Threshold on the confidence, in [0, 1]; None for none.
        abstain: True answers with nothing rather than with what is below the threshold.
    """

    max_results: int = _bounded(6, 1)
    min_score: float = _bounded(0.35, 0, 1)
    min_confidence: float | None = _bounded(None, 0, 1)
    abstain: bool = False
    ranking: Ranking = "weighted"
    hybrid: HybridSettings = HybridSettings()


@dataclass(frozen=True)
class ChunkingSettings:
    """``[chunking]``, in tokens; ``overlap`` lies in 0..tokens - 1."""

    tokens: int = _bounded(400, 1)
    overlap: int = _bounded(80, 0, clamp=True)


@dataclass(frozen=True)
class BatchSettings:
    """``[embedding.batch]``: the slow, cheap interfaces of providers."""

    enabled: bool = False
    wait: bool = True
    concurrency: int = _bounded(2, 1)
    poll_interval_ms: int = _bounded(2000, 1)
    timeout_minutes: int = _bounded(60, 1)


@dataclass(frozen=True)
class BudgetSettings:
    """``[embedding.budget]``: what may be spent in a day; None for no limit."""

    daily_tokens: int | None = _bounded(None, 0)
    daily_cost: float | None = _bounded(None, 0)


@dataclass(frozen=True)
class EmbeddingSettings:
    """``[embedding]``.

    Attributes:
        provider: Name of the embedder; "none" for recall by keyword only.
        model: None for the provider's own default.
        fallback: Provider to use when the first cannot answer; "none" for none.
        dimensions: Wanted length of vectors; None for the model's own.
        base_url: None for the provider's own.
        api_key: None to take it from the provider's environment variable.
        headers: More headers of each request, by name.
        timeout: Seconds for one request; None for the embedder's own.
        prices: Own prices by "provider/model", in US dollars for a million tokens.
    """

    provider: str = "local"
    model: str | None = None
    fallback: str = "none"
    dimensions: int | None = _bounded(None, 1)
    base_url: str | None = _url()
    api_key: str | None = _secret(None)
    headers: dict[str, str] = field(
        default_factory=dict[str, str], repr=False, hash=False, metadata={"bounds": Bounds(secret=True)}
    )
    timeout: float | None = _bounded(None, 0.001, 86_400)
    prices: dict[str, float] = field(default_factory=dict[str, float], hash=False, metadata={"bounds": Bounds(least=0)})
    batch: BatchSettings = BatchSettings()
    budget: BudgetSettings = BudgetSettings()


@dataclass(frozen=True)
class ExtraPathSettings:
    """One of ``[files] extra_paths``: a path, and perhaps a glob below it."""

    path: str
    pattern: str | None = None


@dataclass(frozen=True)
class FilesSettings:
    """``[files]``.

    Attributes:
        extra_paths: More files and folders that belong to the memory.
        include: Gitignore-style globs; when there is one, only matches count.
        exclude: Gitignore-style globs that never count.
        max_bytes: Larger notes are not indexed.
    """

    extra_paths: tuple[ExtraPathSettings, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    max_bytes: int = _bounded(10_000_000, 1)


@dataclass(frozen=True)
class SessionsSettings:
    """``[sessions]``.

    Attributes:
        paths: Folders of transcripts, relative to the workspace.
        delta_bytes: Growth from which on a search waits for a transcript that is being
            written; 0 for any growth.
        delta_messages: New lines from which on it does; 0 for any.
        redact: True masks secrets before a text is indexed.
        include_kinds: Kinds of session to index besides those with a person ("interactive",
            "unknown"), which always are; empty for all kinds.
    """

    paths: tuple[str, ...] = ()
    delta_bytes: int = _bounded(100_000, 0)
    delta_messages: int = _bounded(50, 0)
    redact: bool = True
    include_kinds: tuple[SessionKind, ...] = ()


@dataclass(frozen=True)
class SyncSettings:
    """``[sync]``: what starts a sync; ``interval_minutes`` 0 is never."""

    on_session_start: bool = True
    on_search: bool = True
    watch: bool = True
    watch_debounce_ms: int = _bounded(1500, 0)
    interval_minutes: int = _bounded(0, 0)


@dataclass(frozen=True)
class CacheSettings:
    """``[cache]``: vectors by content; ``max_entries`` None is no limit."""

    enabled: bool = True
    max_entries: int | None = _bounded(None, 1)


@dataclass(frozen=True)
class StoreSettings:
    """``[store]``; ``url`` None is a file in the workspace."""

    url: str | None = _url()


@dataclass(frozen=True)
class CitationsSettings:
    """``[citations]``; "auto" cites in direct chats only."""

    mode: CitationMode = "auto"


@dataclass(frozen=True)
class TrustRuleSettings:
    """One of ``[[trust.rules]]``: the origin of files that match."""

    match: str
    origin: Origin


@dataclass(frozen=True)
class TrustSettings:
    """``[trust]``; first match wins.

    Attributes:
        inject_min: Least trust of what is shown to a model without being asked for; "external"
            is no demand.
    """

    rules: tuple[TrustRuleSettings, ...] = ()
    inject_min: Origin = "tool"


@dataclass(frozen=True)
class Settings:
    """All settings, checked; they can be compared, and printed without a secret.

    Attributes:
        enabled: False refuses every search.
        sources: Sources that are on. While none is named: "memory", and "sessions" once
            ``[sessions] paths`` is set.
    """

    enabled: bool = True
    sources: tuple[SourceName, ...] = ("memory",)
    query: QuerySettings = QuerySettings()
    chunking: ChunkingSettings = ChunkingSettings()
    embedding: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    files: FilesSettings = FilesSettings()
    sessions: SessionsSettings = SessionsSettings()
    sync: SyncSettings = SyncSettings()
    cache: CacheSettings = CacheSettings()
    store: StoreSettings = StoreSettings()
    citations: CitationsSettings = CitationsSettings()
    trust: TrustSettings = TrustSettings()
