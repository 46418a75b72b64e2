"""What a person sees of a file, measured."""

import subprocess
from pathlib import Path


def draw_pages(pdf: Path) -> list[Path]:
    """Every page as a picture."""
    subprocess.run(["pdftoppm", "-r", "60", "-png", pdf.name, f"{pdf.stem}-page"], cwd=pdf.parent, check=True)
    return sorted(pdf.parent.glob(f"{pdf.stem}-page-*.png"))


def words_of_pdf(pdf: Path) -> str:
    """All selectable text, in one line."""
    done = subprocess.run(["pdftotext", pdf.name, "-"], cwd=pdf.parent, check=True, capture_output=True, text=True)
    return " ".join(done.stdout.split())
