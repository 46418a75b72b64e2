"""What is installed is pinned, all of it, and the pins agree."""

import ast
import itertools
import json
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house.tree import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
MINOR_VERSIONS = range(11, 15)
"""Of the Pythons that the README names: 3.11 is the first."""
SYSTEMS = (("linux", "Linux", "x86_64"), ("linux", "Linux", "aarch64"), ("darwin", "Darwin", "arm64"))

Lock = dict[str, Requirement]


def environments() -> list[dict[str, str]]:
    """What a marker may ask, for the first and a late release of each Python, on each system."""
    names = "python_version python_full_version implementation_version sys_platform platform_system platform_machine"
    return [
        dict(zip(names.split(), (f"3.{minor}", *[f"3.{minor}.{patch}"] * 2, *system), strict=True))
        for minor, patch, system in itertools.product(MINOR_VERSIONS, (0, 99), SYSTEMS)
    ]


def read_lock(name: str) -> Lock:
    """What is pinned, by its name; every line must be an exact pin, perhaps for some Pythons only."""
    pins = {}
    for line in (ROOT / "requirements" / name).read_text().splitlines():
        if line and not line.startswith(("#", "-r ")):
            pin = Requirement(line)
            assert re.fullmatch(r"==[0-9][0-9a-z.]*", str(pin.specifier)), f"{name}: {line!r} is no exact pin"
            pins[canonicalize_name(pin.name)] = pin
    return pins


def applies(requirement: Requirement, environment: dict[str, str], extras: set[str] | None = None) -> bool:
    """Whether it is wanted there, of a package with these extras."""
    marker = requirement.marker
    return marker is None or any(marker.evaluate({**environment, "extra": extra}) for extra in (extras or {""}))


RUN = read_lock("run.lock")
CLUSTER = read_lock("cluster.lock")
SERVER = {**read_lock("server.lock"), **CLUSTER}
TEST = {**RUN, **CLUSTER, **read_lock("test.lock")}

EXTRAS = PROJECT["optional-dependencies"]
IN_CHILDREN_ONLY = ("torch", "numpy")
FOR_GRAPHICS_CARDS = ("nvidia-", "cuda-", "triton")
"""What torch brings for them depends on the machine and is not pinned."""
ALWAYS = PROJECT["dependencies"]
WITHOUT_TORCH = [text for text in ALWAYS if not text.startswith(IN_CHILDREN_ONLY)]
DECLARED = {
    "run": (ALWAYS + EXTRAS["video"], RUN),
    "worker": (ALWAYS + EXTRAS["cluster"], RUN | CLUSTER),
    "server": (WITHOUT_TORCH + EXTRAS["cluster"], SERVER),
    "test": (EXTRAS["test"], TEST),
}


@pytest.mark.parametrize("name", DECLARED)
def test_the_lock_has_what_the_project_declares_and_what_those_pull_in_on_every_python(name: str) -> None:
    declared, lock = DECLARED[name]
    for requirement in map(Requirement, declared):
        assert requirement.specifier == lock[canonicalize_name(requirement.name)].specifier, requirement.name
    missing = {line for environment in environments() for line in missing_pins(declared, lock, environment)}
    assert missing == set()


def missing_pins(declared: list[str], lock: Lock, environment: dict[str, str]) -> set[str]:
    """What would be installed there and is not pinned, or not in a version that fits: who wants it, and what."""
    missing = set()
    waiting = [("pyproject.toml", needed) for needed in map(Requirement, declared) if applies(needed, environment)]
    seen = set()
    while waiting:
        owner, wanted = waiting.pop()
        if str(wanted) in seen:
            continue
        seen.add(str(wanted))
        pin = lock.get(canonicalize_name(wanted.name))
        if pin is None or not applies(pin, environment) or not wanted.specifier.contains(version_of(pin)):
            missing.add(f"{owner} wants {wanted}")
            continue
        needs = [one for one in needs_of(pin) if applies(one, environment, wanted.extras)]
        waiting += [(str(pin), one) for one in needs if not one.name.startswith(FOR_GRAPHICS_CARDS)]
    return missing


def version_of(pin: Requirement) -> str:
    (only,) = pin.specifier
    return only.version


@cache
def installed(pin: Requirement) -> Distribution | None:
    """What stands here of it; None where this Python does not want it."""
    try:
        found = distribution(pin.name)
    except PackageNotFoundError:
        assert not applies(pin, {}), f"{pin} is not installed"
        return None
    assert Version(found.version).public == version_of(pin), f"{pin}, but {found.version} is installed"
    return found


@cache
def needs_of(pin: Requirement) -> list[Requirement]:
    """What it says itself that it needs."""
    found = installed(pin)
    return [Requirement(text) for text in (found and found.requires) or []]


def test_what_is_pinned_for_a_python_accepts_it() -> None:
    refused = set()
    for pin in TEST.values():
        found = installed(pin)
        accepted = SpecifierSet((found and found.metadata.get("Requires-Python")) or "")
        for environment in environments():
            version = environment["python_full_version"]
            if applies(pin, environment) and not accepted.contains(version):
                refused.add(f"{pin} wants Python {accepted}, not {version}")
    assert refused == set()


def test_the_readme_names_the_pythons_that_the_locks_are_for() -> None:
    first, last = f"3.{MINOR_VERSIONS[0]}", f"3.{MINOR_VERSIONS[-1]}"
    assert f"Python {first} to {last}" in (ROOT / "README.md").read_text()
    allowed = SpecifierSet(PROJECT["requires-python"])
    assert [minor for minor in range(30) if allowed.contains(f"3.{minor}.0")] == list(MINOR_VERSIONS)


def test_a_server_of_a_cluster_has_the_same_versions_and_no_torch() -> None:
    assert SERVER.items() <= (RUN | CLUSTER).items()
    assert not {"torch", "numpy", "sympy"} & set(SERVER)


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
    texts = [*PROJECT["dependencies"], *EXTRAS["notebook"], *EXTRAS["video"], *EXTRAS["cluster"]]
    declared = {canonicalize_name(Requirement(text).name) for text in texts}
    # pydantic's own spelling of TypedDict; what an anywidget is made of; where zstd is, in older Pythons and newer ones
    declared |= {"gradwalk", "typing-extensions", "traitlets", "backports", "compression"}
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
