"""Beamer, LibreOffice and a video player's own view of our files."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.hosts.readers import draw_pages, ink_of, words_of_pdf

DECK = r"""\documentclass{beamer}
\usepackage{xmpmulti}
\begin{document}
\input{gradwalk-frame.tex}
\end{document}
"""


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
def test_the_beamer_set_compiles_to_a_page_per_step(engine: str, lesson: Path, gradwalk, run) -> None:
    gradwalk("export", "lesson.py", "--format", "tex", "--output", "lesson.zip", cwd=lesson)
    with zipfile.ZipFile(lesson / "lesson.zip") as archive:
        archive.extractall(lesson)
    (lesson / "deck.tex").write_text(DECK)
    run(engine, "-interaction=nonstopmode", "-halt-on-error", "deck.tex", cwd=lesson)
    pages = draw_pages(lesson / "deck.pdf")
    assert len(pages) == 4  # before the pass, and three steps
    assert all(ink_of(page) > 0.01 for page in pages)
    words = words_of_pdf(lesson / "deck.pdf")
    for step in (1, 2, 3):
        assert f"step {step} of 3" in words


def test_libreoffice_opens_the_slides_and_their_notes(lesson: Path, gradwalk, run) -> None:
    gradwalk("export", "lesson.py", "--format", "pptx", "--every", "phase", "--output", "deck.pptx", cwd=lesson)
    home = f"-env:UserInstallation=file://{lesson}/office"
    run("soffice", home, "--headless", "--convert-to", "pdf", "deck.pptx", cwd=lesson)
    pages = draw_pages(lesson / "deck.pdf")
    assert len(pages) == 15
    assert all(ink_of(page) > 0.01 for page in pages)
    assert "Step 3 of 3, land: x" in words_of_pdf(lesson / "deck.pdf")
    run("soffice", home, "--headless", "--convert-to", "odp", "deck.pptx", cwd=lesson)
    with zipfile.ZipFile(lesson / "deck.odp") as archive:
        content = archive.read("content.xml").decode()
    assert content.count("<presentation:notes") == 15
    assert "x.grad was None" in content


@pytest.mark.parametrize(("name", "codec"), [("mp4", "h264"), ("webm", "vp9")])
def test_videos_are_what_players_expect(name: str, codec: str, lesson: Path, gradwalk) -> None:
    gradwalk("export", "lesson.py", "--format", name, "--output", f"film.{name}", cwd=lesson)
    asked = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", f"film.{name}"]
    done = subprocess.run(asked, cwd=lesson, check=True, capture_output=True)
    (stream,) = json.loads(done.stdout)["streams"]
    assert stream["codec_name"] == codec
    assert stream["pix_fmt"] == "yuv420p"
    assert stream["width"] % 2 == stream["height"] % 2 == 0
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", f"film.{name}", "-frames:v", "1", "first.png"], cwd=lesson, check=True
    )
    assert ink_of(lesson / "first.png") > 0.01
