"""The wheel, installed as a person does it: by pip, into an empty environment. What is built is not built again."""

import importlib.util
import json
import os
import re
import shutil
import zipfile
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import gradwalk
from tests.house.test_locks import PROJECT
from tests.house.tree import ROOT, TRACKED
from tests.world.processes import run_program, run_python
from tests.world.server import Server

pytestmark = pytest.mark.soak

NEEDED = """
static/index.html formulas/derivatives.json examples/programs/map.py protocol/events.py
words/en.ftl exports/fonts/DejaVuSansMono-Bold.ttf
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
    """Made of the sdist, as pip does it where it finds no wheel."""
    folder = tmp_path_factory.mktemp("dist")
    run_python(["-m", "hatchling", "build", "-t", "sdist", "-d", folder], cwd=clone)
    (sdist,) = folder.glob("gradwalk-*.tar.gz")
    shutil.unpack_archive(sdist, folder)
    run_python(
        ["-m", "hatchling", "build", "-t", "wheel", "-d", folder], cwd=folder / sdist.name.removesuffix(".tar.gz")
    )
    (path,) = folder.glob("gradwalk-*.whl")
    return path


def test_the_wheel_holds_what_runs_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {f"gradwalk/{name}" for name in NEEDED.split()} <= set(names)
    assert [name for name in names if name.startswith("gradwalk/static/assets/") and name.endswith(".js")]
    assert not [name for name in names if name.startswith(FREE_OF) or ".test." in name or "node_modules" in name]
    assert wheel.stat().st_size < 3_000_000
    assert wheel.name.endswith("-py3-none-any.whl")


def test_every_package_in_the_page_is_named_with_its_licence(wheel: Path) -> None:
    packages = json.loads((ROOT / "frontend/package-lock.json").read_text())["packages"]
    sources = [
        path for path in TRACKED if path.suffix in (".ts", ".svelte") and path.is_relative_to(ROOT / "frontend/src")
    ]
    code = "\n".join(path.read_text() for path in sources if ".test." not in path.name)
    imported = {*re.findall(r' from "((?:@[\w-]+/)?[\w-]+)"', code)} - {"fast-check", "vitest"}
    assert {"svelte", "temml", "@hpcc-js/wasm-graphviz"} <= imported
    bundled = imported | {"@lezer/python", "clsx", "style-mod"}  # which others bring
    text = zipfile.ZipFile(wheel).read("gradwalk/static/third-party-licenses.txt").decode()
    said = dict(re.findall(r"^(\S+) [\d.]+ \((\S+)\)\n-+\n(?=\S)", text, re.MULTILINE))
    assert bundled - said.keys() == set()
    assert {name: said[name] for name in bundled} == {
        name: packages[f"node_modules/{name}"]["license"] for name in bundled
    }
    for other in ("Graphviz, ", "Noto Sans Math, ", "DejaVu, ", "PyTorch, "):
        assert f"\n{other}" in text


def new_environment(folder: Path) -> Path:
    """The Python of an empty environment that has this one's PyTorch, which is too large to be fetched again."""
    run_python(["-m", "venv", folder])
    (packages,) = folder.glob("lib/python*/site-packages")
    waiting, linked = ["torch"], set()
    while waiting:
        name = waiting.pop()
        if name in linked:
            continue
        linked.add(name)
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (packages / top).exists():
                (packages / top).symlink_to(Path(found.locate_file(top)))
        needs = map(Requirement, found.requires or ())
        waiting += [one.name for one in needs if not one.marker or one.marker.evaluate({"extra": ""})]
    return folder / "bin" / "python"


def as_a_person(python: Path, *arguments: object, **options: Any) -> str:
    """What that Python prints, with nothing of this checkout on its path."""
    options["environment"] = {**os.environ, "PYTHONPATH": "", **options.get("environment", {})}
    done = run_program([python, *arguments], **options)
    return done.stdout + done.stderr


def install(python: Path, *wanted: object) -> None:
    """By pip, with the settings of this machine."""
    as_a_person(python, "-m", "pip", "install", "--quiet", *wanted, timeout=900)


SESSION = """
import sys
import gradwalk
assert "torch" not in sys.modules
trace = gradwalk.trace("sin(x*y) + x", inputs={"x": 1.0, "y": 2.0})
trace.save("walk.json")
trace.save("walk.html")
assert "<iframe" in trace.show()._repr_html_()
assert len(trace.to_graphviz().body) == 10
for ending in sys.argv[1:]:
    try:
        trace.show().widget() if ending == "widget" else trace.save(f"walk.{ending}")
    except Exception as error:
        print(ending, error)
"""


@pytest.mark.parametrize("end", ["lowest", "newest"])
def test_a_plain_install_traces_shows_saves_and_says_what_each_extra_is_for(wheel, tmp_path, end):
    python = new_environment(tmp_path / "environment")
    declared = [one for one in PROJECT["dependencies"] if not one.startswith("torch")]
    install(python, wheel, *([one.replace(">=", "==") for one in declared] if end == "lowest" else ()))
    said = as_a_person(python, "-c", SESSION, "svg", "pages.pdf", "mp4", "widget", cwd=tmp_path)
    assert [re.findall(r"gradwalk\[(\w+)\]", line) for line in said.splitlines()] == [
        [extra] for extra in ("files", "files", "video", "notebook")
    ]
    gradwalk.trace("sin(x*y) + x", inputs={"x": 1.0, "y": 2.0}).save(tmp_path / "here.json")
    assert (tmp_path / "walk.json").read_bytes() == (tmp_path / "here.json").read_bytes()
    command = python.with_name("gradwalk")
    (tmp_path / "program.py").write_text("x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n")
    assert json.loads(as_a_person(command, "trace", "program.py", cwd=tmp_path))["events"]
    assert 'pip install "gradwalk[server]"' in as_a_person(command, "serve", status=2)
    assert 'pip install "gradwalk[cluster]"' in as_a_person(command, "worker", status=2)


FILES = ("svg", "pages.pdf", "pptx", "gif")
MADE = {"files": FILES, "video": (*FILES, "mp4"), "notebook": ("svg", "pages.pdf", "widget"), "server": FILES}


@pytest.mark.parametrize("extra", [*MADE, "cluster"])
def test_each_extra_alone_brings_what_it_is_for(wheel: Path, tmp_path: Path, extra: str) -> None:
    python = new_environment(tmp_path / "environment")
    install(python, f"gradwalk[{extra}] @ {wheel.as_uri()}")
    made = MADE.get(extra, ())
    assert as_a_person(python, "-c", SESSION, *made, cwd=tmp_path) == ""
    assert all((tmp_path / f"walk.{ending}").stat().st_size for ending in made if ending != "widget")
    if extra == "cluster":
        assert "GRADWALK_CLUSTER_URL" in as_a_person(python.with_name("gradwalk"), "worker", status=2)
    if extra != "server":
        return
    server = Server(tmp_path, path="/healthz", python=python, PYTHONPATH="")
    page = server.client.get("/")
    assert page.status_code == 200
    script = page.text.split('src="', 1)[1].split('"', 1)[0]
    assert server.client.get(script).status_code == 200
    assert "map" in server.client.get("/api/examples").text
    server.stop()


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
