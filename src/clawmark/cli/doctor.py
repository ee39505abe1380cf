"""The command ``doctor``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from clawmark.cli.frame import DONE, FAILED, Choice, common_options, print_json
from clawmark.core.model import DoctorReport


@click.command()
@click.option("--fix", is_flag=True, help="Repair what can be repaired without losing anything.")
@common_options
def doctor(choice: Choice, fix: bool) -> None:
    """Look for everything that can be wrong with the index, and name each repair."""
    with choice.open() as memory:
        memory.finish_before_answering()
        report = memory.doctor(fix=fix)
    if choice.as_json:
        print_json(report)
    else:
        for line in doctor_lines(report):
            click.echo(line)
    sys.exit(FAILED if report.findings else DONE)


def doctor_lines(report: DoctorReport) -> Iterator[str]:
    """Give each finding with its repair."""
    yield from (f"repaired {finding.code}: {finding.message}" for finding in report.repaired)
    for finding in report.findings:
        yield f"{finding.code}: {finding.message}"
        yield f"  {finding.action}" + (" (--fix does it)" if finding.repair else "")
    if not report.findings:
        yield "Nothing is wrong."
