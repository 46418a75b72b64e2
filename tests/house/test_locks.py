"""What is installed is pinned, all of it; what is imported is declared."""

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from sysconfig import get_path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from gradwalk.protocol.versions import TESTED_TORCH
from tests.house.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
PINS = [
    Requirement(line)
    for line in (ROOT / "requirements" / "lock.txt").read_text().splitlines()
    if not line.lstrip().startswith("#")
]
BY_HAND = {"gradwalk", "pip"}
FOR_GRAPHICS_CARDS = re.compile("nvidia-|cuda-|triton$")
"""What torch brings for them depends on its build."""


def test_what_is_installed_here_is_what_the_lock_says() -> None:
    assert all(re.fullmatch(r"==[0-9][0-9a-z.]*", str(pin.specifier)) for pin in PINS)
    wanted = {
        canonicalize_name(pin.name): str(pin.specifier)[2:] for pin in PINS if not pin.marker or pin.marker.evaluate()
    }
    # Of this environment alone: setuptools puts what it brings along on the path once something imports it.
    installed = distributions(path=[get_path("purelib")])
    found = {canonicalize_name(each.name): Version(each.version).public for each in installed}
    assert {name: version for name, version in found.items() if name not in BY_HAND} == {
        name: version for name, version in wanted.items() if name in found or not FOR_GRAPHICS_CARDS.match(name)
    }


def test_the_lock_has_what_the_project_declares() -> None:
    pins = {canonicalize_name(pin.name): pin for pin in PINS}
    for text in {*PROJECT["dependencies"], *(one for name in EXTRAS if name != "notebook" for one in EXTRAS[name])}:
        declared = Requirement(text)
        pin = pins.get(canonicalize_name(declared.name))
        assert declared.name == "gradwalk" or (pin and declared.specifier.contains(str(pin.specifier)[2:])), text


def test_the_torch_of_the_lock_is_in_the_tested_range_which_the_project_allows() -> None:
    first, last = TESTED_TORCH
    (pin,) = [pin for pin in PINS if pin.name == "torch"]
    assert Version(first) <= Version(str(pin.specifier)[2:]) < Version(f"{last}.99")
    (declared,) = [one for one in map(Requirement, PROJECT["dependencies"]) if one.name == "torch"]
    assert all(declared.specifier.contains(one) for one in TESTED_TORCH)
    assert f"({first} to {last})" in (ROOT / "README.md").read_text()


def test_front_end_packages_are_pinned_exactly_and_locked_for_every_platform() -> None:
    package = json.loads((ROOT / "frontend" / "package.json").read_text())
    for name, version in (package["devDependencies"] | package.get("dependencies", {})).items():
        assert re.fullmatch(r"(npm:[\w.]+@)?\d+\.\d+\.\d+", version), f"{name}: {version}"
    text = (ROOT / "frontend" / "package-lock.json").read_text()
    assert "resolved" not in text, "it names a host"
    # npm leaves out what its registry could not answer for, and `npm ci` then fails on every machine.
    packages = json.loads(text)["packages"]
    wanted = [(place, name) for place, one in packages.items() for name in one.get("optionalDependencies", {})]
    places = [{f"node_modules/{name}", f"{place}/node_modules/{name}"} for place, name in wanted]
    assert [those for those in places if not those & packages.keys()] == []


def test_every_package_that_is_imported_is_declared() -> None:
    texts = [*PROJECT["dependencies"], *(text for name in EXTRAS if name != "test" for text in EXTRAS[name])]
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    # what pydantic and an anywidget are made of; where zstd is, in older Pythons and newer ones
    declared |= {"pydantic-core", "traitlets", "backports", "compression"}
    distributions = packages_distributions()
    undeclared = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "server" / "gradwalk").rglob("*.py")
        for name in imported_names(path)
        if name not in sys.stdlib_module_names
        and not {canonicalize_name(owner) for owner in distributions.get(name, [name])} & declared
    }
    assert undeclared == set()


def imported_names(path: Path) -> set[str]:
    """First parts of the names of all modules that a file imports."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module]
    return {name.split(".")[0] for name in names}
