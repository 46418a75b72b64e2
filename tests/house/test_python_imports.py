"""The arrows between the Python packages hold, and each check is seen to fail on a planted fault."""

import ast
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "server" / "gradwalk"
MODULES = [path for path in sorted(PACKAGE.rglob("*.py")) if "programs" not in path.parts]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
NO_TORCH = next(contract for contract in CONTRACTS if contract["id"] == "no-torch")


def lint_imports(folder: Path) -> subprocess.CompletedProcess[str]:
    """import-linter over the copy of gradwalk in `folder`, with this project's contracts."""
    program = Path(sys.executable).with_name("lint-imports")
    return subprocess.run(
        [program, "--config", ROOT / "pyproject.toml", "--no-cache"],
        cwd=folder,
        env={"PYTHONPATH": str(folder), "PATH": "", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package to plant faults in."""
    shutil.copytree(PACKAGE, tmp_path / "gradwalk", ignore=shutil.ignore_patterns("static", "__pycache__", "programs"))
    return tmp_path


def test_the_arrows_hold(house: Path) -> None:
    outcome = lint_imports(house)
    assert outcome.returncode == 0, outcome.stdout


# Where a fault is planted, what it imports.
FAULTS = [
    ("protocol", "gradwalk.formulas.registry"),
    ("formulas", "gradwalk.tracer.source"),
    ("store", "gradwalk.exports"),
    ("api", "gradwalk.tracer.source"),
    *((source.split(".")[1], "torch") for source in NO_TORCH["source_modules"] if source.count(".") == 1),
]


def test_every_planted_fault_is_found(house: Path) -> None:
    for number, (package, imported) in enumerate(FAULTS):
        (house / "gradwalk" / package / f"planted_{number}.py").write_text(f'"""Planted."""\n\nimport {imported}\n')

    outcome = lint_imports(house)

    assert outcome.returncode == 1
    assert "Contracts: 0 kept, 2 broken" in outcome.stdout
    for number, (package, imported) in enumerate(FAULTS):
        assert f"gradwalk.{package}.planted_{number} -> {imported}" in outcome.stdout


def test_a_package_that_nobody_placed_is_found(house: Path) -> None:
    cellar = house / "gradwalk" / "cellar"
    cellar.mkdir()
    (cellar / "__init__.py").write_text('"""Not in the drawing."""\n')

    outcome = lint_imports(house)

    assert outcome.returncode == 1
    assert "gradwalk.cellar" in outcome.stdout


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
    found = [
        f"{path.relative_to(ROOT)}:{line}: from {module} import {name}"
        for path in MODULES
        for line, module, name in own_imports(path)
        if is_front_door(module, name)
    ]
    assert found == []


def test_a_front_door_would_be_recognised() -> None:
    assert is_front_door("gradwalk", "trace")
    assert is_front_door("gradwalk.protocol", "Event")
    assert not is_front_door("gradwalk.protocol", "events")
    assert not is_front_door("gradwalk.protocol.events", "Event")


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("*/**/__init__.py")), ids=lambda path: path.parent.name)
def test_a_package_front_is_empty_apart_from_its_docstring(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree), "say in a line what the package is"
    assert len(tree.body) == 1


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        ("def f():\n    import json\n\n    return json\n", "PLC0415"),
        ("from .events import Event\n", "TID252"),
        ("import pickle\n", "TID251"),
        ("print(1)\n", "T201"),
        ("try:\n    pass\nexcept Exception:\n    pass\n", "BLE001"),
    ],
)
def test_ruff_refuses(fault: str, rule: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--stdin-filename", "server/gradwalk/protocol/planted.py", "-"]
    outcome = subprocess.run(command, cwd=ROOT, input=fault, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert rule in outcome.stdout
