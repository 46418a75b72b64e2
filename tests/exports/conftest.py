"""A small hand-checked trace: y = x * x at 3, then y.sin(), with a missing gradient on a third branch."""

from collections.abc import Iterator

import pytest

from gradwalk.exports.scene import Scene
from gradwalk.protocol.document import DOCUMENT, FORMAT, TraceDocument


@pytest.fixture
def scene() -> Iterator[Scene]:
    """V8 that nobody has asked before."""
    made = Scene()
    yield made
    made.end()


def scalar(number: float) -> dict:
    return {"shape": [], "dtype": "float32", "data": [number]}


def node(node_id: str, name: str, inputs: list, value: float, **more: object) -> dict:
    kind = "accumulate_grad" if "leaf" in more else "op"
    plain = {"id": node_id, "name": name, "op": name.lower(), "kind": kind, "label": name, "inputs": inputs}
    absent = dict.fromkeys(("span", "group", "formula", "sequence_nr"))
    return plain | absent | {"outputs": [{"value": scalar(value), "name": "y"}], "output_count": 1, "saved": []} | more


def step(index: int, node_id: str, v: float, grad_inputs: list, **more: object) -> dict:
    plain = {"seq": index + 2, "type": "step", "pass": 0, "index": index, "node": node_id}
    values = {"grad_outputs": [scalar(v)], "contributions": [], "grad_inputs": grad_inputs}
    return plain | values | {"local_jacobians": [], "accumulate": None} | more


@pytest.fixture
def square() -> TraceDocument:
    """x = 3; y = x * x, started with v = 1: contributions 3 and 3, x.grad = 6."""
    operands = [
        {"argnum": k, "name": name, "value": scalar(3.0), "edge": f"e{k}"} for k, name in enumerate(("self", "other"))
    ]
    graph = {
        "nodes": [node("n0", "MulBackward0", operands, 9.0), node("n1", "AccumulateGrad", [], 3.0, leaf="x<&>")],
        "edges": [
            {"id": f"e{k}", "from": {"node": "n1", "output_nr": 0}, "to": {"node": "n0", "argnum": k}} for k in (0, 1)
        ],
        "groups": [],
    }
    jacobian = {"argnum": 0, "output_nr": 0, "structure": "scalar", "value": scalar(3.0)}
    jacobian |= {"output_shape": [], "input_shape": []}
    accumulate = {"leaf": "x<&>", "before": {"missing": "not_computed"}, "after": scalar(6.0)}
    header = {"format": FORMAT, "id": "0" * 40, "source": "", "options": {}}
    header |= {"versions": {"gradwalk": "0", "torch": "0"}}
    started = {"pass": 0, "call": "backward", "span": None, "inputs": [], "create_graph": False, "graph": graph}
    output = {"node": "n0", "output_nr": 0, "name": "y", "seed": scalar(1.0)}
    events = [
        {"seq": 0, "type": "started", **header},
        {"seq": 1, "type": "pass_started", **started, "outputs": [output]},
        step(0, "n0", 1.0, [scalar(3.0), {"missing": "returned_none"}], local_jacobians=[jacobian]),
        step(1, "n1", 6.0, [], accumulate=accumulate),
        {"seq": 4, "type": "pass_finished", "pass": 0, "leaf_grads": [{"leaf": "x<&>", "grad": scalar(6.0)}]},
        {"seq": 5, "type": "finished", "passes": 1, "steps": 2, "problems": 0, "truncated": None},
    ]
    return DOCUMENT.validate_python({**header, "events": events})
