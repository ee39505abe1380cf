"""The shape of the package: who may import whom, and what an import loads (design, section 2)."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
CORE = ROOT / "src" / "clawmark" / "core"
CORE_MODULES = sorted(f"clawmark.core.{file.stem}" for file in CORE.glob("*.py") if file.stem != "__init__")


def loaded_by(*imports: str) -> set[str]:
    """Give the modules that a fresh interpreter loads for some imports."""
    program = "import sys; before = set(sys.modules)\n"
    program += "".join(f"import {name}\n" for name in imports)
    program += "print(*sorted(set(sys.modules) - before), sep='\\n')"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(run.stdout.split())


def other_packages(modules: set[str]) -> set[str]:
    tops = {name.partition(".")[0] for name in modules}
    return tops - set(sys.stdlib_module_names) - {"clawmark"}


def imported_names(file: Path) -> set[str]:
    """Give what a file imports anywhere, also inside functions."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or "")
    return names


def test_imports_go_down_only_and_never_between_rooms_on_one_floor(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The contract is in pyproject.toml; every package must have its floor there."""
    monkeypatch.chdir(ROOT)

    exit_code = lint_imports(no_cache=True)

    assert exit_code == 0, capsys.readouterr().out


def test_the_core_loads_nothing_but_the_standard_library() -> None:
    """Keyword mode runs without numpy: no module of the core loads it."""
    loaded = loaded_by(*CORE_MODULES)

    assert set(CORE_MODULES) <= loaded
    assert other_packages(loaded) == set()


def test_importing_clawmark_loads_no_other_package_and_none_of_its_rooms() -> None:
    loaded = loaded_by("clawmark")

    assert other_packages(loaded) == set()
    assert {name for name in loaded if name.startswith("clawmark")} == {"clawmark"}


@pytest.mark.parametrize("module", CORE_MODULES)
def test_the_core_may_use_only_itself_the_standard_library_and_numpy(module: str) -> None:
    """Also inside functions, where no import of the module shows it."""
    names = imported_names(CORE / f"{module.rpartition('.')[2]}.py")
    others = other_packages(names)

    assert others <= {"numpy"}
    assert {name for name in names if name.startswith("clawmark") and not name.startswith("clawmark.core")} == set()


@pytest.mark.parametrize("module", CORE_MODULES)
def test_the_core_has_no_clock_no_chance_no_files_and_no_network(module: str) -> None:
    """Values in, values out."""
    names = imported_names(CORE / f"{module.rpartition('.')[2]}.py")

    assert {"time", "random", "secrets", "os", "io", "pathlib", "socket", "sqlite3", "subprocess"} & names == set()
