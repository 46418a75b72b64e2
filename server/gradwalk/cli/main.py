"""`gradwalk serve | worker | check | trace | export | kit | schema`.

Exit status: 0; 1 for a problem in the user's program (the document still comes out), or for something that `check`
found missing; 2 for wrong usage.
"""

import json
import logging
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import IO, Any, get_args

import click
import uvicorn
from pydantic import ValidationError

from gradwalk.api.app import create_app
from gradwalk.api.faults import describe_invalid
from gradwalk.api.logs import configure_logs, fields
from gradwalk.api.settings import Settings
from gradwalk.cli.findings import look_at_everything
from gradwalk.cli.language import Failure, Misuse, current_language
from gradwalk.engine.job import execute
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.exporter import (
    LAST_PHASE,
    Direction,
    Every,
    Exporter,
    ExportUnavailable,
    NothingToExport,
    Report,
    Selection,
    report_nothing,
)
from gradwalk.exports.kit import read_module
from gradwalk.protocol.document import TraceDocument, encode, join_document
from gradwalk.protocol.facts import fact
from gradwalk.protocol.requests import Options, TraceRequest, resolve_limits
from gradwalk.protocol.schema import trace_schema
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.words.catalogue import LANGUAGES, say, tell

_SHUTDOWN_SECONDS = 1


class InputValue(click.ParamType[tuple[str, Any]]):
    """`x=2.0`, `W=[[1, 2], [3, 4]]`, `n={"value": 3, "dtype": "int64"}`: a name and JSON."""

    name = "name=json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        name, equals, text = str(value).partition("=")
        if not equals or not name.isidentifier() and "." not in name:
            self.fail(tell(fact("cli-not-named", text=str(value)), current_language()), param, ctx)
        return name, _read_json(text, self, param, ctx)


class JsonValue(click.ParamType[Any]):
    """Any JSON value."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return _read_json(str(value), self, param, ctx)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(installed_versions()["gradwalk"], prog_name="gradwalk")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of what is said.  [default: the environment's]")
def main(language: str | None) -> None:  # noqa: ARG001 (read by `current_language`)
    """Type PyTorch, watch its real backward pass."""


@main.command()
@click.option("--host", help="Address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65_535), help="Port to listen on; 0 takes a free one.  [default: 8000]")
def serve(host: str | None, port: int | None) -> None:
    """Serve the page and the API.

    Every setting can also be given by the environment, with the prefix GRADWALK_.
    """
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = _read_settings(**given)
    configure_logs(settings.log_format, settings.log_level)
    logging.getLogger(__name__).info("settings", extra=fields(**settings.describe()))
    sandbox = Sandbox(settings.run_limits)
    if settings.is_public and not settings.cluster_url:
        _refuse_below_full(sandbox, settings.host)
    uvicorn.run(
        create_app(settings, sandbox),
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


def _read_settings(**given: Any) -> Settings:
    try:
        return Settings(**given)
    except ValidationError as error:
        raise Misuse(describe_invalid(error.errors())) from error


@main.command()
def check() -> None:
    """Try out everything that `serve` needs, and say what to do where something is missing.

    Exit status 1 when something is missing that a server cannot do without.
    """
    settings = _read_settings()
    logging.basicConfig(level=logging.ERROR)
    findings = look_at_everything(settings)
    for found in findings:
        click.echo(f"{found.verdict:<8}{found.subject:<10}{tell(found.fact, current_language())}")
    sys.exit(1 if any(found.verdict == "missing" for found in findings) else 0)


@main.command()
@click.option("--count", type=click.IntRange(1), help="Programs at once.  [default: cores, at least 2]")
def worker(count: int | None) -> None:
    """Run programs for servers that share GRADWALK_CLUSTER_URL with this worker."""
    settings = _read_settings(**({} if count is None else {"running_count": count}))
    if not settings.cluster_url:
        raise Misuse(fact("cli-worker-alone"))
    configure_logs(settings.log_format, settings.log_level)
    import_module("gradwalk.cli.worker").work(settings)


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


@main.command()
@click.argument("file", type=click.File("rb"))
@click.option("--input", "inputs", type=InputValue(), multiple=True, help="Set a free variable or a named leaf.")
@click.option("--grad-output", type=JsonValue(), help="The external gradient v, as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Manual seed.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def trace(
    file: IO[bytes], inputs: tuple[tuple[str, Any], ...], grad_output: Any, seed: int, output: Path | None
) -> None:
    """Trace FILE (- for standard input) in a child and print the trace document."""
    events = _trace_file(file, inputs, grad_output, seed)
    _write(join_document(events), output)
    sys.exit(_status(map(json.loads, events)))


@main.command()
@click.argument("file", type=click.File("rb"))
@click.option("--format", "name", type=click.Choice([e.name for e in EXPORTERS]), required=True, help="What to write.")
@click.option("--step", type=click.IntRange(0), help="1-based, 0 before the pass.  [default: the last]")
@click.option("--phase", type=click.IntRange(1, LAST_PHASE), default=LAST_PHASE, show_default=True)
@click.option(
    "--every",
    type=click.Choice(get_args(Every)),
    default="step",
    show_default=True,
    help="What one page or slide shows.",
)
@click.option(
    "--direction",
    type=click.Choice(get_args(Direction)),
    default="backward",
    show_default=True,
    help="Which walk; the forward one has phases 1 to 3.",
)
@click.option("--input", "inputs", type=InputValue(), multiple=True, help="Set a free variable or a named leaf.")
@click.option("--grad-output", type=JsonValue(), help="The external gradient v, as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Manual seed.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def export(  # noqa: PLR0913 (one parameter per option)
    file: IO[bytes],
    name: str,
    step: int | None,
    phase: int,
    every: Every,
    direction: Direction,
    inputs: tuple[tuple[str, Any], ...],
    grad_output: Any,
    seed: int,
    output: Path | None,
) -> None:
    """Trace FILE (a program, a saved trace, or - for standard input) and write it in another form."""
    exporter = find_exporter(name)
    assert exporter is not None
    saved = _read_saved_trace(file)
    document = saved or load_document(json.loads(join_document(_trace_file(file, inputs, grad_output, seed))))
    try:
        with _progress_bar(exporter) as report:
            body = exporter.make(document, Selection(step, phase, every, direction, current_language(), report))
    except (NothingToExport, ExportUnavailable) as reason:
        raise Failure(reason.fact) from reason
    _write(body, output)
    sys.exit(_status(document["events"]))


@contextmanager
def _progress_bar(exporter: Exporter) -> Iterator[Report]:
    """On standard error, for exports of many pages, where a person is looking."""
    if not exporter.has_pages or not sys.stderr.isatty():
        yield report_nothing
        return
    with click.progressbar(
        length=1, label=say("cli-drawing", current_language(), name=exporter.name), file=sys.stderr
    ) as bar:

        def report(done: int, of: int) -> None:
            bar.length = of
            bar.update(done - bar.pos)

        yield report


def _read_saved_trace(file: IO[bytes]) -> TraceDocument | None:
    if not file.name.endswith(".json"):
        return None
    try:
        return load_document(json.loads(file.read()))
    except ValueError as error:
        raise Misuse(fact("cli-not-saved", file=file.name, reason=str(error))) from error


def _status(events: Iterable[Any]) -> int:
    return 1 if any(event["type"] == "problem" for event in events) else 0


def _trace_file(file: IO[bytes], inputs: tuple[tuple[str, Any], ...], grad_output: Any, seed: int) -> list[bytes]:
    try:
        source = file.read().decode()
        request = TraceRequest(source=source, options=Options(inputs=dict(inputs), grad_output=grad_output, seed=seed))
        encode(request.model_dump())
    except UnicodeDecodeError as error:
        raise Misuse(fact("cli-not-text", file=file.name, reason=str(error))) from error
    except ValidationError as error:
        raise Misuse(describe_invalid(error.errors())) from error
    except ValueError as error:
        raise Misuse(fact("api-no-json")) from error
    events: list[bytes] = []
    execute(TraceJob(request=request, limits=resolve_limits(request.options.limits)), events.extend)
    return events


@main.command()
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def kit(output: Path | None) -> None:
    """Print the player as one ES module: <grad-walk> for any page, without a server."""
    try:
        module = read_module()
    except ExportUnavailable as reason:
        raise Failure(reason.fact) from reason
    _write(module.encode(), output)


@main.command()
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def schema(output: Path | None) -> None:
    """Print the JSON Schema of a trace document."""
    _write(json.dumps(trace_schema(), indent=2).encode(), output)


def _write(body: bytes, output: Path | None) -> None:
    if output is not None:
        output.write_bytes(body)
        return
    sys.stdout.buffer.write(body + b"\n")
    sys.stdout.buffer.flush()


def _read_json(text: str, kind: click.ParamType[Any], param: click.Parameter | None, ctx: click.Context | None) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        kind.fail(tell(fact("cli-not-json", text=text), current_language()), param, ctx)
