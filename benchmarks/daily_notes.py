"""Write the "daily notes" workload: a workspace of invented notes, and questions about it.

    python benchmarks/daily_notes.py FOLDER --notes 200 --seed 7

The notes are ``memory/YYYY-MM-DD.md``, one a day up to 2026-06-29 (above 3,000 notes
several a day), 1.92 kB each on average: four to six sections, each about one theme (work,
garden, health, 家里, ...) in a few sentences or bullets of that theme, a fifth of them in
Chinese. A line that answers a question stands in a section of its own theme, in a note
drawn uniformly at random; sentences of the same make with other names, values and
identifiers stand in other sections. The same arguments give the same bytes. The text
comes from ``daily_notes.toml``.

How the paraphrases were chosen: by hand, and reworded (a few after seeing that they were
missed) until the bundled sentence encoder related each to its line: alone, not within its
note, with a cosine of at least 0.35 and above that of every other paraphrase's line. So
they do not measure how much the encoder understands, but whether indexing, chunking and
ranking keep findable what it understands. A clue that only a person could solve is not in it.

What it does not measure: about ten sentence patterns to a theme repeat with other words in
them, every theme is equally frequent, and no filler tells the story of a planted line, so
near misses are rarer than in a real diary.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Literal

Kind = Literal["fact", "rare_id", "paraphrase", "chinese", "superseded", "unanswerable"]

LAST_DAY, MOST_DAYS = date(2026, 6, 29), 3_000
BYTES_PER_NOTE = 1_920
FACTS, RARE_IDS, UNUSED_NAMES, UNUSED_IDS = 70, 20, 7, 3

_SPREAD_BYTES = 500
_SECTIONS, _SECTION_BYTES, _SENTENCES = (4, 6), (280, 480), (2, 5)
_FILLER_SURNAMES = 1_500
_CHINESE_SHARE = 0.2
# Share of the sections that hold a line like a planted fact, where the theme has any.
_DECOY_SHARE = 0.4
# Half of an average sentence: a section that is filled up to its size overshoots by that.
_HALF_SENTENCE_BYTES = 40
_SLOT = re.compile(r"\{([^{}]+)\}")
_ARTICLE = re.compile(r"(?<!\S)([Aa]) (?=(?!eu|uk|uni|one)[aeiou])")
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Question:
    """A question, and the line that answers it.

    Attributes:
        kind: What makes it hard.
        query: The question as typed.
        path: File of the answer, relative to the workspace; None when there is none.
        line: Line of the answer, 1-based.
        key: Text of the answer that the line contains; for an unanswerable question a
            text that no note contains.
        stale_path: File of the outdated answer (``superseded`` only).
        stale_line: Line of the outdated answer.
    """

    kind: Kind
    query: str
    path: str | None
    line: int | None
    key: str = ""
    stale_path: str | None = None
    stale_line: int | None = None


@dataclass(frozen=True)
class _Draft:
    """A question without line numbers, and the sentences that stand on these lines."""

    question: Question
    theme: str = ""
    text: str = ""
    stale_text: str = ""


# The sentences to plant in one note, by theme.
_Planted = dict[str, list[str]]


@dataclass(frozen=True)
class _Calendar:
    """The notes by number, oldest first, and the file of each."""

    notes: int

    @property
    def notes_per_day(self) -> int:
        return -(-self.notes // MOST_DAYS)

    @property
    def days(self) -> int:
        return -(-self.notes // self.notes_per_day)

    def day(self, note: int) -> date:
        return LAST_DAY - timedelta(days=self.days - 1 - note // self.notes_per_day)

    def path(self, note: int) -> str:
        part = note % self.notes_per_day
        suffix = f"-part-{part + 1:02d}" if part else ""
        return f"memory/{self.day(note).isoformat()}{suffix}.md"

    def two_paths(self, rng: random.Random) -> tuple[str, str]:
        """Draw notes of two different days, the older first."""
        older, newer = sorted(rng.sample(range(self.days), 2))
        return self.path(older * self.notes_per_day), self.path(newer * self.notes_per_day)


@dataclass(frozen=True)
class _Theme:
    """What a section can be about; ``decoys`` are lines of planted facts and their values."""

    headings: list[str]
    sentences: list[str]
    ids: list[str]
    decoys: list[tuple[str, list[str]]]
    chinese: bool


class _Prose:
    """Sections and sentences, drawn with one random generator.

    ``unique_names`` and ``unique_ids`` (identifier to theme) never come up in what it draws.
    The sentences of a section share people, project and place more often than not.
    """

    def __init__(self, rng: random.Random, source: dict[str, Any]) -> None:
        self._rng = rng
        self._themes = _themes(source)
        self._words = {name: _word_list(text) for name, text in source["words"].items()}
        surnames = _surnames(self._words)
        rng.shuffle(surnames)
        reserved = FACTS + UNUSED_NAMES
        self.unique_names = [f"{self._word('first')} {surname}" for surname in surnames[:reserved]]
        self._surnames = surnames[reserved : reserved + _FILLER_SURNAMES]
        self.unique_ids = self._draw_unique_ids(RARE_IDS + UNUSED_IDS)
        self._scene: dict[str, list[str]] = {}
        self._drawn: dict[str, Callable[[], str]] = {
            "name": lambda: f"{self._word('first')} {rng.choice(self._surnames)}",
            "place": lambda: self._word("place_start") + self._word("place_end"),
            "project": lambda: self._word("project_start") + self._word("project_end"),
            "hour": lambda: f"{rng.randint(7, 21)}:{rng.randrange(0, 60, 5):02d}",
            "n": lambda: str(rng.randint(2, 9)),
            "nn": lambda: str(rng.randint(10, 99)),
            "nnn": lambda: str(rng.randint(100, 999)),
        }

    def identified(self, identifier: str) -> str:
        """Give a sentence about a unique identifier, of the same make as those of the filler."""
        theme = self._themes[self.unique_ids[identifier]]
        patterns = [sentence for sentence in theme.sentences if "{id}" in sentence]
        return self._filled(self._rng.choice(patterns).replace("{id}", identifier), theme)

    def other_themes(self, planted: Iterable[str], count: int) -> list[str]:
        """Draw themes that are not planted, each once; Chinese ones in their share."""
        pools: dict[bool, list[str]] = {True: [], False: []}
        for name in sorted(self._themes.keys() - set(planted)):
            pools[self._themes[name].chinese].append(name)
        chinese = sum(self._rng.random() < _CHINESE_SHARE for _ in range(count))
        return self._rng.sample(pools[True], chinese) + self._rng.sample(pools[False], count - chinese)

    def section(self, name: str, planted: Sequence[str], size: float) -> list[str]:
        """Give the lines of a section of about ``size`` bytes with the planted sentences in it."""
        theme, drawn = self._themes[name], self._drawn
        self._scene = {"project": [drawn["project"]()], "place": [drawn["place"]()]}
        self._scene["name"] = [drawn["name"](), drawn["name"]()]
        sentences, filler = list(planted), self._filler(theme)
        fewest, most = _SENTENCES
        while len(sentences) < fewest or (len(sentences) < most and _size(sentences) < size - _HALF_SENTENCE_BYTES):
            sentences.append(next(filler))
        self._rng.shuffle(sentences)
        paragraph = ("" if theme.chinese else " ").join(sentences)
        bullets = [f"- {sentence}" for sentence in sentences]
        return [f"## {self._rng.choice(theme.headings)}", "", *self._rng.choice((bullets, [paragraph]))]

    def _filler(self, theme: _Theme) -> Iterator[str]:
        if theme.decoys and self._rng.random() < _DECOY_SHARE:
            line, values = self._rng.choice(theme.decoys)
            yield self._filled(line.replace("{v}", self._rng.choice(values)), theme)
        for sentence in self._rng.sample(theme.sentences, len(theme.sentences)):
            yield self._filled(sentence, theme)

    def _filled(self, pattern: str, theme: _Theme) -> str:
        used: set[str] = set()

        def value(slot: re.Match[str]) -> str:
            while (text := self._slot(slot[1], theme)) in used:
                pass
            used.add(text)
            return text

        text = _ARTICLE.sub(r"\1n ", _SLOT.sub(value, pattern))
        # An identifier keeps its lower case.
        return text if any(map(str.isdigit, text.split()[0])) else text[0].upper() + text[1:]

    def _slot(self, name: str, theme: _Theme) -> str:
        if "|" in name:
            return self._rng.choice(name.split("|"))
        if name == "id":
            return self._identifier(theme)
        if name in self._scene and self._rng.random() < 0.6:
            return self._rng.choice(self._scene[name])
        return self._drawn[name]() if name in self._drawn else self._word(name)

    def _word(self, name: str) -> str:
        return self._rng.choice(self._words[name])

    def _draw_unique_ids(self, count: int) -> dict[str, str]:
        patterns = list({pattern: name for name, theme in self._themes.items() for pattern in theme.ids}.items())
        unique: dict[str, str] = {}
        while len(unique) < count:
            pattern, name = patterns[len(unique) % len(patterns)]
            unique[self._from_pattern(pattern)] = name
        return unique

    def _identifier(self, theme: _Theme) -> str:
        while (identifier := self._from_pattern(self._rng.choice(theme.ids))) in self.unique_ids:
            pass
        return identifier

    def _from_pattern(self, pattern: str) -> str:
        """Put a digit for each ``#`` and a letter for each ``@``."""
        drawn = {"#": "0123456789", "@": "ABCDEFGH"}
        return "".join(self._rng.choice(drawn.get(sign, sign)) for sign in pattern)


def _themes(source: dict[str, Any]) -> dict[str, _Theme]:
    decoys: dict[str, list[tuple[str, list[str]]]] = defaultdict(list)
    for name, line, _, values in source["planted"]["fact"]:
        decoys[name].append((line, values.split("|")))
    themes: dict[str, _Theme] = {}
    for name, theme in source["themes"].items():
        sentences, ids = theme["sentences"].strip().split("\n"), theme.get("ids", [])
        themes[name] = _Theme(theme["headings"], sentences, ids, decoys[name], "chinese" in theme)
    return themes


def _surnames(words: dict[str, list[str]]) -> list[str]:
    starts, middles, ends = (words[f"surname_{part}"] for part in ("start", "middle", "end"))
    # Also without a middle, so that short names are in the pool.
    return list(dict.fromkeys(f"{a}{b}{c}" for a in starts for b in ("", *middles) for c in ends))


def _word_list(text: str) -> list[str]:
    """Split at commas, or at spaces when there is no comma."""
    return [" ".join(part.split()) for part in (text.split(",") if "," in text else text.split())]


def generate(folder: Path, notes: int = 200, seed: int = 7) -> list[Question]:
    """Write the notes into a folder and give the questions about them.

    Args:
        folder: The workspace to write; it may exist, its ``memory`` must be empty.
        notes: Number of daily notes, >= 2. ``MEMORY.md`` comes on top.
        seed: The same seed and number of notes give the same bytes.

    Returns:
        70 fact, 20 rare_id, 40 paraphrase, 40 chinese, 15 superseded and 20 unanswerable
        questions, in this order.

    Raises:
        ValueError: If there are fewer than two notes; a newer note needs an older one.
        FileExistsError: If notes of another run are in the folder.
    """
    if notes < 2:
        raise ValueError(f"The workload needs at least 2 notes, got {notes}.")
    memory = folder / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    if any(memory.iterdir()):
        raise FileExistsError(f"{memory} is not empty; give a new folder.")
    rng = random.Random(seed)
    source = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    prose, calendar = _Prose(rng, source), _Calendar(notes)
    drafts = list(_drafts(rng, source["planted"], prose, calendar))
    lines = _write_notes(folder, rng, prose, calendar, _texts_by_path(drafts))
    _write(folder / "MEMORY.md", source["memory"]["text"])
    return [
        replace(
            draft.question,
            line=lines.get((draft.question.path, draft.text)),
            stale_line=lines.get((draft.question.stale_path, draft.stale_text)),
        )
        for draft in drafts
    ]


def _drafts(rng: random.Random, planted: dict[str, Any], prose: _Prose, calendar: _Calendar) -> Iterator[_Draft]:
    def anywhere(kind: Kind, theme: str, text: str, query: str, key: str) -> _Draft:
        return _Draft(Question(kind, query, calendar.path(rng.randrange(calendar.notes)), None, key), theme, text)

    for index, name in enumerate(prose.unique_names[:FACTS]):
        theme, line, query, values = planted["fact"][index % len(planted["fact"])]
        value = rng.choice(values.split("|"))
        text = line.replace("{name}", name).replace("{v}", value)
        yield anywhere("fact", theme, text, query.replace("{name}", name), value)
    for identifier, theme in islice(prose.unique_ids.items(), RARE_IDS):
        yield anywhere("rare_id", theme, prose.identified(identifier), identifier, identifier)
    for kind in ("paraphrase", "chinese"):
        yield from (anywhere(kind, *row) for row in planted[kind])
    for theme, stale_text, text, query, key in planted["superseded"]:
        stale_path, path = calendar.two_paths(rng)
        yield _Draft(Question("superseded", query, path, None, key, stale_path), theme, text, stale_text)
    yield from (_Draft(question) for question in _unanswerable(planted, prose))


def _unanswerable(planted: dict[str, Any], prose: _Prose) -> Iterator[Question]:
    for query, absent in planted["unanswerable"]:
        yield Question("unanswerable", query, None, None, absent)
    for (_, _, query, _), name in zip(planted["fact"], prose.unique_names[FACTS:], strict=False):
        yield Question("unanswerable", query.replace("{name}", name), None, None, name)
    for identifier in islice(prose.unique_ids, RARE_IDS, None):
        yield Question("unanswerable", identifier, None, None, identifier)


def _texts_by_path(drafts: Sequence[_Draft]) -> dict[str, _Planted]:
    texts: dict[str, _Planted] = defaultdict(lambda: defaultdict(list))
    for draft in drafts:
        question = draft.question
        for path, text in ((question.path, draft.text), (question.stale_path, draft.stale_text)):
            if path is not None:
                texts[path][draft.theme].append(text)
    return texts


def _write_notes(
    folder: Path, rng: random.Random, prose: _Prose, calendar: _Calendar, texts: dict[str, _Planted]
) -> dict[tuple[str | None, str], int]:
    """Write all notes; give the line of each planted sentence by path and text."""
    lines: dict[tuple[str | None, str], int] = {}
    # What a note has too much is taken from the next, so the average holds.
    owed = 0.0
    for note in range(calendar.notes):
        owed += BYTES_PER_NOTE + rng.uniform(-_SPREAD_BYTES, _SPREAD_BYTES)
        path = calendar.path(note)
        planted = texts.get(path, {})
        content = _note(rng, prose, calendar.day(note), planted, owed)
        owed -= _size(content)
        _write(folder / path, "\n".join(content) + "\n")
        for text in (text for group in planted.values() for text in group):
            lines[path, text] = next(n for n, line in enumerate(content, 1) if text in line)
    return lines


def _note(rng: random.Random, prose: _Prose, day: date, planted: _Planted, size: float) -> list[str]:
    (fewest, most), (smallest, largest) = _SECTIONS, _SECTION_BYTES
    count = min(most, max(fewest, round(2 * size / (smallest + largest))))
    themes = [*planted, *prose.other_themes(planted, max(0, count - len(planted)))]
    rng.shuffle(themes)
    content = [f"# {day.isoformat()} {_WEEKDAYS[day.weekday()]}"]
    for place, theme in enumerate(themes):
        share = (size - _size(content)) / (len(themes) - place)
        wanted = min(largest, max(smallest, share * rng.uniform(0.85, 1.15)))
        content += ["", *prose.section(theme, planted.get(theme, []), wanted)]
    return content


def _size(lines: list[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def main(arguments: Sequence[str] | None = None) -> None:
    """Write a workload and its ``questions.jsonl``; print counts and bytes."""
    parser = argparse.ArgumentParser(description="Write the daily notes workload and its questions.")
    parser.add_argument("folder", type=Path, help="the workspace to write; its memory folder must be empty")
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    try:
        questions = generate(options.folder, options.notes, options.seed)
    except (ValueError, FileExistsError) as error:
        parser.error(str(error))
    rows = (json.dumps(asdict(question), ensure_ascii=False) for question in questions)
    _write(options.folder / "questions.jsonl", "".join(f"{row}\n" for row in rows))
    files = sorted((options.folder / "memory").glob("*.md"))
    print(f"notes: {len(files)}, bytes: {sum(file.stat().st_size for file in files)}")
    for kind, count in Counter(question.kind for question in questions).items():
        print(f"{kind}: {count}")


if __name__ == "__main__":
    main()
