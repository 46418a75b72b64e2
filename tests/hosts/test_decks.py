"""The Quarto filter through Pandoc, Slidev, Marp, MyST."""

import json
import shutil
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.hosts import serving
from tests.hosts.conftest import HOST_NODE, HOST_PYTHON, ROOT
from tests.hosts.readers import draw_pages, ink_of, words_of_pdf

FILTER = ROOT / "frontend" / "docs" / "hosts" / "quarto" / "_extensions" / "gradwalk" / "gradwalk.lua"
SOURCE = """# The chain rule

::: {.gradwalk program="lesson.json" step="2.3"}
Look at v times J.
:::
"""


@pytest.fixture
def saved(lesson: Path, gradwalk) -> Path:
    """The same folder with the trace saved, so that PyTorch starts once."""
    gradwalk("trace", "lesson.py", "--output", "lesson.json", cwd=lesson)
    (lesson / "lesson.md").write_text(SOURCE)
    return lesson


@pytest.fixture(scope="session")
def pandoc(run, tmp_path_factory: pytest.TempPathFactory) -> str:
    code = "import pypandoc; print(pypandoc.get_pandoc_path())"
    return str(run(HOST_PYTHON, "-c", code, cwd=tmp_path_factory.mktemp("pandoc")).stdout.strip())


def test_html_holds_a_player_that_fetches_nothing(saved: Path, pandoc: str, run, browser: Browser) -> None:
    command = [pandoc, "lesson.md", "-L", FILTER, "-s", "--embed-resources", "-o", "lesson.html"]
    run(*command, cwd=saved)
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{saved}/lesson.html")
    page.locator("grad-walk").get_by_text("times the local Jacobian").first.wait_for(timeout=60_000)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    page.close()


def test_word_gets_a_picture_and_the_words(saved: Path, pandoc: str, run) -> None:
    run(pandoc, "lesson.md", "-L", FILTER, "-o", "lesson.docx", cwd=saved)
    with zipfile.ZipFile(saved / "lesson.docx") as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".png")]
        (saved / "word.png").write_bytes(archive.read(name))
        assert "Look at v times J." in archive.read("word/document.xml").decode()
    assert ink_of(saved / "word.png") > 0.01


def test_pdf_has_a_picture_for_every_step(saved: Path, pandoc: str, run) -> None:
    (saved / "lesson.md").write_text(SOURCE.replace('step="2.3"', 'steps="all"'))
    run(pandoc, "lesson.md", "-L", FILTER, "--pdf-engine=lualatex", "-o", "lesson.pdf", cwd=saved)
    words = words_of_pdf(saved / "lesson.pdf")
    assert all(f"step {number} of 3" in words for number in (1, 2, 3))
    assert all(ink_of(page) > 0.005 for page in draw_pages(saved / "lesson.pdf"))


def test_marp_shows_the_picture(saved: Path, gradwalk, run) -> None:
    gradwalk("export", "lesson.json", "--format", "svg", "--step", "2", "--output", "lesson.svg", cwd=saved)
    (saved / "deck.md").write_text(
        "---\nmarp: true\n---\n\n# The chain rule\n\n![w:1000][step]\n\n[step]: lesson.svg\n"
    )
    run(HOST_NODE / "marp", "--no-stdin", "--allow-local-files", "deck.md", "-o", "deck.html", cwd=saved)
    assert "lesson.svg" in (saved / "deck.html").read_text()


def test_myst_takes_over_the_module_and_the_placeholder(saved: Path, gradwalk, run) -> None:
    gradwalk("kit", "--output", "gradwalk.js", cwd=saved)
    gradwalk("export", "lesson.json", "--format", "svg", "--output", "lesson.svg", cwd=saved)
    (saved / "lesson.md").unlink()
    (saved / "myst.yml").write_text("version: 1\nproject:\n  title: Lesson\nsite:\n  template: book-theme\n")
    (saved / "index.md").write_text(
        '# Lesson\n\n:::{anywidget} ./gradwalk.js\n{"src": "https://example.org/kit", "step": "1.3"}\n:::\n\n'
        ":::{iframe} https://example.org/embed/1\n:placeholder: lesson.svg\n:title: Backward\nThe chain rule\n:::\n"
    )
    # The theme cannot be fetched here, so that the build ends without a site; the content is written before.
    run("sh", "-c", f"'{HOST_NODE}/myst' build --site --ci || true", cwd=saved)
    tree = json.dumps(json.loads((saved / "_build" / "site" / "content" / "index.json").read_text()))
    assert "https://example.org/kit" in tree
    assert "example.org/embed/1" in tree
    assert list((saved / "_build" / "site" / "public").glob("gradwalk-*.js"))
    assert list((saved / "_build" / "site" / "public").glob("lesson-*.svg"))


SLIDEV = """---
theme: default
---

# First

---

<GradWalk src="/lesson.kit.json" :stops="15" />

---

# Last
"""


def test_slidev_clicks_through_every_phase_in_a_built_deck(saved: Path, gradwalk, run, browser: Browser) -> None:
    gradwalk("kit", "--output", "gradwalk.js", cwd=saved)
    gradwalk("export", "lesson.json", "--format", "kit", "--output", "lesson.kit.json", cwd=saved)
    deck = saved / "deck"
    (deck / "components").mkdir(parents=True)
    (deck / "public").mkdir()
    shutil.copy(ROOT / "frontend" / "docs" / "hosts" / "slidev" / "GradWalk.vue", deck / "components")
    for name in ("gradwalk.js", "lesson.kit.json"):
        shutil.copy(saved / name, deck / "public")
    (deck / "slides.md").write_text(SLIDEV)
    (deck / "package.json").write_text('{"name": "deck", "private": true, "type": "module"}')
    # Slidev's own style sheet is one that the pinned minifier refuses.
    (deck / "vite.config.ts").write_text("export default { build: { cssMinify: false } };\n")
    (deck / "node_modules").symlink_to(HOST_NODE.parent)
    run(HOST_NODE / "slidev", "build", "slides.md", "--out", "dist", cwd=deck)
    page = browser.new_page()
    with serving(deck / "dist") as address:
        page.goto(f"{address}/")
        page.get_by_role("heading", name="First").wait_for()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('grad-walk')?.isReady")
        seen = []
        while not page.url.partition("?")[0].endswith("/3"):
            seen.append(page.evaluate("document.querySelector('grad-walk').state.place"))
            before = page.url
            page.keyboard.press("ArrowRight")
            page.wait_for_function("(before) => location.href !== before", arg=before)
    assert seen == [f"{step}.{phase}" for step in (1, 2, 3) for phase in range(1, 6)]
    page.close()
