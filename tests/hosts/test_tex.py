"""What TeX makes of a Beamer set, of Quarto's document and of a notebook."""

from pathlib import Path

import pytest

from tests.exports.readers import ink_of
from tests.hosts.conftest import FILTER
from tests.hosts.readers import draw_pages, words_of_pdf
from tests.hosts.recipes import recipe

pytestmark = pytest.mark.host


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_the_beamer_set_compiles_to_a_page_per_step(engine: str, lesson: Path, run) -> None:
    run("bash", "-ec", recipe("beamer.md", "sh"), cwd=lesson)
    (lesson / "deck.tex").write_text(recipe("beamer.md", "tex"))
    run(engine, "-interaction=nonstopmode", "-halt-on-error", "deck.tex", cwd=lesson)
    pages = draw_pages(lesson / "deck.pdf")
    assert len(pages) == 4  # before the pass, and three steps
    assert all(ink_of(page) > 0.01 for page in pages)
    words = words_of_pdf(lesson / "deck.pdf")
    for step in (1, 2, 3):
        assert f"Step {step} of 3" in words


def test_pdf_has_a_picture_for_every_step(written: Path, pandoc: str, run) -> None:
    source = (written / "lesson.md").read_text()
    (written / "lesson.md").write_text(source.replace('step="2.3"', 'steps="all"'))
    run(pandoc, "lesson.md", "-L", FILTER, "--pdf-engine=lualatex", "-o", "lesson.pdf", cwd=written)
    words = words_of_pdf(written / "lesson.pdf")
    assert all(f"Step {number} of 3" in words for number in (1, 2, 3))
    assert all(ink_of(page) > 0.01 for page in draw_pages(written / "lesson.pdf"))


def test_the_notebook_printed_by_tex_is_not_blank(notebook: Path, run) -> None:
    _, to_pdf = recipe("jupyter.md", "sh").splitlines()
    run("bash", "-ec", to_pdf, cwd=notebook.parent)
    assert "gradwalk.show" in words_of_pdf(notebook.with_suffix(".pdf"))
    assert max(ink_of(page) for page in draw_pages(notebook.with_suffix(".pdf"))) > 0.02
