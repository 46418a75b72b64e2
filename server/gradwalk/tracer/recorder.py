"""What happens in a pass, told as events."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.protocol import graph as protocol
from gradwalk.protocol.events import HookChange, PassInput, PassOutput, Problem
from gradwalk.protocol.facts import Fact, fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.protocol.values import Gradient, Missing
from gradwalk.tracer import originals
from gradwalk.tracer.arguments import is_in_place, tensors_in
from gradwalk.tracer.births import Birth
from gradwalk.tracer.calls import Call, CallLog
from gradwalk.tracer.chains import NODES_BETWEEN
from gradwalk.tracer.checking import Unchecked
from gradwalk.tracer.composites import CallFormulas
from gradwalk.tracer.culprits import Culprits
from gradwalk.tracer.custom_moves import custom_moves
from gradwalk.tracer.description import ACCUMULATE_GRAD, GraphWriter, Record
from gradwalk.tracer.explanation import (
    damage_problem,
    explain_error,
    internal_problem,
    intrusion_problem,
    place_of,
    room_ended,
    unused_input,
)
from gradwalk.tracer.findings import Findings
from gradwalk.tracer.frames import is_materializing, snippet_place
from gradwalk.tracer.gradients import StepGradients
from gradwalk.tracer.histories import Histories
from gradwalk.tracer.hooks import HookWatch
from gradwalk.tracer.interruption import TELLING, TimeLimitError
from gradwalk.tracer.leaf_grads import LeafGrads
from gradwalk.tracer.live_nodes import LiveNodes
from gradwalk.tracer.naming import NamedTensors, running_variables
from gradwalk.tracer.originals import grad_fn_of
from gradwalk.tracer.passes import (
    Asked,
    Begun,
    Pass,
    Passes,
    PassListener,
    PassNode,
    Taken,
    alive_nodes,
    resolve_inputs,
    resolve_slots,
)
from gradwalk.tracer.places import Places
from gradwalk.tracer.quiet import QuietPasses
from gradwalk.tracer.reasons import NO_GRAD_YET, Reasons
from gradwalk.tracer.schedule import Schedule
from gradwalk.tracer.second_derivatives import find_cut
from gradwalk.tracer.silent_mistakes import SilentMistakes
from gradwalk.tracer.source import Program
from gradwalk.tracer.stream import EventStream
from gradwalk.tracer.sums import ContributionSums
from gradwalk.tracer.surroundings import Surroundings
from gradwalk.tracer.transforms import batch_sizes, runs_in_transform
from gradwalk.tracer.unrecorded import Unrecorded
from gradwalk.tracer.values import ValueTable, storage_address
from gradwalk.tracer.walk import NextFunctions, Node, first_to_run, walk

LookAtPass = Callable[[int, Sequence[Any], Sequence[Any]], None]
"""Given the pass's index, its outputs and its seeds."""


NODES_WALKED: Final = 1_000_000
"""Of a graph that is too large to record as a whole."""
_NOTHING_ASKED: Final = Asked([], {}, None)
_NOT_COMPUTED: Final[Missing] = {"missing": "not_computed", "because": fact("missing-raised")}


class Recorder(PassListener):
    """Turns passes into events. One recorder serves one run."""

    _is_damaged = False
    """Whether it was said that the program broke the interpreter."""

    def __init__(
        self,
        stream: EventStream,
        limits: ResolvedLimits,
        program: Program | None,
        read_variables: Callable[[], Mapping[str, Any]],
        asked: Sequence[int] | None = None,
    ) -> None:
        self.stream = stream
        self.limits = limits
        self.values = ValueTable(limits.elements)
        self.log = CallLog(self.values, kept_calls=2 * limits.nodes)
        self.places = Places(program)
        self.writer = GraphWriter(self.log, self.values, self.places, program)
        stream.order.read_calls = CallFormulas(self.writer.formulas).read
        self.schedule = Schedule(limits, () if program is None else program.loops, asked)
        self.unrecorded = Unrecorded(self.places, stream.send)
        self.passes = Passes(self, self.log, self.schedule, self.fail_inside)
        self.surroundings: Surroundings | None = None
        self.failure: Exception | None = None
        """The first fault of our own; what the program did is not affected by it."""
        self.live_nodes = LiveNodes(limits, self.values, self.writer.formulas)
        self.look_at_pass: LookAtPass | None = None
        """Given each pass before it is recorded; what it raises ends the run."""
        self.tells_later = False
        """Whether a pass that can be described after it ran is told by `tell_passes`, and explained by `explain`."""
        self._untold: list[tuple[Pass, Any]] = []
        self.hooks = HookWatch(self.log, self.places, is_complete=program is not None)
        self.notes: list[Fact] = []
        """Sentences for the next pass."""
        self._explained: list[tuple[BaseException, int]] = []
        """Errors, and the number of each one's problem."""
        self._is_full = False
        """True once memory, or room for nested calls, ran out while recording."""
        self._finished_spans: list[Span | None] = []
        self._program = program
        self._read_variables = read_variables
        self._reasons = Reasons(self.log, self.places)
        self._leaf_grads = LeafGrads(self.writer, self.values, self._reasons, program)
        self._sums = ContributionSums(self.values, self.hooks, self.places, self.fail_inside)
        self._gradients = StepGradients(self.values, self.log, self.places, self.writer, self._reasons, self._sums)
        self._mistakes = SilentMistakes(self.log, self.places, program, self.unrecorded)
        self._findings = Findings()
        self._histories = Histories(self.log, self.places, self.values)
        self._quiet = QuietPasses(self.values, self.log, self.writer, self._ask_quietly, self._tell_piece)
        self._unchecked: list[Unchecked] = []
        """Steps whose formulas are checked when somebody asks."""
        self._named = NamedTensors()

    def fail_inside(self, error: Exception) -> None:
        """Notes what failed while recording, said once: as ours, unless looking at a tensor ran code of the program.

        That room ran out is the program's doing.
        """
        if self.failure is None and self.tell_damage(error, is_over=False):
            self.failure = error
            return
        span = self.places.span(snippet_place(originals.frame_at(1)))
        ended = room_ended(error, span)
        if ended is not None:
            # Room ended while something was put down: what would follow has a gap before it, so nothing does.
            self._is_full = True
            self.stream.end_at(*ended)
        elif self.failure is None:
            self.failure = error
            is_ours = place_of(error.__traceback__) is None
            found = internal_problem(error, span) if is_ours else intrusion_problem(error, self.places)
            self.stream.send_problem(found)

    def tell_damage(self, error: Exception, *, is_over: bool) -> bool:
        """Whether the program had broken the interpreter, which is said once, at the line that names what it broke."""
        broken = None if self.surroundings is None else self.surroundings.mend(error, is_over=is_over)
        if broken is None:
            return self._is_damaged
        if not self._is_damaged:
            self._is_damaged = True
            span = None if self._program is None else self._program.names(broken.rpartition(".")[2])
            here = place_of(error.__traceback__) or snippet_place(originals.frame_at(1))
            self.stream.send_problem(damage_problem(broken, error, span or self.places.span(here)))
        return True

    # A pass begins.

    def begin(self, one: Pass, outputs: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Any]) -> None:
        if self.look_at_pass is not None:
            self.look_at_pass(self.passes.recorded, outputs, seeds)
        if one.around is not None:
            self._describe(one.around)
            self._tell_piece(one.around)
        if self._is_full or self.stream.steps >= self.limits.steps:
            return
        frame = originals.frame_at(3)
        one.outputs = resolve_slots(outputs)
        one.sources = self.log.cuts.sources.of_all(tensors_in(outputs))
        span = self.places.span(snippet_place(frame))
        graph = self._graph_of(one, span)
        if graph is None:
            return
        one.is_recorded = True
        one.between = self.unrecorded.between()
        one.graph = graph
        one.seq_low = originals.sequence_number()
        self._find_batch(one, outputs, seeds, frame)
        records = self.writer.records(graph)
        leaves = {id(record.variable): node for node, record in records.items() if record.variable is not None}
        one.inputs = resolve_inputs(inputs, graph, leaves)
        if not one.cut:
            # What is asked for may lie behind the part that is recorded.
            one.alive = alive_nodes(one)
            if inputs and one.alive is None:
                one.alive = set()
        one.asked = inputs
        if is_materializing(frame) and all(isinstance(tensor, originals.Tensor) for tensor in inputs):
            one.materialized = [self.values.value_of(originals.zeros_like(tensor)) for tensor in inputs]
        named = self._named = self._read_names(frame)
        named.held += [output for output in outputs if isinstance(output, originals.Tensor)]
        one.span = span
        one.begun = Begun(outputs, seeds, inputs, records, {})
        if self._program is not None or self.live_nodes.wants_jacobians:
            self._describe(one)

    def _graph_of(self, one: Pass, span: Span | None) -> dict[Node, NextFunctions] | None:
        """What is recorded of the graph of a pass; None where nothing is."""
        starts = [node for node, _ in one.outputs if node is not None]
        whole = walk(starts, NODES_WALKED)
        if whole is None:
            self._end_at("nodes", fact("problem-too-many-nodes", count=NODES_WALKED), span)
            return None
        if self._program is None and len(whole) > NODES_BETWEEN:
            self.log.chains.take_all(whole)
        graph = self._part(one, starts, whole) if len(whole) > self.limits.nodes else whole
        if self._reaches_too_far(graph) or (
            self.stream.passes and one.parent is None and self.stream.steps + len(graph) > self.limits.steps
        ):
            return None
        if one.cut:
            first = len(graph) - len(one.cut)
            self._end_at("nodes", fact("problem-first-nodes", first=first, count=len(whole)), span)
        return graph

    def _end_at(self, limit: str, reached: Fact, span: Span | None = None) -> None:
        """Recording ends before the program does; what is shown before is right."""
        self.stream.end_at(limit, problem("too_big", reached, span=span))

    def _part(self, one: Pass, starts: Sequence[Node], whole: dict[Node, NextFunctions]) -> dict[Node, NextFunctions]:
        """The nodes that run first, with all their edges, and without edges the nodes that these lead to."""
        first = first_to_run(starts, whole, min(self.limits.first_nodes, self.limits.nodes))
        graph = {node: whole[node] for node in first}
        one.cut = frozenset(
            following for edges in [*graph.values()] for following, _ in edges if following not in graph
        ) - {None}
        # In an order that is the same in every run.
        reached = dict.fromkeys(following for node in first for following, _ in whole[node])
        return graph | {node: () for node in reached if node in one.cut}

    def skip(self, one: Pass, outputs: Sequence[Any]) -> Callable[[], None]:
        is_new = self.unrecorded.is_new(one)
        if is_new or self.schedule.is_learning:
            nodes = [node for node, _ in resolve_slots(outputs) if node is not None]
            graph = walk(nodes, self.limits.nodes) or {}
            self._reaches_too_far(graph)
            if is_new:
                self._learn(one, outputs, graph, originals.frame_at(4))
        return self.unrecorded.note(one, outputs)

    def _learn(self, one: Pass, outputs: Sequence[Any], graph: Mapping[Node, Any], frame: FrameType) -> None:
        """What the passes that start here start from and lead to, where none of them was recorded yet."""
        self._named = self._read_names(frame)
        one.name = next((self._tensor_name(output) for output in outputs), None)
        leaves = self.writer.records({node: () for node in graph if node.name() == ACCUMULATE_GRAD})
        self.unrecorded.learn(one, self._named_leaves(leaves.values()))

    def _named_leaves(self, records: Iterable[Record]) -> list[tuple[str, torch.Tensor]]:
        return [
            (self.writer.leaf_name(record.variable, self._named), record.variable)
            for record in records
            if record.variable is not None
        ]

    def _reaches_too_far(self, graph: Mapping[Node, Any]) -> bool:
        """Whether a graph has operations that were called while nothing listened."""
        return self.schedule.reaches([node._sequence_nr() for node in graph if node.name() != ACCUMULATE_GRAD])

    def _describe(self, one: Pass) -> None:
        """Writes the graph of a pass, and begins to tell of it; once."""
        begun, one.begun = one.begun, None
        if begun is None:
            return
        self.unrecorded.flush()
        written = self.writer.write(one.graph, begun.records, self._named)
        one.link(begun.records)
        for node, grad in begun.grads.items():
            one.nodes[node].before = self.values.value_of(grad)
        event: dict[str, Any] = {
            "seq": 0,
            "type": "pass_started",
            "pass": one.index,
            "call": one.call,
            "span": one.span,
            "outputs": [],
            "inputs": [],
            "create_graph": one.create_graph,
            "graph": written,
        }
        event["outputs"] = self._outputs(one, begun)
        event["inputs"] = self._inputs(one, begun)
        event |= one.particulars()
        if self.notes:
            event["notes"] = [*self.notes]
            self.notes.clear()
        tangents = [
            {"node": record.id, "value": self.values.value_of(tangent)}
            for record in begun.records.values()
            for leaf, tangent in self.passes.tangents
            if record.variable is leaf and tangent is not None
        ]
        if tangents:
            event["tangents"] = tangents
        self.stream.send(event)
        self.stream.passes += 1

    def _outputs(self, one: Pass, begun: Begun) -> list[PassOutput]:
        """Where the pass starts; each seed is put down as a contribution."""
        outputs: list[PassOutput] = []
        for (node, slot), seed, tensor in zip(one.outputs, begun.seeds, begun.outputs, strict=False):
            if node is None:
                one.lost = one.lost or self._histories.lost(tensor, self._tensor_name(tensor))
                continue
            record = begun.records[node]
            value: Gradient = self._gradients.value_of(seed)
            name = self._slot_name(record, slot) or self._tensor_name(tensor)
            output: PassOutput = {"node": record.id, "output_nr": slot, "name": name, "seed": value}
            if seed is not None and seed.requires_grad:
                output["seed_requires_grad"] = True
            one.name = name
            outputs.append(output)
            if seed is not None and seed.dtype != record.sides[slot].dtype:
                # The engine casts a seed as it casts what a node returns.
                seed = originals.detach(self.values.unwrap(seed)).to(record.sides[slot].dtype)
                value = output["cast"] = self.values.value_of(seed)
            entry = one.nodes[node]
            entry.arrived[slot].append({"output_nr": slot, "edge": "seed", "from_step": None, "value": value})
            if entry.summands is not None and seed is not None:
                entry.summands[slot].append(self._sums.copy(seed))
        return outputs

    def _inputs(self, one: Pass, begun: Begun) -> list[PassInput]:
        """What the pass is asked for."""
        inputs: list[PassInput] = []
        for (node, slot), tensor in zip(one.inputs, begun.inputs, strict=True):
            named = None if node is None else self._slot_name(begun.records[node], slot)
            inputs.append(
                {
                    "node": None if node is None else begun.records[node].id,
                    "output_nr": slot,
                    "name": named or self._tensor_name(tensor),
                }
            )
        return inputs

    def _find_vmaps(self, one: Pass, outputs: Sequence[Any], seeds: Sequence[Any]) -> None:
        """The vmaps of torch.func around a pass: of stacked v's alone, or of whole examples."""
        for output, seed in zip(outputs, seeds, strict=False):
            if isinstance(output, originals.Tensor) and seed is not None:
                examples, rows = batch_sizes(output), batch_sizes(seed)
                if examples:
                    one.examples = examples
                elif len(rows) == 1:
                    one.batch = rows[0]
                return

    def _find_batch(self, one: Pass, outputs: Sequence[Any], seeds: Sequence[Any], frame: FrameType) -> None:
        if any(seed is not None and originals.is_legacy_batched(seed) for seed in seeds):
            one.batch = originals.legacy_batch_size(frame)
        self.values.batch_size = one.batch
        one.is_functional = runs_in_transform()
        if one.is_functional:
            self._find_vmaps(one, outputs, seeds)

    def forget_names(self) -> None:
        """Lets go of the program's tensors, which hold their graphs."""
        self._named = NamedTensors()

    def _read_names(self, frame: FrameType) -> NamedTensors:
        named = NamedTensors()
        named.read(self._read_variables())
        for variables in running_variables(frame):
            named.read(variables)
        for _, leaf in named.leaves.values():
            if self.writer.known_name(leaf) is None and self.writer.leaf_record(leaf) is not None:
                self.writer.leaf_name(leaf, named)
        return named

    # A node runs.

    def prepare(self, entry: PassNode, grad_outputs: Any) -> None:
        variable = entry.record.variable
        if variable is not None:
            before = variable.grad
            entry.before = NO_GRAD_YET if before is None else self.values.value_of(before)
        # Where nothing had arrived, `.grad` is the grad_output itself, and hooks may write into it.
        if entry.record.kind == "custom" or (variable is not None and variable._post_accumulate_grad_hooks):
            entry.changed = [None if one is None else self.values.value_of(one) for one in grad_outputs]

    def watch(self, node: Node, entry: PassNode) -> Sequence[Any]:
        def sent(gradient: torch.Tensor | None, argnum: int) -> Gradient:
            ruled = None if entry.returned is None else entry.returned[argnum]
            missing = self._reasons.returned_nothing(entry.record, argnum, ruled) if gradient is None else None
            return entry.missing[argnum] or missing or self._gradients.value_of(gradient)

        watched = self.hooks.watch_after(entry, sent)
        return [
            watched,
            *self.hooks.watch_before(node, entry, lambda gradient, _slot: self._gradients.value_of(gradient)),
        ]

    def step(self, one: Pass, node: Node, entry: PassNode, grad_inputs: Any, grad_outputs: Any) -> None:
        if self._may_tell(one):
            if one.create_graph:
                self._note_birth(one, entry)
            unfitted = self.log.take_returned(node, entry.targets)
            received = self._gradients.received(entry, grad_outputs, self.log.materialized(node))
            taken = Taken(node, grad_inputs, grad_outputs, {}, None, entry.record.variable)
            self._tell_step(one, entry, taken, received, unfitted)

    def _note_writes(self, one: Pass, entry: PassNode, index: int, grad_outputs: Any) -> None:
        """What wrote into gradients of the pass: hooks, which may do so, and a custom backward, which must not."""
        for chain in (*entry.received.values(), *entry.sent.values()):
            one.writers += [change["span"] for change in chain.changes(self.places)]
        if entry.changed is None or entry.record.kind != "custom":
            return
        for before, gradient in zip(entry.changed, grad_outputs, strict=False):
            now = None if gradient is None else self.values.value_of(gradient)
            if before is None or now is None or now == before:
                continue
            writes = [call.place for call in entry.inner or () if is_in_place(call.label)]
            span = self.places.span(writes[-1]) if writes else self._entry_write(entry, gradient)
            one.writers.append(span)
            self._mistakes.note_write(entry.record.described(), index, before, now, span)

    def _entry_write(self, entry: PassNode, gradient: torch.Tensor) -> Span | None:
        """Where a custom backward wrote entries of a gradient, as `g[i] = 0` does, which has no result to be listed."""
        address, call = storage_address(gradient), entry.record.call
        backward: Any = call and getattr(call.function, "backward", None)
        code = getattr(backward and originals.innermost(backward), "__code__", None)
        places = [place for where, _, place, _ in self.log.changes if where == address and place and place[0] is code]
        return self.places.span(places[-1]) if places else entry.record.described().get("backward_span")

    def watch_quietly(self, one: Pass) -> Any:
        if self.live_nodes.look_at_step is not None:
            return None
        self.stream.catch_up = lambda: self._tell_piece(one)
        if one.begun is not None:
            recording = self._quiet.record(one, one.begun)
            if recording is None:
                self.writer.kept.release()
                self._describe(one)
            return recording
        return None if self._program is None else self._quiet.watch(one, on_nodes=self.hooks.may_be_on_nodes)

    def _ask_quietly(self, one: Pass, entry: PassNode, grad_outputs: Any, grad_inputs: Any) -> Asked:
        if entry.record.variable is not None:
            return _NOTHING_ASKED
        with originals.without_torch_function():
            try:
                return self.live_nodes.ask(
                    one, originals.current_node(), entry, self.stream.steps, grad_outputs, grad_inputs, {}
                )
            except Exception as error:  # noqa: BLE001 (an exception here would become the program's)
                self.fail_inside(error)
                return _NOTHING_ASKED

    def _tell_piece(self, one: Pass) -> None:
        """Tells what the hooks of a quiet pass have taken, while it runs."""
        taken = [*one.taken]
        if taken:
            with TELLING:
                self._tell(one)
                self._quiet.forget(one, taken)

    def _tell(self, one: Pass) -> None:
        """Tells what the hooks of a quiet pass have taken since the last time."""
        taken = [*one.taken]
        one.taken.clear()
        with originals.without_torch_function(), torch.no_grad():
            try:
                self._quiet.pack(one, taken)
            except Exception as error:  # noqa: BLE001 (our own fault must not become the program's)
                self.fail_inside(error)
            self._describe(one)
            for each in taken:
                try:
                    self._tell_taken(one, each)
                except Exception as error:  # noqa: BLE001 (see above)
                    self.fail_inside(error)

    def _tell_taken(self, one: Pass, taken: Taken) -> None:
        entry = one.nodes[taken.node]
        entry.executed = True
        one.latest = entry
        if self._may_tell(one):
            if taken.copies:
                returned = [taken.copies.get(argnum, gradient) for argnum, gradient in enumerate(taken.grad_inputs)]
                taken = taken._replace(grad_inputs=returned)
            self._tell_step(one, entry, taken, self._gradients.received(entry, taken.grad_outputs, ()), {})

    def _tell_step(
        self,
        one: Pass,
        entry: PassNode,
        taken: Taken,
        received: list[Gradient],
        unfitted: dict[int, torch.Tensor],
    ) -> None:
        """Tells of a node that ran; see `LiveNodes.ask` for `unfitted`."""
        node, grad_inputs, grad_outputs, _, asked, leaf = taken
        record, index = entry.record, self.stream.steps
        returned = self._gradients.returned(one, entry, grad_inputs, index)
        hooks = self._sums.check(entry, received, grad_outputs if one.is_quiet else (), one.writers)
        self._note_writes(one, entry, index, grad_outputs)
        ruled = grad_inputs if entry.returned is None else entry.returned
        if asked is None:
            asked = self.live_nodes.ask(one, node, entry, index, grad_outputs, ruled, unfitted)
        event = self._step_event(one, entry, received, returned, hooks)
        event["local_jacobians"] = asked.jacobians
        if entry.inner:
            names = (self.places.targets(call.place) for call in entry.inner)
            inside = [*zip(event["inside"], names, strict=True)]
            found = custom_moves(record.described(), inside, received, returned, self.values)
            if found:
                event["moves"] = found
        changes = self._gradients.changes(entry, asked.unfitted, ruled)
        if changes:
            event["changes"] = changes
        described = self._check_formula(one, entry, event, asked, grad_outputs, ruled)
        if self.live_nodes.look_at_step is None:
            self._findings.note(event, described)
            if leaf is None:
                self._mistakes.note_step(node, described, index)
            else:
                self._mistakes.note_accumulation(leaf, entry.before, described, index, one)
            if one.create_graph and record.kind == "custom" and record.call is not None:
                self._note_cut(one, record, record.call, node, entry)
        self.stream.send(event)
        self.stream.steps += 1

    def _may_tell(self, one: Pass) -> bool:
        """Whether another step may be told; says so once where no more may."""
        if self._is_full:
            return False
        if self.stream.steps >= self.limits.steps:
            one.skipped_steps += 1
            self._end_at("steps", fact("problem-too-many-steps", count=self.limits.steps))
            return False
        return True

    def _step_event(
        self,
        one: Pass,
        entry: PassNode,
        received: list[Gradient],
        returned: list[Gradient],
        hooks: Sequence[HookChange],
    ) -> dict[str, Any]:
        leaf = entry.record.variable
        event: dict[str, Any] = {
            "seq": 0,
            "type": "step",
            "pass": one.index,
            "index": self.stream.steps,
            "node": entry.record.id,
            "grad_outputs": received,
            "contributions": entry.arrived[0] if len(entry.arrived) == 1 else sum(entry.arrived, []),
            "grad_inputs": returned,
            "local_jacobians": [],
            "accumulate": None if leaf is None else self._gradients.accumulated(entry, leaf, self._named),
        }
        if hooks:
            event["hooks"] = hooks
        if entry.inner:
            event["inside"] = [self.writer.inner_op(call) for call in entry.inner]
        return event

    def _note_cut(self, one: Pass, record: Record, call: Call, node: Node, entry: PassNode) -> None:
        """Whether a derivative of this pass would be incomplete because of what a Function saved."""
        function = type(node)._forward_cls
        cut = find_cut(
            record.described(), call, entry.inner or (), lambda name: self.writer.save_span(function, name), self.places
        )
        if cut is not None and all(known.node != cut.node for known in one.cuts):
            one.cuts.append(cut)

    def _check_formula(  # noqa: PLR0913 (what one step saw)
        self, one: Pass, entry: PassNode, event: dict[str, Any], asked: Asked, grad_outputs: Any, grad_inputs: Any
    ) -> protocol.Node:
        """Says whether the node's formula holds here, with its numbers; gives the node as it may be told of."""
        record = entry.record
        described = record.described()
        if asked.saved is None:
            return described
        shapes = [None if side is None else side.shape for side in entry.operand_sides()]
        step = Unchecked(event, record, asked.saved, grad_outputs, grad_inputs, shapes)
        if one.is_quiet:
            self._unchecked.append(step)
            return described
        self.writer.explain()
        return described if step.check(self.writer.formulas) else {**described, "formula": None}

    def explain(self) -> None:
        """Writes what explains the passes into what was told of them: formulas, and whether they hold."""
        self.writer.explain()
        unchecked, self._unchecked = self._unchecked, []
        with originals.without_torch_function():
            for step in unchecked:
                step.check(self.writer.formulas)

    def _note_birth(self, one: Pass, entry: PassNode) -> None:
        birth = Birth(entry.started_at, originals.sequence_number(), one.index, entry.record.id)
        self.writer.births.add(birth)

    # A pass ends.

    def finish(self, one: Pass, results: Any) -> None:
        if one.begun is not None and self.tells_later:
            one.is_kept = True
            self._untold.append((one, results))
            return
        self._finish(one, results)

    def tell_passes(self) -> None:
        """Tells the passes that were only recorded. Nothing that they used may have changed since."""
        untold, self._untold = self._untold, []
        for one, results in untold:
            with originals.without_torch_function():
                try:
                    self._finish(one, results)
                except Exception as error:  # noqa: BLE001 (said as a problem)
                    self.fail_inside(error)
            one.release()

    def _finish(self, one: Pass, results: Any) -> None:
        self._tell(one)
        if self._is_full:
            return
        if one.create_graph:
            self.writer.births.add(Birth(one.seq_low, originals.sequence_number(), one.index, None))
        event: dict[str, Any] = {
            "seq": 0,
            "type": "pass_finished",
            "pass": one.index,
            "leaf_grads": self._leaf_grads.read(one, self._named),
        }
        if one.call == "grad" or (one.call == "implicit" and one.batch is not None):
            event["results"] = [
                self._no_result(one, position) if result is None else self.values.value_of(result)
                for position, result in enumerate(results or ())
            ]
            filled = [position for position, result in enumerate(results or ()) if result is None]
            if filled and one.materialized:
                event["materialized"] = filled
        self._release()
        records = [entry.record for entry in one.nodes.values()]
        nodes = [record.described() for record in records]
        writers = {record.id: record.call.label for record in records if record.kind == "view_write" and record.call}
        found = self._findings.conclude(one.index, nodes, one.cuts, writers)
        if not one.cut:
            found += self._mistakes.conclude(one, nodes, self._named)
        if found:
            event["findings"] = found
        self._note_recorded(one)
        self._finished_spans.append(one.span)
        self._histories.note_pass(one, results)
        self.stream.send(event)

    def _note_recorded(self, one: Pass) -> None:
        for node in one.cut:
            # Its description has no operands; another pass may need them.
            one.nodes[node].record.node = None
        self.schedule.steps, self.schedule.entries = self.stream.steps, self.values.entries_summarised
        leaves = self._named_leaves(entry.record for entry in one.nodes.values())
        self.unrecorded.note_recorded(one, leaves)

    def _release(self) -> None:
        if self.tells_later:
            copies: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
            self._unchecked = [step.lasting(copies) for step in self._unchecked]
        else:
            self.explain()
        self.values.unpack()
        self.writer.kept.release()

    def _no_result(self, one: Pass, position: int) -> Gradient:
        if one.materialized:
            return one.materialized[position]
        return self._reasons.no_result(one.inputs[position][0] is not None)

    def fail(self, one: Pass, error: BaseException) -> None:
        self._tell(one)
        self._release()
        unused = unused_input(error, [at for at, (asked, _) in enumerate(one.inputs) if asked is None])
        node = one.failing_node(error) if unused is None else one.inputs[unused][0]
        # An output without a node is an error before the first node runs.
        if unused is None and node is not None and all(start is not None for start, _ in one.outputs):
            self._tell_failed(one, node, one.nodes[node], error)
        if self.was_explained(error):
            return
        record = None if node is None else one.nodes[node].record
        culprits = self.culprits(record, node, one)
        if unused is not None:
            name = self._tensor_name(one.asked[unused])
            culprits.unused = self._reasons.unused(name, unused, one)
        elif node is not None:
            culprits.hooks = partial(self.hooks.places_at, node, one.nodes[node])
        found = explain_error(error, culprits)
        found["span"] = found["span"] or one.span
        found["pass"] = one.index
        if record is not None:
            found["node"] = record.id
        self.explain_once(error, found)

    def _tell_failed(self, one: Pass, node: Node, entry: PassNode, error: BaseException) -> None:
        """The step of a node that raised: v had arrived, and nothing was sent on."""
        if entry.executed or entry.record.variable is not None or _is_time_up(error) or not self._may_tell(one):
            return
        if entry.changed is None:
            received = [self._sums.total(entry, slot) for slot in range(len(entry.arrived))]
        else:
            received = self._gradients.received(entry, (), self.log.materialized(node))
        refused = self.log.take_returned(node, entry.targets)
        sent: list[Gradient] = [
            missing or self._not_sent(refused.get(argnum)) for argnum, missing in enumerate(entry.missing)
        ]
        hooks = self._sums.check(entry, received, (), one.writers)
        event = self._step_event(one, entry, received, sent, hooks)
        arrived = [slot for slot, gradient in enumerate(received) if "missing" not in gradient]
        event["local_jacobians"] = self.live_nodes.ask_raised(node, entry, arrived)
        self.stream.send(event)
        self.stream.steps += 1

    def _not_sent(self, refused: torch.Tensor | None) -> Missing:
        """Why a node that raised sent nothing, with what the backward of a Function had returned."""
        return _NOT_COMPUTED if refused is None else {**_NOT_COMPUTED, "dropped": self.values.value_of(refused)}

    def was_explained(self, error: BaseException) -> bool:
        """True once a problem was sent for this very error, which comes by again on its way out.

        Time is up once, however often the clock has to ring until the program ends.
        """
        return any(error is known or (_is_time_up(error) and _is_time_up(known)) for known, _ in self._explained)

    def explain_once(self, error: BaseException, found: Problem) -> None:
        """Sends the problem of an error."""
        self._explained.append((error, self.stream.send_problem(found)))

    def caught(self, last: BaseException | None) -> list[int]:
        """The problems whose errors are not among what the program ended with: it caught them and went on."""
        ending: set[int] = set()
        while last is not None and id(last) not in ending:
            ending.add(id(last))
            last = last.__cause__ or last.__context__
        return [number for error, number in self._explained if id(error) not in ending]

    def culprits(self, record: Record | None = None, node: Node | None = None, one: Pass | None = None) -> Culprits:
        """What is known around an error, in a pass or outside of any."""
        storages, saves = self._named.storages, self.writer.save_span
        culprits = Culprits(self.places, self.log, record, node, self._finished_spans, storages, saves)
        return culprits if one is None else replace(culprits, lost=one.lost, asked=one.span)

    def leaf_names(self, leaves: Sequence[torch.Tensor]) -> list[str]:
        """What the program calls these leaves now."""
        named = self._read_names(originals.frame_at(1))
        return [self.writer.leaf_name(leaf, named) for leaf in leaves]

    def cut_of(self, leaf: torch.Tensor, name: str) -> Fact | None:
        """Where the program takes something computed from this leaf, of this name, out of the graph."""
        return self._reasons.cut_of(leaf, name)

    def leaves_of(self, output: torch.Tensor) -> list[torch.Tensor]:
        """The leaves that an output depends on, in the order of the graph."""
        graph = walk([grad_fn_of(output)], self.limits.nodes) or {}
        return [node.variable for node in graph if node.name() == ACCUMULATE_GRAD]

    # Names.

    def _slot_name(self, record: Record, slot: int) -> str | None:
        described = record.node
        if described is None or slot >= len(described["outputs"]):
            return None
        return described["outputs"][slot]["name"]

    def _tensor_name(self, tensor: Any) -> str | None:
        known = self._named.leaves.get(id(tensor))
        if known is not None:
            return known[0]
        others = (*self._named.intermediates, *self._named.constants)
        return next((name for name, one in others if one is tensor), None)


def _is_time_up(error: BaseException) -> bool:
    return isinstance(error, TimeLimitError)
