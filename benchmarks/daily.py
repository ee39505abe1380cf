"""The daily-notes workload of one agent: what indexing, a cold search and an answer cost.

    python benchmarks/daily.py [--notes 200] [--seed 7] [--runs 5] [--json FILE]

Every time is compared with one of the same run: a bare FTS5 insert of the same text, the
embedder's own time for the same chunks, ``python -c "import sqlite3"``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import daily_notes

import clawmark

PLACES = 6
ANSWERABLE = ("fact", "rare_id", "paraphrase", "chinese")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    # An installed package has its bytecode beside it; an editable one may not.
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(Path(clawmark.__file__).parent)], check=True)
    with tempfile.TemporaryDirectory(prefix="clawmark-daily-") as scratch:
        os.environ["CLAWMARK_HOME"] = str(Path(scratch) / "home")
        workspace = Path(scratch) / "ws"
        workspace.mkdir()
        questions = daily_notes.generate(workspace, options.notes, options.seed)
        figures = measure(workspace, Path(scratch), questions, options.runs)
    for name, value in figures.items():
        print(f"{name:<44} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


def measure(workspace: Path, scratch: Path, questions: list[Any], runs: int) -> dict[str, Any]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(workspace.rglob("*.md"))]
    figures: dict[str, Any] = {"notes": len(texts), "bytes": sum(len(text.encode()) for text in texts)}
    bare = median(lambda: bare_insert(scratch / "bare.sqlite", texts), runs)
    keyword = median(lambda: in_process(workspace, scratch, "none")["seconds"], runs)
    figures["bare FTS5 insert, ms"] = round(bare * 1000, 1)
    figures["keyword index, ms"] = round(keyword * 1000, 1)
    figures["keyword index / bare insert (bar 5)"] = round(keyword / bare, 2)
    hybrid = [in_process(workspace, scratch, "local") for _ in range(runs)]
    ratio = statistics.median(run["seconds"] / run["embedder_seconds"] for run in hybrid)
    figures["hybrid index, s"] = round(statistics.median(run["seconds"] for run in hybrid), 2)
    figures["hybrid index / embedder alone (bar 1.3)"] = round(ratio, 2)
    figures["peak memory of that process, MB (bar 250)"] = max(run["peak_mb"] for run in hybrid)
    figures.update(cold(workspace, runs))
    figures.update(found(workspace, questions))
    return figures


def median(run: Callable[[], float], runs: int) -> float:
    return statistics.median(run() for _ in range(runs))


def bare_insert(path: Path, texts: list[str]) -> float:
    for suffix in ("", "-journal", "-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    started = time.perf_counter()
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE notes USING fts5 (text)")
    with db:
        db.executemany("INSERT INTO notes (text) VALUES (?)", [(text,) for text in texts])
    db.close()
    return time.perf_counter() - started


# A process of its own per run: nothing is warm that a user would not have warm.
_INDEX = """
import json, resource, shutil, sys, time
from pathlib import Path
from clawmark import Memory
from clawmark.stores.sqlite import SqliteStore
workspace, provider = Path(sys.argv[1]), sys.argv[2]
import clawmark.engine.memory, clawmark.stores.sqlite, numpy
started = time.perf_counter()
with Memory(workspace, embedder=provider) as memory:
    report = memory.sync()
    seconds = time.perf_counter() - started
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
assert not report.failed and report.error is None, report
embedder_seconds = None
if provider != "none":
    store = SqliteStore(workspace / ".clawmark" / "index.sqlite")
    with store.reading("main") as reader:
        texts = [chunk.text for chunk in reader.pending(limit=10**9, all_chunks=True)]
    code = (
        "import sys, time, json; texts = json.load(sys.stdin); started = time.perf_counter();"
        "from clawmark.embedders.local import LocalEmbedder; embedder = LocalEmbedder();"
        "[embedder.embed_documents(texts[i:i + 64]) for i in range(0, len(texts), 64)];"
        "print(time.perf_counter() - started)"
    )
    import subprocess
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, input=json.dumps(texts), capture_output=True, text=True, check=True)
    embedder_seconds = float(run.stdout)
print(json.dumps({"seconds": seconds, "peak_mb": peak, "embedder_seconds": embedder_seconds}))
"""


def in_process(workspace: Path, scratch: Path, provider: str) -> dict[str, Any]:
    shutil.rmtree(workspace / ".clawmark", ignore_errors=True)
    shutil.rmtree(scratch / "home", ignore_errors=True)
    command = [sys.executable, "-c", _INDEX, str(workspace), provider]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def cold(workspace: Path, runs: int) -> dict[str, Any]:
    clawmark = [str(Path(sys.executable).with_name("clawmark")), "search", "--workspace", str(workspace)]
    nothing = median(lambda: timed([sys.executable, "-c", "import sqlite3"], {}), runs)
    keyword = median(lambda: timed([*clawmark, "boiler key"], {"CLAWMARK_EMBEDDING__PROVIDER": "none"}), runs)
    hybrid = median(lambda: timed([*clawmark, "boiler key"], {}), runs)
    return {
        'python -c "import sqlite3", ms': round(nothing * 1000, 1),
        "cold keyword search / that (bar 8)": round(keyword / nothing, 1),
        "cold hybrid search / that (bar 70)": round(hybrid / nothing, 1),
    }


def timed(command: list[str], environ: dict[str, str]) -> float:
    started = time.perf_counter()
    subprocess.run(command, env={**os.environ, **environ}, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - started


def found(workspace: Path, questions: list[Any]) -> dict[str, Any]:
    from clawmark import Memory

    counts: dict[str, list[bool]] = {}
    answered: dict[str, int] = {}
    latencies: list[float] = []
    with Memory(workspace) as memory:
        memory.search("warm up")
        for question in questions:
            response = memory.search(question.query)
            latencies.append(response.took_ms)
            answered[question.kind] = answered.get(question.kind, 0) + bool(response.results)
            hit = any(
                result.path == question.path and result.start_line <= question.line <= result.end_line
                for result in response.results[:PLACES]
            )
            counts.setdefault(question.kind, []).append(hit)
    figures = {f"right line in the first six: {kind}": f"{sum(counts[kind])} of {len(counts[kind])}" for kind in counts}
    figures["unanswerable questions with an answer"] = f"{answered['unanswerable']} of {len(counts['unanswerable'])}"
    figures.pop("right line in the first six: unanswerable")
    figures["warm query p50 / p95, ms"] = (
        f"{statistics.median(latencies):.1f} / {statistics.quantiles(latencies, n=20)[-1]:.1f}"
    )
    return figures


if __name__ == "__main__":
    main()
