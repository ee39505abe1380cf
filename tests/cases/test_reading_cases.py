"""Questions, snippets and reading: the user cases U03 to U12."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asking import ask, codes, paths, run

from clawmark import ClawmarkError, Memory
from stub import StubEmbedder

Note = Callable[[str, str], Path]
Open = Callable[..., Memory]

# U03

BLANK = [("", None), ("  \n", None), ("?!… —", "no words"), ("what was the", "only words that every note has")]


@pytest.mark.parametrize(("query", "reason"), BLANK)
def test_a_question_without_words_costs_nothing(
    query: str, reason: str | None, note: Note, workspace: Path, open_memory: Open
) -> None:
    """U03: no result, no call of the provider, no sync; where something was typed, the reason."""
    note("memory/a.md", "What was the answer?")
    embedder = StubEmbedder(otherwise=0.9)

    response = open_memory(embedder=embedder).search(query)

    assert (response.results, response.error, embedder.calls) == ((), None, 0)
    assert [notice.code for notice in response.warnings] == (["NOTHING_TO_SEARCH"] if reason else [])
    assert all(reason in notice.message for notice in response.warnings if reason)
    assert not (workspace / ".clawmark").exists()


@pytest.mark.parametrize(("query", "reason"), BLANK)
def test_the_command_line_answers_a_question_without_words(
    query: str, reason: str | None, note: Note, workspace: Path
) -> None:
    """U03: exit code 0, and no index is made for it."""
    note("memory/a.md", "What was the answer?")

    result = run(workspace, "search", query)

    assert (result.exit_code, ask(workspace, "search", query)["results"]) == (0, [])
    assert (reason or "Nothing was asked") in result.stdout
    assert not (workspace / ".clawmark").exists()


# U04

IDENTIFIERS = {
    "memory/rfc.md": ("RFC-0077", "We follow RFC-0077 for retries."),
    "memory/version.md": ("v2.3.1", "Release v2.3.1 went out."),
    "memory/path.md": ("src/app/main.py", "The entry point is src/app/main.py today."),
    "memory/error.md": ("ERR_CONN_42", "The log said ERR_CONN_42 again."),
    "memory/parts.md": ("", "RFC 12, version 2, main app in src, ERR and CONN and 42 and 3.1 are mentioned apart."),
}


def identifiers(note: Note) -> None:
    for path, (_, text) in IDENTIFIERS.items():
        note(path, text)


@pytest.mark.parametrize("path", [path for path, (word, _) in IDENTIFIERS.items() if word])
@pytest.mark.parametrize("embedder", ["none", StubEmbedder()], ids=["keyword", "hybrid"])
def test_an_identifier_finds_the_note_that_holds_it_first(
    embedder: StubEmbedder | str, path: str, note: Note, open_memory: Open
) -> None:
    """U04: ``-``, ``_``, ``.`` and ``/`` are part of a name, not operators."""
    identifiers(note)

    assert paths(open_memory(embedder=embedder).search(IDENTIFIERS[path][0]))[0] == path


@pytest.mark.parametrize(
    ("part", "path"), [("0077", "memory/rfc.md"), ("main.py", "memory/path.md"), ("entry main.py", "memory/path.md")]
)
def test_a_part_of_an_identifier_finds_its_note(part: str, path: str, note: Note, open_memory: Open) -> None:
    """U04: the number of the document alone is what people remember."""
    identifiers(note)

    assert paths(open_memory().search(part))[0] == path


@pytest.mark.parametrize("path", [path for path, (word, _) in IDENTIFIERS.items() if word])
def test_the_command_line_takes_identifiers_as_they_are(path: str, note: Note, workspace: Path) -> None:
    """U04: the same at the other door."""
    identifiers(note)

    assert paths(ask(workspace, "search", IDENTIFIERS[path][0]))[0] == path


# U05


def test_reading_a_note_before_it_exists_is_an_answer(note: Note, open_memory: Open) -> None:
    """U05: no exception; yesterday's note is suggested."""
    note("memory/2026-06-29.md", "Yesterday.")
    note("memory/2026-06-28.md", "The day before.")

    result = open_memory().get("memory/2026-06-30.md")

    assert (result.status, result.text, result.lines, result.hash) == ("not_found", "", 0, None)
    assert result.suggestions[0] == "memory/2026-06-29.md"


def test_the_command_line_says_what_is_there_instead(note: Note, workspace: Path) -> None:
    """U05: exit code 1, the text on stderr, the same value as JSON."""
    note("memory/2026-06-29.md", "Yesterday.")

    result = run(workspace, "get", "memory/2026-06-30.md")
    shape = json.loads(run(workspace, "get", "memory/2026-06-30.md", "--json").stdout)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "memory/2026-06-29.md" in result.stderr
    assert (shape["status"], shape["text"], shape["suggestions"]) == ("not_found", "", ["memory/2026-06-29.md"])


# U07

ENDLESS = "".join(f"{number:07}né" + ("👩\u200d🔧" if number % 9 == 0 else "") for number in range(11_000))[:100_000]


def test_one_endless_line_is_read_to_its_end(note: Note, open_memory: Open) -> None:
    """U07: 100,000 characters in pieces of 4,000, each from the cursor of the one before."""
    note("memory/log.md", "x" * 100_000)
    memory = open_memory()

    pieces = read_all(memory, 4_000)

    assert "".join(pieces) == "x" * 100_000
    assert len(pieces) == 25


def test_no_character_of_an_endless_line_is_cut_in_two(note: Note, open_memory: Open) -> None:
    """U07: emoji of three code points at every place where a piece may end."""
    note("memory/log.md", ENDLESS + "\nthe next line")
    memory = open_memory()

    pieces = read_all(memory, 4_000)

    assert "".join(pieces) == ENDLESS
    assert all(0 < len(piece) <= 4_000 for piece in pieces)
    assert not any(piece.startswith(("\u200d", "🔧")) or piece.endswith(("\u200d", "👩")) for piece in pieces)


def test_the_command_line_goes_on_inside_a_line(note: Note, workspace: Path) -> None:
    """U07: the cursor is in the JSON, and in the text for people."""
    note("memory/log.md", "x" * 9_000)

    first = ask(workspace, "get", "memory/log.md", "--max-chars", "4000")
    second = ask(workspace, "get", "memory/log.md", "--max-chars", "8000", "--cursor", first["cursor"])

    assert (len(first["text"]), len(second["text"]), second["cursor"]) == (4_000, 5_000, None)
    assert first["cursor"] in run(workspace, "get", "memory/log.md", "--max-chars", "4000").stdout


def read_all(memory: Memory, budget: int) -> list[str]:
    """Read the first line of the log by its cursor."""
    result = memory.get("memory/log.md", max_chars=budget)
    pieces = [result.text]
    while result.cursor is not None:
        result = memory.get("memory/log.md", max_chars=budget, cursor=result.cursor, lines=1)
        pieces.append(result.text)
    return pieces


# U09


def test_the_passage_is_shown_not_the_beginning_of_the_file(note: Note, workspace: Path, open_memory: Open) -> None:
    """U09: the match stands in line 250 of 300."""
    lines = [f"Line {number} tells of the weather, the tide, and who was on watch." for number in range(1, 301)]
    lines[249] = "The spare anchor lies behind the boathouse."
    note("memory/log.md", "\n".join(lines) + "\n")
    memory = open_memory()

    (first, *_) = memory.search("spare anchor").results

    assert first.start_line <= 250 <= first.end_line
    assert lines[249] in first.snippet
    read = memory.get(first.path, from_line=first.start_line, lines=first.end_line - first.start_line + 1)
    assert read.text == "\n".join(lines[first.start_line - 1 : first.end_line])
    assert first.snippet in read.text
    assert lines[249] in run(workspace, "search", "spare anchor").stdout


# U10

WORDS = ["ferry", "pier", "crane", "anchor", "boathouse", "tide", "watch", "lantern", "gate", "key", "rope", "harbour"]


def fixture_notes(note: Note) -> dict[str, str]:
    """Notes with what a backend may take for markup."""
    texts = {
        "memory/long.md": "\n\n".join(f"# Day {n}\n\nThe {w} was seen {n} times. " * 9 for n, w in enumerate(WORDS)),
        "memory/diff.md": "@@ -1,3 +1,4 @@\n-old rope\n+new rope\n```\n12: crane\n```\n",
        "memory/crlf.md": "tide table\r\n\r\nhigh water at noon by the harbour\r\n",
        "memory/line.md": " ".join(f"{w} {n}" for n in range(90) for w in WORDS),
        "memory/zh.md": "码头的钥匙在灯塔里。" * 300,
    }
    for path, text in texts.items():
        note(path, text)
    return {path: text.replace("\r\n", "\n") for path, text in texts.items()}


def test_snippets_are_nothing_but_text_of_their_file(note: Note, open_memory: Open) -> None:
    """U10: fifty questions; no header, no number, no ellipsis is added, and the lines are those of the file."""
    texts = fixture_notes(note)
    memory = open_memory()
    queries = [f"{a} {b}" for a in WORDS[:7] for b in WORDS[:7]] + ["灯塔的钥匙"]

    results = [result for query in queries for result in memory.search(query, max_results=40).results]

    assert len(queries) == 50
    assert {result.path for result in results} == set(texts)
    for result in results:
        lines = texts[result.path].split("\n")[result.start_line - 1 : result.end_line]
        assert result.snippet
        assert result.snippet in "\n".join(lines)


# U11


@pytest.fixture
def six_long_notes(note: Note) -> None:
    for number in range(6):
        note(f"memory/{number}.md", f"Walrus report {number}. " + "The colony was counted from the boat. " * 52)


@pytest.mark.usefixtures("six_long_notes")
@pytest.mark.parametrize("budget", [1, 90, 700, 1_500, 2_999, 5_000])
def test_all_snippets_and_citations_keep_to_the_budget(budget: int, workspace: Path, open_memory: Open) -> None:
    """U11: whole results in order, the last one cut, the rest counted."""
    memory = open_memory()
    everything = memory.search("walrus", max_results=6).results

    response = memory.search("walrus", max_results=6, max_chars=budget)

    assert len(everything) == 6
    assert sum(len(result.snippet) + len(result.citation or "") for result in response.results) <= budget
    assert response.omitted == 6 - len(response.results)
    assert paths(response) == [result.path for result in everything[: len(response.results)]]
    assert all(a == b for a, b in zip(response.results[:-1], everything, strict=False))
    shape = ask(workspace, "search", "walrus", "--max-chars", str(budget))
    assert (paths(shape), shape["omitted"]) == (paths(response), response.omitted)


@pytest.mark.usefixtures("six_long_notes")
def test_the_command_line_says_how_many_results_were_left_out(workspace: Path) -> None:
    """U11: "n more"."""
    assert "4 more" in run(workspace, "search", "walrus", "--max-chars", "1500").stdout


# U12


def test_a_misspelt_argument_is_refused_by_the_nearest_name(open_memory: Open) -> None:
    """U12: nothing is silently unfiltered, and a misspelling is told from what was meant."""
    memory = open_memory()
    misspelt: dict[str, Any] = {"min_scor": 0.9}
    for call in (memory.search, memory.explain):
        with pytest.raises(ClawmarkError, match=r"min_scor\b.*min_score\b") as raised:
            call("q", **misspelt)
        assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize("command", ["search", "explain"])
def test_a_misspelt_option_is_refused_by_the_nearest_name(command: str, workspace: Path) -> None:
    """U12: exit code 2, nothing on stdout."""
    result = run(workspace, command, "q", "--min-scor", "0.9")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "--min-scor" in result.stderr
    assert "--min-score" in result.stderr


@pytest.mark.parametrize(
    ("key", "near"), [("min_scor", "query.min_score"), ("minScore", "query.min_score"), ("paths", "sessions.paths")]
)
def test_a_misspelt_setting_is_refused_by_the_nearest_name(key: str, near: str, workspace: Path) -> None:
    """U12: in the configuration, as an argument, in a file and in the environment."""
    with pytest.raises(ClawmarkError, match=near):
        Memory(workspace, embedder="none", config={"query": {key: 0.9}})
    (workspace / "clawmark.toml").write_text(f"[query]\n{key} = 0.9\n", encoding="utf-8")
    result = run(workspace, "search", "q", "--json")
    assert (result.exit_code, near in json.loads(result.stdout)["error"]["message"]) == (2, True)


def test_a_misspelt_variable_is_refused_by_the_nearest_name(workspace: Path) -> None:
    """U12: the environment sets what it names, or nothing."""
    result = run(workspace, "search", "q", env={"CLAWMARK_QUERY__MIN_SCOR": "0.9"})

    assert result.exit_code == 2
    assert "CLAWMARK_QUERY__MIN_SCORE" in result.stderr


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "vector"])
def test_each_option_has_its_effect_in_each_mode(mode: str, note: Note, open_memory: Open) -> None:
    """U12: none of them is ignored where one leg answers."""
    for day in (1, 10, 20):
        note(f"memory/2026-06-{day:02}.md", f"Ferry {day} left from the pier.")
    embedder = "none" if mode == "keyword" else StubEmbedder({"Ferry 1 ": 0.7, "Ferry": 0.6})
    memory = open_memory(embedder=embedder, config={"query": {"hybrid": {"enabled": mode != "vector"}}})

    def found(**options: Any) -> list[str]:
        response = memory.search("ferry", **options)
        assert (response.mode, codes(response)) == (mode, [])
        return sorted(path[-5:-3] for path in paths(response))

    assert found() == ["01", "10", "20"]
    assert (len(found(max_results=2)), found(min_score=1.0), found(max_chars=1)) == (2, [], [])
    assert (found(since="2026-06-10"), found(until="2026-06-10")) == (["10", "20"], ["01", "10"])
    assert found(paths=["*-20.md"]) == ["20"]
