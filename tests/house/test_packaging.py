"""`pip install .` gives a working server with its page inside; nothing is built that is built already."""

import importlib.util
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.house.tree import ROOT, TRACKED
from tests.world.processes import run_python
from tests.world.server import Server

pytestmark = pytest.mark.soak

NEEDED = """
static/index.html formulas/derivatives.json examples/programs/map.py protocol/events.py
exports/fonts.conf words/en.ftl static/fonts/DejaVuSansMono-Bold.ttf
"""
FREE_OF = ("tests/", "frontend/", "scripts/", "requirements/")


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tracked files and the page as `make install` built it."""
    folder = tmp_path_factory.mktemp("clone")
    for path in TRACKED:
        target = folder / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    if (ROOT / "server/gradwalk/static").is_dir():
        shutil.copytree(ROOT / "server/gradwalk/static", folder / "server/gradwalk/static")
    return folder


@pytest.fixture(scope="module")
def wheel(clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    run_python(["-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=clone)
    (path,) = folder.glob("gradwalk-*.whl")
    return path


def test_the_wheel_holds_what_runs_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"gradwalk/{name}" for name in NEEDED.split()} <= set(names)
    assert [name for name in names if name.startswith("gradwalk/static/assets/") and name.endswith(".js")]
    assert not [name for name in names if name.startswith(FREE_OF) or ".test." in name or "node_modules" in name]
    assert wheel.stat().st_size < 12_000_000
    assert wheel.name.endswith("-py3-none-any.whl")


@pytest.fixture(scope="module")
def served(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """`gradwalk serve`, run from the wheel and from nothing else of this folder."""
    home = tmp_path_factory.mktemp("installed")
    run_python(["-m", "pip", "install", "--no-deps", "--no-index", "--target", home / "package", wheel])
    module = (str(home / "package" / "bin" / "gradwalk"), "serve")
    server = Server(home, module=module, path="/healthz", PYTHONPATH=str(home / "package"))
    yield server.client
    server.stop()


def test_the_installed_server_shows_the_page_and_has_the_examples(served: httpx.Client) -> None:
    page = served.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    script = page.text.split('src="', 1)[1].split('"', 1)[0]
    assert served.get(script).status_code == 200
    assert "map" in served.get("/api/examples").text


def test_a_changed_source_makes_the_build_stale_and_a_changed_test_does_not(clone: Path) -> None:
    script = importlib.util.spec_from_file_location("build_frontend", clone / "scripts" / "build_frontend.py")
    build_frontend = importlib.util.module_from_spec(script)
    script.loader.exec_module(build_frontend)
    before = build_frontend.source_hash()
    (clone / "frontend/src/model/added.test.ts").write_text("export {};\n")
    assert build_frontend.source_hash() == before
    added = clone / "frontend/src/model/added.ts"
    added.write_text("export {};\n")
    assert build_frontend.source_hash() != before
    assert not build_frontend.is_fresh()
    added.unlink()
    assert build_frontend.source_hash() == before
