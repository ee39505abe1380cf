"""How age lowers a score: the formula, the dates it uses, and the rules that users write.

Nothing here looks at a clock or a file: times come in, a multiplier comes out.

Source:
    recall-spec 6.1; user cases D01 to D07.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from fnmatch import translate
from functools import lru_cache
from typing import Literal

Kind = Literal["evergreen", "dated", "file_time"]

SECONDS_PER_DAY = 86_400.0

_DATED = re.compile(r"(?:^|/)memory/(?:[^/]+/)*(\d{4})-(\d{2})-(\d{2})(?:-[^/]+)?\.md$")
_DATED_ANY_CASE = re.compile(_DATED.pattern, re.IGNORECASE)
_DATED_NAME = re.compile(r"(?:^|/)(\d{4})-(\d{2})-(\d{2})(?:[^/\d][^/]*)?$")
_EVERGREEN_ROOTS = frozenset({"MEMORY.md", "USER.md"})


@dataclass(frozen=True)
class DecayRule:
    """A rule of the user: files that match decay in this way.

    Attributes:
        match: Gitignore-style pattern on the stored path.
        kind: "evergreen" never decays; "dated" by the date in the name; "file_time" by
            the file's (or the session's) own time.
        half_life_days: Own half-life; None for the general one.
        floor: Own floor; None for the general one.
    """

    match: str
    kind: Kind
    half_life_days: float | None = None
    floor: float | None = None

    @property
    def name(self) -> str:
        """Name the rule as explanations do."""
        return f"{self.match} ({self.kind})"


@dataclass(frozen=True)
class DecaySettings:
    """Whether and how fast scores decay.

    Attributes:
        enabled: Off multiplies everything by 1.
        half_life_days: Days that halve a score; <= 0 or not finite switches decay off.
        floor: Share of the score that never decays, in [0, 1].
        rules: The user's, first match wins; the built-in ones follow.
    """

    enabled: bool = False
    half_life_days: float = 30.0
    floor: float = 0.0
    rules: tuple[DecayRule, ...] = ()


@dataclass(frozen=True)
class Decay:
    """What age does to one score.

    Attributes:
        multiplier: In (0, 1]; 1 leaves the score as it is.
        rule: Name of the rule that decided; "off" when decay is off.
        age_days: Age at the time of the question, >= 0; None when it has no date.
        half_life_days: That applied; None when none did.
    """

    multiplier: float
    rule: str
    age_days: float | None
    half_life_days: float | None


@dataclass(frozen=True)
class _Dating:
    rule: str
    moment: datetime | None
    half_life_days: float | None = None
    floor: float | None = None


def decay_multiplier(age_days: float, half_life_days: float) -> float:
    """Give e^(-λ · age) with λ = ln 2 / half-life: half the score after each half-life.

    ======== ==========
    age      multiplier
    ======== ==========
    0 days   1
    30 days  0.5
    60 days  0.25
    90 days  0.125
    ======== ==========

    for a half-life of 30 days.

    Args:
        age_days: Negative ages count as 0.
        half_life_days: <= 0 or not finite means no decay.

    Returns:
        A number in (0, 1] for finite ages of ordinary size; 1 when λ <= 0 or the age is
        not finite.
    """
    if not half_life_days > 0.0 or not math.isfinite(half_life_days) or not math.isfinite(age_days):
        return 1.0
    return math.exp(-math.log(2.0) / half_life_days * max(0.0, age_days))


def bounded_multiplier(multiplier: float, floor: float) -> float:
    """Keep a share of the score out of decay: floor + (1 - floor) · multiplier.

    >>> bounded_multiplier(0.25, 0.8)
    0.85
    """
    return floor + (1.0 - floor) * multiplier


def date_in_path(path: str, *, fold_case: bool = False) -> date | None:
    """Give the date that a memory file's name begins with, at any depth below ``memory/``.

    Args:
        path: Stored path; backslashes count as slashes.
        fold_case: True where the file system folds case.

    Returns:
        None without a date, or with one that no calendar has.

    >>> date_in_path("memory/logs/a/2026-05-31-standup.md")
    datetime.date(2026, 5, 31)
    """
    match = _pattern(fold_case).search(_normalised(path))
    return _calendar_date(match) if match else None


def looks_dated(path: str, *, fold_case: bool = False) -> bool:
    """Tell whether a name has the form of a date, possible or not."""
    return _pattern(fold_case).search(_normalised(path)) is not None


def is_evergreen_path(path: str, *, fold_case: bool = False) -> bool:
    """Tell whether a memory file is knowledge without a date: root files and undated notes.

    >>> [is_evergreen_path(path) for path in ("MEMORY.md", "memory/topics.md", "memory/2026-05-31.md", "notes/x.md")]
    [True, True, False, False]
    """
    plain = _normalised(path)
    below = plain.lower().startswith("memory/") if fold_case else plain.startswith("memory/")
    return plain in _EVERGREEN_ROOTS or (below and not looks_dated(path, fold_case=fold_case))


def decay_of(
    path: str,
    source: str,
    *,
    timestamp: datetime | None,
    now: datetime,
    settings: DecaySettings,
    fold_case: bool = False,
    matches: Callable[[str, str], bool] | None = None,
) -> Decay:
    """Decide what age does to the score of a file's chunks.

    Args:
        path: Stored path.
        source: "memory" or "sessions".
        timestamp: The file's time, or the session's own; None when unknown.
        now: The time of the question.
        settings: Rules; without them the built-in ones apply.
        fold_case: True where the file system folds case.
        matches: Whether a pattern matches a path; None for plain globs.
    """
    dating = _dating(path, source, timestamp, settings, fold_case, matches or _glob_matches)
    age = None if dating.moment is None else max(0.0, (now - dating.moment).total_seconds() / SECONDS_PER_DAY)
    if not settings.enabled:
        return Decay(1.0, "off", age, None)
    if age is None:
        return Decay(1.0, dating.rule, None, None)
    half_life = settings.half_life_days if dating.half_life_days is None else dating.half_life_days
    floor = settings.floor if dating.floor is None else dating.floor
    return Decay(bounded_multiplier(decay_multiplier(age, half_life), floor), dating.rule, age, half_life)


def decay_date_of(
    path: str,
    source: str,
    *,
    timestamp: datetime | None,
    settings: DecaySettings,
    fold_case: bool = False,
    matches: Callable[[str, str], bool] | None = None,
) -> datetime | None:
    """Give the moment that decay would count from; None for evergreen and undated files."""
    return _dating(path, source, timestamp, settings, fold_case, matches or _glob_matches).moment


def settings_warning(settings: DecaySettings) -> str | None:
    """Tell what is wrong with a half-life, when decay is on; None when nothing is."""
    if not settings.enabled:
        return None
    lives = [settings.half_life_days, *(rule.half_life_days for rule in settings.rules)]
    for life in lives:
        if life is not None and not (life > 0.0 and math.isfinite(life)):
            return f"Decay is off where half_life_days = {life:g}: it must be a number above 0."
    return None


def _dating(
    path: str,
    source: str,
    timestamp: datetime | None,
    settings: DecaySettings,
    fold_case: bool,
    matches: Callable[[str, str], bool],
) -> _Dating:
    for rule in settings.rules:
        if matches(rule.match, path):
            return _Dating(rule.name, _rule_moment(rule, path, timestamp), rule.half_life_days, rule.floor)
    if source == "sessions":
        return _Dating("session_time" if timestamp else "undated", timestamp)
    if looks_dated(path, fold_case=fold_case):
        found = date_in_path(path, fold_case=fold_case)
        return _Dating("dated" if found else "undated", _midnight(found))
    if is_evergreen_path(path, fold_case=fold_case):
        return _Dating("evergreen", None)
    return _Dating("file_time" if timestamp else "undated", timestamp)


def _rule_moment(rule: DecayRule, path: str, timestamp: datetime | None) -> datetime | None:
    if rule.kind == "evergreen":
        return None
    if rule.kind == "file_time":
        return timestamp
    match = _DATED_NAME.search(_normalised(path))
    return _midnight(_calendar_date(match)) if match else None


def _pattern(fold_case: bool) -> re.Pattern[str]:
    return _DATED_ANY_CASE if fold_case else _DATED


def _normalised(path: str) -> str:
    plain = path.replace("\\", "/")
    while plain.startswith("./"):
        plain = plain[2:]
    return plain


def _calendar_date(match: re.Match[str]) -> date | None:
    try:
        return date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _glob_matches(pattern: str, path: str) -> bool:
    return _compiled(pattern).match(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(translate(pattern))
