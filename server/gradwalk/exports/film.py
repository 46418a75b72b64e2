"""The pass as a film: GIF from Pillow, MP4 and WebM from ffmpeg. Every phase stands still long enough to be read, and
while a step sends, its gradients travel along their edges. Drawn by Graphviz like every still: no browser, no screen.
"""

import contextlib
import io
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from shutil import which

from PIL import Image

from gradwalk.exports.album import draw_pages
from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact

try:
    from imageio_ffmpeg import get_ffmpeg_exe
except ImportError:
    get_ffmpeg_exe = None

GIF_WIDTH, VIDEO_WIDTH = 960, 1920
DWELL_MS, TRAVEL_MS = 1500, 100
TRAVEL = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
"""How far along the edges the gradients stand in the pictures of a send."""
FRAMES_PER_SECOND = 10
GIF_COLORS = 64
CODECS = {
    "mp4": ["-c:v", "libx264", "-preset", "veryfast", "-tune", "stillimage", "-movflags", "+faststart"],
    "webm": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "30", "-b:v", "0"],
}
CLEAN = ["-map_metadata", "-1", "-pix_fmt", "yuv420p", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
"""One thread and no version in the stream: the same frames give the same bytes."""


@dataclass(frozen=True, slots=True)
class Reel:
    """The pictures of a film as they were drawn: small, while a thousand of them unpacked fill a machine."""

    pictures: list[bytes]
    milliseconds: list[int]
    """How long each stays."""
    scale: float
    size: tuple[int, int]

    def image(self, number: int) -> Image.Image:
        """One of them at the upper left of the canvas that all have in common."""
        image = Image.open(io.BytesIO(self.pictures[number])).convert("RGB")
        if self.scale < 1:
            smaller = (max(1, round(image.width * self.scale)), max(1, round(image.height * self.scale)))
            image = image.resize(smaller, Image.Resampling.LANCZOS)
        canvas = Image.new("RGB", self.size, "white")
        canvas.paste(image, (0, 0))
        return canvas

    def images(self) -> Iterator[Image.Image]:
        """All of them in turn."""
        return map(self.image, range(len(self.pictures)))


def write_gif(document: TraceDocument, selection: Selection) -> bytes:
    """An animated GIF, 960 pixels wide at most, that runs once."""
    reel = _draw_reel(document, selection, GIF_WIDTH)
    palette = reel.image(-1).quantize(GIF_COLORS)
    indexed = (image.quantize(palette=palette, dither=Image.Dither.NONE) for image in reel.images())
    written = io.BytesIO()
    first = next(indexed)
    first.save(
        written, "GIF", save_all=True, append_images=indexed, duration=reel.milliseconds, optimize=False, disposal=1
    )
    return written.getvalue()


def write_video(file_format: str, document: TraceDocument, selection: Selection) -> bytes:
    """H.264 (yuv420p) in MP4, or VP9 in WebM; the first frame is the first still.

    Raises:
        ExportUnavailable: there is no ffmpeg here.
    """
    program = which("ffmpeg") or (get_ffmpeg_exe() if get_ffmpeg_exe else None)
    if program is None:
        raise ExportUnavailable(fact("export-needs-ffmpeg"))
    reel = _draw_reel(document, selection, VIDEO_WIDTH)
    width, height = reel.size
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", f"{width}x{height}"]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        target = Path(folder) / f"film.{file_format}"
        command = [program, "-v", "error", *raw, "-framerate", str(FRAMES_PER_SECOND), "-i", "-", *CODECS[file_format]]
        with subprocess.Popen([*command, *CLEAN, str(target)], stdin=subprocess.PIPE, stderr=said) as encoder:
            assert encoder.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it says itself why it would not go on
                for image, milliseconds in zip(reel.images(), reel.milliseconds, strict=True):
                    encoder.stdin.writelines(repeat(image.tobytes(), milliseconds * FRAMES_PER_SECOND // 1000))
                encoder.stdin.close()
        if encoder.returncode:
            said.seek(0)
            why = said.read().decode(errors="replace").strip()
            raise ExportUnavailable(fact("export-ffmpeg-failed", reason=why))
        return target.read_bytes()


def _draw_reel(document: TraceDocument, selection: Selection, longest_px: int) -> Reel:
    """All pictures, with even sides for what they are shown on, which video codecs ask for."""
    drawn: list[tuple[bytes, int]] = []
    for page in draw_pages(document, selection, "png", longest_px=longest_px, travel=TRAVEL):
        drawn += [(picture, TRAVEL_MS) for picture in page.under_way]
        drawn.append((page.picture, DWELL_MS))
    sizes = [Image.open(io.BytesIO(picture)).size for picture, _ in drawn]
    across, down = max(width for width, _ in sizes), max(height for _, height in sizes)
    scale = min(1.0, longest_px / across)
    return Reel(
        [picture for picture, _ in drawn],
        [milliseconds for _, milliseconds in drawn],
        scale,
        (_even(across * scale), _even(down * scale)),
    )


def _even(length: float) -> int:
    return 2 * -(-round(length) // 2)
