"""JupyterLab, nbconvert, marimo and torchviz themselves."""

import json
import re
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.exports.readers import ink_of
from tests.hosts.conftest import HOST_PYTHON, NOTEBOOK_CELL, notebook_of
from tests.hosts.readers import draw_pages, words_of_pdf
from tests.hosts.recipes import recipe
from tests.world.processes import running, wait_until
from tests.world.sites import serving

pytestmark = pytest.mark.host


def test_a_cell_with_the_magic_is_shown_with_its_lines_and_leaves_its_names(tmp_path: Path, run) -> None:
    load, cell = recipe("jupyter.md", "python", 1), recipe("jupyter.md", "python", 2)
    written = notebook_of("import torch")
    others = (load, cell, "type(model).__name__, model.bias.grad.item()", f"{cell}1 / 0")
    written["cells"] += [{**written["cells"][0], "id": f"c{n}", "source": source} for n, source in enumerate(others)]
    for one in written["cells"]:
        one["metadata"] = {"tags": ["raises-exception"]}
    (tmp_path / "lesson.ipynb").write_text(json.dumps(written))
    run(HOST_PYTHON, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace", "lesson.ipynb", cwd=tmp_path)
    _, _, shown, after, wrong = json.loads((tmp_path / "lesson.ipynb").read_text())["cells"]
    (output,) = shown["outputs"]
    assert set(output["data"]) == {"text/plain", "text/html", "image/svg+xml", "application/pdf"}
    assert "addmm: " in "".join(output["data"]["text/plain"])
    assert "".join(after["outputs"][0]["data"]["text/plain"]) == "('Linear', 3.0)"
    error, output = wrong["outputs"]
    assert error["ename"] == "ZeroDivisionError"
    assert "division by zero" in "".join(output["data"]["text/plain"])


def test_the_exported_page_is_alive_with_scripts_a_picture_or_words_without_and_prints(notebook, run, browser):
    as_page, _ = recipe("jupyter.md", "sh").splitlines()
    run("bash", "-ec", as_page, cwd=notebook.parent)
    address = f"file://{notebook.with_suffix('.html')}"
    for scripts in (True, False):
        context = browser.new_context(java_script_enabled=scripts, offline=True)
        page = context.new_page()
        page.goto(address)
        output = page.locator(".jp-OutputArea-output").last
        picture = notebook.parent / f"scripts-{scripts}.png"
        output.screenshot(path=picture)
        assert ink_of(picture) > 0.01
        if scripts and page.locator("iframe").count():
            player = page.frame_locator("iframe").locator("grad-walk")
            player.get_by_role("button", name="Next phase").first.wait_for()
        page.pdf(path=notebook.with_suffix(".pdf"), print_background=True)
        assert "gradwalk.show" in words_of_pdf(notebook.with_suffix(".pdf"))
        assert max(ink_of(page) for page in draw_pages(notebook.with_suffix(".pdf"))) > 0.02
        context.close()


def test_jupyterlab_shows_it_in_a_real_browser(tmp_path: Path, browser: Browser) -> None:
    """A notebook that nobody has run: what is seen, its live kernel computed."""
    notebook = tmp_path / "lesson.ipynb"
    notebook.write_text(json.dumps(notebook_of(NOTEBOOK_CELL)))
    command = [HOST_PYTHON, "-m", "jupyterlab", "--no-browser", "--allow-root", "--IdentityProvider.token="]
    command += [f"--ServerApp.root_dir={notebook.parent}", "--ServerApp.disable_check_xsrf=True"]
    log, runtime = tmp_path / "lab.log", tmp_path / "runtime"
    with running(command, log, JUPYTER_RUNTIME_DIR=str(runtime), HOME=str(tmp_path)) as lab:
        address = wait_until(lambda: _address_of_lab(runtime), lab, log)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        # Asked which kernel: the one that is proposed.
        asked = page.locator(".jp-Dialog")
        page.add_locator_handler(asked, lambda: asked.locator(".jp-mod-accept").click())
        page.goto(f"{address}lab/tree/{notebook.name}")
        page.locator(".jp-CodeCell .cm-content").first.wait_for(timeout=90_000)
        page.locator('.jp-Notebook-ExecutionIndicator[data-status="idle"]').first.wait_for(timeout=120_000)
        _run_first_cell(page)
        output = page.locator(".jp-OutputArea-output:has(iframe)")
        frame = output.frame_locator("iframe")
        frame.get_by_role("button", name="Next phase").first.click(timeout=180_000)
        expect(frame.get_by_role("slider", name="Phase").first).to_have_attribute("aria-valuetext", "send")
        picture = notebook.parent / "lab.png"
        output.screenshot(path=picture)
        assert ink_of(picture) > 0.01
        page.close()


TRIES = 9


def _run_first_cell(page: Page) -> None:
    """A run that is asked for while the kernel is still being connected to is forgotten: then it is asked for again."""
    cell = page.locator(".jp-CodeCell").first
    for _ in range(TRIES):
        cell.locator(".cm-content").click()
        page.locator('.jp-NotebookPanel-toolbar [data-jp-item-name="run"]').click()
        with suppress(AssertionError):
            expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\[\d+\]"), timeout=20_000)
            return
    pytest.fail("the kernel took no run of the cell")


def _address_of_lab(runtime: Path) -> str | None:
    """Where it answers: it picks a port that is free and writes it down."""
    for written in runtime.glob("jpserver-*.json"):
        with suppress(httpx.TransportError, json.JSONDecodeError):
            address = str(json.loads(written.read_text())["url"])
            if httpx.get(f"{address}api/status").is_success:
                return address
    return None


def test_marimo_shows_it(tmp_path: Path, run) -> None:
    body = "\n".join(f"    {line}" for line in recipe("marimo.md", "python").splitlines())
    (tmp_path / "lesson.py").write_text(
        f"import marimo\napp = marimo.App()\n\n\n@app.cell\ndef _():\n{body}\n    return\n\n\n"
        'if __name__ == "__main__":\n    app.run()\n'
    )
    run("bash", "-ec", recipe("marimo.md", "sh"), cwd=tmp_path)
    page = (tmp_path / "lesson.html").read_text()
    assert "data:image/svg+xml;base64" in page
    assert "Traceback" not in page


def test_the_widget_is_alive_and_its_state_can_be_set(tmp_path: Path, run) -> None:
    (tmp_path / "widget.py").write_text(
        f"{NOTEBOOK_CELL}\n"
        f"shown = {recipe('jupyter.md', 'python', 3)}"
        "assert shown.selection.place == '2.3'\n"
        f"{recipe('jupyter.md', 'python', 4)}"
        "assert widget.step == '2.3' and '\"baked\"' in widget.trace\n"
        "assert 'grad-walk' in widget._esm\n"
        "bundle = widget._repr_mimebundle_()\nbundle = bundle[0] if isinstance(bundle, tuple) else bundle\n"
        "assert 'application/vnd.jupyter.widget-view+json' in bundle\n"
    )
    run(HOST_PYTHON, "widget.py", cwd=tmp_path)


def test_an_output_in_a_sandboxed_frame_of_another_origin_is_alive(notebook, browser, tmp_path):
    """As Colab and VS Code show an output: in a frame with scripts and without an origin, on a page of their own."""
    (output,) = json.loads(notebook.read_text())["cells"][0]["outputs"]
    html = "".join(output["data"]["text/html"])
    (tmp_path / "output.html").write_text(f"<!doctype html><meta charset=utf-8>{html}")
    (tmp_path / "notebook.html").write_text(
        '<!doctype html><iframe sandbox="allow-scripts" src="output.html" width="900" height="600"></iframe>'
    )
    page = browser.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    with serving(tmp_path) as address:
        page.goto(f"{address}/notebook.html")
        player = page.frame_locator("iframe").frame_locator("iframe").locator("grad-walk")
        player.get_by_role("button", name="Next phase").first.click()
        player.get_by_text("step 1", exact=False).first.wait_for()
        assert page.frames[1].evaluate("origin") == "null"
    assert complaints == []
    page.close()


def test_one_line_replaces_make_dot_and_shows_every_node_that_it_shows(tmp_path: Path, run) -> None:
    """Beside the real torchviz: the same executed nodes, and the same parameters by name."""
    theirs, ours = re.fullmatch(r"-(.*)\n\+(.*)\n", recipe("torchviz.md", "diff")).groups()
    (tmp_path / "migrate.py").write_text(
        f"""import json, torch, gradwalk
from torchviz import make_dot
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
loss = model(torch.ones(4, 2)).pow(2).mean()
dot = {theirs}
view = {ours}
(started,) = [event for event in view.trace.events if event["type"] == "pass_started"]
nodes = started["graph"]["nodes"]
print(json.dumps(dict(dot=dot.source, nodes=[[n["name"], n.get("leaf")] for n in nodes])))
loss.backward()
{recipe("torchviz.md", "python").replace("loss,", "model(torch.ones(4, 2)).sum(),")}"""
    )
    said = json.loads(run(HOST_PYTHON, "migrate.py", cwd=tmp_path).stdout)
    drawn = sorted(re.findall(r"\b(\w+Backward\d*|AccumulateGrad)\b", said["dot"]))
    assert sorted(name for name, _ in said["nodes"]) == drawn
    parameters = {leaf for _, leaf in said["nodes"] if leaf}
    assert parameters == {"0.weight", "0.bias", "2.weight", "2.bias"}
    assert all(f"\t{name}\n" in said["dot"].replace('"', "") or name in said["dot"] for name in parameters)
    assert set(re.findall(r">(\w+Backward0)<", (tmp_path / "lesson.svg").read_text())) <= set(drawn)
    run("bash", "-ec", recipe("torchviz.md", "sh"), cwd=tmp_path)
    run("dot", "-Tpng", "lesson.dot", "-o", "lesson.png", cwd=tmp_path)
    assert ink_of(tmp_path / "lesson.png") > 0.01
    assert all(ink_of(page) > 0.01 for page in draw_pages(tmp_path / "lesson.pdf"))
