"""What `gradwalk check` looks at: everything that a server needs, tried out, and what to do where it is missing."""

import asyncio
import importlib
import io
import os
import shutil
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from pypdf import PdfReader

from gradwalk.api.service import STORE_FILE
from gradwalk.api.settings import Settings
from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.exports.graphviz_engine import run_graphviz
from gradwalk.exports.kit import read_module
from gradwalk.exports.labels import FONT
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.sqlite import SqliteStore
from gradwalk.store.store import StoreError

_TORCH_BYTES = 400 << 20
"""What the warm process that children are forked from takes, about."""
_PING_SECONDS = 2.0
_WORD = "gradwalk"

Verdict = Literal["ok", "note", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `sentence` says what is, and where it is not right what to do."""

    subject: str
    verdict: Verdict
    sentence: str


def look_at_everything(settings: Settings) -> list[Finding]:
    """Every finding, in the order in which things are needed; takes some seconds, since programs are really run."""
    looks: tuple[Callable[[Settings], Finding], ...] = (
        _look_at_torch,
        _look_at_protection,
        _look_at_store,
        _look_at_cluster,
        _look_at_page,
        _look_at_port,
        _look_at_memory,
        _look_at_pictures,
        _look_at_videos,
    )
    return [look(settings) for look in looks]


def _look_at_torch(settings: Settings) -> Finding:
    wanted = _wanted_torch()
    if _runs_elsewhere(settings):
        return Finding("torch", "ok", "Not installed, and not needed: programs run in workers.")
    if find_spec("torch") is None:
        return Finding("torch", "missing", f"PyTorch is not installed. Run: pip install {wanted}")
    found = installed_versions()["torch"]
    if wanted not in ("torch", f"torch=={found.partition('+')[0]}"):
        sentence = f"PyTorch is {found}, tested with {wanted}: traces may differ. Run: pip install {wanted}"
        return Finding("torch", "note", sentence)
    return Finding("torch", "ok", f"PyTorch {found}.")


def _wanted_torch() -> str:
    try:
        declared = requires("gradwalk") or []
    except PackageNotFoundError:
        declared = []
    return next((each for each in declared if each.startswith("torch==")), "torch")


def _runs_elsewhere(settings: Settings) -> bool:
    return bool(settings.cluster_url) and find_spec("torch") is None


def _look_at_protection(settings: Settings) -> Finding:
    if _runs_elsewhere(settings):
        return Finding("sandbox", "ok", "Programs run in workers; each tries its locks before it begins.")
    try:
        with closing(Sandbox(settings.run_limits)) as sandbox:
            protection = sandbox.measure()
    except LauncherGoneError as error:
        return Finding("sandbox", "missing", f"Programs cannot be run: {error}. See the log above for the reason.")
    if protection.level == "full":
        return Finding("sandbox", "ok", "Every probe was refused: protection is full.")
    verdict: Verdict = "missing" if settings.is_public else "note"
    todo = "Only this machine can be served; for others use the container image on Linux with seccomp."
    return Finding("sandbox", verdict, f"{protection.sentence} {todo}")


def _look_at_store(settings: Settings) -> Finding:
    if settings.cluster_url:
        return Finding("store", "ok", "Traces are kept in what GRADWALK_CLUSTER_URL names.")
    folder = settings.data_directory
    try:
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(_write_to_store(settings))
    except (OSError, StoreError) as error:
        todo = "Give this user the right to write there, make room, or name another with GRADWALK_DATA_DIRECTORY."
        return Finding("store", "missing", f"Traces cannot be kept in {folder}: {error}. {todo}")
    free = shutil.disk_usage(folder).free
    wanted = settings.trace_bytes_max + settings.snippet_bytes_max
    if free < wanted:
        todo = "Lower GRADWALK_TRACE_BYTES_MAX, or make room."
        sentence = f"{folder} has {_gib(free)} free, the limits allow {_gib(wanted)}. {todo}"
        return Finding("store", "note", sentence)
    return Finding("store", "ok", f"Traces are kept in {folder}, {_gib(free)} free.")


async def _write_to_store(settings: Settings) -> None:
    store = SqliteStore(settings.data_directory / STORE_FILE, settings.trace_bytes_max, settings.snippet_bytes_max)
    try:
        await store.check()
    finally:
        await store.close()


def _look_at_cluster(settings: Settings) -> Finding:
    if not settings.cluster_url:
        return Finding("cluster", "ok", "This machine alone: GRADWALK_CLUSTER_URL is not set.")
    shown = settings.describe()["GRADWALK_CLUSTER_URL"]
    if find_spec("redis") is None or find_spec("celery") is None:
        return Finding("cluster", "missing", "GRADWALK_CLUSTER_URL is set. Run: pip install 'gradwalk[cluster]'")
    # An extra: what is not asked for need not be installed, so it cannot be imported at the top.
    connection = importlib.import_module("gradwalk.cluster.connection")
    client = connection.connect_blocking(settings.cluster_url, patience_seconds=_PING_SECONDS)
    try:
        client.ping()
    except Exception as error:  # noqa: BLE001 (whatever its client raises, it is not there)
        todo = "Start it, or correct GRADWALK_CLUSTER_URL."
        return Finding("cluster", "missing", f"{shown} does not answer ({type(error).__name__}). {todo}")
    finally:
        client.close()
    return Finding("cluster", "ok", f"{shown} answers.")


def _look_at_page(settings: Settings) -> Finding:
    if not (settings.static_directory / "index.html").is_file():
        return Finding("page", "missing", f"There is no page in {settings.static_directory}. Run: make install")
    try:
        read_module()
    except ExportUnavailable as reason:
        return Finding("page", "note", f"Embeds and single-file exports are not available: {reason}.")
    return Finding("page", "ok", "The page and the player for other pages are built.")


def _look_at_port(settings: Settings) -> Finding:
    address = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port)):
            return Finding("port", "ok", f"{address} is free.")
    except OSError as error:
        todo = "Is gradwalk running already? Otherwise choose another with --port or GRADWALK_PORT."
        return Finding("port", "note", f"{address} cannot be listened on: {error.strerror or error}. {todo}")


def _look_at_memory(settings: Settings) -> Finding:
    wanted = _TORCH_BYTES + 2 * settings.running_count * settings.run_memory_bytes
    have = _memory_bytes()
    if have is not None and have < wanted:
        todo = "Lower GRADWALK_RUNNING_COUNT or GRADWALK_RUN_MEMORY_BYTES, or greedy programs fail each other."
        return Finding("memory", "note", f"{_gib(have)} here, up to {_gib(wanted)} can be used at once. {todo}")
    return Finding("memory", "ok", f"Up to {_gib(wanted)} can be used at once.")


def _look_at_pictures(_: Settings) -> Finding:
    try:
        page = run_graphviz(f'digraph {{ node [fontname="{FONT}"]; {_WORD} }}', "pdf")
    except ExportUnavailable as reason:
        return Finding("pictures", "missing", f"There are no pictures: {reason}. On Debian: apt install graphviz.")
    if _WORD not in PdfReader(io.BytesIO(page)).pages[0].extract_text():
        sentence = "Pictures have no letters: Graphviz finds no fonts. On Debian: apt install fonts-dejavu-core."
        return Finding("pictures", "missing", sentence)
    return Finding("pictures", "ok", "Graphviz draws.")


def _look_at_videos(_: Settings) -> Finding:
    if shutil.which("ffmpeg") is None and find_spec("imageio_ffmpeg") is None:
        sentence = "MP4 and WebM need ffmpeg. Run: pip install 'gradwalk[video]'. Everything else works without."
        return Finding("videos", "note", sentence)
    return Finding("videos", "ok", "ffmpeg is here.")


def _memory_bytes() -> int | None:
    """Of this machine, or of the container when that is less."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if "SC_PHYS_PAGES" in os.sysconf_names else None
    limit = Path("/sys/fs/cgroup/memory.max")
    text = limit.read_text().strip() if limit.is_file() else ""
    allowed = int(text) if text.isdecimal() else None
    known = [each for each in (pages, allowed) if each is not None]
    return min(known) if known else None


def _gib(count: int) -> str:
    return f"{count / (1 << 30):.1f} GiB"
