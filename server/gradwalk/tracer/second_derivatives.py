"""Second derivatives that a custom Function cuts without a word.

Forward of an `autograd.Function` runs without grad mode. What it saves has a history only if it is an input or an
output of the Function: those are tied to the graph when they are unpacked. An intermediate result is a plain number to
backward. The gradient is right; but under `create_graph=True` backward is differentiated in turn, and the part that
goes through the intermediate is missing, silently.

Whether a saved intermediate depends on an input in a way that has a derivative is read off the operations that forward
did, by their values: the same bytes are the same dictionary, see `values`.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from gradwalk.protocol.facts import Fact, code, fact
from gradwalk.protocol.graph import Node, SavedTensor, Span
from gradwalk.tracer.calls import Call, InnerCall
from gradwalk.tracer.places import Places

_WITHOUT_SLOPE: Final = frozenset(
    {"argmax", "argmin", "bernoulli", "bool", "ceil", "empty_like", "eq", "floor", "full_like", "ge", "gt", "isfinite",
     "isnan", "le", "long", "lt", "ne", "new_full", "new_ones", "new_zeros", "ones_like", "rand_like", "randn_like",
     "round", "sign", "sgn", "trunc", "zeros_like"}
)  # fmt: skip


class Cut(NamedTuple):
    """One Function whose second derivative is incomplete."""

    node: str
    saved_at: Span | None
    used_at: Span | None
    fact: Fact


def find_cut(  # noqa: PLR0913 (one node, and where things are written)
    node: Node,
    call: Call,
    inner: Sequence[InnerCall],
    save_span: Any,
    places: Places,
) -> Cut | None:
    """The cut at a custom node that ran under `create_graph=True`; None where everything it saved is tied.

    Args:
        node: as described; its saved tensors know whether they are inputs or outputs.
        call: of the Function, with what its forward did.
        inner: what its backward did.
        save_span: gives the place where a saved name is saved.
        places: spans of instructions.
    """
    inputs = [one["value"] for one in node["inputs"] if one["value"] is not None and "edge" in one]
    dependent = {id(value) for value in _dependent_values(inputs, call.operations)}
    for saved in node["saved"]:
        value = saved["value"]
        if saved["is_input"] or saved["is_output"] or value is None:
            continue
        if not value["dtype"].startswith(("float", "bfloat", "complex")) or id(value) not in dependent:
            continue
        use = next((one for one in inner if any(given is value for given in one.inputs)), None)
        if use is None:
            continue
        saved_at, used_at = save_span(saved["name"]), places.span(use.place)
        return Cut(node["id"], saved_at, used_at, _told(node, saved, saved_at, used_at))
    return None


def _dependent_values(inputs: Sequence[Any], operations: Sequence[InnerCall]) -> Iterator[Any]:
    """The values that forward computed from its inputs by operations that have a slope."""
    known = {id(value) for value in inputs}
    for operation in operations:
        if operation.label.strip("_") in _WITHOUT_SLOPE:
            continue
        if any(id(value) in known for value in operation.inputs if value is not None):
            for value in operation.outputs:
                if value is not None and id(value) not in known:
                    known.add(id(value))
                    yield value


def _told(node: Node, saved: SavedTensor, saved_at: Span | None, used_at: Span | None) -> Fact:
    name = saved["name"]
    return fact(
        "finding-cut-derivative",
        op=node["op"],
        name=name,
        saved=code(name) if saved_at is None else fact("call-in-line", call=name, line=str(saved_at["line"])),
        use="backward" if used_at is None else fact("node-in-line", op="backward", line=str(used_at["line"])),
    )
