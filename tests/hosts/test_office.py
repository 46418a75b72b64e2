"""LibreOffice, Poppler, Graphviz and a video player's own view of our files, made as their pages say."""

import json
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.exports.readers import ink_of
from tests.hosts.readers import draw_pages, words_of_pdf
from tests.hosts.recipes import recipe

pytestmark = pytest.mark.host


def test_libreoffice_opens_the_slides_and_their_notes(lesson: Path, run) -> None:
    run("bash", "-ec", recipe("powerpoint.md", "sh"), cwd=lesson)
    home = f"-env:UserInstallation=file://{lesson}/office"
    run("soffice", home, "--headless", "--convert-to", "pdf", "lesson.pptx", cwd=lesson)
    pages = draw_pages(lesson / "lesson.pdf")
    assert len(pages) == 11
    assert all(ink_of(page) > 0.01 for page in pages)
    assert "Step 3 of 3, land: x" in words_of_pdf(lesson / "lesson.pdf")
    run("soffice", home, "--headless", "--convert-to", "odp", "lesson.pptx", cwd=lesson)
    with zipfile.ZipFile(lesson / "lesson.odp") as archive:
        content = archive.read("content.xml").decode()
    assert content.count("<presentation:notes") == 11
    assert "x.grad was None" in content


def test_a_handout_has_a_page_per_step_with_ink_and_text(lesson: Path, run) -> None:
    run("bash", "-ec", recipe("handouts.md", "sh"), cwd=lesson)
    assert all(ink_of(page) > 0.01 for page in draw_pages(lesson / "lesson.pdf"))
    words = words_of_pdf(lesson / "lesson.pdf")
    assert [number for number in range(1, 5) if f"Step {number} of 3" in words] == [1, 2, 3]
    run("bash", "-ec", recipe("handouts.md", "sh", 1), cwd=lesson)
    run("rsvg-convert", "lesson.svg", "-o", "lesson.png", cwd=lesson)
    assert ink_of(lesson / "lesson.png") > 0.01
    run("bash", "-ec", recipe("handouts.md", "sh", 3), cwd=lesson)
    run("dot", "-Tpng", "lesson.dot", "-o", "drawn.png", cwd=lesson)
    assert ink_of(lesson / "drawn.png") > 0.01
    run("gradwalk", "export", "lesson.json", "--format", "dot", "--output", "again.dot", cwd=lesson)
    assert (lesson / "again.dot").read_bytes() == (lesson / "lesson.dot").read_bytes()


@pytest.mark.parametrize(("name", "codec"), [("mp4", "h264"), ("webm", "vp9")])
def test_videos_are_what_players_expect(name: str, codec: str, lesson: Path, run) -> None:
    run("bash", "-ec", recipe("handouts.md", "sh", 2).replace("mp4", name), cwd=lesson)
    asked = ["ffprobe", "-v", "error", "-show_streams", "-of", "json", f"lesson.{name}"]
    done = subprocess.run(asked, cwd=lesson, check=True, capture_output=True)
    (stream,) = json.loads(done.stdout)["streams"]
    assert stream["codec_name"] == codec
    assert stream["pix_fmt"] == "yuv420p"
    assert stream["width"] % 2 == stream["height"] % 2 == 0
    subprocess.run(
        ["ffmpeg", "-v", "error", "-i", f"lesson.{name}", "-frames:v", "1", "first.png"], cwd=lesson, check=True
    )
    assert ink_of(lesson / "first.png") > 0.01
