"""The command line: its output and its exit status; as a process of its own where that is the point."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result
from pypdf import PdfReader

from gradwalk.cli.main import main
from gradwalk.protocol.upgrades import load_document

pytestmark = pytest.mark.usefixtures("run")
PROGRAM = "import torch\nx = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x * x) * scale\ny.sum().backward()\n"


def invoke(*arguments: str, stdin: str = "") -> Result:
    """Runs a command here; what an export reads is a file."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
        program.write(stdin)
        program.flush()
        given = [program.name if arguments[0] == "export" and each == "-" else each for each in arguments]
        return CliRunner().invoke(main, given, input=stdin)


def leaf_grads(document: Any) -> dict[str, Any]:
    (finished,) = [event for event in document["events"] if event["type"] == "pass_finished"]
    return {one["leaf"]: one["grad"]["data"] for one in finished["leaf_grads"]}


def test_trace_prints_the_document_with_inputs_and_grad_output_taken_from_the_command_line() -> None:
    done = invoke("trace", "-", "--input", "x=[1, 2, 3]", "--grad-output", "[0.5, 1, 2]", "--seed", "7", stdin="x * x")
    assert done.exit_code == 0, done.stderr
    document = load_document(json.loads(done.stdout))
    assert document["options"] == {
        "inputs": {"x": [1, 2, 3]},
        "grad_output": [0.5, 1, 2],
        "seed": 7,
        "limits": {},
    }
    assert leaf_grads(document) == {"x": [1.0, 4.0, 12.0]}  # 2 x v, by hand


def test_a_problem_in_the_program_is_status_1_and_the_document_still_comes_out(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("scale", "undefined_thing"))
    done = invoke("trace", str(program), "--output", str(tmp_path / "trace.json"))
    assert done.exit_code == 1, done.stderr
    assert done.stdout == ""
    document = json.loads((tmp_path / "trace.json").read_bytes())
    assert [event["kind"] for event in document["events"] if event["type"] == "problem"]
    assert document["events"][-1]["type"] == "finished"


@pytest.mark.parametrize(
    ("arguments", "stdin", "words"),
    [
        pytest.param(["trace", "no-such-file.py"], "", "no-such-file.py", id="no file"),
        pytest.param(["trace", "-", "--input", "x"], "x", "name=value", id="no value"),
        pytest.param(["trace", "-", "--input", "x=one"], "x", "not JSON", id="not JSON"),
        pytest.param(["trace", "-", "--input", "x=NaN"], "x", "non-finite", id="NaN"),
        pytest.param(["trace", "-", "--seed", "-1"], "x", "seed", id="bad seed"),
        pytest.param(["serve", "--port", "99999"], "", "port", id="bad port"),
        pytest.param(["dance"], "", "dance", id="unknown command"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what(arguments: list[str], stdin: str, words: str) -> None:
    done = invoke(*arguments, stdin=stdin)
    assert done.exit_code == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_schema_is_a_json_schema_that_accepts_a_trace() -> None:
    done = invoke("schema")
    assert done.exit_code == 0
    schema = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)


def test_help_does_not_import_torch() -> None:
    code = (
        "import sys\nfrom gradwalk.cli.main import main\ntry:\n    main(['--help'])\nfinally:\n"
        "    assert 'torch' not in sys.modules and 'numpy' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60).returncode == 0


def test_export_draws_a_program_and_a_saved_trace_alike(tmp_path: Path) -> None:
    saved = tmp_path / "trace.json"
    program = "x = torch.tensor(3.0, requires_grad=True)\n(x * x).backward()\n"
    assert invoke("trace", "-", "--output", str(saved), stdin=program).exit_code == 0
    from_program = invoke("export", "-", "--format", "svg", "--step", "1", stdin=program)
    from_saved = invoke("export", str(saved), "--format", "svg", "--step", "1")
    assert from_program.exit_code == 0, from_program.stderr
    assert from_program.stdout == from_saved.stdout
    assert "<svg" in from_saved.stdout
    assert ">6<" not in from_saved.stdout  # x.grad = 6 only lands in the second step


@pytest.mark.soak
def test_export_draws_the_forward_walk_where_it_is_asked_for() -> None:
    program = "x = torch.tensor(3.0, requires_grad=True)\n(x * x).sin().backward()\n"
    drawn = invoke(
        "export", "-", "--format", "dot", "--direction", "forward", "--step", "2", "--phase", "2", stdin=program
    )
    assert "Operation 2 of 2, compute" in drawn.stdout


@pytest.mark.soak
def test_export_of_what_cannot_be_drawn_says_why() -> None:
    done = invoke("export", "-", "--format", "svg", stdin="x = 1\n")
    assert done.exit_code == 1
    assert "no backward pass" in done.stderr


def test_export_of_an_unknown_format_is_wrong_usage() -> None:
    assert invoke("export", "-", "--format", "docx", stdin="x").exit_code == 2


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


def check() -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "gradwalk", "check"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[str, str]]:
    """Verdict and sentence by subject."""
    return {line[8:18].strip(): (line[:8].strip(), line[18:]) for line in done.stdout.splitlines()}


@pytest.mark.soak
def test_check_says_what_to_do_about_each_thing_that_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("GRADWALK_DATA_DIRECTORY", str(tmp_path / "file" / "data"))
    monkeypatch.setenv("GRADWALK_STATIC_DIRECTORY", str(tmp_path))
    alone = findings(
        subprocess.run([sys.executable, "-m", "gradwalk", "check"], capture_output=True, text=True, check=False)
    )
    assert {name for name, (verdict, _) in alone.items() if verdict == "missing"} == {"store", "page"}
    assert "GRADWALK_DATA_DIRECTORY" in alone["store"][1]
    monkeypatch.setenv("GRADWALK_CLUSTER_URL", "redis://user:hush@127.0.0.1:1/0")
    (tmp_path / "libglib-2.0.so.0").write_text("not a library")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(tmp_path))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    done = check()
    assert done.returncode == 1
    found = findings(done)
    assert {name for name, (verdict, _) in found.items() if verdict == "missing"} == {"cluster", "page", "pictures"}
    assert "libglib-2.0.so.0" in found["pictures"][1]
    assert found["pictures"][1].endswith("On Debian: `apt install graphviz`.")
    assert "redis://user:***@127.0.0.1:1/0 does not answer" in found["cluster"][1]
    assert "make install" in found["page"][1]
    assert found["sandbox"] == ("ok", "Every probe was refused: protection is full.")
    assert all(sentence.endswith((".", "install`", "wheel`")) for _, sentence in found.values()), "sentences"
    assert "hush" not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
