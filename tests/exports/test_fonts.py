"""The letters of PNG and PDF, which are a part of DejaVu: read by Typst and by FreeType."""

import re
from pathlib import Path

import pytest
import typst
from PIL import ImageFont

from gradwalk.exports import image
from tests.exports.readers import GOLDEN
from tests.house.tree import ROOT

FOLDER = Path(image.__file__).with_name("fonts")
WORDS = ROOT / "server/gradwalk/words"
SCENE = ROOT / "frontend/src/scene"


@pytest.mark.parametrize("weight", ["regular", "bold"])
def test_every_letter_of_our_sentences_traces_and_signs_is_there(weight: str) -> None:
    """In the face that others fall back to: for screen readers Typst refuses a letter that the font lacks."""
    texts = [path.read_text("utf-8") for path in (*WORDS.glob("*.ftl"), *GOLDEN.glob("*.json"), *SCENE.glob("*.ts"))]
    letters = "".join(sorted(set("".join(texts)) - {"\n"}))
    assert {"ä", "ᵀ", "∂", "✓"} <= set(letters)
    font = f'font: "DejaVu Sans", weight: "{weight}", fallback: false'
    page = f'#set document(title: "letters")\n#set text(lang: "en", {font})\n#read("letters.txt")'
    files = {"main.typ": page.encode(), "letters.txt": letters.encode()}
    assert typst.compile(files, font_paths=image._FONTS, format="pdf", pdf_standards="ua-1")


@pytest.mark.parametrize(("table", "face"), [(0, "DejaVuSans"), (1, "DejaVuSans-Bold")])
def test_pictures_are_laid_out_by_the_widths_of_these_letters(table: int, face: str) -> None:
    tables = re.findall(r'= widths\(\s*"([\d ]+)"', (SCENE / "letters.ts").read_text())
    assert len(tables) == 2
    font = ImageFont.truetype(FOLDER / f"{face}.ttf", 1000)
    measured = [font.getlength(chr(code)) / 10 for code in range(ord(" "), ord("~") + 1)]
    assert list(map(int, tables[table].split())) == pytest.approx(measured, abs=1)
