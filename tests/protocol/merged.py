"""What two traces have in common, whatever their formats, events and ids: the structure, the numbers, the facts.

A redesign that sends the same facts in other events, gives other ids or adds an optional field changes nothing here.
"""

import math
from typing import Any

from gradwalk.protocol.document import TraceDocument
from gradwalk.protocol.merging import merge

# Processors round the last bit of exp, tanh and long sums differently. Where terms cancel, such a bit is large beside
# the entry that is left, but not beside its tensor (N. Higham, Accuracy and Stability, 3.1): entries are measured by
# the largest of their tensor.
RELATIVE_TOLERANCE = 2e-6
ABSOLUTE_TOLERANCE = 1e-9


def view(document: TraceDocument, *, with_facts: bool = True) -> list[Any]:
    """Passes and steps in order, nodes by their place in the graph; without facts only what was computed."""
    seen = _View(with_facts)
    return [found for event in merge(document["events"]) if (found := seen.of(event)) is not None]


class _View:
    def __init__(self, with_facts: bool) -> None:
        self._with_facts = with_facts
        self._places: dict[str, int] = {}
        """Of the nodes of every graph so far, by id."""
        self._origins: dict[str, Any] = {"seed": "seed"}

    def of(self, event: Any) -> Any:
        """What is compared of an event; None of one that holds nothing of it."""
        match event["type"]:
            case "pass_started":
                return self._pass(event)
            case "step":
                return self._step(event)
            case "pass_finished":
                leaves = [(one["leaf"], self._value(one["grad"])) for one in event["leaf_grads"]]
                found = [(one["kind"], one.get("step")) for one in event.get("findings", [])]
                return ["finished", leaves, found if self._with_facts else []]
            case "problem" if self._with_facts:
                return ["problem", event["kind"], event.get("fact"), (event["span"] or {}).get("line")]
            case "stdout":
                return ["printed", event["text"]]
        return None

    def _pass(self, event: Any) -> Any:
        nodes = event["graph"]["nodes"]
        self._places |= {node["id"]: place for place, node in enumerate(nodes)}
        self._origins |= {
            edge["id"]: (self._places[edge["from"]["node"]], edge["from"]["output_nr"])
            for edge in event["graph"]["edges"]
        }
        outputs = [(self._places[one["node"]], self._value(one["seed"])) for one in event["outputs"]]
        return ["pass", event["pass"], event.get("batch"), outputs, [self._node(node) for node in nodes]]

    def _node(self, node: Any) -> Any:
        operands = [
            (
                self._origins.get(one.get("edge")),
                self._value(one["value"]),
                self._with_facts and self._value(one.get("missing")),
            )
            for one in node["inputs"]
        ]
        outputs = [(one["name"], self._value(one["value"])) for one in node["outputs"]]
        saved = [(one["name"], one.get("option", self._value(one["value"]))) for one in node["saved"]]
        return [node["name"], node.get("leaf"), operands, outputs, saved]

    def _step(self, event: Any) -> Any:
        sides = [[self._value(one) for one in event[side]] for side in ("grad_outputs", "grad_inputs")]
        arrived = [(self._origins[one["edge"]], self._value(one["value"])) for one in event["contributions"]]
        jacobians = [(one["argnum"], one["output_nr"], self._value(one["value"])) for one in event["local_jacobians"]]
        grad = event["accumulate"] and [self._value(event["accumulate"][when]) for when in ("before", "after")]
        return ["step", self._places[event["node"]], *sides, arrived, jacobians, grad]

    def _value(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        if "missing" in value:
            # That there is no gradient is kept; the reason for it may be told better later.
            return ["missing", value["missing"], value.get("because")] if self._with_facts else ["missing"]
        # A thumbnail is a picture, of few tints.
        summary = {name: one for name, one in value.get("summary", {}).items() if name != "thumbnail"}
        return [value["shape"], value["dtype"], value.get("data"), summary]


def is_number(value: Any) -> bool:
    return isinstance(value, float | int) and not isinstance(value, bool)


def first_difference(ours: Any, theirs: Any, where: str = "", largest: float = 0.0) -> str | None:
    """Where two views differ, numbers compared with a tolerance.

    `largest` is the greatest magnitude among the numbers beside this one.
    """
    if is_number(ours) and is_number(theirs):
        within = max(ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE * largest)
        close = math.isclose(ours, theirs, rel_tol=RELATIVE_TOLERANCE, abs_tol=within)
        return None if close else f"{where}: {ours} is not {theirs}"
    if isinstance(ours, dict) and isinstance(theirs, dict) and ours.keys() == theirs.keys():
        pairs = [(ours[key], theirs[key], f"{where}.{key}") for key in ours]
    elif isinstance(ours, list | tuple) and isinstance(theirs, list | tuple) and len(ours) == len(theirs):
        pairs = [(one, other, f"{where}[{at}]") for at, (one, other) in enumerate(zip(ours, theirs, strict=True))]
        largest = max((abs(one) for one in theirs if is_number(one) and math.isfinite(one)), default=0.0)
    else:
        return None if ours == theirs else f"{where}: {str(ours)[:300]} is not {str(theirs)[:300]}"
    return next((found for pair in pairs if (found := first_difference(*pair, largest))), None)
