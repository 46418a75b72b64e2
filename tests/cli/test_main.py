"""The command line: its output and its exit status; as a process of its own where that is the point."""

import contextlib
import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner, Result
from pypdf import PdfReader

import gradwalk
from gradwalk.cli.main import main
from gradwalk.exports.deck import HOSTS
from gradwalk.protocol.upgrades import load_document
from tests.house.test_imports import CONTRACTS
from tests.world.processes import ENVIRONMENT

pytestmark = pytest.mark.usefixtures("run")


def invoke(*arguments: object, stdin: str = "") -> Result:
    return CliRunner().invoke(main, [str(each) for each in arguments], input=stdin)


def test_a_program_is_traced_with_its_options_as_in_python_and_its_trace_is_drawn(tmp_path: Path) -> None:
    """A program is drawn without a trace between in the test of progress."""
    saved = tmp_path / "trace.json"
    options = ["--input", "x=[1, 2, 3]", "--grad-output", "[0.5, 1, 2]", "--seed", "7"]
    done = invoke("trace", "-", *options, "--output", saved, stdin="x * x\n")
    assert (done.exit_code, done.stdout) == (0, ""), done.stderr
    document = load_document(json.loads(saved.read_bytes()))
    assert document["options"] == {"inputs": {"x": [1, 2, 3]}, "grad_output": [0.5, 1, 2], "seed": 7, "limits": {}}
    (finished,) = [event for event in document["events"] if event["type"] == "pass_finished"]
    (leaf,) = finished["leaf_grads"]
    assert (leaf["leaf"], leaf["grad"]["data"]) == ("x", [1.0, 4.0, 12.0])  # 2 x v, by hand
    here = gradwalk.trace("x * x\n", inputs={"x": [1, 2, 3]}, grad_output=[0.5, 1, 2], seed=7)
    here.save(tmp_path / "here.json")
    assert saved.read_bytes() == (tmp_path / "here.json").read_bytes()
    drawn = invoke("export", saved, "--format", "svg", "--step", "1")
    assert drawn.exit_code == 0, drawn.stderr
    assert drawn.stdout.rstrip() == here.to_svg(1).rstrip()
    assert ">12<" not in drawn.stdout  # x.grad only lands in the second step
    look = ["--theme", "dark", "--shape", "4:3", "--transparent"]
    forward = invoke("export", saved, "--format", "svg", "--direction", "forward", "--step", "1", "--phase", "2", *look)
    assert "Operation 1 of 1, compute" in "".join(ET.fromstring(forward.stdout).itertext())
    assert ET.fromstring(forward.stdout).get("viewBox") == "0 0 960 720"
    beyond = invoke("export", saved, "--format", "dot", "--step", "9")
    assert beyond.exit_code == 1
    assert "2 steps" in beyond.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("trace no-such-file.py", "no-such-file.py"),
        ("trace - --input x", "name=value"),
        ("trace - --input x=one", "not JSON"),
        ("trace - --input x=NaN", "non-finite"),
        ("trace - --seed -1", "seed"),
        ("export - --format docx", "docx"),
        ("serve --port 99999", "port"),
        ("dance", "dance"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what(arguments: str, words: str) -> None:
    done = invoke(*arguments.split(), stdin="x")
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.soak
@pytest.mark.parametrize("host", HOSTS)
def test_a_deck_that_a_command_writes_is_whole_and_needs_no_network(tmp_path: Path, host: str) -> None:
    deck, lesson = tmp_path / "deck", tmp_path / "lesson.py"
    lesson.write_text('# A "square" <b>\nx = torch.tensor(3.0, requires_grad=True)\ny = torch.exp(x)\ny.backward()\n')
    done = invoke("init", host, deck, "--program", lesson)
    assert done.exit_code == 0, done.stderr
    files = {path.relative_to(deck).as_posix(): path for path in deck.rglob("*") if path.is_file()}
    assert set(done.stdout.split()) >= {str(path) for path in files.values()}
    assert not [name for name, path in files.items() if "@@" in path.read_text().partition('<script type="module">')[0]]
    assert (program := files["lesson.py"].read_text()) == lesson.read_text()
    assert invoke("init", host, deck, "--program", lesson).exit_code == 0, "the same once more"
    if host == "myst":
        given = re.search(r"^\{.*\}$", files["index.md"].read_text(), re.MULTILINE)
        assert given
        trace = json.loads(given[0])["trace"]
        assert trace.pop("baked")
        assert load_document(trace)["source"] == program
    assert host != "reveal" or re.search('alt="[^"]*20.09', files["index.html"].read_text())
    if host != "reveal":
        assert invoke("check", deck).exit_code == 0
    if host == "jupyter":
        cells = json.loads(files["lesson.ipynb"].read_text())["cells"]
        _, load, cell = (each["source"].partition("\n")[2] for each in cells)
        assert cell == program
        exec(f"{load}\n{cell}", {})  # noqa: S102 (a notebook has no names but those that it imports)


def test_a_deck_is_written_over_nothing(tmp_path: Path) -> None:
    program, mine = tmp_path / "program.py", tmp_path / "deck" / "lesson.py"
    program.write_text("x * x\n")
    mine.parent.mkdir()
    mine.write_text("# mine\n")
    done = invoke("init", "jupyter", mine.parent, "--program", program)
    assert (done.exit_code, "lesson.py" in done.stderr, mine.read_text()) == (2, True, "# mine\n")


FRAGILE = {
    "deck.html": """<link rel="stylesheet" href="https://cdn.test/a.css"><script src="there.js"></script>
<grad-walk src="walk.kit.json"></grad-walk><a href="https://only.test/followed">x</a><img src="gone.png">
<script type="module">import x from "https://cdn.test/x.js"</script><img src="data:,">""",
    "slides.md": "![a](https://cdn.test/b.png) ![c](there.js)\n:::{iframe} https://cdn.test/embed/1\n:::\n"
    '{"src": "https://cdn.test/k"} <GradWalk src="/walk.kit.json" picture="/gone.svg" />\n',
    "there.js": "",
    "walk.kit.json": "{}",
    "public/walk.kit.json": "{}",
    "node_modules/x/index.html": '<img src="https://cdn.test/not-ours.png">',
}


def test_what_of_a_deck_fails_without_a_network_is_listed(tmp_path: Path) -> None:
    for name, text in FRAGILE.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = invoke("check", tmp_path)
    assert done.exit_code == 1
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["deck.html:", "https://cdn.test/a.css"],
        ["deck.html:", "walk.kit.json"],
        ["deck.html:", "gone.png"],
        ["deck.html:", "https://cdn.test/x.js"],
        ["slides.md:", "/gone.svg"],
        ["slides.md:", "https://cdn.test/b.png"],
        ["slides.md:", "https://cdn.test/embed/1"],
        ["slides.md:", "https://cdn.test/k"],
    ]


IN_EXTRAS = next(one for one in CONTRACTS if one["id"] == "no-extra")["forbidden_modules"]

PLAIN = f"""
import json, sys
sys.modules.update(dict.fromkeys({IN_EXTRAS}))
from click.testing import CliRunner
from gradwalk.cli.main import main
done = [CliRunner().invoke(main, command.split()) for command in sys.argv[1:]]
print(json.dumps([[one.exit_code, one.output, one.exc_info[0].__name__] for one in done]))
"""
"""Several commands in a process that has nothing but what a plain `pip install gradwalk` brings."""
MISSING = {
    "serve": "server",
    "check": "server",
    "worker --count 2": "cluster",
    "export {}.json --format svg": "files",
    "export {}.json --format pages": "files",
    "export {}.json --format mp4": "video",
}


def test_a_plain_install_does_what_it_can_and_says_which_extra_the_rest_needs(run, tmp_path):
    gradwalk.trace("x * x", inputs={"x": 2.0}).save(tmp_path / "walk.json")
    (tmp_path / "walk.py").write_text("import torch\ny = torch.ones(1) * undefined_thing\n")
    able = ("export {}.json --format html", "schema", "--help", "trace {}.py")
    commands = [one.format(tmp_path / "walk") for one in (*able, *MISSING)]
    done = json.loads(run(["-c", PLAIN, *commands]).stdout)
    (_, page, _), (_, schema, _), (_, listed, _), (_, traced, _), *refused = done
    assert [status for status, _, _ in done[: len(able)]] == [0, 0, 0, 1], "the program has a problem"
    jsonschema.Draft202012Validator.check_schema(json.loads(schema))
    *_, problem, finished = json.loads(traced)["events"]
    assert (problem["kind"], finished["type"]) == ("error", "finished")
    assert page.startswith("<!doctype html>")
    assert all(f"\n  {name} " in listed for name in ("check", "export", "kit", "schema", "serve", "trace", "worker"))
    for (status, said, raised), extra in zip(refused, MISSING.values(), strict=True):
        assert (status in (1, 2), raised) == (True, "SystemExit"), said
        assert f'pip install "gradwalk[{extra}]"' in re.sub(r"\s+", " ", said)


def test_where_nothing_can_be_forked_a_command_says_what_works_instead(tmp_path: Path, monkeypatch) -> None:
    """As on Windows; what reads a saved trace works there."""
    monkeypatch.delattr(os, "fork")
    gradwalk.trace("x * x", inputs={"x": 2.0}).save(tmp_path / "walk.json")
    assert invoke("export", tmp_path / "walk.json", "--format", "dot").exit_code == 0
    program = tmp_path / "program.py"
    program.write_text("x * x\n")
    for command in ("serve", "worker", "check", f"trace {program}", f"export {program} --format dot", "init reveal"):
        done = invoke(*command.split())
        assert (done.exit_code, done.stdout) == (2, "")
        assert f"`gradwalk {command.split()[0]}`" in done.stderr
        assert "gradwalk.record" in done.stderr


@pytest.mark.soak
def test_a_long_export_shows_its_progress_to_a_person(tmp_path: Path) -> None:
    """A terminal of its own, as a person has one; nothing of it in a pipe."""
    program = tmp_path / "program.py"
    program.write_text("x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n")
    target = tmp_path / "pages.pdf"
    command = ["export", str(program), "--format", "pages", "--every", "phase", "--output", str(target)]
    person, terminal = pty.openpty()
    with subprocess.Popen([sys.executable, "-m", "gradwalk", *command], stderr=terminal) as process:
        os.close(terminal)
        said = b""
        with contextlib.suppress(OSError):  # a terminal whose last writer has gone
            while piece := os.read(person, 1024):
                said += piece
    os.close(person)
    assert process.returncode == 0
    assert b"Drawing pages" in said
    assert b"100%" in said
    # The product's five stops, then those of x: two contributions, which meet and land.
    assert len(PdfReader(target).pages) == 7
    assert invoke(*command).stderr == ""


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, str]]:
    """Verdict and sentence by subject."""
    return {line[8:18].strip(): (line[:8].strip(), line[18:]) for line in done.stdout.splitlines()}


@pytest.mark.soak
def test_check_says_what_to_do_about_each_thing_that_is_missing(run, tmp_path):
    (tmp_path / "file").write_text("not a folder")
    settings = {"GRADWALK_DATA_DIRECTORY": f"{tmp_path}/file/data", "GRADWALK_STATIC_DIRECTORY": str(tmp_path)}
    alone = findings(run(["-m", "gradwalk", "check"], status=1, environment=settings))
    assert {name for name, (verdict, _) in alone.items() if verdict == "missing"} == {"store", "page"}
    assert "GRADWALK_DATA_DIRECTORY" in alone["store"][1]
    settings |= {"GRADWALK_CLUSTER_URL": "redis://user:hush@127.0.0.1:1/0"}
    (tmp_path / "py_mini_racer.py").write_text("raise OSError('no such library')")
    settings |= {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ENVIRONMENT['PYTHONPATH']}"}
    done = run(["-m", "gradwalk", "check"], status=1, environment=settings)
    found = findings(done)
    assert {name for name, (verdict, _) in found.items() if verdict == "missing"} == {"cluster", "page", "pictures"}
    assert "no such library" in found["pictures"][1]
    assert "redis://user:***@127.0.0.1:1/0 does not answer" in found["cluster"][1]
    assert "make install" in found["page"][1]
    assert found["sandbox"] == ("ok", "Every probe was refused: protection is full.")
    assert all(sentence.endswith((".", "install`", "wheel`")) for _, sentence in found.values()), "sentences"
    assert "hush" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
