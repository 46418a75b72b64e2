"""A trace as a file with many pages, made by a process of its own: work of minutes, in nobody's way."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from typing import IO, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from gradwalk.exports.exporter import ExportUnavailable, NothingToExport, Report, Selection
from gradwalk.protocol.document import encode
from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.problems import problem
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.conversation import Charge, charge_nobody
from gradwalk.store.compression import decompress
from gradwalk.words.catalogue import tell

LONGEST_SECONDS = 600.0
MAKER = ("-m", "gradwalk.exports.maker")
# A crash flushes nothing: unbuffered, and with faulthandler, what was said before and where it happened arrive.
_PYTHON = (sys.executable, "-P", "-u", "-X", "faulthandler")
_SECRETS = "GRADWALK_"
_COMPLAINT_CHARACTERS_MAX = 4_000


class ExportJob(BaseModel):
    """Turn a finished trace into a file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["export"] = "export"
    trace: str
    name: str
    selection: Selection = Selection()
    document: bytes | None = Field(
        default=None,
        exclude=True,
        repr=False,
        description="Compressed; not sent to a worker, which finds it by `trace`.",
    )

    def address(self, version: str) -> str:
        """Where the file is found: the same trace, wishes and `version` of gradwalk give the same bytes."""
        return f"file/{sha256(encode([version, self.model_dump()])).hexdigest()}"


class NoFileError(Exception):
    """There is no file; `problem` says why, and None that nobody waits for it any more."""

    def __init__(self, why: Problem | None) -> None:
        super().__init__(why and tell(why["fact"]))
        self.problem = why


class MakerBrokeError(RuntimeError):
    """The process ended without a file and without a reason: our bug; the message is what it said last."""


def make_file(
    job: ExportJob,
    report: Report,
    cancellation: Cancellation,
    *,
    charge: Charge = charge_nobody,
    maker: Sequence[str] = MAKER,
) -> bytes:
    """The file; blocks. `report` gets the number of pages that are done, and of all; `maker` is what Python runs.

    Raises:
        NoFileError: nothing can be made of this trace, or not here, or not in time; or it was called off.
        MakerBrokeError: our mistake.
    """
    if job.document is None:
        raise NoFileError(problem("internal", fact("problem-trace-gone")))
    document = decompress(job.document)
    with tempfile.TemporaryFile() as complaints:
        # A group of its own: V8 and ffmpeg, which it starts, end with it.
        with subprocess.Popen(
            [*_PYTHON, *maker],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            process_group=0,
            env={name: value for name, value in os.environ.items() if not name.startswith(_SECRETS)},
        ) as process:
            assert process.stdin is not None
            ending = _Ending(process)
            late = threading.Timer(LONGEST_SECONDS, ending.stop_late)
            late.start()
            cancellation.bind(ending.stop)
            try:
                found = _converse(process, job, document, report)
            finally:
                late.cancel()
                cancellation.bind(None)
                ending.stop()
                charge(ending.await_end())
                with suppress(BrokenPipeError):
                    process.stdin.close()
        if found is not None:
            return found
        if ending.is_late:
            raise NoFileError(problem("timeout", fact("problem-file-late", seconds={"numbers": [LONGEST_SECONDS]})))
        if cancellation.is_wished or cancellation.is_postponed:
            raise NoFileError(None)
        raise MakerBrokeError(_last_words(complaints))


class _Ending:
    """Ends a process and everything it has started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.is_late = False
        self._process = process

    def stop(self) -> None:
        # Nobody has waited for it yet, so its number is still its own.
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def await_end(self) -> float:
        """Seconds of processor time that it used, with what ended before it of the processes that it started."""
        _, status, used = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return used.ru_utime + used.ru_stime

    def stop_late(self) -> None:
        self.is_late = True
        self.stop()


def _converse(maker: subprocess.Popen[bytes], job: ExportJob, document: bytes, report: Report) -> bytes | None:
    """The file; None when the process ended before."""
    assert maker.stdin is not None
    assert maker.stdout is not None
    with suppress(BrokenPipeError):
        asked = {"name": job.name, "selection": asdict(job.selection), "bytes": len(document)}
        maker.stdin.write(encode(asked) + b"\n" + document)
        maker.stdin.flush()
    for line in maker.stdout:
        if not line.endswith(b"\n"):
            return None
        said: dict[str, Any] = json.loads(line)
        if "of" in said:
            report(said["done"], said["of"])
        elif "refusal" in said:
            raise NoFileError(say_why(said["refusal"], said["fact"]))
        else:
            body = maker.stdout.read(said["bytes"])
            return body if len(body) == said["bytes"] else None
    return None


def say_why(kind: str, why: Fact) -> Problem:
    """What an exporter's refusal (the name of its exception, and its fact) says to whoever asked."""
    if kind == NothingToExport.__name__:
        return problem("not_differentiable", fact("problem-nothing-to-draw", text=why))
    assert kind == ExportUnavailable.__name__
    return problem("internal", fact("problem-unavailable", text=why))


def _last_words(complaints: IO[bytes]) -> str:
    complaints.seek(0)
    return complaints.read().decode(errors="replace")[-_COMPLAINT_CHARACTERS_MAX:]
