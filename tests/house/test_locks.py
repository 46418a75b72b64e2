"""What is installed is pinned, all of it, and the pins agree."""

import ast
import json
import re
import sys
import tomllib
from importlib.metadata import packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
PIN = re.compile(r"([A-Za-z0-9._-]+)==([0-9][0-9a-z.]*)")


def read_lock(name: str) -> dict[str, str]:
    """Package to version; every line must be an exact pin."""
    pins = {}
    for line in (ROOT / "requirements" / name).read_text().splitlines():
        if line and not line.startswith(("#", "-r ")):
            match = PIN.fullmatch(line)
            assert match, f"{name}: {line!r} is no exact pin"
            pins[canonicalize_name(match[1])] = match[2]
    return pins


RUN = read_lock("run.lock")
CLUSTER = read_lock("cluster.lock")
SERVER = {**read_lock("server.lock"), **CLUSTER}
TEST = {**RUN, **CLUSTER, **read_lock("test.lock")}

EXTRAS = PROJECT["optional-dependencies"]
IN_CHILDREN_ONLY = ("torch", "numpy")
DECLARED = [
    pytest.param(PROJECT["dependencies"] + EXTRAS["video"], RUN, id="run"),
    pytest.param(PROJECT["dependencies"] + EXTRAS["cluster"], RUN | CLUSTER, id="worker"),
    pytest.param(
        [text for text in PROJECT["dependencies"] if not text.startswith(IN_CHILDREN_ONLY)] + EXTRAS["cluster"],
        SERVER,
        id="server",
    ),
    pytest.param(EXTRAS["test"], TEST, id="test"),
]


@pytest.mark.parametrize(("declared", "lock"), DECLARED)
def test_the_lock_has_what_the_project_declares(declared: list[str], lock: dict[str, str]) -> None:
    for requirement in map(Requirement, declared):
        assert str(requirement.specifier) == f"=={lock[canonicalize_name(requirement.name)]}", requirement.name


@pytest.mark.parametrize(("declared", "lock"), DECLARED)
def test_the_lock_has_what_those_pull_in(declared: list[str], lock: dict[str, str]) -> None:
    waiting = [Requirement(text) for text in declared]
    seen = set()
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name in seen:
            continue
        seen.add(name)
        assert name in lock, f"{name} is installed, but not pinned"
        for text in requires(name) or []:
            needed = Requirement(text)
            applies = needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in (requirement.extras or {""})
            )
            # What torch brings for graphics cards depends on the machine and is not pinned.
            if applies and not needed.name.startswith(("nvidia-", "cuda-", "triton", "setuptools")):
                waiting.append(needed)


def test_a_server_of_a_cluster_has_the_same_versions_and_no_torch() -> None:
    assert SERVER.items() <= (RUN | CLUSTER).items()
    assert not {"torch", "numpy", "sympy"} & set(SERVER)


def test_front_end_packages_are_pinned_exactly() -> None:
    package = json.loads((ROOT / "frontend" / "package.json").read_text())
    for group in ("dependencies", "devDependencies"):
        for name, version in package.get(group, {}).items():
            assert re.fullmatch(r"(npm:[\w.]+@)?\d+\.\d+\.\d+", version), f"{name}: {version}"


def test_the_front_end_lock_names_no_host() -> None:
    assert "resolved" not in (ROOT / "frontend" / "package-lock.json").read_text()


def test_the_front_end_lock_has_every_platform() -> None:
    """npm leaves out what its registry could not answer for, and `npm ci` then fails on every machine."""
    packages = json.loads((ROOT / "frontend" / "package-lock.json").read_text())["packages"]
    missing = {
        name
        for place, package in packages.items()
        for name in package.get("optionalDependencies", {})
        if f"node_modules/{name}" not in packages and f"{place}/node_modules/{name}" not in packages
    }
    assert missing == set()


def test_every_direct_dependency_says_why() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    block = text[text.index("\ndependencies = [") : text.index("\n]\n", text.index("\ndependencies = ["))]
    for line in block.splitlines():
        if "==" in line:
            assert re.search(r",\s+# \S", line), line


def test_every_package_that_is_imported_is_declared() -> None:
    declared = {canonicalize_name(Requirement(text).name) for text in PROJECT["dependencies"]}
    # `typing_extensions` is pydantic's own spelling of TypedDict, and comes with it.
    declared |= {"gradwalk", "typing-extensions"}
    for extra in ("notebook", "video", "cluster"):
        declared |= {canonicalize_name(Requirement(text).name) for text in EXTRAS[extra]}
    declared.add("traitlets")  # what an anywidget is made of
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
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.split(".")[0])
    return names
