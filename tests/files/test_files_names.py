"""Names alone."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from clawmark.files import is_memory_path, nearest_names
from clawmark.files.names import kind_of, printable


def test_a_dated_name_has_the_nearest_days_of_its_folder_first_newest_first() -> None:
    names = [f"memory/2026-01-{day:02}.md" for day in range(1, 31)]
    names += ["memory/2026-01-15-call.md", "memory/2026-13-45.md", "memory/old/2026-01-16.md", "notes.md"]

    near = nearest_names("memory/2026-01-16.md", set(names) - {"memory/2026-01-16.md"})

    assert near == (
        "memory/2026-01-18.md",
        "memory/2026-01-17.md",
        "memory/2026-01-15-call.md",
        "memory/2026-01-15.md",
        "memory/2026-01-14.md",
    )


def test_what_looks_like_a_date_and_is_none_is_compared_by_spelling() -> None:
    assert nearest_names("memory/2026-02-30.md", ["memory/2026-02-28.md", "memory/tea.md"]) == ("memory/2026-02-28.md",)


def test_an_alike_name_is_found_in_any_case_and_in_any_folder() -> None:
    names = ["memory/people/Anna.md", "memory/anna.md", "memory/people/hanna.md", "memory/router.md", "USER.md"]

    assert nearest_names("memory/people/anna.md", names) == (
        "memory/people/Anna.md",
        "memory/anna.md",
        "memory/people/hanna.md",
    )
    assert nearest_names("memory/tea.md", ["memory/teas.md", "cafe/teas.md"])[0] == "memory/teas.md"


def test_nothing_alike_gives_nothing() -> None:
    assert nearest_names("memory/zzz.md", ["MEMORY.md", "x/completely-different-thing.md"]) == ()
    assert nearest_names("memory/zzz.md", []) == ()


NAMES = st.lists(st.text("ab-/.26m0", max_size=12))


@given(st.text("ab-/.26m0", max_size=12), NAMES, st.integers(0, 6))
@settings(max_examples=100)
def test_near_names_are_some_of_the_candidates_once_each_in_any_order(name: str, names: list[str], limit: int) -> None:
    near = nearest_names(name, names, limit=limit)

    assert len(near) == len(set(near)) <= limit
    assert set(near) <= set(names) - {name}
    assert near == nearest_names(name, names[::-1], limit=limit)


def test_the_form_of_a_path_says_nothing_about_escape() -> None:
    """The source's own quirk: the caller rejects what leaves the workspace."""
    assert is_memory_path("../memory/x.md")
    assert is_memory_path("memory/../secret.md")


def test_a_path_with_bytes_that_are_no_text_is_printable() -> None:
    assert printable("memory/caf\udce9 会.md") == "memory/caf\\xe9 会.md"


def test_an_unknown_kind_of_file_has_a_name() -> None:
    assert kind_of(0) == "special file"
