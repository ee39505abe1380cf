"""Decay as a function: the table of the half-life, user cases D01 to D07, and what holds for every input."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clawmark.core.decay import (
    Decay,
    DecayRule,
    DecaySettings,
    bounded_multiplier,
    date_in_path,
    decay_date_of,
    decay_multiplier,
    decay_of,
    is_evergreen_path,
    looks_dated,
    settings_warning,
)

NOW = datetime(2026, 6, 30, tzinfo=UTC)
ON = DecaySettings(enabled=True)
USELESS_HALF_LIVES = [0.0, -3.0, math.nan, math.inf, -math.inf]

AGES = st.floats(-1e4, 1e6)
HALF_LIVES = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)
SHARES = st.floats(0, 1)
PATHS = st.sampled_from(
    ["MEMORY.md", "memory/x.md", "memory/2026-05-31.md", "memory/2026-02-30.md", "notes/x.md", "sessions/a.jsonl"]
)


def days_ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


def about(value: float) -> Any:
    return pytest.approx(value, abs=1e-9)


MOMENTS = st.floats(-20_000, 20_000).map(days_ago)


def decay(path: str, *, source: str = "memory", timestamp: datetime | None = None, by: DecaySettings = ON) -> Decay:
    return decay_of(path, source, timestamp=timestamp, now=NOW, settings=by)


def with_rules(*rules: DecayRule) -> DecaySettings:
    return DecaySettings(enabled=True, rules=rules)


# The formula


@pytest.mark.parametrize(("age_days", "multiplier"), [(0, 1.0), (30, 0.5), (60, 0.25), (90, 0.125)])
def test_each_half_life_halves_the_score(age_days: float, multiplier: float) -> None:
    assert decay_multiplier(age_days, 30) == pytest.approx(multiplier, abs=1e-12)


@given(AGES, HALF_LIVES)
def test_a_multiplier_lowers_a_score_but_never_erases_it(age_days: float, half_life_days: float) -> None:
    assert 0.0 < decay_multiplier(age_days, half_life_days) <= 1.0


@given(AGES, AGES, HALF_LIVES)
def test_what_is_older_never_scores_more(one: float, other: float, half_life_days: float) -> None:
    newer, older = sorted([one, other])

    assert decay_multiplier(older, half_life_days) <= decay_multiplier(newer, half_life_days)


@given(AGES, HALF_LIVES, HALF_LIVES)
def test_a_longer_half_life_never_scores_less(age_days: float, one: float, other: float) -> None:
    shorter, longer = sorted([one, other])

    assert decay_multiplier(age_days, shorter) <= decay_multiplier(age_days, longer)


@given(st.floats(), st.sampled_from(USELESS_HALF_LIVES))
def test_a_half_life_that_halves_nothing_leaves_the_score(age_days: float, half_life_days: float) -> None:
    assert decay_multiplier(age_days, half_life_days) == 1.0


@pytest.mark.parametrize("age_days", [math.nan, math.inf, -math.inf])
def test_an_age_that_is_no_number_leaves_the_score(age_days: float) -> None:
    assert decay_multiplier(age_days, 30) == 1.0


@given(st.floats(max_value=0, allow_nan=False), HALF_LIVES)
def test_the_future_never_boosts(age_days: float, half_life_days: float) -> None:
    assert decay_multiplier(age_days, half_life_days) == 1.0


@given(SHARES.filter(bool), SHARES)
def test_a_floor_keeps_the_multiplier_between_itself_and_one(multiplier: float, floor: float) -> None:
    bounded = bounded_multiplier(multiplier, floor)

    assert floor <= bounded <= 1.0
    assert bounded == pytest.approx(floor + (1 - floor) * multiplier)


@given(SHARES)
def test_floor_zero_is_decay_alone_and_floor_one_is_no_decay(multiplier: float) -> None:
    assert bounded_multiplier(multiplier, 0.0) == multiplier
    assert bounded_multiplier(multiplier, 1.0) == 1.0


# Dates in paths


@pytest.mark.parametrize(
    "path",
    [
        "memory/2026-05-31.md",
        "memory/2026-05-31-standup.md",
        "memory/2026-05-31-1430-2.md",
        "memory/logs/a/2026-05-31.md",
        "notes/memory/2026-05-31.md",
        "./memory/2026-05-31.md",
        "memory/2026-05-31-会议.md",
    ],
)
def test_a_date_at_the_start_of_the_name_dates_a_note_at_any_depth(path: str) -> None:
    """User case D01: the score .80 becomes .40."""
    assert date_in_path(path) == date(2026, 5, 31)
    assert decay(path) == Decay(about(0.5), "dated", 30.0, 30.0)
    assert 0.80 * decay(path).multiplier == pytest.approx(0.40, abs=0.01)


@pytest.mark.parametrize("path", ["MEMORY.md", "USER.md", "memory/topics.md", "memory/lessons/git.md"])
def test_root_files_and_undated_notes_are_evergreen(path: str) -> None:
    """User case D01: the score .80 stays, however old the file is."""
    assert decay(path, timestamp=days_ago(900)) == Decay(1.0, "evergreen", None, None)


@pytest.mark.parametrize(
    "path",
    [
        "2026-05-31.md",
        "xmemory/2026-05-31.md",
        "memory/2026-05-31.MD",
        "memory/2026-05-31.md\n",
        "memory/2026-05-31standup.md",
        "memory/notes-2026-05-31.md",
        "memory/2026-5-31.md",
        "memory/٢٠٢٦-٠٥-٣١.md",
        "memory/2026-05-31-a/b.md",
        "sessions/2022-05-15-01.jsonl",
    ],
)
def test_other_names_are_not_dated(path: str) -> None:
    assert not looks_dated(path)
    assert date_in_path(path) is None


@given(st.dates(), st.sampled_from(["", "a/", "logs/2020-01-01/"]), st.sampled_from(["", "-x", "-1430-2"]))
@example(date(2026, 5, 31), "a/", "-x")
def test_every_date_is_read_back_from_a_path(day: date, folder: str, suffix: str) -> None:
    path = f"memory/{folder}{day.isoformat()}{suffix}.md"

    assert date_in_path(path) == day
    assert decay_date_of(path, "memory", timestamp=None, settings=ON) == datetime.combine(day, time(), UTC)


@pytest.mark.parametrize("path", ["Memory/2026-05-31.md", "MEMORY/2026-05-31.MD", "memory/2026-05-31.md"])
def test_case_is_folded_where_the_file_system_folds_it(path: str) -> None:
    """User case D02."""
    folded = decay_of(path, "memory", timestamp=None, now=NOW, settings=ON, fold_case=True)

    assert folded == decay("memory/2026-05-31.md")


@pytest.mark.parametrize("path", ["memory.md", "User.md", "Memory/topics.md"])
def test_evergreen_files_are_found_in_any_case_only_where_case_is_folded(path: str) -> None:
    """User case D02."""
    assert is_evergreen_path(path, fold_case=True)
    assert not is_evergreen_path(path)


def test_rules_match_in_any_case_only_where_case_is_folded() -> None:
    """User case D02."""
    rules = with_rules(DecayRule("memory/inbox/**", "file_time"))
    asked: dict[str, Any] = {"timestamp": days_ago(30), "now": NOW, "settings": rules}

    assert decay_of("Memory/Inbox/x.md", "memory", **asked, fold_case=True).rule == "memory/inbox/** (file_time)"
    assert decay_of("Memory/Inbox/x.md", "memory", **asked).rule == "file_time"


@pytest.mark.parametrize(
    "path", ["memory/2026-02-30.md", "memory/2026-13-01.md", "memory/0000-01-01.md", "memory/a/2026-02-30-x.md"]
)
def test_an_impossible_date_is_undated_and_the_files_time_does_not_count(path: str) -> None:
    """User case D03."""
    assert looks_dated(path)
    assert not is_evergreen_path(path)
    assert decay(path, timestamp=days_ago(60)) == Decay(1.0, "undated", None, None)


def test_a_future_date_never_boosts() -> None:
    """User case D03."""
    assert decay("memory/2026-07-15.md") == Decay(1.0, "dated", 0.0, 30.0)


@pytest.mark.parametrize("half_life_days", USELESS_HALF_LIVES)
def test_a_useless_half_life_switches_decay_off_with_a_warning(half_life_days: float) -> None:
    """User case D03."""
    useless = DecaySettings(enabled=True, half_life_days=half_life_days, floor=0.3)

    assert decay("memory/2026-05-31.md", by=useless) == Decay(1.0, "dated", 30.0, None)
    warning = settings_warning(useless)
    assert warning is not None
    assert warning.startswith("Decay is off because half_life_days = ")


def test_a_useless_half_life_of_a_rule_is_named_with_its_rule() -> None:
    rules = with_rules(DecayRule("memory/a/**", "file_time"), DecayRule("memory/b/**", "dated", half_life_days=0))

    assert settings_warning(rules) == (
        "Decay is off for memory/b/** (dated) because half_life_days = 0 is not a number above 0."
    )


def test_no_warning_is_given_for_good_settings_or_without_decay() -> None:
    assert settings_warning(ON) is None
    assert settings_warning(with_rules(DecayRule("memory/b/**", "dated", half_life_days=10))) is None
    assert settings_warning(DecaySettings(enabled=False, half_life_days=0)) is None


@pytest.mark.parametrize("path", [r"memory\archive\2026-05-31.md", r".\memory\2026-05-31.md"])
def test_backslashes_separate_folders(path: str) -> None:
    """User case D07."""
    assert date_in_path(path) == date(2026, 5, 31)
    assert decay(path).rule == "dated"


# Which rule decides


def test_rules_of_the_user_decide_first_and_are_named() -> None:
    """User case D06."""
    rules = with_rules(
        DecayRule("memory/lessons/**", "evergreen"),
        DecayRule("memory/inbox/**", "file_time", half_life_days=10),
        DecayRule("memory/**", "dated"),
    )

    lesson = decay("memory/lessons/2026-01-01.md", timestamp=days_ago(180), by=rules)
    incoming = decay("memory/inbox/x.md", timestamp=days_ago(20), by=rules)

    assert lesson == Decay(1.0, "memory/lessons/** (evergreen)", None, None)
    assert incoming == Decay(about(0.25), "memory/inbox/** (file_time)", 20.0, 10.0)


def test_a_rule_matches_a_path_with_backslashes() -> None:
    """User cases D06 and D07."""
    rules = with_rules(DecayRule("memory/lessons/**", "evergreen"))

    assert decay(r"memory\lessons\2026-01-01.md", by=rules).rule == "memory/lessons/** (evergreen)"


@pytest.mark.parametrize(
    "path", ["notes/2026-05-31.md", "sessions/2026-05-31-01.jsonl", "journal/2026-05-31 monday.txt"]
)
def test_a_dated_rule_reads_the_date_at_the_start_of_any_name(path: str) -> None:
    rules = with_rules(DecayRule("**", "dated"))

    assert decay(path, timestamp=days_ago(1), by=rules) == Decay(about(0.5), "** (dated)", 30.0, 30.0)


@pytest.mark.parametrize("path", ["notes/x.md", "notes/2026-02-30.md", "notes/x-2026-05-31.md", "2026-05-31/x.md"])
def test_a_dated_rule_without_a_date_leaves_the_score(path: str) -> None:
    rules = with_rules(DecayRule("**", "dated", half_life_days=10))

    assert decay(path, timestamp=days_ago(60), by=rules) == Decay(1.0, "undated", None, None)


def test_a_rules_own_half_life_and_floor_replace_the_general_ones() -> None:
    general = DecayRule("a/*", "file_time")
    own = DecayRule("b/*", "file_time", half_life_days=10, floor=0.5)
    settings = DecaySettings(enabled=True, half_life_days=30, floor=0.2, rules=(general, own))

    assert decay("a/x.md", timestamp=days_ago(30), by=settings).multiplier == pytest.approx(0.2 + 0.8 * 0.5)
    assert decay("b/x.md", timestamp=days_ago(30), by=settings).multiplier == pytest.approx(0.5 + 0.5 * 0.125)


def test_sessions_decay_by_their_own_time_and_other_files_by_the_files_time() -> None:
    session = decay("sessions/2022-05-15-01.jsonl", source="sessions", timestamp=days_ago(30))
    extra = decay("notes/x.md", timestamp=days_ago(60))

    assert session == Decay(about(0.5), "session_time", 30.0, 30.0)
    assert extra == Decay(about(0.25), "file_time", 60.0, 30.0)


def test_a_session_is_never_evergreen() -> None:
    assert decay("memory/a.jsonl", source="sessions", timestamp=days_ago(30)).rule == "session_time"


@pytest.mark.parametrize(("path", "source"), [("notes/x.md", "memory"), ("sessions/a.jsonl", "sessions")])
def test_without_a_time_nothing_decays(path: str, source: str) -> None:
    assert decay(path, source=source) == Decay(1.0, "undated", None, None)
    assert decay(path, source=source, by=with_rules(DecayRule("**", "file_time"))).rule == "undated"


def test_decay_that_is_off_still_tells_the_age() -> None:
    off = DecaySettings(enabled=False)

    assert decay("memory/2026-05-31.md", by=off) == Decay(1.0, "off", 30.0, None)
    assert decay("memory/x.md", by=off) == Decay(1.0, "off", None, None)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("memory/*.md", "memory/a.md", True),
        ("memory/*.md", "memory/a/b.md", False),
        ("memory/**", "memory/a/b.md", True),
        ("memory/**", "memory.md", False),
        ("**/b.md", "b.md", True),
        ("**/b.md", "a/c/b.md", True),
        ("memory/**/b.md", "memory/b.md", True),
        ("memory/?.md", "memory/a.md", True),
        ("memory/?.md", "memory/ab.md", False),
        ("memory/[a].md", "memory/a.md", False),
        ("emory/a.md", "memory/a.md", False),
    ],
)
def test_only_two_stars_cross_folders_in_a_rule(pattern: str, path: str, fits: bool) -> None:
    rule = DecayRule(pattern, "file_time")

    decided = decay(path, timestamp=days_ago(1), by=with_rules(rule)).rule

    assert (decided == rule.name) == fits


def test_the_callers_matcher_replaces_the_plain_globs() -> None:
    rules = with_rules(DecayRule("lessons", "evergreen"))

    def folder_in_path(pattern: str, path: str) -> bool:
        return pattern in path.split("/")

    found = decay_of(
        "notes/lessons/x.md", "memory", timestamp=days_ago(9), now=NOW, settings=rules, matches=folder_in_path
    )

    assert found.rule == "lessons (evergreen)"


@given(PATHS, st.sampled_from(["memory", "sessions"]), st.none() | MOMENTS, MOMENTS, HALF_LIVES, SHARES)
def test_decay_is_bounded_and_counts_from_the_date_that_it_gives(
    path: str, source: str, timestamp: datetime | None, now: datetime, half_life_days: float, floor: float
) -> None:
    settings = DecaySettings(enabled=True, half_life_days=half_life_days, floor=floor)

    found = decay_of(path, source, timestamp=timestamp, now=now, settings=settings)
    moment = decay_date_of(path, source, timestamp=timestamp, settings=settings)

    assert 0.0 < found.multiplier <= 1.0
    assert found.multiplier >= floor
    assert (found.age_days is None) == (moment is None)
    if moment is not None:
        assert found.age_days == about(max(0.0, (now - moment) / timedelta(days=1)))
