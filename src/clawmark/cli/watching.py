"""``clawmark watch``: follow the files until Ctrl-C, and say on stderr what happens."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import click

from clawmark.cli import printing
from clawmark.cli.frame import Choice, common_options
from clawmark.core.errors import StoreBusyError
from clawmark.core.model import SyncReport
from clawmark.watcher import WatchEvent

# Windows wakes a waiting main thread for Ctrl-C only between two waits.
_WAKE_SECONDS = 1.0
_ONE_SIGNAL_SECONDS = 1.0
_MOST_NAMES = 3


@click.command()
@common_options
def watch(choice: Choice) -> None:
    """Follow the files until Ctrl-C: index them now, then each change."""
    ended = threading.Event()
    live = Live(choice.as_json)
    with _signals_set(ended), choice.open() as memory, memory.watch(live) as watcher:
        while not ended.wait(_WAKE_SECONDS):
            pass
        # Who ends the command does not wait for a large workspace; what is finished is kept.
        watcher.stop(finish=False)


@contextmanager
def _signals_set(ended: threading.Event) -> Generator[None]:
    """Let Ctrl-C and SIGTERM set an event; one that comes later interrupts as usual."""
    first: list[float] = []

    def end(number: int, frame: FrameType | None) -> None:
        first.append(time.monotonic())
        # A supervisor may send the same signal to the process and to its group.
        if first[-1] - first[0] > _ONE_SIGNAL_SECONDS:
            raise KeyboardInterrupt
        ended.set()

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class Live:
    """Writes each event as a line on stderr, and with ``--json`` each sync as a line of JSON on stdout."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._failures: object = None

    def __call__(self, event: WatchEvent) -> None:
        """Show an event."""
        if event.report is not None and self._as_json:
            click.echo(json.dumps({"trigger": event.trigger, **event.report.to_dict()}, ensure_ascii=False))
        for line in self._lines(event):
            click.echo(f"{time.strftime('%H:%M:%S')} {line}", err=True)

    def _lines(self, event: WatchEvent) -> list[str]:
        if event.report is not None:
            return self._synced(event, event.report)
        if event.notice is not None:
            return list(printing.notice_lines((event.notice,)))
        if event.kind == "changed":
            more = len(event.paths) - _MOST_NAMES
            return [f"changed: {', '.join(event.paths[:_MOST_NAMES])}" + (f" and {more} more" if more > 0 else "")]
        if event.kind == "stopped":
            return ["stopped"]
        how = {"events": "watching", "polling": "polling", "interval": "waiting"}[event.way]
        return [f"{how} {event.folders} folder{'' if event.folders == 1 else 's'}; Ctrl-C ends"]

    def _synced(self, event: WatchEvent, report: SyncReport) -> list[str]:
        """Say what a sync did; a failure that lasts is said once, and of nothing nothing is said."""
        failures = (report.error, report.failed)
        is_news, self._failures = failures != self._failures, failures
        if report.error is not None:
            word = "waiting" if report.error.code == StoreBusyError.default_code else "error"
            return [f"{word}: {report.error.message} {report.error.action}".rstrip()] if is_news else []
        done = report.added or report.changed or report.moved or report.removed or report.texts_embedded
        if event.trigger in ("start", "change") or done:
            lines = list(printing.report_lines(report))
            return [f"{lines[0]} {report.took_ms:.0f} ms", *(lines[1:] if is_news else [])]
        return list(printing.reason_lines("failed", report.failed)) if is_news else []
