"""The real programs of the hosts, from `.make/hosts` and the PATH. Only `make test-hosts` runs what is here."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.hosts.firefox import Firefox, running_firefox
from tests.hosts.recipes import recipe
from tests.world.processes import run_program

ROOT = Path(__file__).parents[2]
HOSTS = ROOT / ".make" / "hosts"
HOST_PYTHON = HOSTS / "python" / "bin" / "python"
HOST_NODE = HOSTS / "node" / "node_modules" / ".bin"
FILTER = ROOT / "server" / "gradwalk" / "exports" / "decks" / "quarto" / "_extensions" / "gradwalk" / "gradwalk.lua"
CHROMIUM = "/usr/bin/chromium"
PROGRAM = """x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x).sum()
y.backward()
"""

collect_ignore_glob = [] if os.environ.get("GRADWALK_TEST_HOSTS") else ["test_*.py"]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def run() -> Run:
    """Runs a host's program to its end; what it said is shown when it failed."""

    def run(*command: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
        folders = [str(HOST_PYTHON.parent), str(Path(sys.executable).parent), str(HOST_NODE), os.environ["PATH"]]
        env = {**os.environ, "PATH": ":".join(folders), "CHROME_PATH": CHROMIUM, "CI": "true", **environment}
        return run_program(command, cwd=cwd, timeout=280, stdin=subprocess.DEVNULL, env=env)

    return run


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    """The one Firefox of a run."""
    with running_firefox(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture
def lesson(tmp_path: Path) -> Path:
    """A folder with the program that the recipes are about."""
    (tmp_path / "lesson.py").write_text(PROGRAM)
    return tmp_path


@pytest.fixture
def written(lesson: Path, run) -> Path:
    """The same folder with the page's document and what `init` writes beside it."""
    run("bash", "-ec", recipe("quarto.md", "sh"), cwd=lesson)
    (lesson / "lesson.md").write_text(recipe("quarto.md", "markdown"))
    return lesson


@pytest.fixture(scope="session")
def pandoc(run, tmp_path_factory: pytest.TempPathFactory) -> str:
    code = "import pypandoc; print(pypandoc.get_pandoc_path())"
    return str(run(HOST_PYTHON, "-c", code, cwd=tmp_path_factory.mktemp("pandoc")).stdout.strip())


@pytest.fixture
def notebook(tmp_path: Path, run: Run) -> Path:
    """`lesson.ipynb`, run by a real kernel, its last output a trace on show."""
    path = tmp_path / "lesson.ipynb"
    path.write_text(json.dumps(notebook_of(NOTEBOOK_CELL)))
    run(HOST_PYTHON, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", path, cwd=tmp_path)
    return path


NOTEBOOK_CELL = recipe("jupyter.md", "python").strip()


def notebook_of(source: str) -> dict[str, Any]:
    cell = {
        "cell_type": "code",
        "id": "lesson",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": source,
    }
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
