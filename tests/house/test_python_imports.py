"""The arrows between the Python packages: `make check` holds them, here it is seen to fail on planted faults."""

import ast
import shutil
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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


@pytest.mark.soak
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


def test_no_package_has_a_front_door() -> None:
    """So that whoever imports names the module."""
    fronts = {path: ast.parse(path.read_text()) for path in PACKAGE.glob("*/**/__init__.py")}
    assert [path for path, tree in fronts.items() if len(tree.body) != 1 or not ast.get_docstring(tree)] == []
