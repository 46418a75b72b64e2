"""The arrows between packages and between rooms: `make check` holds them, here it is seen to fail on planted faults."""

import ast
import json
import shutil
import sys
import tomllib
from pathlib import Path

import pytest

from tests.house.tree import ROOT

PACKAGE, FRONTEND = ROOT / "server" / "gradwalk", ROOT / "frontend"
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
NO_TORCH = next(contract for contract in CONTRACTS if contract["id"] == "no-torch")
# A module of each contract, and what it may not import.
FAULTS = {"protocol.requests": "gradwalk.formulas.registry", "api.app": "torch", "words.numbers": "typst"}
# File, what it imports, the rule that must name it.
FRONTEND_FAULTS = [
    ("src/protocol/planted.ts", "../model/planted", "protocol-looks-inward-only"),
    ("src/model/planted.ts", "../stream/planted", "model-looks-inward-only"),
    ("src/stream/planted.ts", "../player/planted", "stream-looks-inward-only"),
    ("src/words/planted.ts", "../scene/planted", "words-looks-inward-only"),
    ("src/player/planted.ts", "./nowhere", "no-unresolved"),
    ("src/cellar/planted.ts", "../model/planted", "every-room-is-placed"),
    ("src/scene/planted.ts", "./planted_back", "no-cycles"),
    ("src/scene/planted_back.ts", "./planted", "no-cycles"),
]


@pytest.mark.soak
def test_every_fault_planted_among_the_packages_is_found(tmp_path, run_program):
    house = tmp_path / "gradwalk"
    shutil.copytree(PACKAGE, house, ignore=shutil.ignore_patterns("static", "__pycache__", "programs"))
    command = [Path(sys.executable).with_name("lint-imports"), "--config", ROOT / "pyproject.toml", "--no-cache"]
    lint = {"cwd": tmp_path, "environment": {"PYTHONPATH": str(tmp_path), "COLUMNS": "200"}, "status": 1}
    for module, imported in FAULTS.items():
        with (house / f"{module.replace('.', '/')}.py").open("a") as file:
            file.write(f"import {imported}\n")
    said = run_program(command, **lint).stdout
    assert "Contracts: 0 kept, 3 broken" in said
    assert all(f"gradwalk.{module} -> {imported}" in said for module, imported in FAULTS.items())
    (house / "cellar").mkdir()
    (house / "cellar" / "__init__.py").write_text('"""Not in the drawing."""\n')
    assert "gradwalk.cellar" in run_program(command, **lint).stdout


@pytest.mark.soak
def test_every_fault_planted_among_the_rooms_of_the_front_end_is_found(tmp_path, run_program):
    shutil.copytree(FRONTEND / "src", tmp_path / "src")
    for name in (".dependency-cruiser.cjs", "tsconfig.json", "package.json", "svelte.config.js"):
        shutil.copy(FRONTEND / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(FRONTEND / "node_modules")
    for where, imported, _ in FRONTEND_FAULTS:
        (tmp_path / where).parent.mkdir(exist_ok=True)
        (tmp_path / where).write_text(f'import "{imported}";\nexport {{}};\n')
    command = ["node", "node_modules/.bin/depcruise", "--config", ".dependency-cruiser.cjs", "--output-type", "json"]
    said = json.loads(run_program([*command, "src"], cwd=tmp_path, status=None).stdout)
    broken = {(violation["from"], violation["rule"]["name"]) for violation in said["summary"]["violations"]}
    for where, _, rule in FRONTEND_FAULTS:
        assert (where, rule) in broken or (rule == "no-cycles" and any(name == rule for _, name in broken))


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
