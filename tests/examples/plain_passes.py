"""Every backward that a program starts, watched with plain torch hooks instead of with the tracer."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from tests.tracer.conformance import Twin, watch_backward


@dataclass
class PlainPass:
    """What hooks saw of one call of the engine, and `.grad` of its leaves after it."""

    twin: Twin
    leaf_grads: dict[Any, torch.Tensor | None]
    """By AccumulateGrad node."""
    batched: bool


@contextlib.contextmanager
def watched_passes(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[PlainPass]]:
    """The passes of everything that runs inside, in order of their calls."""
    passes: list[PlainPass] = []
    original = torch.autograd._engine_run_backward

    def run(outputs: Any, *arguments: Any, **options: Any) -> Any:
        finish = _Call(lambda: original(outputs, *arguments, **options))
        batched = any(torch._C._functorch.is_batchedtensor(grad) for grad in arguments[0] if grad is not None) or any(
            torch._C._functorch.is_legacy_batchedtensor(grad) for grad in arguments[0] if grad is not None
        )
        if batched:
            passes.append(PlainPass(Twin([], [], []), {}, batched=True))
            finish()
        else:
            twin = watch_backward(outputs, arguments[0], finish)
            grads = {
                node: None if node.variable.grad is None else node.variable.grad.detach().clone()
                for node in twin.order
                if hasattr(node, "variable")
            }
            passes.append(PlainPass(twin, grads, batched=False))
        return finish.outcome()

    monkeypatch.setattr(torch.autograd, "_engine_run_backward", run)
    yield passes
    monkeypatch.undo()


class _Call:
    """Runs something once; its result or its error is fetched later, so that what was seen until then is kept."""

    def __init__(self, call: Callable[[], Any]) -> None:
        self._call = call
        self._result: Any = None
        self._error: BaseException | None = None

    def __call__(self) -> None:
        try:
            self._result = self._call()
        except RuntimeError as error:
            self._error = error

    def outcome(self) -> Any:
        """The result, or the error raised."""
        if self._error is not None:
            raise self._error
        return self._result
