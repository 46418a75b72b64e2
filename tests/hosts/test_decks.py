"""The Quarto filter through Pandoc, Slidev, Marp, MyST, a consumer of oEmbed."""

import json
import re
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.e2e.host_page import HostPage
from tests.exports.readers import ink_of
from tests.hosts.conftest import FILTER, HOST_NODE, HOST_PYTHON, PROGRAM, ROOT
from tests.hosts.recipes import filled_for, recipe
from tests.world.browser import axe
from tests.world.shared import SharedServer
from tests.world.sites import serving

pytestmark = pytest.mark.host


def test_the_extension_names_what_is_there() -> None:
    about = FILTER.with_name("_extension.yml").read_text()
    named = re.findall(r"^    - (\S+)$", about, re.MULTILINE)
    assert named == [FILTER.name]
    assert {"title:", "author:", "version:", "quarto-required:", "contributes:"} <= set(about.split())
    assert "quarto." not in re.sub(r"--.*", "", FILTER.read_text()), "nothing that only Quarto has"


def test_html_holds_a_player_that_fetches_nothing_and_has_no_barrier(written, pandoc, run, browser):
    command = recipe("quarto.md", "sh", 1).removeprefix("pandoc")
    run("bash", "-ec", f"'{pandoc}' {command}", cwd=written)
    page = browser.new_page(reduced_motion="reduce")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"file://{written}/lesson.html")
    page.locator("grad-walk .callout").wait_for(timeout=60_000)
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate(f"""async () => {{ {axe("'grad-walk'")} }}""") == []
    page.close()


def test_a_revealjs_document_holds_the_player_or_its_picture(written: Path, pandoc: str, run, browser: Browser) -> None:
    packages = ROOT / "frontend" / "node_modules"
    (written / "npm").symlink_to(packages)
    options = ["-t", "revealjs", "-s", "-V", "revealjs-url=npm/reveal5", "-o", "deck.html"]
    run(pandoc, "lesson.md", "-L", FILTER, *options, cwd=written)
    for scripts in (True, False):
        context = browser.new_context(java_script_enabled=scripts)
        page = context.new_page()
        with serving(written) as address:
            page.goto(f"{address}/deck.html#/look-closely")
            if scripts:
                page.wait_for_function("() => document.querySelector('.present grad-walk')?.isReady")
                assert page.evaluate("document.querySelector('grad-walk').state.place") == "2.3"
            else:
                assert page.evaluate("document.querySelector('grad-walk img').naturalWidth") > 300
        context.close()


def test_word_gets_a_picture_and_the_words(written: Path, pandoc: str, run) -> None:
    run(pandoc, "lesson.md", "-L", FILTER, "-o", "lesson.docx", cwd=written)
    with zipfile.ZipFile(written / "lesson.docx") as archive:
        (name,) = [each for each in archive.namelist() if each.endswith(".png")]
        (written / "word.png").write_bytes(archive.read(name))
        assert "Look at v times J." in archive.read("word/document.xml").decode()
    assert ink_of(written / "word.png") > 0.01


def test_marp_shows_the_picture(lesson: Path, run, browser: Browser) -> None:
    run("bash", "-ec", recipe("marp.md", "sh"), cwd=lesson)
    (lesson / "deck.md").write_text(recipe("marp.md", "markdown"))
    run(HOST_NODE / "marp", "--no-stdin", "--allow-local-files", "deck.md", "-o", "deck.html", cwd=lesson)
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    page.goto(f"file://{lesson}/deck.html")
    picture = page.locator("section img").first
    picture.wait_for()
    assert picture.evaluate("(image) => image.complete && image.naturalWidth") > 300
    page.screenshot(path=lesson / "slide.png")
    assert ink_of(lesson / "slide.png") > 0.01
    page.close()


def test_myst_takes_over_the_module_and_the_placeholder(lesson: Path, run) -> None:
    run("bash", "-ec", recipe("myst.md", "sh"), cwd=lesson)
    (lesson / "myst.yml").write_text("version: 1\nproject:\n  title: Lesson\nsite:\n  template: book-theme\n")
    filled = {"HOST": "https://example.org", "ID": "1"}
    (lesson / "index.md").write_text(f"# Lesson\n\n{recipe('myst.md', 'markdown', **filled)}")
    # The theme cannot be fetched here, so that the build ends without a site; the content is written before.
    run("sh", "-c", f"'{HOST_NODE}/myst' build --site --ci || true", cwd=lesson)
    tree = json.dumps(json.loads((lesson / "_build" / "site" / "content" / "index.json").read_text()))
    assert "https://example.org/api/traces/1/export/kit" in tree
    assert "example.org/embed/1" in tree
    assert list((lesson / "_build" / "site" / "public").glob("gradwalk-*.js"))
    assert list((lesson / "_build" / "site" / "public").glob("lesson-*.svg"))


def test_slidev_clicks_through_every_phase_in_a_built_deck(lesson: Path, run, browser: Browser) -> None:
    run("bash", "-ec", recipe("slidev.md", "sh"), cwd=lesson)
    deck = lesson / "deck"
    assert recipe("slidev.md", "markdown") in (deck / "slides.md").read_text()
    # Slidev's own style sheet is one that the pinned minifier refuses.
    (deck / "vite.config.ts").write_text("export default { build: { cssMinify: false } };\n")
    (deck / "node_modules").symlink_to(HOST_NODE.parent)
    run(HOST_NODE / "slidev", "build", "slides.md", "--out", "dist", cwd=deck)
    page = browser.new_page()
    with serving(deck / "dist") as address:
        page.goto(f"{address}/")
        page.get_by_role("heading").first.wait_for()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => document.querySelector('grad-walk')?.isReady")
        seen = []
        while not page.url.partition("?")[0].endswith("/3"):
            seen.append(page.evaluate("document.querySelector('grad-walk').state.place"))
            before = page.url
            page.keyboard.press("ArrowRight")
            page.wait_for_function("(before) => location.href !== before", arg=before)
    assert seen == [*(f"1.{phase}" for phase in range(1, 6)), *(f"2.{phase}" for phase in range(2, 6)), "3.1", "3.5"]
    page.close()


CONSUMER = """import sys
from micawber.providers import Provider, ProviderRegistry
server, link = sys.argv[1:]
registry = ProviderRegistry()
registry.register(server + r"/t/\\S+", Provider(server + "/oembed"))
said = registry.request(link, maxwidth=640, maxheight=400)
assert (said["type"], said["width"], said["height"]) == ("rich", 640, 400), said
print(registry.parse_text(link))
"""


def test_a_consumer_of_oembed_that_is_not_ours_shows_the_frame(browser, site, run, server: SharedServer, tmp_path):
    link = recipe("lms.md", "text", **filled_for(server.url, f"import torch\n{PROGRAM}")).strip()
    (tmp_path / "consumer.py").write_text(CONSUMER)
    shown = run(HOST_PYTHON, "consumer.py", server.url, link, cwd=tmp_path).stdout
    host = HostPage(browser.new_page(), *site, server.url)
    host.paste(shown)
    host.wait_for_place("1.3")
    host.page.close()
