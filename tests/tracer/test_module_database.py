"""Every module of PyTorch's own database: forward and backward traced and compared with an untraced twin."""

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
import torch
from torch.utils._pytree import tree_flatten, tree_map

from tests.databases import CHUNKS, is_in
from tests.tracer import skips
from tests.tracer.traced_calls import Compute, Tensors

DTYPES = (torch.float64, torch.bfloat16)


def label_of(info: Any, dtype: torch.dtype) -> str:
    return f"{info.formatted_name}-{str(dtype).removeprefix('torch.')}-module"


def compute(info: Any, dtype: torch.dtype, sample: Any) -> tuple[Tensors, Tensors]:
    """Differentiable outputs and leaves of one call of a new module."""
    leaves: Tensors = []

    def fresh(entry: Any) -> Any:
        if not isinstance(entry, torch.Tensor):
            return entry
        copy = entry.detach().clone()
        if entry.requires_grad:
            copy.requires_grad_()
            leaves.append(copy)
        return copy

    made = sample.constructor_input
    module = info.module_cls(*made.args, **made.kwargs).to(dtype=dtype)
    given = sample.forward_input
    args, kwargs = ((), {}) if given is None else tree_map(fresh, (given.args, given.kwargs))
    result = module(*args, **kwargs)
    outputs = [
        entry
        for entry in tree_flatten(result)[0]
        if isinstance(entry, torch.Tensor) and entry.requires_grad and entry.grad_fn is not None
    ]
    return outputs, leaves + list(module.parameters())


def samples(info: Any, dtype: torch.dtype) -> Iterator[Compute]:
    inputs = info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=True, training=True)
    for sample in inputs:
        if sample.forward_input is not None:
            yield partial(compute, info, dtype, sample)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("chunk", CHUNKS)
def test_the_trace_is_what_the_engine_did(chunk: int, module_database: list[Any]) -> None:
    wrong = {}
    for info, dtype in itertools.product(module_database, DTYPES):
        label = label_of(info, dtype)
        if dtype not in info.supported_dtypes("cpu") or not is_in(chunk, label):
            continue
        try:
            skips.judge(label, samples(info, dtype))
        except Exception as error:  # noqa: BLE001 (collected, whatever it is)
            wrong[label] = error
    assert wrong == {}
