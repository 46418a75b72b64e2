"""What `gradwalk check` looks at: everything that a server needs, tried out, and what to do where it is missing."""

import asyncio
import importlib
import os
import shutil
import socket
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from gradwalk.api.service import STORE_FILE
from gradwalk.api.settings import Settings
from gradwalk.exports.exporter import ExportUnavailable
from gradwalk.exports.kit import read_module
from gradwalk.exports.scene import SCENE
from gradwalk.protocol.document import FORMAT, encode
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.versions import installed_versions, untested_torch
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.sqlite import SqliteStore
from gradwalk.store.store import StoreError

_TORCH_BYTES = 400 << 20
"""What the warm process that children are forked from takes, about."""
_PING_SECONDS = 2.0
_EMPTY_TRACE = encode({"format": FORMAT, "id": "", "source": "", "options": {}, "versions": {}, "events": []})

Verdict = Literal["ok", "note", "missing"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at; `fact` says what is, and where it is not right what to do."""

    subject: str
    verdict: Verdict
    fact: Fact


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
    if _runs_elsewhere(settings):
        return Finding("torch", "ok", fact("cli-torch-elsewhere"))
    if find_spec("torch") is None:
        return Finding("torch", "missing", fact("cli-torch-missing"))
    untested = untested_torch()
    if untested is not None:
        return Finding("torch", "note", untested)
    return Finding("torch", "ok", fact("cli-torch", found=installed_versions()["torch"]))


def _runs_elsewhere(settings: Settings) -> bool:
    return bool(settings.cluster_url) and find_spec("torch") is None


def _look_at_protection(settings: Settings) -> Finding:
    if _runs_elsewhere(settings):
        return Finding("sandbox", "ok", fact("cli-sandbox-elsewhere"))
    try:
        with closing(Sandbox(settings.run_limits)) as sandbox:
            protection = sandbox.measure()
    except LauncherGoneError as error:
        return Finding("sandbox", "missing", fact("cli-sandbox-broken", reason=str(error)))
    if protection.level == "full":
        return Finding("sandbox", "ok", fact("cli-sandbox"))
    verdict: Verdict = "missing" if settings.is_public else "note"
    return Finding("sandbox", verdict, fact("cli-sandbox-open", protection=protection.said))


def _look_at_store(settings: Settings) -> Finding:
    if settings.cluster_url:
        return Finding("store", "ok", fact("cli-store-shared"))
    folder = settings.data_directory
    try:
        folder.mkdir(parents=True, exist_ok=True)
        asyncio.run(_write_to_store(settings))
    except (OSError, StoreError) as error:
        reason = str(error.__cause__ or error)
        return Finding("store", "missing", fact("cli-store-broken", folder=str(folder), reason=reason))
    free = shutil.disk_usage(folder).free
    wanted = settings.trace_bytes_max + settings.snippet_bytes_max
    if free < wanted:
        small = fact("cli-store-small", folder=str(folder), free=_gib(free), wanted=_gib(wanted))
        return Finding("store", "note", small)
    return Finding("store", "ok", fact("cli-store", folder=str(folder), free=_gib(free)))


async def _write_to_store(settings: Settings) -> None:
    store = SqliteStore(settings.data_directory / STORE_FILE, settings.trace_bytes_max, settings.snippet_bytes_max)
    try:
        await store.check()
    finally:
        await store.close()


def _look_at_cluster(settings: Settings) -> Finding:
    if not settings.cluster_url:
        return Finding("cluster", "ok", fact("cli-cluster-none"))
    shown = settings.describe()["GRADWALK_CLUSTER_URL"]
    if find_spec("redis") is None or find_spec("celery") is None:
        return Finding("cluster", "missing", fact("cli-cluster-extra"))
    # An extra: what is not asked for need not be installed, so it cannot be imported at the top.
    redis = importlib.import_module("redis")
    patience = {"socket_timeout": _PING_SECONDS, "socket_connect_timeout": _PING_SECONDS, "retry": None}
    try:
        with redis.Redis.from_url(settings.cluster_url, **patience) as client:
            client.ping()
    except Exception as error:  # noqa: BLE001 (whatever its client raises, it is not there)
        silent = fact("cli-cluster-silent", address=shown, reason=type(error).__name__)
        return Finding("cluster", "missing", silent)
    return Finding("cluster", "ok", fact("cli-cluster", address=shown))


def _look_at_page(settings: Settings) -> Finding:
    if not (settings.static_directory / "index.html").is_file():
        return Finding("page", "missing", fact("cli-page-missing", folder=str(settings.static_directory)))
    try:
        read_module()
    except ExportUnavailable as reason:
        return Finding("page", "note", fact("cli-page-without-player", why=reason.fact))
    return Finding("page", "ok", fact("cli-page"))


def _look_at_port(settings: Settings) -> Finding:
    address = f"{settings.host}:{settings.port}"
    try:
        with socket.create_server((settings.host, settings.port)):
            return Finding("port", "ok", fact("cli-port", address=address))
    except OSError as error:
        return Finding("port", "note", fact("cli-port-taken", address=address, reason=error.strerror or str(error)))


def _look_at_memory(settings: Settings) -> Finding:
    wanted = _TORCH_BYTES + 2 * settings.running_count * settings.run_memory_bytes
    have = _memory_bytes()
    if have is not None and have < wanted:
        return Finding("memory", "note", fact("cli-memory-small", have=_gib(have), wanted=_gib(wanted)))
    return Finding("memory", "ok", fact("cli-memory", wanted=_gib(wanted)))


def _look_at_pictures(_: Settings) -> Finding:
    try:
        SCENE.bake(_EMPTY_TRACE)
    except ExportUnavailable as reason:
        return Finding("pictures", "missing", fact("cli-pictures-missing", why=reason.fact))
    return Finding("pictures", "ok", fact("cli-pictures"))


def _look_at_videos(_: Settings) -> Finding:
    if shutil.which("ffmpeg") is None and find_spec("imageio_ffmpeg") is None:
        return Finding("videos", "note", fact("cli-videos-missing"))
    return Finding("videos", "ok", fact("cli-videos"))


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
