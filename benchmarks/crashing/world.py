"""The notes and sessions of a run, as its processes agree on them; texts that can be told apart."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

BATCH = 4
DIMENSIONS = 48
# Each line of a text names its note, so that what is embedded can be told apart.
MARK = re.compile(r"\bn(\d+)v")

WORDS = re.findall(
    "[a-z]+",
    "heron falcon zebra otter badger lynx walrus ibex kettle lantern anchor ladder compass violin harbour orchard "
    "meadow glacier canyon lagoon tunnel bridge castle market bakery library museum garden balcony cellar engine "
    "budget invoice contract passport ticket recipe password meeting deadline release server cluster backup",
)


@dataclass
class Note:
    """A note or a session.

    Attributes:
        number: Its own for good, whatever it is called.
        path: As results name it.
        text: All of the file.
        forgotten: What it was called when it was forgotten, such as "path:memory/a.md".
        edited: Whether it has changed since then.
    """

    number: int
    path: str
    text: str
    forgotten: str | None = None
    edited: bool = False

    @property
    def is_session(self) -> bool:
        return self.path.startswith("sessions/")

    @property
    def shown(self) -> str:
        """What a search may show of it: of a session, one line a message."""
        return shown(self.path, self.text)


@dataclass
class Plan:
    """What the next writer is told.

    Attributes:
        life: Its number.
        seed: Of its choices.
        cache: Whether it has an embedding cache.
        recipe: Size and overlap of chunks that the writer before it used.
        fresh: Others, that no writer has used.
        calls: Calls of the system or of SQLite after which it kills itself; 0 for never.
        rare: Whether only calls count that bring a file to the disk or give it its name.
        notes: What there is.
    """

    life: int
    seed: int
    cache: bool
    recipe: list[int]
    fresh: list[list[int]] = field(default_factory=list)
    calls: int = 0
    rare: bool = False
    notes: list[Note] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        (folder / "plan.json").write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Plan:
        data = json.loads((folder / "plan.json").read_text(encoding="utf-8"))
        return cls(**{**data, "notes": [Note(**note) for note in data["notes"]]})


class Journal:
    """A file of JSON lines that survives its writer: one system call a line."""

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def note(self, **event: Any) -> None:
        line = json.dumps({"t": time.monotonic(), **event}) + "\n"
        os.write(self._descriptor, line.encode())


class JournalReader:
    """Gives the whole lines of a journal that are new since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def news(self, *, writer_is_dead: bool = False) -> list[dict[str, Any]]:
        if not self._path.exists():
            return []
        with self._path.open("rb") as file:
            file.seek(self._offset)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        if writer_is_dead and len(whole) < len(data):
            # It was killed within a line: that line was never written.
            os.truncate(self._path, self._offset)
        return [json.loads(line) for line in whole.splitlines()]


class WordEmbedder:
    """Counts words in buckets; keeps count of what it embeds in a file that survives a kill.

    Args:
        log: Told each batch before it is embedded; None to keep no count.
        seconds: A batch takes this long.
    """

    provider = "crash"
    model = "words"
    dimensions = DIMENSIONS
    max_input_tokens = 8192
    max_batch_items = BATCH
    concurrency = 1

    def __init__(self, log: Any = None, seconds: float = 0.0) -> None:
        self._log = log
        self._seconds = seconds

    def embed_documents(self, texts: Any) -> Any:
        if self._log is not None:
            self._log(texts)
        time.sleep(self._seconds)
        return np.array([self.embed_query(text) for text in texts], dtype=np.float32)

    def embed_query(self, text: str) -> Any:
        vector = np.full(DIMENSIONS, 0.01, dtype=np.float32)
        for word in re.findall("[a-z]+", text.lower()):
            vector[hashlib.md5(word.encode()).digest()[0] % DIMENSIONS] += 1
        return vector


def config(recipe: list[int], *, cache: bool, on_search: bool = True) -> dict[str, Any]:
    return {
        "chunking": {"tokens": recipe[0], "overlap": recipe[1]},
        "cache": {"enabled": cache},
        "sessions": {"paths": ["sessions"]},
        "sync": {"on_search": on_search},
    }


def line(rng: Random, number: int, version: str) -> str:
    return f"n{number}v{version}k{rng.getrandbits(40):010x} {' '.join(rng.choices(WORDS, k=rng.randint(6, 12)))}."


def note_text(rng: Random, number: int, version: str) -> str:
    sections = [
        f"## {rng.choice(WORDS).title()} {line(rng, number, version)}\n\n"
        + "".join(f"- {line(rng, number, version)}\n" for _ in range(rng.randint(1, 5)))
        for _ in range(rng.randint(1, 5))
    ]
    return f"# Note {number}\n\n" + "\n".join(sections)


def edited_text(rng: Random, text: str, number: int, version: str) -> str:
    """Change, add or remove one line below the title."""
    lines = text.split("\n")
    place = rng.randrange(2, len(lines))
    lines[place : place + rng.randint(0, 1)] = [f"- {line(rng, number, version)}"]
    return "\n".join(lines).rstrip("\n") + "\n"


def messages(rng: Random, number: int, version: str) -> str:
    roles = [("user", "assistant")[turn % 2] for turn in range(rng.randint(1, 4))]
    return "".join(
        json.dumps({"role": role, "text": line(rng, number, version), "ts": f"2026-05-{rng.randint(10, 28)}T10:00:00Z"})
        + "\n"
        for role in roles
    )


def shown(path: str, text: str) -> str:
    if not path.startswith("sessions/"):
        return text
    spoken = [json.loads(one) for one in text.splitlines()]
    return "\n".join(f"{one['role'].title()}: {one['text']}" for one in spoken)


def hash_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
