"""Autograd nodes to the protocol's nodes, edges and groups; ids keep their meaning over all passes."""

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any, Final

import torch

from gradwalk.formulas.derivatives import DerivativeEntry, derivative_line, operand_names
from gradwalk.formulas.letters import SUBSCRIPTS, Letters
from gradwalk.protocol import graph as protocol
from gradwalk.protocol.facts import fact
from gradwalk.protocol.values import Missing, TensorValue
from gradwalk.tracer.births import Births
from gradwalk.tracer.calls import Call, CallLog, InnerCall
from gradwalk.tracer.composites import find_call, is_arranging
from gradwalk.tracer.custom import FunctionTexts, is_users_function
from gradwalk.tracer.grouping import Grouping
from gradwalk.tracer.naming import NamedTensors
from gradwalk.tracer.node_formulas import NodeFormulas, Unexplained
from gradwalk.tracer.originals import Tensor, grad_fn_of, sequence_number
from gradwalk.tracer.places import Places
from gradwalk.tracer.saved import KeptFields, SavedReader, note_on, option_entry
from gradwalk.tracer.sides import Side, side_of
from gradwalk.tracer.source import Program
from gradwalk.tracer.text import called, transposed
from gradwalk.tracer.threads import NOTE, ThreadMarks
from gradwalk.tracer.transforms import unwrapped
from gradwalk.tracer.unseen import fill_unseen, not_kept, shapes_of
from gradwalk.tracer.values import ValueTable, storage_address
from gradwalk.tracer.walk import NextFunctions, Node
from gradwalk.tracer.wording import Wording, operand_places

ACCUMULATE_GRAD: Final = "torch::autograd::AccumulateGrad"
_VIEW_WRITES: Final = frozenset({"CopySlices", "CopyBackwards"})
_OPERANDS: Final = 2
_OUT_OF_SIGHT: Final = fact("note-out-of-sight")
_OVERLOAD_DIGITS: Final = re.compile(r"Backward\d*$")


@dataclass(slots=True, eq=False)
class Record:
    """What stays known of a node over all passes."""

    id: str
    name: str
    kind: protocol.NodeKind = "op"
    sequence: int = -1
    """The engine's own number."""
    is_python: bool = False
    """True for a node whose backward is written in Python."""
    is_foreign: bool = False
    """True for a node that another thread made: its number says nothing here."""
    edge_ids: list[str | None] = field(default_factory=list)
    node: protocol.Node | None = None
    """Its description, once written."""
    call: Call | None = None
    entry: DerivativeEntry | None = None
    sides: list[Side] = field(default_factory=list)
    """One per output."""
    variable: torch.Tensor | None = None
    """Only for a leaf."""
    letters: Letters = field(default_factory=Letters)
    """What its formula calls its symbols."""

    def described(self) -> protocol.Node:
        """Its description, which the start of the pass wrote."""
        if self.node is None:
            raise LookupError(f"{self.name} ran in a pass that did not describe it")
        return self.node


_Unexplained = tuple[Record, protocol.Node, list[protocol.Output], Unexplained, list[Record | None]]
"""A node, its description, its outputs as they were named then, what its formula needs, and who made its operands."""


class GraphWriter:
    """Describes the graph of each pass."""

    def __init__(self, log: CallLog, values: ValueTable, places: Places, program: Program | None) -> None:
        self._log = log
        self._values = values
        self._places = places
        self._program = program
        self._texts = None if program is None else FunctionTexts(program)
        self.kept = KeptFields()
        self._saved = SavedReader(values, self.kept)
        self._wording = Wording(log, places)
        self._grouping = Grouping(places)
        self._token = object()
        self._records: dict[int, Record] = {}
        self._leaves: dict[int, Record] = {}
        self._leaf_names: dict[str, str] = {}
        self._next_edge = 0
        self._first_sequence = sequence_number()
        """Numbers are told relative to the run's start: what ran before in this process must not show."""
        self._unexplained: list[_Unexplained] = []
        self.formulas = NodeFormulas(self.kept, values, () if program is None else sorted(program.defined_names))
        self.births = Births()
        self.threads = ThreadMarks()
        self._names: dict[int, str] = {}
        """Identity of a leaf -> its name."""

    @property
    def met_python(self) -> bool:
        """Whether Python of the program runs where the latest graph's saved tensors are read."""
        return self._saved.met_python

    def records(self, graph: dict[Node, NextFunctions]) -> dict[Node, Record]:
        """The record of each node of a graph, new ones numbered in its order."""
        return {node: self._record(node) for node in graph}

    def leaf_record(self, leaf: torch.Tensor) -> Record | None:
        """The record of a leaf that was met in some pass."""
        record = self._leaves.get(id(leaf))
        return record if record is not None and record.variable is leaf else None

    def known_name(self, leaf: torch.Tensor) -> str | None:
        """The name that a leaf was given; None before."""
        return self._names.get(self._log.identities.of(leaf))

    def leaf_name(self, leaf: torch.Tensor, named: NamedTensors) -> str:
        """The name of a leaf; two leaves of one trace never share one."""
        known = self.known_name(leaf)
        if known is not None:
            return known
        found = named.leaves.get(id(leaf))
        name = found[0] if found else None
        if name is None:
            place = self._log.leaf_place(leaf)
            targets = self._places.targets(place)
            name = self._log.argument_name(leaf) or self._log.parameter_name(leaf)
            name = name or (targets[0] if targets else None) or self._places.text(place) or "leaf"
        unique, count = name, 1
        while unique in self._leaf_names:
            count += 1
            unique = f"{name}{str(count).translate(SUBSCRIPTS)}"
        self._leaf_names[unique] = name
        self._names[self._log.identities.of(leaf)] = unique
        return unique

    def write(
        self, graph: dict[Node, NextFunctions], records: dict[Node, Record], named: NamedTensors
    ) -> protocol.Graph:
        """The graph of one pass."""
        if self._program is None and not self._next_edge:
            self._first_sequence = min((one.sequence for one in records.values() if one.sequence >= 0), default=0)
        self._saved.met_python = False
        with self._values.together():
            nodes = [self._describe(node, record, graph[node], records, named) for node, record in records.items()]
        for described in nodes:
            _compare_saved(described)
        edges: list[protocol.Edge] = []
        owners: dict[str, Call] = {}
        users: dict[str, list[str]] = {}
        for node, record in records.items():
            if record.call is not None:
                owners[record.id] = record.call
            for argnum, ((target, slot), edge_id) in enumerate(zip(graph[node], record.edge_ids, strict=True)):
                if target is None or edge_id is None:
                    continue
                producer = records[target]
                edges.append(
                    {
                        "id": edge_id,
                        "from": {"node": producer.id, "output_nr": slot},
                        "to": {"node": record.id, "argnum": argnum},
                    }
                )
                if producer.variable is not None and "." in (self.known_name(producer.variable) or ""):
                    users.setdefault(producer.id, []).append(record.id)
        _name_by_their_uses(nodes, edges)
        _name_intermediates(records, named)
        if self._program is None:
            self._read_held(records, named.held)
        left_over = not_kept(records.values()) if self._program is None else None
        fill_unseen(nodes, edges, shapes_of(records.values()), self._values, left_over)
        groups, group_of = self._grouping.group(owners, named.modules, users)
        for described in nodes:
            described["group"] = group_of.get(described["id"])
        variables = {self._log.identities.of(tensor): name for name, tensor in reversed(named.constants)}
        _find_calls(groups, nodes, edges, owners, variables)
        return {"nodes": nodes, "edges": edges, "groups": groups}

    def save_span(self, function: type, name: str) -> protocol.Span | None:
        """Where a custom Function saves what is called `name`."""
        return None if self._texts is None else self._texts.save_span(function, name)

    def inner_op(self, call: InnerCall) -> protocol.InnerOp:
        """One operation inside a custom Function, as the protocol spells it."""
        return {
            "op": call.label,
            "span": self._places.span(call.place),
            "inputs": call.inputs,
            "outputs": call.outputs,
        }

    def _record(self, node: Node) -> Record:
        name = node.name()
        if name == ACCUMULATE_GRAD:
            return self._leaf_record(node)
        number = node.metadata.get(self._token)
        if number is not None:
            return self._records[number]
        number = len(self._records)
        node.metadata[self._token] = number
        record = Record(f"n{number}", name.removeprefix("torch::autograd::"))
        self._records[number] = record
        record.entry = derivative_line(record.name)
        record.kind = self._kind(node, record)
        record.sides = [side_of(metadata) for metadata in node._input_metadata]
        sequence = record.sequence = node._sequence_nr()
        if self.threads.holds(node):
            record.is_foreign = True
            return record
        record.call = self._log.by_sequence.get(sequence)
        return record

    def _leaf_record(self, node: Node) -> Record:
        variable = node.variable
        record = self._leaves.get(id(variable))
        if record is None or record.variable is not variable:
            record = Record(f"n{len(self._records)}", "AccumulateGrad", "accumulate_grad", variable=variable)
            self._records[len(self._records)] = record
            self._leaves[id(variable)] = record
        # A leaf keeps its node when `.data` gives it another shape.
        record.sides = [side_of(metadata) for metadata in node._input_metadata]
        return record

    def _kind(self, node: Node, record: Record) -> protocol.NodeKind:
        if record.entry is not None:
            return "op"
        if record.name in _VIEW_WRITES:
            return "view_write"
        function = getattr(type(node), "_forward_cls", None)
        record.is_python = function is not None
        if function is not None and (is_users_function(function) or self._program is None):
            return "custom"
        return "other"

    def _describe(
        self, node: Node, record: Record, edges: NextFunctions, records: dict[Node, Record], named: NamedTensors
    ) -> protocol.Node:
        known = record.node
        if record.variable is not None:
            described = record.node = self._describe_leaf(record, record.variable, named)
            record.edge_ids = []
            return described
        if known is not None:
            self.explain()
            described = record.node = known.copy()
            described["saved"] = self._read_saved(node, record, {})
            return described
        record.edge_ids = [None if target is None else self._new_edge() for target, _ in edges]
        saved = self._read_saved(node, record, named.storages)
        described = record.node = self._describe_new(node, record, saved, named.leaf_names)
        described["inputs"] = self._operands(record, edges, records, saved)
        for operand, (target, slot) in zip(described["inputs"], edges, strict=True):
            source = None if target is None else self._source(target, slot, record.call, records, named)
            if source is not None:
                operand["source"] = source
        names = [operand["name"] for operand in described["inputs"]]
        places = operand_places(record.call, record.entry, names)
        for argnum, source in self._wording.constants(
            record.call, described["op"], described["inputs"], places
        ).items():
            described["inputs"][argnum]["source"] = source
        _name_by_memory(described, named)
        for operand in described["inputs"]:
            if "edge" not in operand:
                operand["missing"] = _missing(operand, record)
        if record.kind == "op":
            operand_sides = [None if target is None else records[target].sides[slot] for target, slot in edges]
            known_now = self.formulas.read(node, record.name, described["inputs"], operand_sides, record.sides)
            makers = [None if target is None else records[target] for target, _ in edges]
            outputs = self._outputs_in_formula(record, described)
            self._unexplained.append((record, described, outputs, known_now, makers))
        return described

    def _outputs_in_formula(self, record: Record, described: protocol.Node) -> list[protocol.Output]:
        """Outputs get further names from where they are used; a formula is written in those of its own line."""
        outputs = [one.copy() for one in described["outputs"]]
        if not self._wording.is_apart(record.call, described["op"], described["inputs"]):
            for output in outputs:
                # The text speaks of other values by the operands' names.
                output.pop("source", None)
        return outputs

    def explain(self) -> None:
        """Writes the formulas of all nodes that were described and have none yet."""
        unexplained, self._unexplained = self._unexplained, []
        for record, described, outputs, known_now, makers in unexplained:
            ops = [_said_op(record), *(None if maker is None else _said_op(maker) for maker in makers)]
            found = self.formulas.describe(record.name, known_now, described["inputs"], outputs, ops)
            described["formula"], record.letters = found.formula, found.letters

    def _source(
        self, node: Node, slot: int, user: Call | None, records: dict[Node, Record], named: NamedTensors
    ) -> str | None:
        """What the program calls an operand that `user` takes: its variable, or the text that computes it."""
        producer = records[node]
        if producer.variable is not None:
            return self.leaf_name(producer.variable, named)
        if producer.is_foreign:
            return None
        output = producer.sequence, slot
        variable = self._wording.variable(output, named.leaf_names)
        found = (
            variable
            or self._wording.text(output, self._others(producer.sequence, named.leaf_names))
            or _unpacked((node, slot), named)
        )
        if found is not None or producer.name != "TBackward0" or producer.call is None or producer.call is not user:
            return found
        ((origin, origin_slot),) = node.next_functions
        name = None if origin is None else self._source(origin, origin_slot, user, records, named)
        return None if name is None else transposed(name)

    def _describe_new(
        self, node: Node, record: Record, saved: list[protocol.SavedTensor], leaves: Set[str]
    ) -> protocol.Node:
        call, op = record.call, _op_of(record)
        sequence = record.sequence
        described: protocol.Node = {
            "id": record.id,
            "name": record.name,
            "op": op,
            "kind": record.kind,
            "label": op.lstrip("_") or op,
            "span": None if call is None else self._places.span(call.place),
            "group": None,
            "inputs": [],
            "outputs": [],
            "output_count": 0,
            "saved": saved,
            "formula": None,
            "sequence_nr": sequence - self._first_sequence,
        }
        if record.is_foreign:
            described["note"] = NOTE
            sequence = -1
        elif call is None and self._program is not None and self.births.find(sequence) is None:
            described["note"] = _OUT_OF_SIGHT
        described["outputs"] = outputs = self._outputs(record, sequence, saved, leaves)
        described["output_count"] = len(outputs)
        born = self.births.find(sequence)
        if born is not None:
            described["born"] = {"pass_index": born.pass_index, "node": born.node}
        if call is not None and call.operations:
            described["inside"] = [self.inner_op(one) for one in call.operations]
        if record.kind == "custom" and self._texts is not None:
            backward = self._texts.span(getattr(type(node)._forward_cls, "backward", None))
            if backward is not None:
                described["backward_span"] = backward
        return described

    def _describe_leaf(self, record: Record, variable: torch.Tensor, named: NamedTensors) -> protocol.Node:
        name = self.leaf_name(variable, named)
        described: protocol.Node = {
            "id": record.id,
            "name": "AccumulateGrad",
            "op": "accumulate_grad",
            "kind": "accumulate_grad",
            "label": name,
            "span": self._places.span(self._log.leaf_place(variable)),
            "group": None,
            "inputs": [],
            "outputs": [{"value": self._values.value_of(variable), "name": name}],
            "output_count": 1,
            "saved": [],
            "formula": None,
            "sequence_nr": None,
            "leaf": name,
        }
        program, span = self._program, described["span"]
        if program is not None and program.sets(name, None if span is None else span["line"]):
            is_argument = self._log.argument_name(variable) is not None
            if not is_argument or named.storages.get(storage_address(unwrapped(variable))) == name:
                described["input"] = name
        return described

    def _others(self, sequence: int, leaves: Set[str]) -> Set[str]:
        """The names of those leaves that the call of a node was not given."""
        call = self._log.by_sequence.get(sequence)
        given = () if call is None else call.arguments
        return leaves - {self._names.get(identity, "") for identity, _, _ in given}

    def _outputs(
        self, record: Record, sequence: int, saved: list[protocol.SavedTensor], leaves: Set[str]
    ) -> list[protocol.Output]:
        known = self._log.outputs
        outputs: list[protocol.Output] = [
            {"value": known.get((sequence, slot)), "name": None} for slot in range(len(record.sides))
        ]
        for slot, output in enumerate(outputs):
            variable = self._wording.variable((sequence, slot), leaves)
            text = self._wording.text((sequence, slot), self._others(sequence, leaves))
            output["name"] = _whole(variable) if record.kind == "view_write" else variable
            if text is not None and record.kind != "view_write":
                output["source"] = text
        if len(outputs) == 1 and outputs[0]["value"] is None:
            for one in saved:
                if one["is_output"] and one["value"] is not None:
                    outputs[0]["value"] = one["value"]
        return outputs

    def _operands(
        self,
        record: Record,
        edges: NextFunctions,
        records: dict[Node, Record],
        saved: list[protocol.SavedTensor],
    ) -> list[protocol.Operand]:
        call = record.call
        names = operand_names(record.name, len(edges))
        if call is not None and call.parameters is not None and len(call.parameters) == len(edges):
            names = tuple(call.parameters)
        by_name = {one["name"]: one["value"] for one in saved if one["is_input"] and one["value"] is not None}
        places = operand_places(call, record.entry, names)
        constants = _constants(call, edges)
        if call is not None and call.number is not None and len(edges) == _OPERANDS and record.kind == "op":
            constants = [call.number]
        operands: list[protocol.Operand] = []
        for argnum, (target, slot) in enumerate(edges):
            value: Any
            if target is None and call is not None and places is not None:
                value = call.constants.get(places[argnum])
                if value is None:
                    value = by_name.get(names[argnum])
            elif target is None:
                value = constants.pop(0) if constants else by_name.get(names[argnum])
            else:
                value = self._operand_value(records[target], slot, call)
                if value is None:
                    value = by_name.get(names[argnum])
            operand: protocol.Operand = {"argnum": argnum, "name": names[argnum], "value": value}
            edge_id = record.edge_ids[argnum]
            if edge_id is not None:
                operand["edge"] = edge_id
            operands.append(operand)
        return operands

    def _operand_value(self, producer: Record, slot: int, call: Call | None) -> TensorValue | None:
        variable = producer.variable
        if variable is None:
            return None if producer.is_foreign else self._log.outputs.get((producer.sequence, slot))
        for identity, _, value in call.arguments if call is not None else ():
            if identity == self._log.identities.of(variable):
                return value
        return self._values.value_of(variable)

    def _is_argument(self, tensor: torch.Tensor, call: Call | None) -> bool:
        """Whether what a Function saved was handed to its forward. What forward computed itself has no history."""
        if call is None or tensor.requires_grad:
            return True
        return any(identity == self._log.identities.of(tensor) for identity, _, _ in call.arguments)

    def _read_saved(self, node: Node, record: Record, storages: Mapping[int, str]) -> list[protocol.SavedTensor]:
        """What a node holds; `storages` names the variables whose memory a built-in node's tensors may share."""
        if record.kind == "op":
            return self._saved.read(node, record.entry, storages)
        function = getattr(type(node), "_forward_cls", None)
        if function is None:
            return self._saved.read(node, None, {})
        return self._read_context(node, function, record.call)

    def _read_context(self, node: Node, function: type, call: Call | None) -> list[protocol.SavedTensor]:
        """What a Function's ctx holds: saved tensors, attributes, needs_input_grad."""
        found: list[protocol.SavedTensor] = []
        names: list[str] = []
        try:
            tensors = node.saved_tensors
            if self._texts is not None:
                names = self._texts.saved_names(function, len(tensors))
        except RuntimeError as error:
            names = self._texts.saved_names(function) if self._texts is not None else []
            packed = {"value": None, "version": None, "is_input": False, "is_output": False, "note": note_on(error)}
            found += [{"name": name, **packed} for name in names or ["saved_tensors"]]  # type: ignore[typeddict-item]
            tensors = ()
        for position, tensor in enumerate(tensors):
            name = names[position] if len(names) == len(tensors) else f"saved_tensors[{position}]"
            if isinstance(tensor, Tensor):
                is_output = grad_fn_of(tensor) is node
                is_input = not is_output and self._is_argument(tensor, call)
                found.append(self._saved.tensor_entry(name, tensor, is_input, is_output))
        for name, value in [("needs_input_grad", node.needs_input_grad), *vars(node).items()]:
            if isinstance(value, Tensor):
                is_output = grad_fn_of(value) is node
                is_input = not is_output and self._is_argument(value, call)
                held = self._saved.tensor_entry(f"ctx.{name}", value, is_input, is_output)
                if is_input and call is not None:
                    # Torch counts no writes for it.
                    self._compare_held(held, name, self._log.identities.of(value), call)
                found.append({**held, "version": None})
            else:
                found.append(option_entry(f"ctx.{name}", value, is_input=False))
        return found

    def _compare_held(self, held: protocol.SavedTensor, name: str, identity: int, call: Call) -> None:
        """Tells whether a tensor that ctx holds as an attribute has other values than when forward was over."""
        (known, was), now = call.held.get(name, (None, None)), held["value"]
        if known != identity or was is None or now is None or not {"shape", "dtype"} <= was.keys() & now.keys():
            return
        if (was["shape"], was["dtype"]) == (now["shape"], now["dtype"]) and was != now:
            held["was"] = was

    def _read_held(self, records: dict[Node, Record], held: list[torch.Tensor]) -> None:
        """Values of results that somebody still holds, where no call was seen to give them."""
        for tensor in held:
            if tensor._is_view() and tensor._version:
                continue
            record = records.get(grad_fn_of(tensor))
            if record is None or record.node is None or tensor.output_nr >= len(record.node["outputs"]):
                continue
            output = record.node["outputs"][tensor.output_nr]
            if output["value"] is None:
                output["value"] = self._values.value_of(tensor)

    def _new_edge(self) -> str:
        self._next_edge += 1
        return f"e{self._next_edge - 1}"


def _unpacked(output: tuple[Node, int], named: NamedTensors) -> str | None:
    """The variable that holds an output now, as of `x, y = p`; a place in a list may have been another's before."""
    name = named.results.get(output)
    return name if name is not None and name.isidentifier() else None


def _name_intermediates(records: Mapping[Node, Record], named: NamedTensors) -> None:
    for (node, slot), name in named.results.items():
        record = records.get(node)
        if record is None or record.node is None:
            continue
        outputs = record.node["outputs"]
        if slot < len(outputs) and outputs[slot]["name"] is None:
            outputs[slot]["name"] = name


def _name_by_their_uses(nodes: Sequence[protocol.Node], edges: Sequence[protocol.Edge]) -> None:
    """A result that has a text only where it is used, as the transpose that F.linear makes, is called by it."""
    by_id = {one["id"]: one for one in nodes}
    for edge in edges:
        producer, user = by_id[edge["from"]["node"]], by_id[edge["to"]["node"]]
        source = user["inputs"][edge["to"]["argnum"]].get("source")
        if source is not None and "leaf" not in producer and edge["from"]["output_nr"] < len(producer["outputs"]):
            output = producer["outputs"][edge["from"]["output_nr"]]
            if output["name"] is None and "source" not in output:
                output["source"] = source


def _name_by_memory(described: protocol.Node, named: NamedTensors) -> None:
    """Constants that a call inside a module was given: called by the variable that is the saved tensor."""
    aliases = {one["name"]: one["alias_of"] for one in described["saved"] if "alias_of" in one and one["is_input"]}
    for operand in described["inputs"]:
        alias, value = aliases.get(operand["name"]), operand["value"]
        if alias is None or value is None or "edge" in operand or "source" in operand:
            continue
        if any(name == alias and [*tensor.shape] == value["shape"] for name, tensor in named.constants):
            operand["source"] = alias


def _op_of(record: Record) -> str:
    return record.entry.op.rstrip("_") if record.entry is not None else _OVERLOAD_DIGITS.sub("", record.name)


def _said_op(record: Record) -> str:
    """`log_softmax` for torch's `_log_softmax`, `leaf` for a leaf."""
    return "leaf" if record.variable is not None else _op_of(record).strip("_").removesuffix("_forward")


def _missing(operand: protocol.Operand, record: Record) -> Missing:
    """Why no gradient flows to an operand without an edge: one that a call may leave out, a number, a tensor."""
    name, value = called(operand), operand["value"]
    if value is None and record.entry is not None and f"Tensor? {operand['name']}" in record.entry.schema:
        return {"missing": "not_required", "because": fact("missing-not-given", name=name)}
    is_number = value is not None and record.call is not None and value is record.call.number
    if is_number or _NUMBER.fullmatch(name):
        return {"missing": "not_required", "because": fact("missing-number", name=name)}
    return not_required(operand)


_NUMBER: Final = re.compile(r"-?\d+(\.\d*)?(e[+-]?\d+)?")

_TORCHS_NAMES: Final = frozenset(
    {"batch1", "batch2", "input", "mat1", "mat2", "other", "self", "source", "tensor1", "tensor2", "vec", "vec1",
     "vec2"}
)  # fmt: skip
"""What derivatives.yaml calls operands that the reader knows by their place only; of lists, `tensors[1]`."""


def not_required(operand: protocol.Operand) -> Missing:
    """Why no gradient flows to a tensor without an edge."""
    name, value = called(operand), operand["value"]
    if value is not None and not value["dtype"].startswith(("float", "bfloat", "complex")):
        because = fact("missing-integer", name=name, dtype=value["dtype"])
    elif name in _TORCHS_NAMES or name == operand["name"] and "[" in name:
        because = fact("missing-operand-not-asked", number=str(operand["argnum"] + 1))
    else:
        because = fact("missing-not-asked", name=name)
    return {"missing": "not_required", "because": because}


def _find_calls(
    groups: Sequence[protocol.Group],
    nodes: Sequence[protocol.Node],
    edges: Sequence[protocol.Edge],
    owners: Mapping[str, Call],
    variables: Mapping[int, str],
) -> None:
    """Says of each group that is one operation what it is as that."""
    by_id = {node["id"]: node for node in nodes}
    sources = {(edge["to"]["node"], edge["to"]["argnum"]): edge["from"]["node"] for edge in edges}
    for node in nodes:
        # Another pass may have seen all of the call.
        node.pop("arranges", None)
    for group in groups:
        members = [by_id[one] for one in group["nodes"] if by_id[one]["kind"] != "accumulate_grad"]
        calls = {owners.get(member["id"]) for member in members}
        call = calls.pop() if len(calls) == 1 else None
        if call is None:
            continue
        found = find_call(members, sources, call, variables)
        if found is not None:
            group["call"] = found
            for member in members:
                if is_arranging(member):
                    member["arranges"] = True


def _compare_saved(described: protocol.Node) -> None:
    """Tells which saved tensors do not hold any more what the forward pass saw; torch raises where it noticed."""
    forward = {operand["name"]: operand["value"] for operand in described["inputs"]}
    result = described["outputs"][0]["value"] if len(described["outputs"]) == 1 else None
    for saved in described["saved"]:
        was = forward.get(saved["name"]) if saved["is_input"] else result if saved["is_output"] else None
        now = saved["value"]
        if was is None or now is None or "unavailable" in was or "unavailable" in now:
            continue
        if (was["shape"], was["dtype"]) == (now["shape"], now["dtype"]) and was != now:
            saved["was"] = was


def _whole(target: str | None) -> str | None:
    """`y` for `y[0]`: what a write into a view gives is the whole tensor."""
    if target is None or not target.endswith("]"):
        return target
    depth = 0
    for position in range(len(target) - 1, -1, -1):
        depth += {"]": 1, "[": -1}.get(target[position], 0)
        if depth == 0:
            return target[:position] or None
    return None


def _constants(call: Call | None, edges: NextFunctions) -> list[TensorValue]:
    """The values of the operands without an edge, where the call's arguments say them without doubt."""
    if call is None or (call.high - call.low != 1 and call.function is None):
        return []
    constants = [value for _, requires_grad, value in call.arguments if not requires_grad]
    missing = sum(1 for target, _ in edges if target is None)
    if len(constants) != missing and call.function is None:
        # Masks and indices are no operands.
        constants = [value for value in constants if value["dtype"].startswith(("float", "bfloat", "complex"))]
    return constants if len(constants) == missing else []
