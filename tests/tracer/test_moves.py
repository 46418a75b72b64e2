"""The moves in traces, read by a reader of its own out of what the trace says of the node."""

from collections import Counter
from typing import Any

import pytest

from gradwalk.protocol.graph import Node
from tests.formulas.cells import Table, read
from tests.tracer.programs import CORPUS, custom_function, trace
from tests.twin import Traced, run_traced


def table(value: Any) -> Table:
    return [float(cell) for cell in value["data"]], value["shape"]


def told(traced: Traced) -> list[tuple[Node, Any, int, Any]]:
    """Of each vjp with moves: the node, its step, the operand, the moves."""
    nodes = {
        (event["pass"], node["id"]): node for event in traced.of("pass_started") for node in event["graph"]["nodes"]
    }
    return [
        (nodes[step["pass"], step["node"]], step, one["argnum"], one["moves"])
        for step in traced.of("step")
        for one in step.get("moves", [])
    ]


def read_step(node: Node, step: Any, found: Any, shape: list[int]) -> list[float]:
    def named(name: str) -> Table:
        if name[0] == "v" and name[1:].isdigit():
            return table(step["grad_outputs"][int(name[1:])])
        kept = {one["name"]: one["value"] for one in [*node["inputs"], *node["saved"]] if one["value"] is not None}
        return table(kept[name] if name in kept else node["outputs"][0]["value"])

    return read(found, named, shape)


def returned(step: Any, argnum: int) -> Any:
    """What was sent on, but for hooks of the program's."""
    changes = [
        one["before"]
        for one in step.get("changes", [])
        if one["argnum"] == argnum and one["kind"] not in ("sum_to_size", "cast")
    ]
    return (changes or [step["grad_inputs"][argnum]])[0]


@pytest.mark.parametrize("name", CORPUS)
def test_whoever_follows_the_moves_gets_what_the_step_returned(name: str) -> None:
    for node, step, argnum, found in told(trace(name)):
        cells, shape = table(returned(step, argnum))
        largest = max(map(abs, cells), default=0.0)
        assert read_step(node, step, found, shape) == pytest.approx(cells, rel=1e-4, abs=1e-4 * largest), node["name"]


BACKWARDS = {
    "rows meet rows": ("return g.mm(w)", ["meet ik,kj->ij w"]),
    "turned by a call": ("return w.t().mm(g.t()).t()", ["meet jk,ki->ji w"]),
    "turned without a call": ("return (w.T @ g.T).T", ["meet jk,ki->ji w"]),
    "a factor": ("return 3 * g.mm(w)", ["meet ik,kj->ij w", "scale ij,->ij 3"]),
    "a matrix of its own": ("return g @ w.exp()", ["meet ik,kj->ij exp(…)"]),
    "a matrix with a name": ("scaled = torch.stack([*w]).exp()\nreturn g @ scaled", ["meet ik,kj->ij scaled"]),
    "something unheard of": ("return torch.linalg.multi_dot([g, w])", []),
}


@pytest.mark.parametrize("name", BACKWARDS)
def test_a_custom_backward_is_told_by_what_it_did(name: str) -> None:
    backward, expected = BACKWARDS[name]
    body = f"w, = ctx.saved_tensors\n{backward}"
    defined = custom_function("F", "x, w", "ctx.save_for_backward(w)\nreturn x @ w.T", f"{body}, None")
    source = f"{defined}x = torch.tensor([[1., 2, 3], [4, 5, 7]], requires_grad=True)\n"
    source += (
        "w = torch.tensor([[1., -2, 4], [3, 5, 6]])\ny = F.apply(x, w)\ny.backward(torch.tensor([[1., 2], [3, 5]]))\n"
    )
    found = [(step, moves) for node, step, _, moves in told(run_traced(source)) if node["kind"] == "custom"]
    written = [
        " ".join([move["verb"], move["axes"], *(one.get("operand") or one.get("text", "") for one in move["of"][1:])])
        for _, moves in found
        for move in moves
    ]
    assert Counter(written) == Counter(expected)
