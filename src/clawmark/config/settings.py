"""The settings as values: names, types, ranges and defaults, in one place.

The dataclasses mirror the tables of the TOML file. ``Bounds`` in the metadata of a field
says what its values may be; ``load`` reads nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Ranking = Literal["weighted"]
TextScore = Literal["share", "max", "saturation"]
RuleKind = Literal["evergreen", "dated", "file_time"]
CitationMode = Literal["auto", "on", "off"]


@dataclass(frozen=True)
class Bounds:
    """What a value may be.

    Attributes:
        least: Smallest number; None for no limit.
        most: Largest number.
        clamp: True moves a number outside to the nearest end instead of refusing it.
        secret: True keeps the value out of every output.
    """

    least: float | None = None
    most: float | None = None
    clamp: bool = False
    secret: bool = False


def _bounded(default: Any, least: float | None = None, most: float | None = None, *, clamp: bool = False) -> Any:
    return field(default=default, metadata={"bounds": Bounds(least, most, clamp)})


def _secret(default: Any) -> Any:
    return field(default=default, repr=False, metadata={"bounds": Bounds(secret=True)})


@dataclass(frozen=True)
class DecayRuleSettings:
    """One of ``[[query.hybrid.temporal_decay.rules]]``."""

    match: str
    kind: RuleKind
    half_life_days: float | None = None
    floor: float | None = _bounded(None, 0, 1)


@dataclass(frozen=True)
class TemporalDecaySettings:
    """``[query.hybrid.temporal_decay]``."""

    enabled: bool = False
    half_life_days: float = 30.0
    floor: float = _bounded(0.0, 0, 1)
    rules: tuple[DecayRuleSettings, ...] = ()


@dataclass(frozen=True)
class MmrSettings:
    """``[query.hybrid.mmr]``; the key of ``lambda_`` is ``lambda``."""

    enabled: bool = False
    lambda_: float = _bounded(0.7, 0, 1, clamp=True)


@dataclass(frozen=True)
class HybridSettings:
    """``[query.hybrid]``.

    Attributes:
        candidate_multiplier: None until a user sets it; 4 is what is shown.
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
    """``[query]``."""

    max_results: int = _bounded(6, 1)
    min_score: float = _bounded(0.35, 0, 1)
    min_confidence: float | None = _bounded(None, 0, 1)
    abstain: bool = False
    ranking: Ranking = "weighted"
    hybrid: HybridSettings = HybridSettings()


@dataclass(frozen=True)
class ChunkingSettings:
    """``[chunking]``, in tokens."""

    tokens: int = _bounded(400, 1)
    overlap: int = _bounded(80, 0)


@dataclass(frozen=True)
class BatchSettings:
    """``[embedding.batch]``."""

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
    """``[embedding]``."""

    provider: str = "local"
    model: str | None = None
    fallback: str = "none"
    dimensions: int | None = _bounded(None, 1)
    base_url: str | None = None
    api_key: str | None = _secret(None)
    headers: dict[str, str] = field(
        default_factory=dict[str, str], repr=False, metadata={"bounds": Bounds(secret=True)}
    )
    timeout: float | None = _bounded(None, 0)
    batch: BatchSettings = BatchSettings()
    budget: BudgetSettings = BudgetSettings()


@dataclass(frozen=True)
class ExtraPathSettings:
    """One of ``[files] extra_paths``: a path, or a table with a glob below it."""

    path: str
    pattern: str | None = None


@dataclass(frozen=True)
class FilesSettings:
    """``[files]``."""

    extra_paths: tuple[ExtraPathSettings, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    follow_links: bool = False
    max_bytes: int = _bounded(10_000_000, 1)


@dataclass(frozen=True)
class SessionsSettings:
    """``[sessions]``."""

    paths: tuple[str, ...] = ()
    delta_bytes: int = _bounded(100_000, 0)
    delta_messages: int = _bounded(50, 0)
    redact: bool = True
    include_kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class SyncSettings:
    """``[sync]``."""

    on_session_start: bool = True
    on_search: bool = True
    watch: bool = True
    watch_debounce_ms: int = _bounded(1500, 0)
    interval_minutes: int = _bounded(0, 0)


@dataclass(frozen=True)
class CacheSettings:
    """``[cache]``: vectors by content."""

    enabled: bool = True
    max_entries: int | None = _bounded(None, 1)


@dataclass(frozen=True)
class StoreSettings:
    """``[store]``."""

    url: str | None = None


@dataclass(frozen=True)
class CitationsSettings:
    """``[citations]``."""

    mode: CitationMode = "auto"


@dataclass(frozen=True)
class TrustRuleSettings:
    """One of ``[[trust.rules]]``: the origin of files that match."""

    match: str
    origin: Literal["owner", "agent", "tool", "external"]


@dataclass(frozen=True)
class TrustSettings:
    """``[trust]``."""

    rules: tuple[TrustRuleSettings, ...] = ()


@dataclass(frozen=True)
class Settings:
    """All settings, checked.

    Attributes:
        sources: Sources that are on: "memory", and "sessions" once ``[sessions] paths``
            is set, unless named.
    """

    enabled: bool = True
    sources: tuple[Literal["memory", "sessions"], ...] = ("memory",)
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
