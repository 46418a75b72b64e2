"""`gradwalk serve`. Imported only for it: it needs the extra `server`."""

import asyncio
import logging
import os
import sys
from contextlib import suppress
from types import FrameType
from typing import Any, cast

import click
import uvicorn
from fastapi import FastAPI
from pydantic import ValidationError

from gradwalk.api.app import create_app
from gradwalk.api.connections import counted_protocol, raise_descriptor_limit
from gradwalk.api.faults import describe_invalid
from gradwalk.api.logs import configure_logs, fields
from gradwalk.api.settings import Settings
from gradwalk.cli.findings import look_at_everything
from gradwalk.cli.language import Misuse, current_language
from gradwalk.protocol.facts import Fact, Filling, code, fact
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.words.catalogue import tell
from gradwalk.words.extras import ExtraMissingError

_SHUTDOWN_SECONDS = 1
_NOT_STARTED = 3
"""As `uvicorn.run` ends."""
_SWITCH_SECONDS = 0.0005
"""How long a thread may compute while the event loop wants to go on: Python's own 5 ms is felt by everybody."""


@click.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on; 0 takes a free one.  [default: 8000]")
@click.option("--as-root", is_flag=True, default=None, help="Listen to others though it is root that runs it.")
def serve(host: str | None, port: int | None, *, as_root: bool | None) -> None:
    """Serve the page and the API.

    Every setting can also be given by the environment, with the prefix GRADWALK_.
    """
    given = {"host": host, "port": port, "as_root": as_root}
    settings = read_settings(**{name: value for name, value in given.items() if value is not None})
    configure_logs(settings.log_format, settings.log_level)
    logging.getLogger(__name__).info("settings", extra=fields(**settings.describe()))
    sandbox = Sandbox(settings.run_limits)
    if settings.is_public:
        _refuse_root(settings)
        if not settings.cluster_url:
            _refuse_below_full(sandbox, settings.host)
        for told in _what_is_open(settings):
            click.echo(tell(told, current_language()), err=True)
    try:
        app = create_app(settings, sandbox)
    except ExtraMissingError as missing:
        raise Misuse(missing.fact) from missing
    sys.setswitchinterval(_SWITCH_SECONDS)
    connections_max = raise_descriptor_limit()
    config = uvicorn.Config(
        app,
        http=counted_protocol(settings, connections_max),
        ws="none",
        limit_concurrency=connections_max,
        host=settings.host,
        port=settings.port,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        log_config=None,
        workers=1,
    )
    server = _Server(config)
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(_NOT_STARTED)


class _Server(uvicorn.Server):
    """uvicorn waits for open streams before it ends the lifespan, and a stream ends only when it is told to."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        state = cast("FastAPI", self.config.app).state
        if hasattr(state, "service"):
            asyncio.get_running_loop().call_soon_threadsafe(state.service.stop)
        super().handle_exit(sig, frame)


def read_settings(**given: Any) -> Settings:
    """From the environment, and what was given on the command line.

    Raises:
        Misuse: one of them is no such value.
    """
    try:
        return Settings(**given)
    except ValidationError as error:
        raise Misuse(describe_invalid(error.errors())) from error


def _refuse_root(settings: Settings) -> None:
    if os.geteuid() == 0 and not settings.as_root:
        raise Misuse(fact("cli-root", host=settings.host))


def _what_is_open(settings: Settings) -> list[Fact]:
    """To whom, held by what, under which names, and what is not there."""
    missing: list[Filling] = [fact("cli-missing-encryption")]
    if not settings.trusted_proxies:
        missing.append(fact("cli-missing-proxy"))
    if os.geteuid() == 0:
        missing.append(fact("cli-missing-user"))
    names: list[Filling] = [code(name) for name in ("localhost", *settings.allowed_hosts)]
    return [
        fact("cli-open-to", host=settings.host, port=str(settings.port)),
        fact("cli-open-held-elsewhere") if settings.cluster_url else fact("cli-open-held"),
        fact("cli-open-names", names=names),
        fact("cli-open-missing", missing=missing),
    ]


def _refuse_below_full(sandbox: Sandbox, host: str) -> None:
    """Before anything listens: others may only send programs to a server that holds them completely."""
    try:
        protection = sandbox.measure()
    except LauncherGoneError as error:
        raise Misuse(fact("cli-sandbox-broken", reason=str(error))) from error
    if protection.level == "full":
        return
    sandbox.close()
    raise Misuse(
        fact(
            "cli-not-listening",
            host=host,
            level=protection.level,
            open=[*protection.open],
            protection=protection.said,
        )
    )


def check_server() -> bool:
    """Tries out everything that `serve` needs, and says what to do where something is missing; whether nothing is."""
    settings = read_settings()
    logging.basicConfig(level=logging.ERROR)
    findings = look_at_everything(settings)
    for found in findings:
        click.echo(f"{found.verdict:<8}{found.subject:<10}{tell(found.fact, current_language())}")
    return all(found.verdict != "missing" for found in findings)
