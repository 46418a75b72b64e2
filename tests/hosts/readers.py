"""What a person sees of a file, measured."""

import subprocess
from pathlib import Path

from PIL import Image


def draw_pages(pdf: Path) -> list[Path]:
    """Every page as a picture."""
    subprocess.run(["pdftoppm", "-r", "60", "-png", pdf.name, f"{pdf.stem}-page"], cwd=pdf.parent, check=True)
    return sorted(pdf.parent.glob(f"{pdf.stem}-page-*.png"))


def words_of_pdf(pdf: Path) -> str:
    """All selectable text, in one line."""
    done = subprocess.run(["pdftotext", pdf.name, "-"], cwd=pdf.parent, check=True, capture_output=True, text=True)
    return " ".join(done.stdout.split())


def ink_of(picture: Path) -> float:
    """The share of pixels that differ from the paper, which is the most frequent grey."""
    with Image.open(picture) as image:
        counts = image.convert("L").histogram()
    paper = max(range(256), key=counts.__getitem__)
    near = sum(counts[max(0, paper - 10) : paper + 11])
    return 1 - near / sum(counts)
