"""The arrows between the Python packages: `make check` holds them, here it is seen to fail on planted faults."""

import ast
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.house.tree import ROOT

PACKAGE = ROOT / "server" / "gradwalk"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
NO_TORCH = next(contract for contract in CONTRACTS if contract["id"] == "no-torch")

# Where a fault is planted, what it imports.
FAULTS = [
    ("protocol", "gradwalk.formulas.registry"),
    ("formulas", "gradwalk.tracer.source"),
    ("store", "gradwalk.exports"),
    ("api", "gradwalk.tracer.source"),
    *((source.split(".")[1], "torch") for source in NO_TORCH["source_modules"] if source.count(".") == 1),
]


def test_every_planted_fault_is_found(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    house = tmp_path / "gradwalk"
    shutil.copytree(PACKAGE, house, ignore=shutil.ignore_patterns("static", "__pycache__", "programs"))
    program = Path(sys.executable).with_name("lint-imports")
    command = [program, "--config", ROOT / "pyproject.toml", "--no-cache"]
    lint = {"cwd": tmp_path, "environment": {"PYTHONPATH": str(tmp_path), "COLUMNS": "200"}, "status": 1}
    for number, (package, imported) in enumerate(FAULTS):
        (house / package / f"planted_{number}.py").write_text(f'"""Planted."""\n\nimport {imported}\n')

    said = run_program(command, **lint).stdout

    assert "Contracts: 0 kept, 2 broken" in said
    for number, (package, imported) in enumerate(FAULTS):
        assert f"gradwalk.{package}.planted_{number} -> {imported}" in said

    (house / "cellar").mkdir()
    (house / "cellar" / "__init__.py").write_text('"""Not in the drawing."""\n')
    assert "gradwalk.cellar" in run_program(command, **lint).stdout


def test_every_package_that_has_no_torch_says_so() -> None:
    """A package of the server's own process may not be forgotten in the contract."""
    with_torch = {"tracer", "formulas", "notebook", "sandbox"}
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py")} - with_torch
    named = {name.split(".")[1] for name in NO_TORCH["source_modules"]}
    assert packages <= named, f"add to the contract in pyproject.toml: {sorted(packages - named)}"


def own_imports(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line, module and name of each `from gradwalk... import name`."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "gradwalk":
            yield from ((node.lineno, node.module, alias.name) for alias in node.names)


def is_front_door(module: str, name: str) -> bool:
    """Whether `from module import name` takes something out of a package instead of one of its modules."""
    package = PACKAGE.joinpath(*module.split(".")[1:])
    is_submodule = (package / f"{name}.py").is_file() or (package / name).is_dir()
    return package.is_dir() and not is_submodule


def test_no_module_imports_through_a_front_door() -> None:
    assert is_front_door("gradwalk.protocol", "Event")
    assert not is_front_door("gradwalk.protocol", "events")
    modules = [path for path in sorted(PACKAGE.rglob("*.py")) if "programs" not in path.parts]
    found = [
        f"{path.relative_to(ROOT)}:{line}: from {module} import {name}"
        for path in modules
        for line, module, name in own_imports(path)
        if is_front_door(module, name)
    ]
    assert found == []
    fronts = {path: ast.parse(path.read_text()) for path in PACKAGE.glob("*/**/__init__.py")}
    assert [path for path, tree in fronts.items() if len(tree.body) != 1 or not ast.get_docstring(tree)] == []
