"""`.grad` after a pass: of its leaves, of the other tensors that have a name, and why it is None where it is."""

import re

from gradwalk.protocol.events import LeafGrad
from gradwalk.protocol.values import Gradient
from gradwalk.tracer.description import GraphWriter
from gradwalk.tracer.naming import NamedTensors
from gradwalk.tracer.originals import Parameter, grad_fn_of
from gradwalk.tracer.passes import Pass
from gradwalk.tracer.reasons import Reasons
from gradwalk.tracer.source import Program
from gradwalk.tracer.values import ValueTable

_READS_GRAD = re.compile(r"\b((?:[^\W\d]\w*)(?:\.\w+|\[\w+\])*)\.grad\b")
_INDEX = re.compile(r"\[(\w+)\]")


class LeafGrads:
    """Reads `.grad` once a pass is over."""

    def __init__(self, writer: GraphWriter, values: ValueTable, reasons: Reasons, program: Program | None) -> None:
        self._writer = writer
        self._values = values
        self._reasons = reasons
        self._lines = {} if program is None else program.assigned_lines
        self._asked = frozenset(map(_dotted, _READS_GRAD.findall(program.text))) if program is not None else frozenset()
        """Names whose `.grad` the program looks at."""

    def read(self, one: Pass, named: NamedTensors) -> list[LeafGrad]:
        """Leaves of this pass, then other leaves that have a name now, then names that one may take for a leaf."""
        grads: dict[str, Gradient] = {}
        for node, entry in one.nodes.items():
            leaf = entry.record.variable
            if leaf is not None:
                name, grad = self._writer.leaf_name(leaf, named), leaf.grad
                is_alive = one.alive is None or node in one.alive
                grads[name] = (
                    self._reasons.unreached(one, entry, is_alive, name) if grad is None else self._values.value_of(grad)
                )
        reached = {id(entry.record.variable) for entry in one.nodes.values() if entry.record.variable is not None}
        for name, leaf in named.leaves.values():
            if id(leaf) in reached or (one.cut and leaf.grad is None):
                continue
            known, grad = self._writer.known_name(leaf) or name, leaf.grad
            if known not in grads:
                grads[known] = self._reasons.no_path(known, leaf, one) if grad is None else self._values.value_of(grad)
            elif known == name and grad is None:
                grads[self._writer.leaf_name(leaf, named)] = self._reasons.overwritten(name, leaf)
        self._read_constants(grads, named)
        self._read_intermediates(grads, one, named)
        return [self._entry(name, grad) for name, grad in grads.items()]

    def _entry(self, name: str, grad: Gradient) -> LeafGrad:
        if "missing" in grad and grad.get("line", 0) is None and name in self._lines:
            # Nothing that ran is to blame, so the line is where the tensor comes from.
            grad["line"] = self._lines[name][-1]
        return {"leaf": name, "grad": grad, "is_read": True} if self._is_read(name) else {"leaf": name, "grad": grad}

    def _is_read(self, name: str) -> bool:
        return _dotted(name) in self._asked

    def _read_constants(self, grads: dict[str, Gradient], named: NamedTensors) -> None:
        seen: set[int] = set()
        for name, tensor in named.constants:
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            is_frozen = self._reasons.is_frozen(tensor) or (isinstance(tensor, Parameter) and "." in name)
            if (is_frozen or self._is_read(name)) and name not in grads:
                grads[name] = self._reasons.not_required(name, tensor)

    def _read_intermediates(self, grads: dict[str, Gradient], one: Pass, named: NamedTensors) -> None:
        """Results that the program asks for `.grad`, or that are all it kept of a leaf that it gave no name."""
        for name, tensor in named.intermediates:
            if tensor._is_view() and tensor._version:
                # Asking such a view for its grad_fn would make the engine build another node.
                continue
            entry = one.nodes.get(grad_fn_of(tensor))
            if entry is None:
                continue
            leaves = [
                receiver.record.variable
                for receiver, _, _ in entry.targets
                if receiver is not None and receiver.record.variable is not None
            ]
            hides_a_leaf = any(id(leaf) not in named.leaves for leaf in leaves)
            if not self._is_read(name) and not hides_a_leaf:
                continue
            key = name if name not in grads else f"{name} (not a leaf)"
            grad = tensor.grad if tensor.retains_grad else None
            grads[key] = (
                self._reasons.no_leaf(name, one, entry.record, leaves) if grad is None else self._values.value_of(grad)
            )


def _dotted(path: str) -> str:
    """`net[0].weight` as the path of a module's parameter is written: `net.0.weight`."""
    return _INDEX.sub(r".\1", path)
