"""`gradwalk serve | worker | check | trace | export | init | kit | schema`; the first two need an extra.

Exit status: 0; 1 for a problem in the user's program (the document still comes out), or for something that `check`
found missing; 2 for wrong usage.
"""

import io
import json
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, cast, get_args

import click
from pydantic import ValidationError

from gradwalk.api.faults import describe_invalid
from gradwalk.cli.language import Failure, Misuse, current_language
from gradwalk.examples.catalogue import program_text
from gradwalk.exports.catalogue import EXPORTERS, find_exporter
from gradwalk.exports.deck import HOSTS, look_at_deck, write_deck
from gradwalk.exports.exporter import (
    LAST_PHASE,
    Direction,
    Every,
    Exporter,
    ExportUnavailable,
    NothingToExport,
    Report,
    Selection,
    Shape,
    Theme,
    report_nothing,
)
from gradwalk.exports.kit import read_module
from gradwalk.protocol.document import TraceDocument, encode, join_document
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.requests import Options, TraceRequest, resolve_limits
from gradwalk.protocol.schema import trace_schema
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.versions import installed_versions
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.words.catalogue import LANGUAGES, say, tell
from gradwalk.words.extras import ExtraMissingError, import_with_extra

_ELSEWHERE = {
    "serve": ("gradwalk.cli.serve", "server"),
    "worker": ("gradwalk.cli.worker", "cluster"),
}
"""Commands that need an extra: the module that has them, imported when they are asked for, and the extra."""


class Commands(click.Group):
    """Those of this module, and those that need an extra."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *_ELSEWHERE])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _ELSEWHERE:
            return super().get_command(ctx, cmd_name)
        if not _can_fork():
            return Unavailable(cmd_name, fact("cli-no-fork", name=cmd_name))
        try:
            return cast("click.Command", getattr(import_with_extra(*_ELSEWHERE[cmd_name]), cmd_name))
        except ExtraMissingError as missing:
            return Unavailable(cmd_name, missing.fact)


class Unavailable(click.Command):
    """A command that does not work here: says why, whatever it is asked."""

    def __init__(self, name: str, why: Fact) -> None:
        takes_anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        super().__init__(name, takes_anything, short_help=tell(why, current_language()), add_help_option=False)
        self.why = why

    def invoke(self, ctx: click.Context) -> None:  # noqa: ARG002 (the base class names it)
        raise Misuse(self.why)


def _can_fork() -> bool:
    """Whether programs can be run in processes of their own, which Windows starts in another way."""
    return hasattr(os, "fork")


def _named_value(text: str) -> tuple[str, Any]:
    """`x=2.0`, `W=[[1, 2], [3, 4]]`, `n={"value": 3, "dtype": "int64"}`: a name and JSON."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier() and "." not in name:
        raise click.BadParameter(tell(fact("cli-not-named", text=text), current_language()))
    return name, _json_value(value)


def _json_value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.BadParameter(tell(fact("cli-not-json", text=text), current_language())) from error


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(installed_versions()["gradwalk"], prog_name="gradwalk")
@click.option("--language", type=click.Choice(LANGUAGES), help="Of what is said.  [default: the environment's]")
def main(language: str | None) -> None:  # noqa: ARG001 (read by `current_language`)
    """Type PyTorch, watch its real backward pass."""


@main.command()
@click.argument("file", type=click.File("rb"))
@click.option(
    "--input",
    "inputs",
    type=_named_value,
    metavar="NAME=JSON",
    multiple=True,
    help="Set a free variable or a named leaf.",
)
@click.option("--grad-output", type=_json_value, metavar="JSON", help="The external gradient v, as JSON.")
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
@click.option("--theme", type=click.Choice(get_args(Theme)), default="light", show_default=True)
@click.option("--shape", type=click.Choice(get_args(Shape)), default="16:9", show_default=True, help="A slide's.")
@click.option("--transparent", is_flag=True, help="Without a ground of its own.")
@click.option(
    "--input",
    "inputs",
    type=_named_value,
    metavar="NAME=JSON",
    multiple=True,
    help="Set a free variable or a named leaf.",
)
@click.option("--grad-output", type=_json_value, metavar="JSON", help="The external gradient v, as JSON.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Manual seed.")
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="Write to this file.")
def export(  # noqa: PLR0913 (one parameter per option)
    file: IO[bytes],
    name: str,
    step: int | None,
    phase: int,
    every: Every,
    direction: Direction,
    theme: Theme,
    shape: Shape,
    transparent: bool,
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
            selection = Selection(step, phase, every, direction, theme, shape, transparent, current_language())
            body = exporter.make(document, selection, report)
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
    if not _can_fork():
        raise Misuse(fact("cli-no-fork", name=str(click.get_current_context().info_name)))
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
    job = TraceJob(request=request, limits=resolve_limits(request.options.limits))
    with closing(Sandbox(RunLimits(spare_count=0))) as sandbox:
        batches = sandbox.trace(job, installed_versions(), Cancellation())
        return [encode(event) for batch in batches for event in batch]


@main.command()
@click.argument("host", type=click.Choice([*HOSTS]))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=".")
@click.option("--program", type=click.File("rb"), help="What is shown.  [default: an example]")
def init(host: str, folder: Path, program: IO[bytes] | None) -> None:
    """Write a deck or page for HOST into FOLDER, with the player, the trace and the picture of a program."""
    file = program or io.BytesIO(program_text("map").encode())
    document = load_document(json.loads(join_document(_trace_file(file, (), None, 0))))
    try:
        written = write_deck(host, document, folder)
    except FileExistsError as there:
        raise Misuse(fact("cli-init-exists", file=str(there))) from there
    except (NothingToExport, ExportUnavailable) as reason:
        raise Failure(reason.fact) from reason
    for path in written:
        click.echo(path)
    click.echo(tell(fact("cli-init-next", command=HOSTS[host]), current_language()))


@main.command()
@click.argument("folder", required=False, type=click.Path(exists=True, file_okay=False, path_type=Path))
def check(folder: Path | None) -> None:
    """Try out everything that `serve` needs; with FOLDER, a deck, list what in it would fail without a network.

    Exit status 1 when something is missing that cannot be done without.
    """
    language = current_language()
    if folder is not None:
        found = look_at_deck(folder)
        for page, why in found:
            click.echo(f"{page}: {tell(why, language)}")
        if not found:
            click.echo(tell(fact("cli-deck"), language))
        sys.exit(1 if found else 0)
    if not _can_fork():
        raise Misuse(fact("cli-no-fork", name="check"))
    try:
        is_whole = import_with_extra("gradwalk.cli.serve", "server").check_server()
    except ExtraMissingError as missing:
        raise Misuse(missing.fact) from missing
    sys.exit(0 if is_whole else 1)


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
