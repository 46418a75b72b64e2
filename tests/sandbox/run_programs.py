"""Runs honest programs one per fork and prints what each did, as JSON lines.

`run_programs.py MODE ... < programs`: all programs in one mode after the other.

`plain` is Python as it is: real imports, real builtins. `offered` is the policy and the offer. Neither uses
the tracer, so that the two differ in the language alone; `traced-plain` and `traced-offered` do.
Standard input is a JSON list of sources.
"""

import ast
import builtins
import contextlib
import io
import json
import os
import random
import signal
import sys
import traceback
from functools import partial
from typing import Any

import numpy
import torch
import torch.utils.checkpoint

from gradwalk.protocol.document import encode
from gradwalk.protocol.requests import SERVER_LIMITS, TraceRequest
from gradwalk.sandbox.language import OfferedLanguage, load_offer
from gradwalk.tracer.run import trace_program

FILENAME = "<snippet>"
CPU_SECONDS = 20
"""Of the processor's time: the machine may be shared."""


def run_plain(source: str, _: Any) -> dict[str, Any]:
    """The program as Python runs it, with the prelude's names."""
    names: dict[str, Any] = {
        "__name__": "__main__",
        "__builtins__": builtins,
        "torch": torch,
        "nn": torch.nn,
        "F": torch.nn.functional,
        "math": __import__("math"),
    }
    return execute(compile(source, FILENAME, "exec", dont_inherit=True), names)


def run_offered(source: str, offer: Any) -> dict[str, Any]:
    """The program under the policy."""
    language = OfferedLanguage(offer)
    code = compile(language.admit(ast.parse(source, FILENAME), source), FILENAME, "exec", dont_inherit=True)
    names = language.namespace()
    for name, path in {"torch": "torch", "nn": "torch.nn", "F": "torch.nn.functional", "math": "math"}.items():
        names[name] = language.look_up(path)
    return execute(code, names)


def run_traced(source: str, offer: Any) -> dict[str, Any]:
    """The program in the tracer; the events with their digest of everything."""
    events: list[Any] = []
    language = OfferedLanguage(offer) if offer else None
    trace_program(TraceRequest(source=source), events.append, SERVER_LIMITS, language)
    kinds = [event["kind"] for event in events if event["type"] == "problem"]
    return {"outcome": kinds[0] if kinds else "ok", "events": json.loads(encode(events))}


def execute(code: Any, names: dict[str, Any]) -> dict[str, Any]:
    """What running the code printed, raised and left behind."""
    torch.manual_seed(0)
    random.seed(0)
    numpy.random.seed(0)
    outcome, error_text, line = "ok", None, None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(code, names)
        except SystemExit as error:
            error_text = f"exit {error.code}"
        except BaseException as error:  # noqa: BLE001 (whatever a program raises is its result)
            outcome, line, error_text = "error", _line(error), f"{type(error).__name__}: {error}"
    return {
        "outcome": outcome,
        "error": error_text,
        "line": line,
        "stdout": printed.getvalue(),
        "values": {name: _value(value) for name, value in names.items() if isinstance(value, torch.Tensor)},
    }


def _line(error: BaseException) -> int | None:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILENAME]
    return lines[-1] if lines else None


def _value(value: torch.Tensor) -> list[Any]:
    grad = value.grad if value.is_leaf else None
    return [repr(value.detach()), repr(grad), None if value.grad_fn is None else value.grad_fn.name()]


def run_forked(job: Any) -> dict[str, Any]:
    """What `job()` returns, or that its process did not answer."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        try:
            answer = json.dumps(job(), default=repr)
        except BaseException as error:  # noqa: BLE001 (a refusal too)
            answer = json.dumps({"outcome": "harness", "error": repr(error)})
        with os.fdopen(writer, "w") as out:
            out.write(answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as source:
        text = source.read()
    _, status = os.waitpid(pid, 0)
    return json.loads(text) if text else {"outcome": "no answer", "error": status}


def warm_up() -> None:
    """Import what torch imports late, once for all forks."""
    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    optimizer.step()
    torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(2))
    torch.autograd.gradcheck(torch.sin, torch.ones(1, dtype=torch.double, requires_grad=True))
    str(torch.rand(3))
    with contextlib.suppress(AssertionError):
        torch.testing.assert_close(torch.ones(1), torch.zeros(1))
    torch.utils.checkpoint.checkpoint(torch.sin, torch.ones(1, requires_grad=True), use_reentrant=False)


def main() -> None:
    """Read the sources, run each, print one JSON line per program."""
    torch.set_num_threads(1)
    torch.backends.mkldnn.enabled = False
    warm_up()
    sources, offer = json.load(sys.stdin), load_offer()
    for mode in sys.argv[1:]:
        run: Any = run_traced if mode.startswith("traced") else run_offered if mode == "offered" else run_plain
        for source in sources:
            result = run_forked(partial(run, source, offer if mode.endswith("offered") else None))
            print(json.dumps(result), flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
