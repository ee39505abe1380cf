"""How age lowers a score: the formula, the dates it uses, and the rules that users write.

Nothing here looks at a clock or a file: times come in, a multiplier comes out.

Source:
    recall-spec 6.1; user cases D01 to D07.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache, partial
from typing import Literal

Kind = Literal["evergreen", "dated", "file_time"]

SECONDS_PER_DAY = 86_400.0

_DATE = "([0-9]{4})-([0-9]{2})-([0-9]{2})"
_DATED = re.compile(rf"(?:^|/)memory/(?:[^/]+/)*{_DATE}(?:-[^/]+)?\.md\Z")
_DATED_ANY_CASE = re.compile(_DATED.pattern, re.IGNORECASE)
_DATED_NAME = re.compile(rf"(?:^|/){_DATE}(?:[^/0-9][^/]*)?\Z")
_EVERGREEN_ROOTS = frozenset({"MEMORY.md", "USER.md"})
_EVERGREEN_ROOTS_ANY_CASE = frozenset(name.lower() for name in _EVERGREEN_ROOTS)
_WILDCARD = re.compile(r"(\*\*/|\*\*|\*|\?)")
_WILDCARDS = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


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
        rule: What decided: "dated", "evergreen", "session_time", "file_time", "undated", the
            name of a rule of the user, or "off" when decay is off.
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
        A number in (0, 1], never larger for a greater age; 1 when the half-life is <= 0 or
        not finite, or the age is not finite.

    Source:
        recall-spec 6.1.

    >>> [round(decay_multiplier(age, 30), 12) for age in (0, 30, 60, 90)]
    [1.0, 0.5, 0.25, 0.125]
    """
    if not _halves(half_life_days) or not math.isfinite(age_days) or age_days <= 0.0:
        return 1.0
    # Decay lowers a score, it never erases one: an exponent below the range of floats is not 0.
    return max(sys.float_info.min, math.exp(-math.log(2.0) / half_life_days * age_days))


def bounded_multiplier(multiplier: float, floor: float) -> float:
    """Keep a share of the score out of decay: floor + (1 - floor) · multiplier.

    Args:
        multiplier: In (0, 1].
        floor: The share, in [0, 1]; 0 is decay alone, 1 is no decay.

    >>> bounded_multiplier(0.25, 0.5)
    0.625
    """
    return floor + (1.0 - floor) * multiplier


def date_in_path(path: str, *, fold_case: bool = False) -> date | None:
    """Give the date that a memory file's name begins with, at any depth below ``memory/``.

    Args:
        path: Stored path; backslashes count as slashes, a leading ``./`` as nothing.
        fold_case: True where the file system folds case.

    Returns:
        None without a date, or with one that no calendar has.

    Source:
        recall-spec 6.1, version 2026.9.6; user cases D01, D03, D07.

    >>> date_in_path("memory/logs/a/2026-05-31-standup.md")
    datetime.date(2026, 5, 31)
    """
    return _calendar_date(_pattern(fold_case).search(_normalised(path)))


def looks_dated(path: str, *, fold_case: bool = False) -> bool:
    """Tell whether a name has the form of a date, possible or not."""
    return _pattern(fold_case).search(_normalised(path)) is not None


def is_evergreen_path(path: str, *, fold_case: bool = False) -> bool:
    """Tell whether a memory file is knowledge without a date: root files and undated notes.

    >>> [is_evergreen_path(path) for path in ("MEMORY.md", "memory/topics.md", "memory/2026-05-31.md", "notes/x.md")]
    [True, True, False, False]
    """
    plain = _normalised(path)
    if fold_case:
        plain = plain.lower()
    roots = _EVERGREEN_ROOTS_ANY_CASE if fold_case else _EVERGREEN_ROOTS
    return plain in roots or (plain.startswith("memory/") and not looks_dated(plain, fold_case=fold_case))


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

    The first rule of the user that matches decides, else the built-in ones in this order:
    a date in the name ("dated"; "undated" when no calendar has it), root files and undated
    notes ("evergreen"), a session's own time ("session_time"), the time of any other file
    ("file_time"). Where a rule finds no time, nothing decays ("undated").

    Args:
        path: Stored path.
        source: "memory" or "sessions".
        timestamp: The file's time, or the session's own, aware; None when unknown.
        now: The time of the question, aware.
        settings: Rules; without them the built-in ones apply.
        fold_case: True where the file system folds case.
        matches: Whether a pattern matches a path (with slashes); None for plain globs, where
            only ``**`` crosses folders.

    Source:
        recall-spec 6.1; user cases D01 to D07. Differs from 2026.9.6 in that an impossible
        date never falls back to the file's time (D03).
    """
    dating = _dating(path, source, timestamp, settings, fold_case, matches)
    age = None if dating.moment is None else max(0.0, (now - dating.moment).total_seconds() / SECONDS_PER_DAY)
    if not settings.enabled:
        return Decay(1.0, "off", age, None)
    if age is None:
        return Decay(1.0, dating.rule, None, None)
    half_life = settings.half_life_days if dating.half_life_days is None else dating.half_life_days
    if not _halves(half_life):
        return Decay(1.0, dating.rule, age, None)
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
    """Give the moment that decay counts from, enabled or not; None for evergreen and undated files.

    Arguments and order are those of ``decay_of``; a date in a name is its midnight, UTC.
    """
    return _dating(path, source, timestamp, settings, fold_case, matches).moment


def settings_warning(settings: DecaySettings) -> str | None:
    """Tell what is wrong with a half-life, when decay is on; None when nothing is.

    >>> settings_warning(DecaySettings(enabled=True, half_life_days=0))
    'Decay is off because half_life_days = 0 is not a number above 0.'
    """
    if not settings.enabled:
        return None
    lives = [("", settings.half_life_days)]
    lives += [(f" for {rule.name}", rule.half_life_days) for rule in settings.rules if rule.half_life_days is not None]
    for where, life in lives:
        if not _halves(life):
            return f"Decay is off{where} because half_life_days = {life:g} is not a number above 0."
    return None


def _halves(half_life_days: float) -> bool:
    """Tell whether a half-life can be used; NaN cannot."""
    return half_life_days > 0.0 and math.isfinite(half_life_days)


def _dating(
    path: str,
    source: str,
    timestamp: datetime | None,
    settings: DecaySettings,
    fold_case: bool,
    matches: Callable[[str, str], bool] | None,
) -> _Dating:
    plain = _normalised(path)
    matches = matches or partial(_glob_matches, fold_case=fold_case)
    for rule in settings.rules:
        if matches(rule.match, plain):
            return _by_rule(rule, plain, timestamp)
    return _built_in(plain, source, timestamp, fold_case)


def _by_rule(rule: DecayRule, path: str, timestamp: datetime | None) -> _Dating:
    if rule.kind == "evergreen":
        return _Dating(rule.name, None)
    moment = timestamp if rule.kind == "file_time" else _midnight(_calendar_date(_DATED_NAME.search(path)))
    return _Dating("undated" if moment is None else rule.name, moment, rule.half_life_days, rule.floor)


def _built_in(path: str, source: str, timestamp: datetime | None, fold_case: bool) -> _Dating:
    if looks_dated(path, fold_case=fold_case):
        moment = _midnight(date_in_path(path, fold_case=fold_case))
        return _Dating("undated" if moment is None else "dated", moment)
    if source != "sessions" and is_evergreen_path(path, fold_case=fold_case):
        return _Dating("evergreen", None)
    if timestamp is None:
        return _Dating("undated", None)
    return _Dating("session_time" if source == "sessions" else "file_time", timestamp)


def _pattern(fold_case: bool) -> re.Pattern[str]:
    return _DATED_ANY_CASE if fold_case else _DATED


def _normalised(path: str) -> str:
    plain = path.replace("\\", "/")
    while plain.startswith("./"):
        plain = plain[2:]
    return plain


def _calendar_date(match: re.Match[str] | None) -> date | None:
    try:
        return None if match is None else date(int(match[1]), int(match[2]), int(match[3]))
    except ValueError:
        return None


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), UTC)


def _glob_matches(pattern: str, path: str, *, fold_case: bool) -> bool:
    return _compiled(pattern, fold_case).fullmatch(path) is not None


@lru_cache(maxsize=256)
def _compiled(pattern: str, fold_case: bool) -> re.Pattern[str]:
    parts = (_WILDCARDS.get(part) or re.escape(part) for part in _WILDCARD.split(pattern))
    return re.compile("".join(parts), re.DOTALL | (re.IGNORECASE if fold_case else re.NOFLAG))
