"""Walks everything that a program can reach from the offer by allowed attribute names; prints what must not be there.

`python walk_offer.py EDGES`: breadth first, so that near things come first. Output: one JSON object.
"""

import builtins
import collections
import functools
import io
import json
import os
import subprocess
import sys
import types
from collections.abc import Iterator
from typing import Any

import torch

from gradwalk.sandbox.attributes import GUARDED, find_attribute_refusal, is_special
from gradwalk.sandbox.guards import build_builtins
from gradwalk.sandbox.language import load_offer

FORBIDDEN_KINDS = (
    types.ModuleType,
    types.FrameType,
    types.CodeType,
    types.TracebackType,
    types.CellType,
    io.IOBase,
    memoryview,
    torch.UntypedStorage,
    torch.TypedStorage,
)
FORBIDDEN_VALUES = [
    builtins.eval, builtins.exec, builtins.compile, builtins.open, builtins.__import__, builtins.globals, builtins.vars,
    builtins.getattr, builtins.setattr, builtins.delattr, builtins.input, builtins.breakpoint, builtins.type,
    os.system, os.open, os.fork, subprocess.Popen, functools.update_wrapper, functools.wraps, functools.singledispatch,
    torch.load, torch.save, torch.nn.ParameterDict, torch.frombuffer,
]  # fmt: skip


def starting_points(offer: Any) -> Iterator[tuple[str, Any]]:
    """What a program holds: names of modules, builtins, and objects that it can make from them."""
    for name in sorted(offer.modules):
        yield name, offer.look_up(name)
    own = build_builtins(set(), offer.library_names)
    for name, value in own.items():
        if " " not in name and not is_special(name):
            yield name, value
    nn, x = torch.nn, torch.ones(2, 2, requires_grad=True)
    y = (x * x).exp().sum()
    layers = nn.Linear(2, 2), nn.LSTM(2, 2), nn.MultiheadAttention(2, 1), nn.BatchNorm1d(2), nn.ParameterList([x])
    model = nn.Sequential(*layers)
    optimizer = torch.optim.Adam(model.parameters())
    made = {
        "tensor": x,
        "node": y.grad_fn,
        "array": x.detach().numpy(),
        "model": model,
        "optimizer": optimizer,
        "scheduler": torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0),
        "generator": (i for i in [1]),
        "function": lambda: 1,
        "method": model.forward,
        "error": ValueError("x"),
        "class": type("Made", (nn.Module,), {}),
        "handle": x.register_hook(lambda g: g),
        "distribution": torch.distributions.Normal(0.0, 1.0),
        "loader": torch.utils.data.DataLoader([1, 2]),
        "counter": collections.Counter("ab"),
        "partial": functools.partial(print, 1),
        "no_grad": torch.no_grad(),
        "dtype": torch.float32,
        "size": x.shape,
        "max": x.max(0),
        "svd": torch.linalg.svd(x.detach()),
        "hooks": torch.autograd.graph.saved_tensors_hooks(abs, abs),
        "packed": nn.utils.rnn.pack_sequence([torch.ones(2)]),
    }
    yield from made.items()


def children(value: Any, library: frozenset[str]) -> Iterator[tuple[str, Any]]:
    """What one attribute, one item or one element more gives."""
    for name in dir(value):
        if name in GUARDED or find_attribute_refusal(name, (), library) is not None:
            continue
        try:
            yield f".{name}", getattr(value, name)
        except Exception:  # noqa: BLE001, PERF203 (what cannot be read leads nowhere)
            continue
    if isinstance(value, dict | types.MappingProxyType):
        for key, item in list(value.items())[:200]:
            yield f"[{key!r}]"[:40], item
    elif isinstance(value, list | tuple | set | frozenset | collections.deque):
        for index, item in enumerate(list(value)[:200]):
            yield f"[{index}]", item


def main() -> None:
    """Walk until the count is used up."""
    limit = int(sys.argv[1])
    offer = load_offer()
    forbidden = {id(value) for value in FORBIDDEN_VALUES}
    queue: collections.deque[tuple[str, Any, int]] = collections.deque((n, v, 0) for n, v in starting_points(offer))
    seen: dict[int, Any] = {}
    found: list[str] = []
    edges = 0
    while queue and edges < limit:
        path, value, depth = queue.popleft()
        for step, child in children(value, offer.library_names):
            edges += 1
            if isinstance(child, FORBIDDEN_KINDS) or id(child) in forbidden:
                found.append(f"{path}{step}: {type(child).__name__}")
            if id(child) in seen or isinstance(child, str | int | float | bool | complex | types.NoneType):
                continue
            seen[id(child)] = child  # kept alive, so that ids stay unique
            if depth < 8:
                queue.append((f"{path}{step}", child, depth + 1))
    print(json.dumps({"found": found, "reached": edges, "objects": len(seen), "exhausted": not queue}))  # noqa: T201


if __name__ == "__main__":
    main()
