"""The pass as a film: GIF from Pillow, MP4 and WebM from ffmpeg. What moves on the page moves, and every stop stands
still long enough to be read. Drawn and painted like every still: no browser, no screen.
"""

import contextlib
import io
import subprocess
import tempfile
from dataclasses import replace
from itertools import groupby, repeat
from pathlib import Path
from shutil import which
from typing import Any

from PIL import Image

from gradwalk.exports.album import draw_stops
from gradwalk.exports.exporter import ExportUnavailable, Selection
from gradwalk.exports.image import write_png
from gradwalk.exports.walk import Stop, Walk
from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.facts import fact

try:
    from imageio_ffmpeg import get_ffmpeg_exe
except ImportError:
    get_ffmpeg_exe = None

GIF_WIDTH, VIDEO_WIDTH = 960, 1920
DWELL_MS, TRAVEL_MS = 1500, 100
TRAVEL = (0.15, 0.3, 0.45, 0.6, 0.75, 0.9)
"""How far what moves at a stop has come in the pictures before its still."""
FRAMES_PER_SECOND = 10
GIF_COLORS, COLORS_APART = 128, 8
"""The second keeps a colour of a large area from that of the edges of its letters, which Pillow would take for it."""
STILLS_IN_PALETTE = 12
CODECS = {
    "mp4": ["-c:v", "libx264", "-preset", "veryfast", "-tune", "stillimage", "-movflags", "+faststart"],
    "webm": ["-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "8", "-crf", "30", "-b:v", "0"],
}
CLEAN = ["-map_metadata", "-1", "-pix_fmt", "yuv420p", "-threads", "1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
"""One thread and no version in the stream: the same frames give the same bytes."""


Frame = tuple[bytes, int]
"""A PNG, and for how many milliseconds it stays; small, while a thousand of them unpacked fill a machine."""


def write_gif(document: TraceDocument, selection: Selection) -> bytes:
    """An animated GIF, 960 pixels wide, that runs once."""
    frames = _draw_frames(document, selection, GIF_WIDTH)
    palette = _palette_of(frames)
    indexed = (_unpack(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames)
    lasting = [milliseconds for _, milliseconds in frames]
    written = io.BytesIO()
    first = next(indexed)
    first.save(written, "GIF", save_all=True, append_images=indexed, duration=lasting, optimize=False, disposal=1)
    return written.getvalue()


def write_video(file_format: str, document: TraceDocument, selection: Selection) -> bytes:
    """H.264 (yuv420p) in MP4, or VP9 in WebM; the first frame is the first still.

    Raises:
        ExportUnavailable: there is no ffmpeg here.
    """
    program = which("ffmpeg") or (get_ffmpeg_exe() if get_ffmpeg_exe else None)
    if program is None:
        raise ExportUnavailable(fact("export-needs-ffmpeg"))
    frames = _draw_frames(document, selection, VIDEO_WIDTH)
    width, height = _unpack(frames[0]).size
    raw = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-video_size", f"{width}x{height}"]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as said:
        target = Path(folder) / f"film.{file_format}"
        command = [program, "-v", "error", *raw, "-framerate", str(FRAMES_PER_SECOND), "-i", "-", *CODECS[file_format]]
        with subprocess.Popen([*command, *CLEAN, str(target)], stdin=subprocess.PIPE, stderr=said) as encoder:
            assert encoder.stdin is not None
            with contextlib.suppress(BrokenPipeError):  # it says itself why it would not go on
                for frame in frames:
                    encoder.stdin.writelines(repeat(_unpack(frame).tobytes(), frame[1] * FRAMES_PER_SECOND // 1000))
                encoder.stdin.close()
        if encoder.returncode:
            said.seek(0)
            why = said.read().decode(errors="replace").strip()
            raise ExportUnavailable(fact("export-ffmpeg-failed", reason=why))
        return target.read_bytes()


def _draw_frames(document: TraceDocument, selection: Selection, width: int) -> list[Frame]:
    """Each stop, after the pictures of what moves there on its way."""
    look = replace(selection.look, transparent=False)

    def paint(walk: Walk, stop: Stop) -> list[Frame]:
        drawn = [svg for svg, _ in groupby(walk.draw(stop, look, progress) for progress in (*TRAVEL, 1.0))]
        lasting = [*repeat(TRAVEL_MS, len(drawn) - 1), DWELL_MS]
        return [(write_png(svg, look, width), each) for svg, each in zip(drawn, lasting, strict=True)]

    return [frame for _, frames in draw_stops(document, selection, paint) for frame in frames]


def _palette_of(frames: list[Frame]) -> Image.Image:
    """The most frequent colours of stills from all over the film: what one stop lights up, the last may lack."""
    stills = [frame for frame in frames if frame[1] == DWELL_MS]
    some = [_unpack(still) for still in stills[:: -(-len(stills) // STILLS_IN_PALETTE)]]
    width, height = some[0].size
    strip = Image.new("RGB", (width, height * len(some)))
    for number, still in enumerate(some):
        strip.paste(still, (0, number * height))
    counted: Any = strip.getcolors(strip.width * strip.height)
    kept: list[tuple[int, int, int]] = []
    for _, color in sorted(counted, reverse=True):
        if all(max(abs(a - b) for a, b in zip(color, other, strict=True)) >= COLORS_APART for other in kept):
            kept.append(color)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for color in kept[:GIF_COLORS] for part in color])
    return palette


def _unpack(frame: Frame) -> Image.Image:
    return Image.open(io.BytesIO(frame[0])).convert("RGB")
