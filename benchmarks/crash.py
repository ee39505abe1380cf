"""What survives a kill -9: writers that are killed at random moments, while four processes search.

    python benchmarks/crash.py [--kills 300] [--seed 1]

A writer edits, creates, deletes and renames notes, appends to them and to sessions, forgets and restores, syncs,
rebuilds with chunks of another size, and is killed: by the clock, in a batch of the embedder, or by itself at a
call of SQLite or of the system. The next one goes on. After each kill and at the end it is checked that

* no file of the index is damaged, and no file whose sync had returned is missing or without vectors;
* what is forgotten is in no answer and not in the index, and no note is half-written;
* readers meet no error, and are told only texts that could be there at that moment;
* a text is embedded again only when it was in the batch that a kill interrupted, or came back after it was forgotten;
* syncs and `doctor` find nothing wrong, and the index equals one that is made from the same files anew.

Two runs: with the embedding cache, which knows texts that the index does not have any more (a rebuild that was given
up, another size of chunks before); and without it, which shows that the index itself keeps finished batches, also those
of a rebuild that goes on. Without it a rebuild embeds everything once, so there texts count anew for each size.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from crashing import checks
from crashing.ledger import Ledger, hashes
from crashing.world import BATCH, JournalReader, Note, Plan, WordEmbedder, config, messages, note_text

from clawmark import Memory

HERE = Path(__file__).resolve().parent
READERS = 4
# Of a writer, once it has said that it is ready.
SHORTEST_SECONDS, LONGEST_SECONDS = 0.005, 0.25
# A batch takes 4 ms, and its commit about as long.
BATCH_AND_COMMIT_SECONDS = 0.012
# Of a step: a forget makes about 60, a rebuild some hundreds.
LAST_CALL, LAST_RARE_CALL = 150, 6
PATIENCE_SECONDS = 60.0
# The parent syncs, asks the doctor and compares with a fresh index this often.
CHECK_EVERY = 20
RECIPES = [[tokens, overlap] for tokens in range(40, 160) for overlap in range(0, 20, 2)]


@dataclass
class Counts:
    """What a run found; each list names what is broken."""

    kills: Counter[str] = field(default_factory=Counter)
    killed_in: Counter[str] = field(default_factory=Counter)
    done: Counter[str] = field(default_factory=Counter)
    searches: int = 0
    embedded: checks.Embedded = field(default_factory=checks.Embedded)
    reader_errors: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)
    corrupt: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)
    comparisons: int = 0
    seconds: float = 0.0

    @property
    def most_again(self) -> int:
        """What may be embedded again after kills: a batch each."""
        return self.kills.total() * BATCH

    def broken(self) -> list[str]:
        """Name every demand that did not hold, with what broke it."""
        lists = {
            "reader": self.reader_errors, "lost": self.lost, "returned": self.returned, "corrupt": self.corrupt,
            "fault": self.faults, "different": self.differences, "embedded again": self.embedded.without_reason,
        }  # fmt: skip
        found = [f"{name}: {what}" for name, whats in lists.items() for what in whats]
        if self.embedded.after_kills > self.most_again:
            found.append(f"embedded again: {self.embedded.after_kills} texts, of at most {self.most_again}")
        return found


class Campaign:
    """One workspace, killed again and again.

    Args:
        folder: Where the workspace and the journals are made.
        seed: Of everything random.
        cache: Whether the writers have an embedding cache.
        counts: Added to.
    """

    def __init__(self, folder: Path, seed: int, *, cache: bool, counts: Counts) -> None:
        self.folder, self.cache, self.counts = folder, cache, counts
        self.rng = Random(f"{seed} {cache}")
        self.workspace = folder / "ws"
        self.index = self.workspace / checks.INDEX
        self.fresh = self.rng.sample(RECIPES, len(RECIPES))
        self.recipe = self.fresh.pop()
        self.ledger = Ledger(self._first_notes())
        self.journal = JournalReader(folder / "journal.jsonl")
        self.killed: set[int] = set()
        self.told = {number: JournalReader(folder / f"reader{number}.jsonl") for number in range(READERS)}
        self.names: dict[int, dict[int, tuple[str, str]]] = {number: {} for number in range(READERS)}

    def run(self, kills: int) -> None:
        """Kill so many writers; look after each, and at the end."""
        with self._readers():
            for life in range(1, kills + 1):
                self._kill(life)
                self._look()
                if life % CHECK_EVERY == 0:
                    self._compare()
                    self._hear()
            self._compare()
        self._hear()
        self.counts.done += self.ledger.done
        self.counts.faults += self.ledger.faults
        batches = JournalReader(self.folder / "embedded.jsonl").news()
        self.counts.embedded.count(batches, self.killed, self.ledger.forgets, cache=self.cache)

    def _first_notes(self) -> list[Note]:
        notes = [Note(number, f"memory/{number}.md", note_text(self.rng, number, "0")) for number in range(1, 19)]
        notes += [Note(number, f"sessions/{number}.jsonl", messages(self.rng, number, "0")) for number in range(20, 24)]
        for note in notes:
            place = self.workspace / note.path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(note.text, encoding="utf-8")
        return notes

    def _kill(self, life: int) -> None:
        how = self.rng.choice(("clock", "clock", "clock", "batch", "batch", "call", "call", "rare call"))
        calls = self.rng.randint(1, LAST_RARE_CALL if how == "rare call" else LAST_CALL) if "call" in how else 0
        fresh = [self.fresh.pop() for _ in range(3)]
        notes = list(self.ledger.notes.values())
        plan = Plan(life, self.rng.getrandbits(32), self.cache, self.recipe, fresh, calls, how == "rare call", notes)
        plan.save(self.folder)
        with self._process("writer", self.folder, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            if writer.stdout.readline() == b"ready\n":
                self._strike(writer, how)
            writer.stdout.read()
            ended = writer.wait(PATIENCE_SECONDS)
        if ended != -signal.SIGKILL:
            self.counts.faults.append(f"The writer of life {life} failed: {self._complaints()}")
        self.killed.add(life)
        self.counts.kills[how] += 1

    def _strike(self, writer: subprocess.Popen[bytes], how: str) -> None:
        assert writer.stdout is not None
        if how == "clock":
            time.sleep(self.rng.uniform(SHORTEST_SECONDS, LONGEST_SECONDS))
        if how == "batch":
            for _ in range(self.rng.randint(1, 6)):
                writer.stdout.readline()
            time.sleep(self.rng.uniform(0.0, BATCH_AND_COMMIT_SECONDS))
        if "call" not in how:
            writer.kill()

    def _look(self) -> None:
        for event in self.journal.news(writer_is_dead=True):
            self.ledger.follow(event)
        self.recipe = self.ledger.recipe or self.recipe
        disk = checks.files_on_disk(self.workspace)
        step = self.ledger.resolve(disk, checks.subjects(self.index), time.monotonic())
        self.counts.killed_in[step] += 1
        self.counts.corrupt += checks.corruptions(self.index, self.cache_file)
        self.counts.lost += checks.losses(self.index, self.ledger.complete)
        self.counts.returned += checks.returned(self.index, self.ledger)

    @property
    def cache_file(self) -> Path:
        return Path(os.environ["CLAWMARK_HOME"], "cache", "embeddings.sqlite")

    def _compare(self) -> None:
        """Do the next sync, without a kill."""
        settings = config(self.recipe, cache=self.cache)
        with Memory(self.workspace, config=settings, embedder=WordEmbedder()) as memory:
            report, findings = memory.sync(), memory.doctor().findings
            note = next(note for note in self.ledger.notes.values() if not note.is_session)
            # Adds nothing: it holds all of that already.
            memory.append(note.path, note.text)
        if report.error or report.partial or report.failed or report.pending:
            self.counts.faults.append(f"sync: {report.to_dict()}")
        self.counts.faults += [f"doctor: {finding.code}: {finding.message}" for finding in findings]
        self.counts.faults += checks.leftovers(self.workspace)
        self.ledger.settle(time.monotonic(), hashes(self.ledger.notes))
        self.counts.lost += checks.losses(self.index, self.ledger.complete)
        self.counts.returned += checks.returned(self.index, self.ledger)
        self.counts.differences += checks.differences(self.workspace, self.recipe, self.folder / "fresh")
        self.counts.comparisons += 1

    def _hear(self) -> None:
        for number, journal in self.told.items():
            events = journal.news()
            self.counts.searches += len(events)
            self.counts.reader_errors += checks.wrong_answers(self.ledger, events, self.names[number])

    @contextmanager
    def _readers(self) -> Iterator[None]:
        readers = [self._process("reader", self.folder, number, stdin=subprocess.PIPE) for number in range(READERS)]
        try:
            yield
        finally:
            for number, reader in enumerate(readers):
                reader.communicate(timeout=PATIENCE_SECONDS)
                if reader.returncode:
                    self.counts.reader_errors.append(f"Reader {number} failed: {self._complaints()}")

    def _process(self, role: str, *arguments: object, **pipes: int) -> subprocess.Popen[bytes]:
        paths = os.pathsep.join([str(HERE), *filter(None, sys.path)])
        with (self.folder / "complaints.txt").open("ab") as complaints:
            return subprocess.Popen(
                [sys.executable, "-m", f"crashing.{role}", *map(str, arguments)],
                env={**os.environ, "PYTHONPATH": paths},
                stderr=complaints,
                **pipes,
            )

    def _complaints(self) -> str:
        return (self.folder / "complaints.txt").read_text(encoding="utf-8", errors="replace")[-2000:]


def run(folder: Path, *, kills: int, seed: int) -> Counts:
    """Kill writers in two workspaces, two of three with the embedding cache.

    Args:
        folder: Empty; ``CLAWMARK_HOME`` must be somewhere for this alone.
        kills: In all.
        seed: Of everything random but the moment of a kill.
    """
    began, counts = time.monotonic(), Counts()
    shares = {True: kills - kills // 3, False: kills // 3}
    for cache, share in shares.items():
        place = folder / ("cache" if cache else "no-cache")
        place.mkdir()
        Campaign(place, seed, cache=cache, counts=counts).run(share)
    counts.seconds = time.monotonic() - began
    return counts


def report(counts: Counts) -> str:
    """Spell the counts for people."""
    embedded, syncs = counts.embedded, sum(counts.done[name] for name in ("sync", "force", "rebuild"))
    rows = {
        "kills": f"{counts.kills.total()} ({_spelled(counts.kills)})",
        "killed in": _spelled(counts.killed_in),
        "steps done": _spelled(counts.done),
        "syncs completed": syncs,
        "searches of readers": counts.searches,
        "reader errors": len(counts.reader_errors),
        "files lost": len(counts.lost),
        "forgotten and back": len(counts.returned),
        "corruptions": len(counts.corrupt),
        "other faults": len(counts.faults),
        "unlike a fresh index": f"{len(counts.differences)} of {counts.comparisons} comparisons",
        "texts embedded": embedded.texts,
        "  distinct": embedded.distinct,
        "  again after a kill": f"{embedded.after_kills} of at most {counts.most_again}",
        "  again when restored": embedded.after_forgetting,
        "  again for no reason": len(embedded.without_reason),
        "seconds": f"{counts.seconds:.0f}",
    }
    return "\n".join(f"{name:<22}{value}" for name, value in rows.items())


def _spelled(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {number}" for name, number in counter.most_common())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=300, help="in all, over both runs")
    parser.add_argument("--seed", type=int, default=1, help="of what is random, but for the moments of the kills")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="clawmark-crash-") as folder:
        os.environ["CLAWMARK_HOME"] = str(Path(folder, "home"))
        counts = run(Path(folder), kills=options.kills, seed=options.seed)
    print(report(counts))
    broken = counts.broken()
    for what in broken[:50]:
        print(f"BROKEN {what}", file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
