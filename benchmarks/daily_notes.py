"""Write the "daily notes" workload: a workspace of invented notes, and questions about it.

    python benchmarks/daily_notes.py FOLDER --notes 200 --seed 7

The notes are ``memory/YYYY-MM-DD.md``, one a day up to 2026-06-29 (above 3,000 notes
several a day), 1.92 kB each on average, a fifth of the paragraphs in Chinese. The lines
that answer a question are spread over the notes uniformly at random; around them stand
lines of the same make with other names, values and identifiers. The same arguments give
the same bytes. The text comes from ``daily_notes.toml``.

What it does not measure: the filler repeats about a hundred sentence patterns, so topics
recur far more evenly than in a real diary.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal

Kind = Literal["fact", "rare_id", "paraphrase", "chinese", "superseded", "unanswerable"]

LAST_DAY = date(2026, 6, 29)
MOST_DAYS = 3_000
BYTES_PER_NOTE = 1_920
FACTS, RARE_IDS, UNUSED_NAMES, UNUSED_IDS = 70, 20, 7, 3

_SPREAD_BYTES = 650
_FILLER_SURNAMES = 1_500
_CHINESE_SHARE = 0.2
_DECOY_SHARE = 0.07
# Half of an average block: a note that is filled up to its size overshoots by that.
_HALF_BLOCK_BYTES = 130
_SLOT = re.compile(r"\{(\w+)\}")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ARTICLE = re.compile(r"\b([Aa]) (?=(?!eu|uk|uni|one)[aeiou])")
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
    text: str = ""
    stale_text: str = ""


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

    def any_path(self, rng: random.Random) -> str:
        return self.path(rng.randrange(self.notes))

    def two_paths(self, rng: random.Random) -> tuple[str, str]:
        """Draw notes of two different days, the older first."""
        older, newer = sorted(rng.sample(range(self.days), 2))
        return self._path_on(older, rng), self._path_on(newer, rng)

    def _path_on(self, day: int, rng: random.Random) -> str:
        first = day * self.notes_per_day
        return self.path(rng.randrange(first, min(first + self.notes_per_day, self.notes)))


class _Prose:
    """Sentences and blocks, drawn with one random generator.

    ``unique_names`` and ``unique_ids`` never come up in what it draws. The sentences of
    a block share a scene (people, project, place, venue) more often than not.
    """

    def __init__(self, rng: random.Random, source: dict[str, Any]) -> None:
        self._rng = rng
        self._english: dict[str, list[str]] = source["english"]
        self._chinese: dict[str, list[str]] = source["chinese"]
        self._decoys: list[list[str]] = source["planted"]["fact"]
        words: dict[str, str] = source["words"] | source["chinese"]["words"]
        self._words = {name: _word_list(text) for name, text in words.items()}
        surnames = self._shuffled_surnames()
        reserved = FACTS + UNUSED_NAMES
        self.unique_names = [f"{self._word('first')} {surname}" for surname in surnames[:reserved]]
        self._surnames = surnames[reserved : reserved + _FILLER_SURNAMES]
        self.unique_ids = self._draw_unique_ids(RARE_IDS + UNUSED_IDS)
        self._scene: dict[str, list[str]] = {}
        self._drawn: dict[str, Callable[[], str]] = {
            "name": lambda: f"{self._word('first')} {rng.choice(self._surnames)}",
            "place": lambda: self._word("place_start") + self._word("place_end"),
            "project": lambda: self._word("project_start") + self._word("project_end"),
            "id": self._identifier,
            "hour": lambda: f"{rng.randint(7, 21)}:{rng.randrange(0, 60, 5):02d}",
            "n": lambda: str(rng.randint(2, 9)),
            "nn": lambda: str(rng.randint(10, 99)),
            "nnn": lambda: str(rng.randint(100, 999)),
        }

    def identified(self, identifier: str) -> str:
        """Give a line about an identifier, of the same make as those of the filler."""
        template = self._rng.choice(self._english["id_sentence"]).replace("{id}", identifier, 1)
        return self._fill(template) + "."

    def block(self) -> list[str]:
        """Give the lines of one block of filler: bullets, a paragraph, todos or a log."""
        self._change_scene()
        if self._rng.random() < _CHINESE_SHARE:
            return self._laid_out([self._chinese_sentence() for _ in range(self._rng.randint(2, 4))])
        form = self._rng.choices(("prose", "todo", "log"), weights=(8, 1, 2))[0]
        if form == "prose":
            return self._laid_out([self._sentence() for _ in range(self._rng.randint(2, 5))])
        if form == "todo":
            return [self._todo() for _ in range(self._rng.randint(2, 4))]
        return [f"- {self.identified(self._identifier())}" for _ in range(self._rng.randint(3, 5))]

    def block_around(self, text: str) -> list[str]:
        """Give the lines of a block that has the text in one of them, unchanged."""
        self._change_scene()
        draw = self._chinese_sentence if _HAN.search(text) else self._sentence
        sentences = [draw() for _ in range(self._rng.randint(0, 3))]
        sentences.insert(self._rng.randint(0, len(sentences)), text)
        return self._laid_out(sentences)

    def headings(self, count: int) -> list[str]:
        return self._rng.sample(self._english["heading"], count)

    def _change_scene(self) -> None:
        self._scene = {}
        people = [self._slot("name"), self._slot("name")]
        self._scene = {"name": people} | {slot: [self._slot(slot)] for slot in ("project", "place", "venue")}

    def _laid_out(self, sentences: Sequence[str]) -> list[str]:
        if self._rng.random() < 0.5:
            return [f"- {sentence}" for sentence in sentences]
        space = "" if _HAN.search(sentences[0]) else " "
        return [space.join(sentences)]

    def _sentence(self) -> str:
        if self._rng.random() < _DECOY_SHARE:
            line, _, values = self._rng.choice(self._decoys)
            return self._fill(line.replace("{v}", self._rng.choice(values.split("|"))))
        template = self._event() if self._rng.random() < 0.6 else self._rng.choice(self._english["state"])
        filled = self._fill(template)
        return filled[0].upper() + filled[1:] + "."

    def _event(self) -> str:
        event, dice = self._rng.choice(self._english["event"]), self._rng.random()
        if dice < 0.35:
            return f"{self._rng.choice(self._english['opener'])}, {event}"
        return f"{event}, {self._rng.choice(self._english['tail'])}" if dice < 0.7 else event

    def _todo(self) -> str:
        return f"- [{self._rng.choice(' x')}] " + self._fill(self._rng.choice(self._english["todo"]))

    def _chinese_sentence(self) -> str:
        opener = self._rng.choice(self._chinese["opener"]) if self._rng.random() < 0.4 else ""
        tail = self._rng.choice(self._chinese["tail"])
        body = self._fill(self._rng.choice(self._chinese["sentence"]))
        return opener + body + (f"，{tail}" if tail else "") + "。"

    def _fill(self, template: str) -> str:
        used: set[str] = set()

        def value(slot: re.Match[str]) -> str:
            while (text := self._slot(slot[1])) in used:
                pass
            used.add(text)
            return text

        return _ARTICLE.sub(r"\1n ", _SLOT.sub(value, template))

    def _slot(self, name: str) -> str:
        if name in self._scene and self._rng.random() < 0.6:
            return self._rng.choice(self._scene[name])
        return self._drawn[name]() if name in self._drawn else self._word(name)

    def _word(self, name: str) -> str:
        return self._rng.choice(self._words[name])

    def _shuffled_surnames(self) -> list[str]:
        starts, middles, ends = (self._words[f"surname_{part}"] for part in ("start", "middle", "end"))
        # Also without a middle, so that short names are in the pool.
        surnames = list({f"{a}{b}{c}": None for a in starts for b in ("", *middles) for c in ends})
        self._rng.shuffle(surnames)
        return surnames

    def _draw_unique_ids(self, count: int) -> list[str]:
        patterns = self._english["ids"]
        unique: dict[str, None] = {}
        while len(unique) < count:
            unique[self._from_pattern(patterns[len(unique) % len(patterns)])] = None
        return list(unique)

    def _identifier(self) -> str:
        while True:
            identifier = self._from_pattern(self._rng.choice(self._english["ids"]))
            if identifier not in self.unique_ids:
                return identifier

    def _from_pattern(self, pattern: str) -> str:
        """Put a digit for each ``#`` and a letter for each ``@``."""
        drawn = {"#": "0123456789", "@": "ABCDEFGH"}
        return "".join(self._rng.choice(drawn.get(sign, sign)) for sign in pattern)


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
    _claim(folder)
    rng = random.Random(seed)
    source = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    prose, calendar = _Prose(rng, source), _Calendar(notes)
    drafts = list(_drafts(rng, source["planted"], prose, calendar))
    lines = _write_notes(folder, rng, prose, calendar, _texts_by_path(drafts))
    _write(folder / "MEMORY.md", source["memory"]["text"])
    return [_located(draft, lines) for draft in drafts]


def _claim(folder: Path) -> None:
    memory = folder / "memory"
    memory.mkdir(parents=True, exist_ok=True)
    if any(memory.iterdir()):
        raise FileExistsError(f"{memory} is not empty; give a new folder.")


def _drafts(rng: random.Random, planted: dict[str, Any], prose: _Prose, calendar: _Calendar) -> Iterator[_Draft]:
    def anywhere(kind: Kind, text: str, query: str, key: str) -> _Draft:
        return _Draft(Question(kind, query, calendar.any_path(rng), None, key), text)

    for index, name in enumerate(prose.unique_names[:FACTS]):
        line, query, values = planted["fact"][index % len(planted["fact"])]
        value = rng.choice(values.split("|"))
        text = line.replace("{name}", name).replace("{v}", value)
        yield anywhere("fact", text, query.replace("{name}", name), value)
    for identifier in prose.unique_ids[:RARE_IDS]:
        yield anywhere("rare_id", prose.identified(identifier), identifier, identifier)
    for kind in ("paraphrase", "chinese"):
        yield from (anywhere(kind, *row) for row in planted[kind])
    for stale_text, text, query, key in planted["superseded"]:
        stale_path, path = calendar.two_paths(rng)
        yield _Draft(Question("superseded", query, path, None, key, stale_path), text, stale_text)
    yield from (_Draft(question) for question in _unanswerable(planted, prose))


def _unanswerable(planted: dict[str, Any], prose: _Prose) -> Iterator[Question]:
    for query, absent in planted["unanswerable"]:
        yield Question("unanswerable", query, None, None, absent)
    for (_, query, _), name in zip(planted["fact"], prose.unique_names[FACTS:], strict=False):
        yield Question("unanswerable", query.replace("{name}", name), None, None, name)
    for identifier in prose.unique_ids[RARE_IDS:]:
        yield Question("unanswerable", identifier, None, None, identifier)


def _texts_by_path(drafts: Sequence[_Draft]) -> dict[str, list[str]]:
    texts: dict[str, list[str]] = defaultdict(list)
    for draft in drafts:
        question = draft.question
        for path, text in ((question.path, draft.text), (question.stale_path, draft.stale_text)):
            if path is not None:
                texts[path].append(text)
    return texts


def _write_notes(
    folder: Path, rng: random.Random, prose: _Prose, calendar: _Calendar, texts: dict[str, list[str]]
) -> dict[tuple[str | None, str], int]:
    """Write all notes; give the line of each planted sentence by path and text."""
    lines: dict[tuple[str | None, str], int] = {}
    # What a note has too much is taken from the next, so the average holds.
    owed = 0.0
    for note in range(calendar.notes):
        owed += BYTES_PER_NOTE + rng.uniform(-_SPREAD_BYTES, _SPREAD_BYTES)
        path = calendar.path(note)
        planted = texts.get(path, [])
        content = _note(rng, prose, calendar.day(note), planted, owed)
        owed -= _size(content)
        _write(folder / path, "\n".join(content) + "\n")
        for text in planted:
            lines[path, text] = next(n for n, line in enumerate(content, 1) if text in line)
    return lines


def _note(rng: random.Random, prose: _Prose, day: date, planted: list[str], size: float) -> list[str]:
    blocks = [*(prose.block_around(text) for text in planted), prose.block()]
    while sum(_size(block) for block in blocks) < size - _HALF_BLOCK_BYTES:
        blocks.append(prose.block())
    rng.shuffle(blocks)
    starts = [0, *(index for index in range(1, len(blocks)) if rng.random() < 0.35)][:12]
    headings = dict(zip(starts, prose.headings(len(starts)), strict=True))
    content = [f"# {day.isoformat()} {_WEEKDAYS[day.weekday()]}"]
    for index, block in enumerate(blocks):
        content += ["", f"## {headings[index]}"] if index in headings else []
        content += ["", *block]
    return content


def _size(lines: list[str]) -> int:
    return sum(len(line.encode()) + 1 for line in lines)


def _located(draft: _Draft, lines: dict[tuple[str | None, str], int]) -> Question:
    question = draft.question
    line = lines.get((question.path, draft.text))
    return replace(question, line=line, stale_line=lines.get((question.stale_path, draft.stale_text)))


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
