"""The values of decay that were recorded from the system that clawmark re-implements.

Columns: the newest version (2026.9.6) for the date in a path and for evergreen paths, which
both versions have; the spring version (2026.3.2) for the multiplier, recorded only there
and unchanged since.
Listed defect of the spring version (spec section 10, "slugged daily notes evergreen"): a
date with a suffix or in a subfolder is no date there; those cases are named below, and
not followed.
"""

from __future__ import annotations

from datetime import date, datetime

import pytest

from clawmark.core.decay import date_in_path, decay_multiplier, is_evergreen_path, looks_dated
from golden import NEWEST, SPRING, Case, case_id, cases


def recorded_date(case: Case) -> date | None:
    expected = case["expected"]
    return None if expected is None else datetime.fromisoformat(expected).date()


@pytest.mark.parametrize("case", cases("decay", SPRING), ids=case_id)
def test_the_multiplier_is_the_recorded_one(case: Case) -> None:
    """Column [S], the only one."""
    age_days, half_life_days = case["input"]["ageInDays"], case["input"]["halfLifeDays"]

    assert decay_multiplier(age_days, half_life_days) == pytest.approx(case["expected"], abs=1e-9)


@pytest.mark.parametrize("case", cases("decay_date", NEWEST), ids=case_id)
def test_the_date_in_a_path_is_the_recorded_one(case: Case) -> None:
    """Column [N]: notes with a suffix and in subfolders have dates (user case D01)."""
    assert date_in_path(case["input"]) == recorded_date(case)


@pytest.mark.parametrize("case", cases("evergreen", NEWEST), ids=case_id)
def test_a_path_is_evergreen_as_recorded(case: Case) -> None:
    """Column [N]: USER.md is a root file, memory.md is none, dates with a suffix are dates."""
    assert is_evergreen_path(case["input"]) == case["expected"]


def test_spring_dates_differ_only_by_the_listed_defect() -> None:
    """Column [S]: suffix, subfolder, deeper subfolder."""
    others = [
        case["input"] for case in cases("decay_date", SPRING) if date_in_path(case["input"]) != recorded_date(case)
    ]

    assert others == [
        "memory/2024-01-15-standup.md",
        "memory/sub/2024-01-15.md",
        "memory/dreaming/deep/2026-04-01.md",
    ]


def test_spring_evergreen_paths_differ_only_by_root_files_and_the_listed_defect() -> None:
    """Column [S]: memory.md was a root file and USER.md none; the last one is the defect."""
    others = [
        case["input"] for case in cases("evergreen", SPRING) if is_evergreen_path(case["input"]) != case["expected"]
    ]

    assert others == ["memory.md", "USER.md", "memory/2024-01-15-x.md"]


def test_an_impossible_date_looks_dated_but_gives_no_date() -> None:
    """Recorded in both columns; what a user sees of it is user case D03."""
    impossible = [
        case["input"] for case in cases("decay_date", NEWEST) if case["input"].endswith(("02-30.md", "13-01.md"))
    ]

    assert len(impossible) == 2
    assert all(looks_dated(path) and date_in_path(path) is None for path in impossible)
