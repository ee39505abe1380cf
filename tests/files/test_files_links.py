"""Links: left out and said so, or followed as far as allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from clawmark.core.errors import PathNotAllowedError
from clawmark.core.model import PathReason
from clawmark.files import (
    ExtraPath,
    FileRules,
    Scan,
    UnreadableNoteError,
    read_note,
    read_window,
    resolve_note,
    scan_files,
)

WriteNote = Callable[..., Path]
NOT_FOLLOWED = "symbolic link (links are not followed)"
OUTSIDE = "link leads outside the workspace and the configured paths"


def paths(scan: Scan) -> list[str]:
    return [file.path for file in scan.files]


def reasons(entries: tuple[PathReason, ...]) -> dict[str, str]:
    return {entry.path: entry.reason for entry in entries}


def test_an_extra_folder_that_is_a_link_is_named_when_links_are_skipped(ws: Path, note: WriteNote) -> None:
    """S13."""
    note("../real/n.md")
    (ws / "extra").symlink_to(ws.parent / "real")

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("extra"),)))

    assert paths(scan) == []
    assert reasons(scan.skipped) == {"extra": NOT_FOLLOWED}
    assert scan.missing == ()


def test_an_extra_folder_that_is_a_link_is_its_own_target_when_links_are_followed(ws: Path, note: WriteNote) -> None:
    """S13: the circle inside ends."""
    note("../real/n.md")
    note("../real/sub/s.md")
    (ws / "extra").symlink_to(ws.parent / "real")
    (ws.parent / "real/sub/circle").symlink_to(ws.parent / "real")

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("extra"),), follow_links=True))

    assert paths(scan) == ["extra/n.md", "extra/sub/s.md"]
    assert reasons(scan.skipped) == {"extra/sub/circle": "folder already visited (a link leads back to it)"}


def test_every_kind_of_link_is_left_out_and_named(ws: Path, note: WriteNote) -> None:
    note("real/r.md")
    note("../far/sub/f.md")
    note("memory/a.md")
    (ws / "MEMORY.md").symlink_to(ws / "real/r.md")
    (ws / "USER.md").symlink_to("nowhere")
    (ws / "memory/folder").symlink_to(ws / "real")
    (ws / "memory/note.md").symlink_to(ws / "real/r.md")
    (ws / "memory/broken.md").symlink_to("nowhere")
    (ws / "memory/data.bin").symlink_to(ws / "real/r.md")
    (ws / "memory/.hidden").symlink_to(ws / "real")
    (ws / "memory/.hidden.md").symlink_to(ws / "real/r.md")
    (ws / "far").symlink_to(ws.parent / "far")

    scan = scan_files(FileRules(ws, extra_paths=(ExtraPath("far/sub"),)))

    assert paths(scan) == ["memory/a.md"]
    assert reasons(scan.skipped) == {
        "MEMORY.md": NOT_FOLLOWED,
        "USER.md": NOT_FOLLOWED,
        "memory/folder": NOT_FOLLOWED,
        "memory/note.md": NOT_FOLLOWED,
        "memory/broken.md": NOT_FOLLOWED,
        "memory/.hidden": "hidden folder",
        "memory/.hidden.md": "hidden file",
        "far/sub": NOT_FOLLOWED,
    }


def test_a_memory_folder_that_is_a_link_is_named(ws: Path, note: WriteNote) -> None:
    note("real/r.md")
    (ws / "memory").symlink_to(ws / "real")

    skipping = scan_files(FileRules(ws))
    following = scan_files(FileRules(ws, follow_links=True))

    assert (paths(skipping), reasons(skipping.skipped)) == ([], {"memory": NOT_FOLLOWED})
    assert (paths(following), following.skipped) == (["memory/r.md"], ())


def test_a_followed_link_stays_inside_the_workspace_and_the_extra_paths(ws: Path, note: WriteNote) -> None:
    note("real/r.md")
    note("../far/f.md")
    note("../ws-other/o.md")
    note("memory/a.md")
    (ws / "memory/inside").symlink_to(ws / "real")
    (ws / "memory/far.md").symlink_to(ws.parent / "far/f.md")
    (ws / "memory/other").symlink_to(ws.parent / "ws-other")
    (ws / "memory/other.md").symlink_to(ws.parent / "ws-other/o.md")
    (ws / "memory/zero.md").symlink_to("/dev/zero")

    alone = scan_files(FileRules(ws, follow_links=True))
    with_far = scan_files(FileRules(ws, follow_links=True, extra_paths=(ExtraPath("../far/none"), ExtraPath("../far"))))

    assert paths(alone) == ["memory/a.md", "memory/inside/r.md"]
    assert reasons(alone.skipped) == {
        "memory/far.md": OUTSIDE,
        "memory/other": OUTSIDE,
        "memory/other.md": OUTSIDE,
        "memory/zero.md": OUTSIDE,
    }
    assert paths(with_far) == ["../far/f.md", "memory/a.md", "memory/inside/r.md"]
    assert reasons(with_far.skipped)["memory/far.md"] == "same file as ../far/f.md"


def test_a_link_opens_no_hidden_folder_and_no_other_kind_of_file(ws: Path, note: WriteNote) -> None:
    note(".secrets/s.md")
    note("vault/.git/g.md")
    note("keys.txt")
    note("memory/a.md")
    (ws / "memory/s.md").symlink_to(ws / ".secrets/s.md")
    (ws / "memory/folder").symlink_to(ws / ".secrets")
    (ws / "memory/g.md").symlink_to(ws / "vault/.git/g.md")
    (ws / "memory/keys.md").symlink_to(ws / "keys.txt")

    scan = scan_files(FileRules(ws, follow_links=True))

    assert paths(scan) == ["memory/a.md"]
    assert reasons(scan.skipped) == {
        "memory/s.md": "link leads into a hidden folder",
        "memory/folder": "link leads into a hidden folder",
        "memory/g.md": "link leads into a junk folder",
        "memory/keys.md": "link leads to a file of another kind",
    }


def test_the_real_name_wins_over_a_link_that_sorts_before_it(ws: Path, note: WriteNote) -> None:
    note("memory/real/n.md")
    (ws / "memory/a-link.md").symlink_to(ws / "memory/real/n.md")
    (ws / "memory/b-link").symlink_to(ws / "memory/real")

    scan = scan_files(FileRules(ws, follow_links=True))

    assert paths(scan) == ["memory/real/n.md"]
    assert reasons(scan.skipped) == {
        "memory/a-link.md": "same file as memory/real/n.md",
        "memory/b-link": "folder already visited (a link leads back to it)",
    }


def test_a_followed_link_that_leads_nowhere_is_broken_and_a_circle_is_unreadable(ws: Path, note: WriteNote) -> None:
    note("memory/a.md")
    (ws / "memory/broken.md").symlink_to("nowhere.md")
    (ws / "memory/loop.md").symlink_to("loop.md")
    (ws / "gone").symlink_to("nowhere")
    (ws / "round").symlink_to("round")

    scan = scan_files(FileRules(ws, follow_links=True, extra_paths=(ExtraPath("gone"), ExtraPath("round"))))

    assert paths(scan) == ["memory/a.md"]
    assert reasons(scan.skipped) == {"memory/broken.md": "broken link (its target does not exist)"}
    assert reasons(scan.missing) == {"gone": "broken link (its target does not exist)"}
    loop = "ELOOP: Too many levels of symbolic links"
    assert reasons(scan.unreadable) == {"memory/loop.md": loop, "round": loop}
    assert scan.may_hide("round/x.md")


def test_a_followed_link_is_read_at_its_target(ws: Path, note: WriteNote) -> None:
    target = note("real/r.md", "Linked.\n")
    (ws / "memory").mkdir()
    (ws / "memory/l.md").symlink_to(target)
    rules = FileRules(ws, follow_links=True)

    (file,) = scan_files(rules).files

    assert (file.path, file.absolute) == ("memory/l.md", target)
    assert read_note(file).text == "Linked.\n"
    assert resolve_note(rules, "memory/l.md") == target
    assert read_window(rules, "memory/l.md").path == "memory/l.md"


def test_a_workspace_that_is_reached_through_a_link_is_a_workspace(ws: Path, note: WriteNote) -> None:
    note("memory/a.md", "Here.\n")
    (ws.parent / "alias").symlink_to(ws)
    rules = FileRules(ws.parent / "alias")

    assert paths(scan_files(rules)) == ["memory/a.md"]
    assert read_window(rules, "memory/a.md").text == "Here."
    assert read_window(rules, str(ws / "memory/a.md")).path == "memory/a.md"


@pytest.mark.parametrize("follow", [False, True])
def test_a_path_through_a_link_to_the_outside_is_never_opened(ws: Path, note: WriteNote, follow: bool) -> None:
    note("../ws-other/o.md")
    (ws / "memory").mkdir()
    (ws / "memory/other").symlink_to(ws.parent / "ws-other")
    (ws / "memory/o.md").symlink_to(ws.parent / "ws-other/o.md")
    (ws / "memory/zero.md").symlink_to("/dev/zero")
    (ws / "memory/none.md").symlink_to("nowhere.md")
    rules = FileRules(ws, follow_links=follow)

    for path in ("memory/other/o.md", "memory/o.md", "memory/zero.md"):
        with pytest.raises(PathNotAllowedError, match="link"):
            read_window(rules, path)


def test_a_link_to_nothing_is_refused_or_not_found(ws: Path) -> None:
    (ws / "memory").mkdir()
    (ws / "memory/none.md").symlink_to("nowhere.md")

    with pytest.raises(PathNotAllowedError, match="not followed"):
        resolve_note(FileRules(ws), "memory/none.md")
    assert read_window(FileRules(ws, follow_links=True), "memory/none.md").status == "not_found"


def test_a_note_that_became_a_link_after_the_scan_is_not_opened(ws: Path, note: WriteNote) -> None:
    place = note("memory/a.md")
    (file,) = scan_files(FileRules(ws)).files
    secret = note("../secret.md")
    place.unlink()
    place.symlink_to(secret)

    with pytest.raises(UnreadableNoteError, match="ELOOP"):
        read_note(file)
