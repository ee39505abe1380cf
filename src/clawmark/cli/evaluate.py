"""``clawmark eval``: labelled questions against real searches, as a table or JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from clawmark.cli.frame import Choice, common_options, print_json
from clawmark.core.errors import ConfigError

if TYPE_CHECKING:
    from clawmark.evaluation.run import SetScores


@click.command("eval")
@click.argument("sets", nargs=-1, type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A setting for this run; may be repeated.")
@click.option("--embedder", metavar="NAME", help='Provider; "none" for keyword mode. Default: the configured one.')
@click.option("--categories", is_flag=True, help="Also one line per category of question.")
@click.option("--rows", type=click.Path(path_type=Path), metavar="FILE", help="Write the metrics of each question.")
@common_options
def evaluate(
    choice: Choice,
    sets: Sequence[Path],
    settings: Sequence[str],
    embedder: str | None,
    categories: bool,
    rows: Path | None,
) -> None:
    """Measure search on labelled SETS, without writing to them.

    A set is a folder with manifest.json, or a workspace with queries.jsonl in it or beside it;
    without one, the workspace itself. A line of queries.jsonl is {"id", "query", "gold":
    [{"path", "start_line", "end_line"}]}, with "category", "asof" and "stale" where known.
    """
    from clawmark.evaluation.run import evaluate_set
    from clawmark.evaluation.sets import load_set

    config = _layered(choice.config, nested(settings))
    labelled = [load_set(path) for path in sets or [choice.folder()]]
    scores = [evaluate_set(item, config=config, embedder=embedder, told=_tell) for item in labelled]
    if rows is not None:
        rows.write_text("\n".join(_row_lines(scores)) + "\n", encoding="utf-8")
    if choice.as_json:
        print_json({score.name: _as_data(score) for score in scores})
        return
    for line in table(scores, categories=categories):
        click.echo(line)


def _tell(line: str) -> None:
    click.echo(line, err=True)


def _layered(file: str | None, assignments: dict[str, Any]) -> dict[str, Any]:
    """Lay the assignments over the tables of a configuration file."""
    if file is None:
        return assignments
    import tomllib

    try:
        tables = tomllib.loads(Path(file).read_text(encoding="utf-8-sig"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"The configuration {file} cannot be read: {error}.", action="Check the file.") from error
    return _merged(tables, assignments)


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        merged[key] = _merged(cast("dict[str, Any]", old), cast("dict[str, Any]", value)) if both else value
    return merged


def nested(assignments: Sequence[str]) -> dict[str, Any]:
    """Turn ``query.min_score=0.2`` into nested tables; values are TOML, else text."""
    import tomllib

    tree: dict[str, Any] = {}
    for assignment in assignments:
        key, found, text = assignment.partition("=")
        if not found:
            raise click.BadParameter(f"{assignment!r} is not KEY=VALUE.")
        try:
            value: Any = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
        *parents, last = key.strip().split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[last] = value
    return tree


def table(scores: Sequence[SetScores], *, categories: bool) -> Iterator[str]:
    """Give the scores as aligned columns."""
    names = list(dict.fromkeys(name for score in scores for name in score.overall))
    yield f"{'set':<28}{'n':>6}" + "".join(f"{name:>15}" for name in names)
    for score in scores:
        yield _line(score.name, score.questions, score.overall, names)
        for category, means in score.by_category.items() if categories else ():
            yield _line(f"  {category}", None, means, names)


def _line(label: str, count: int | None, means: Mapping[str, float], names: Sequence[str]) -> str:
    cells = "".join(f"{means[name]:>15.3f}" if name in means else f"{'-':>15}" for name in names)
    return f"{label:<28}{count if count is not None else '':>6}{cells}"


def _as_data(score: SetScores) -> dict[str, Any]:
    return {"questions": score.questions, **score.overall, "categories": score.by_category}


def _row_lines(scores: Sequence[SetScores]) -> Iterator[str]:
    for score in scores:
        for workspace, question, metrics in score.rows:
            yield json.dumps({"set": score.name, "workspace": workspace, "id": question, **metrics})
