"""Steps of the user cases: asking at the command line, breaking an index as a disk would, a provider as a plug-in."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from clawmark import Memory, SearchResponse
from clawmark.cli.app import app

KEYWORD = {"CLAWMARK_EMBEDDING__PROVIDER": "none"}
ASOF = "2026-06-30T12:00:00+00:00"

# Files that make ``provider = "table"`` a provider on any path of Python: its cosines are the model's name, as JSON.
_PLUGIN = {
    "table_provider.py": (
        "import json\nfrom stub import StubEmbedder\n\n\n"
        "def make(settings):\n    return StubEmbedder(json.loads(settings.model))\n"
    ),
    "table_provider-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: table-provider\nVersion: 1.0\n",
    "table_provider-1.0.dist-info/entry_points.txt": "[clawmark.embedders]\ntable = table_provider:make\n",
}


def run(workspace: Path, command: str, *arguments: str, env: Mapping[str, str] | None = None) -> Result:
    """Run a command on a workspace, by keyword unless *env* says otherwise."""
    words = [command, *arguments, "--workspace", str(workspace)]
    result = CliRunner().invoke(app, words, env=dict(KEYWORD if env is None else env))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def ask(workspace: Path, command: str, *arguments: str, env: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a command that succeeds, and give its wire shape."""
    result = run(workspace, command, *arguments, "--json", env=env)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def paths(response: SearchResponse | Mapping[str, Any]) -> list[str]:
    """Give the paths of the results in order."""
    if isinstance(response, SearchResponse):
        return [result.path for result in response.results]
    return [result["path"] for result in response["results"]]


def codes(response: SearchResponse | Mapping[str, Any]) -> list[str]:
    """Give the codes of the warnings."""
    if isinstance(response, SearchResponse):
        return [notice.code for notice in response.warnings]
    return [notice["code"] for notice in response["warnings"]]


def file_of(memory: Memory) -> Path:
    """Give the file of an index."""
    return Path(memory.status().index_path)


def drop_full_text(index: Path) -> None:
    """Take the full-text tables out of an index, as a half-copied file has none."""
    for table in _full_text_tables(index):
        _write(index, f"DROP TABLE {table}")


def damage_full_text(index: Path) -> None:
    """Overwrite the blocks of the full-text tables, as a bad disk does."""
    for table in _full_text_tables(index):
        _write(index, f"UPDATE {table}_data SET block = x'ff00ff00ff00'")


def install_table_provider(folder: Path) -> Path:
    """Write the plug-in into a folder, to be put on the path of Python."""
    for name, text in _PLUGIN.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder


def table_provider(cosines: Mapping[str, float]) -> dict[str, str]:
    """Give the environment that chooses the plug-in with a table of cosines."""
    return {"CLAWMARK_EMBEDDING__PROVIDER": "table", "CLAWMARK_EMBEDDING__MODEL": json.dumps(dict(cosines))}


def _full_text_tables(index: Path) -> list[str]:
    with closing(sqlite3.connect(index)) as db:
        rows = db.execute("SELECT name FROM sqlite_schema WHERE sql LIKE '%USING fts5%'").fetchall()
    assert rows
    return [row[0] for row in rows]


def _write(index: Path, statement: str) -> None:
    with closing(sqlite3.connect(index)) as db:
        db.execute(statement)
        db.commit()
