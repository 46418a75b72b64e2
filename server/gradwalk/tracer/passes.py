"""Backward passes: every way to start one is caught, every executed node becomes a step.

The engine is subclassed, not patched, so `Tensor.backward`, `autograd.backward`, `autograd.grad`,
torch.func and checkpointing all come through `run_backward`. One shared posthook serves all nodes; it
asks the engine which node is running and captures nothing, so no graph is kept alive.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any, Final, NamedTuple

import torch

from gradwalk.protocol.events import Between, Contribution
from gradwalk.protocol.events import Call as CallName
from gradwalk.protocol.facts import fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.values import Gradient, Missing, TensorValue
from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallLog, InnerCall
from gradwalk.tracer.description import Record, not_required
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.interruption import INTERRUPTION, TELLING
from gradwalk.tracer.originals import grad_fn_of
from gradwalk.tracer.patches import replaced
from gradwalk.tracer.rewrites import Chain
from gradwalk.tracer.schedule import Schedule
from gradwalk.tracer.second_derivatives import Cut
from gradwalk.tracer.sides import Side
from gradwalk.tracer.walk import NextFunctions, Node, leading_to, next_to_run

UNDEFINED: Final[Missing] = {
    "missing": "undefined",
    "because": fact("missing-unused-output"),
}

PRUNED: Final[Missing] = {"missing": "no_path", "because": fact("missing-pruned")}
"""An edge that `inputs=` cut off."""

MATERIALIZED: Final[Missing] = {
    "missing": "undefined",
    "because": fact("missing-materialized"),
    "materialized": True,
}

NAN_FOUND: Final = "returned nan values in its"
"""What anomaly mode says of the node that ran last."""
NO_NODE_RAN: Final = " gradients"
"""How the engine ends what it says of too few `v` or too many, before it begins."""


class Asked(NamedTuple):
    """What only a live node can tell, while its hook runs."""

    jacobians: list[Any]
    unfitted: dict[int, torch.Tensor]
    """By grad_input, what the rule returned where the engine then summed or cast it."""
    saved: dict[str, Any] | None
    """What it saved, where its formula is to be checked."""


class Taken(NamedTuple):
    """One executed node of a quiet pass, to be told later."""

    node: Node
    grad_inputs: Sequence[torch.Tensor | None]
    grad_outputs: Sequence[torch.Tensor | None]
    copies: Mapping[int, torch.Tensor]
    """By argnum, the grad_inputs into which a hook that nobody saw might write, as they were returned."""
    asked: Asked | None
    """None where everything can still be asked when it is told."""
    leaf: torch.Tensor | None
    """Whose `.grad` was accumulated."""


class Begun(NamedTuple):
    """How a pass began, while its graph is not described yet."""

    outputs: Sequence[Any]
    seeds: Sequence[Any]
    inputs: Sequence[Any]
    records: dict[Node, Record]
    grads: dict[Node, torch.Tensor]
    """Copies of the `.grad`s that its leaves had."""


@dataclass(slots=True, eq=False)
class PassNode:
    """One node in one pass."""

    record: Record
    arrived: list[list[Contribution]]
    """By output, what reaches it."""
    targets: "list[tuple[PassNode | None, int, str | None]]" = field(default_factory=list)
    """Per grad_input: where it goes (node and output slot) and along which edge."""
    missing: list[Missing | None] = field(default_factory=list)
    """Per grad_input: why it must be absent, None where a gradient can flow."""
    summands: list[list[torch.Tensor]] | None = None
    """Copies of the contributions, where an output gets more than one."""
    executed: bool = False
    has_mode: bool = False
    before: Gradient | None = None
    """`.grad` of a leaf before this node ran."""
    inner: list[InnerCall] | None = None
    """What a custom backward did."""
    changed: list[TensorValue | None] | None = None
    """grad_outputs before a custom backward, or hooks after accumulation, which may write into them."""
    started_at: int = 0
    received: dict[int, Chain] = field(default_factory=dict)
    """By output, what hooks that run before the node made of its gradient."""
    returned: Sequence[torch.Tensor | None] | None = None
    """What the rule returned, where hooks came after it."""
    sent: dict[int, Chain] = field(default_factory=dict)
    """By grad_input, what hooks that run after the node made of it."""
    kept: dict[int, Chain] = field(default_factory=dict)
    """Only for a leaf, under 0: what hooks that run after accumulation made of `.grad`."""

    def operand_sides(self) -> list[Side | None]:
        """Per grad_input the side it belongs to, None where no edge leads on."""
        return [None if receiver is None else receiver.record.sides[slot] for receiver, slot, _ in self.targets]


@dataclass(slots=True, eq=False)
class Pass:
    """One backward pass while it runs."""

    index: int
    """Among those that are recorded."""
    number: int
    """Among all that ran."""
    call: CallName
    parent: int | None
    create_graph: bool
    place: Place | None = None
    """What starts it."""
    sources: int = 0
    """What the outputs come from, as bits."""
    name: str | None = None
    """What the program calls its last output."""
    between: Sequence[Between] = ()
    """What was done to the leaves since the pass before."""
    is_recorded: bool = False
    is_quiet: bool = False
    """Quiet: no Python of the program runs in it; hooks take references, and steps are told later."""
    is_kept: bool = False
    """True where it is told of after all; whoever tells it lets go of it."""
    begun: Begun | None = None
    """Until its graph is described."""
    taken: list[Taken] = field(default_factory=list)
    """What ran and is not told yet, in order."""
    graph: dict[Node, NextFunctions] = field(default_factory=dict)
    nodes: dict[Node, PassNode] = field(default_factory=dict)
    alive: set[Node] | None = None
    """The nodes that `inputs=` leaves of the pass; None when all run."""
    cut: frozenset[Node] = frozenset()
    """The nodes of its graph at which recording ends, where that is too large: they run, and are not told."""
    outputs: list[tuple[Node | None, int]] = field(default_factory=list)
    inputs: list[tuple[Node | None, int]] = field(default_factory=list)
    examples: list[int] = field(default_factory=list)
    """How many examples the vmaps of torch.func run at once, outermost first; each has a Jacobian of its own."""
    is_functional: bool = False
    """True for a pass of torch.func, which knows only the arguments of its function."""
    asked: Sequence[Any] = ()
    """What `inputs` says, as it was given."""
    materialized: list[TensorValue] = field(default_factory=list)
    """Per input the zeros that `materialize_grads=True` gives where nothing arrives; empty without it."""
    batch: int | None = None
    current: PassNode | None = None
    seq_low: int = 0
    span: Span | None = None
    """Of the call that started it."""
    skipped_steps: int = 0
    around: "Pass | None" = None
    """The recorded pass that runs this one."""
    latest: PassNode | None = None
    """The node that ran last."""
    writers: list[Span | None] = field(default_factory=list)
    """What has changed a gradient in this pass: hooks, and custom backwards that write into their arguments."""
    lost: Any = None
    """Why an output has no history, where one has none."""
    cuts: list[Cut] = field(default_factory=list)
    """Second derivatives that will be incomplete."""

    def link(self, records: dict[Node, Record]) -> None:
        """Puts down in `nodes` who hands what to whom in this pass, and where more than one contribution meets."""
        alive, nodes = self.alive, self.nodes
        for node, record in records.items():
            outputs = 1 if record.node is None else record.node["output_count"]
            nodes[node] = PassNode(record, [[] for _ in range(outputs)])
        fan_in: Counter[tuple[PassNode, int]] = Counter()
        for node, entry in nodes.items():
            runs = alive is None or node in alive
            for argnum, (target, slot) in enumerate(self.graph[node]):
                if target is None:
                    entry.targets.append((None, slot, None))
                    entry.missing.append(_no_edge(entry.record, argnum))
                    continue
                entry.targets.append((nodes[target], slot, entry.record.edge_ids[argnum]))
                pruned = alive is not None and target not in alive
                entry.missing.append(PRUNED if pruned else None)
                if runs and not pruned:
                    fan_in[nodes[target], slot] += 1
        fan_in.update((nodes[start], slot) for start, slot in self.outputs if start is not None)
        for (receiver, _), count in fan_in.items():
            if count > 1 and receiver.summands is None:
                receiver.summands = [[] for _ in receiver.arrived]

    def particulars(self) -> dict[str, Any]:
        """What the event of its start says only where there is something to say."""
        told = {
            "number": None if self.number == self.index else self.number,
            "parent": self.parent,
            "batch": self.batch,
            "examples": self.examples or None,
            "between": [*self.between] or None,
        }
        return {name: value for name, value in told.items() if value is not None}

    def failing_node(self, error: BaseException) -> Node | None:
        """The node that was running, or was next, when the engine raised; what a node returned is judged after it."""
        if str(error).startswith("got ") and str(error).endswith(NO_NODE_RAN):
            return None
        blamed = self.latest if NAN_FOUND in str(error) else self.current
        if blamed is not None:
            for node, entry in self.nodes.items():
                if entry is blamed:
                    return node
        executed = {node for node, entry in self.nodes.items() if entry.executed}
        return next_to_run(self.graph, self.alive, executed)

    def release(self) -> None:
        """Lets go of every node: a wrapper that is kept keeps the whole graph and all it saved."""
        self.graph = {}
        self.nodes = {}
        self.alive = None
        self.cut = frozenset()
        self.outputs = []
        self.inputs = []
        self.asked = ()
        self.around = None
        self.current = None
        self.latest = None
        self.begun = None
        self.taken = []


def _no_edge(record: Record, argnum: int) -> Missing:
    described = record.node
    if described is not None and argnum < len(described["inputs"]):
        operand = described["inputs"][argnum]
        return operand.get("missing") or not_required(operand)
    return {"missing": "not_required"}


class PassListener:
    """What a pass tells while it runs. Implemented by the recorder; every method is called with torch functions off."""

    def begin(self, one: Pass, outputs: Sequence[Any], seeds: Sequence[Any], inputs: Sequence[Any]) -> None:
        """The pass is about to run."""
        raise NotImplementedError

    def skip(self, one: Pass, outputs: Sequence[Any]) -> Callable[[], None]:
        """The pass is about to run and is not recorded; what this gives is called once it came to its end."""
        raise NotImplementedError

    def watch(self, node: Node, entry: PassNode) -> Sequence[Any]:
        """Our posthook was just put on a node that will run; gives what is to be removed with it."""
        raise NotImplementedError

    def step(self, one: Pass, node: Node, entry: PassNode, grad_inputs: Any, grad_outputs: Any) -> None:
        """A node ran."""
        raise NotImplementedError

    def watch_quietly(self, one: Pass) -> Any:
        """Puts hooks on the nodes of a quiet pass, to be removed after it; None where the pass is none."""
        raise NotImplementedError

    def prepare(self, entry: PassNode, grad_outputs: Any) -> None:
        """A node whose state before it runs matters is about to run."""
        raise NotImplementedError

    def finish(self, one: Pass, results: Any) -> None:
        """The pass came to its end."""
        raise NotImplementedError

    def fail(self, one: Pass, error: BaseException) -> None:
        """The pass raised."""
        raise NotImplementedError


class RecordingEngine(torch._C._ImperativeEngine):
    """torch's engine, which tells a listener about each pass."""

    def __new__(cls, *_arguments: Any) -> "RecordingEngine":
        return super().__new__(cls)

    def __init__(self, passes: "Passes") -> None:
        super().__init__()
        self._passes = passes

    def run_backward(  # noqa: PLR0913 (torch's signature)
        self,
        tensors: Sequence[Any],
        grad_tensors: Sequence[Any],
        keep_graph: bool,
        create_graph: bool,
        inputs: Sequence[Any] = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> Any:
        """As torch's own, recorded."""
        seeds = self._passes.chosen_seeds(tensors, grad_tensors)

        def run() -> Any:
            return super(RecordingEngine, self).run_backward(
                tensors,
                seeds,
                keep_graph,
                create_graph,
                inputs,
                allow_unreachable=allow_unreachable,
                accumulate_grad=accumulate_grad,
            )

        return self._passes.record(run, tensors, seeds, inputs, create_graph=create_graph, accumulate=accumulate_grad)


class Passes:
    """The stack of running passes, and the hooks on their nodes."""

    def __init__(
        self, listener: PassListener, log: CallLog, schedule: Schedule, on_failure: Callable[[Exception], None]
    ) -> None:
        self._listener = listener
        self._log = log
        self._schedule = schedule
        self._on_failure = on_failure
        self._stacks: dict[int, list[Pass]] = {}
        self._latest: list[Pass] = []
        self.recorded = 0
        """Passes recorded so far."""
        self.mode: Any = None
        """Entered while Python code of a node runs: the engine starts every node without function modes."""
        self.implicit = False
        """Set while the recorder itself starts the pass that the program did not."""
        self.tangents: Sequence[tuple[torch.Tensor, torch.Tensor | None]] = ()
        """Of that pass: leaves, and the directions in which forward mode pushed them."""
        self.choose_seed: Callable[[torch.Tensor], torch.Tensor] | None = None
        """Given the output at which the program starts its first pass: the v to start from instead of the program's."""
        self.has_chosen = False

    def chosen_seeds(self, outputs: Sequence[Any], seeds: Sequence[Any]) -> Sequence[Any]:
        """The v's of the pass that is about to run: the program's, but for the one that may be chosen.

        That is the v of the program's first pass, where it starts at one tensor of several numbers and v is a tensor
        like any other: neither a stack of v's under vmap nor itself a part of a graph.
        """
        if self.choose_seed is None or self.implicit or self._schedule.number > 0 or len(outputs) != 1:
            return seeds
        (output,), (seed,) = outputs, seeds
        if not isinstance(output, torch.Tensor) or not isinstance(seed, torch.Tensor) or output.dim() == 0:
            return seeds
        if seed.requires_grad or originals.is_functorch_wrapped(seed):
            return seeds
        self.has_chosen = True
        with originals.without_torch_function():
            return (self.choose_seed(output),)

    @property
    def count(self) -> int:
        """Passes started so far, recorded or not."""
        return self._schedule.number

    def watching(self) -> AbstractContextManager[None]:
        """Inside, the recording engine is in torch's place for it."""
        return replaced(lambda: torch.autograd.Variable, "_execution_engine", RecordingEngine(self))

    def record(  # noqa: PLR0913 (one argument of run_backward each)
        self,
        run: Callable[[], Any],
        outputs: Sequence[Any],
        seeds: Sequence[Any],
        inputs: Sequence[Any],
        *,
        create_graph: bool,
        accumulate: bool,
    ) -> Any:
        """Runs one pass through the real engine and tells the listener about it."""
        stack = self._stacks.setdefault(get_ident(), [])
        around = next((one for one in reversed(stack) if one.is_recorded), None) if stack else None
        call: CallName = "implicit" if self.implicit else "backward" if accumulate else "grad"
        place = snippet_place(originals.frame_at(2))
        is_due = stack[-1].is_recorded if stack else self._schedule.is_due(place)
        one = Pass(
            index=self.recorded,
            number=self._schedule.take_number(),
            call=call,
            parent=None if around is None else around.index,
            create_graph=create_graph,
            place=place,
            around=around,
        )
        handles: list[Any] = []
        if is_due:
            with originals.without_torch_function():
                try:
                    with TELLING:
                        self._listener.begin(one, outputs, seeds, inputs)
                        if one.is_recorded:
                            self.recorded += 1
                            handles = self._attach(one)
                except Exception as error:  # noqa: BLE001 (our own fault must not become the program's)
                    one.is_recorded = False
                    self._on_failure(error)
        if not one.is_recorded and not stack:
            return self._pass_by(run, one, outputs)
        stack.append(one)
        self._latest = stack
        # Operations of an enclosing custom backward are listed there, those of this pass are not.
        inner, self._log.inner = self._log.inner, []
        try:
            INTERRUPTION.raise_if_due()
            results = run()
        except BaseException as error:
            self._end(one, handles, stack, inner)
            self._tell(one, self._listener.fail, error)
            raise
        self._end(one, handles, stack, inner)
        self._tell(one, self._listener.finish, results)
        return results

    def _pass_by(self, run: Callable[[], Any], one: Pass, outputs: Sequence[Any]) -> Any:
        """Runs a pass that is not recorded. Nothing was hooked, so nothing is told of its nodes."""
        end = self._guard(self._listener.skip, one, outputs)
        inner, self._log.inner = self._log.inner, []
        try:
            INTERRUPTION.raise_if_due()
            results = run()
        finally:
            self._log.inner = inner
            self._schedule.look_ahead()
        if end is not None:
            self._guard(end)
        return results

    def _end(self, one: Pass, handles: list[Any], stack: list[Pass], inner: list[list[InnerCall]]) -> None:
        self._log.inner = inner
        stack.remove(one)
        for handle in handles:
            handle.remove()
        if not stack:
            self._schedule.look_ahead()

    def _tell(self, one: Pass, tell: Callable[[Pass, Any], None], outcome: Any) -> None:
        if one.is_recorded:
            with TELLING:
                self._guard(tell, one, outcome)
        self._log.given = self._log.returned = None
        if not one.is_kept:
            one.release()

    def _guard(self, tell: Callable[..., Any], *arguments: Any) -> Any:
        """Our own fault must not become the program's, nor what we read be seen by its `__torch_function__`."""
        with originals.without_torch_function():
            try:
                return tell(*arguments)
            except Exception as error:  # noqa: BLE001 (see above)
                self._on_failure(error)
                return None

    def _attach(self, one: Pass) -> list[Any]:
        """Hooks on every node that will run. A prehook costs as much as a posthook, so only where it is needed."""
        quiet = self._listener.watch_quietly(one)
        if quiet is not None:
            return [quiet]
        handles = []
        alive = one.alive
        before, after = self._before, self._after
        for node, entry in one.nodes.items():
            if (alive is not None and node not in alive) or node in one.cut:
                continue
            handles.append(node.register_hook(after))
            handles += self._listener.watch(node, entry)
            if one.create_graph or entry.record.kind != "op":
                handles.append(node.register_prehook(before))
        return handles

    def _running(self) -> tuple[Pass | None, Node, PassNode | None]:
        # Engine threads of deeply nested passes have no stack of their own.
        stack = self._stacks.get(get_ident()) or self._latest
        node = originals.current_node()
        one = stack[-1] if stack else None
        return one, node, None if one is None else one.nodes.get(node)

    def _before(self, grad_outputs: Any) -> None:
        one, node, entry = self._running()
        if one is None or entry is None or entry.executed:
            return
        one.current = entry
        self._guard(self._listener.prepare, entry, grad_outputs)
        entry.started_at = originals.sequence_number()
        if not entry.record.is_python or self.mode is None:
            return
        if entry.record.kind == "custom":
            entry.inner = []
            self._log.inner.append(entry.inner)
        if originals.count_modes() == 0:
            originals.push_mode(self.mode)
            entry.has_mode = True

    def _after(self, grad_inputs: Any, grad_outputs: Any) -> None:
        one, node, entry = self._running()
        if one is None or entry is None or entry.executed:
            return
        entry.executed = True
        one.current = None
        one.latest = entry
        if entry.has_mode:
            entry.has_mode = False
            originals.pop_mode()
        if entry.inner is not None and self._log.inner:
            self._log.inner.pop()
        self._guard(self._listener.step, one, node, entry, grad_inputs, grad_outputs)
        INTERRUPTION.raise_if_due()


def resolve_slots(tensors: Sequence[Any]) -> list[tuple[Node | None, int]]:
    """(node, output_nr) of the tensors that a pass starts from; builds no node for anything but a leaf."""
    slots: list[tuple[Node | None, int]] = []
    for tensor in tensors:
        if isinstance(tensor, originals.GradientEdge):
            slots.append((tensor.node, tensor.output_nr))
        elif grad_fn_of(tensor) is not None:
            slots.append((grad_fn_of(tensor), tensor.output_nr))
        elif tensor.requires_grad:
            slots.append((leaf_node(tensor), 0))
        else:
            slots.append((None, 0))
    return slots


def leaf_node(leaf: torch.Tensor) -> Node | None:
    """The AccumulateGrad of a leaf that is itself an output."""
    try:
        with torch.enable_grad():
            return torch.autograd.graph.get_gradient_edge(leaf).node
    except (AttributeError, AssertionError, RuntimeError):
        # A tensor that outlived the torch.func transform it belongs to has no history any more; a view of a leaf that a
        # Function's forward takes never had one, though it requires grad; a view may refuse it (`grad_fn_of`).
        return None


def resolve_inputs(
    inputs: Sequence[Any], graph: dict[Node, NextFunctions], leaves: dict[int, Node]
) -> list[tuple[Node | None, int]]:
    """(node, output_nr) of what a pass is asked for; a leaf is found by its variable, so that no node is built."""
    slots: list[tuple[Node | None, int]] = []
    for tensor in inputs:
        if isinstance(tensor, originals.GradientEdge):
            slots.append((tensor.node if tensor.node in graph else None, tensor.output_nr))
        elif grad_fn_of(tensor) is not None:
            slots.append((grad_fn_of(tensor) if grad_fn_of(tensor) in graph else None, tensor.output_nr))
        else:
            slots.append((leaves.get(id(tensor)), 0))
    return slots


def alive_nodes(one: Pass) -> set[Node] | None:
    """The nodes that lead to what the pass is asked for; None when it is asked for everything."""
    if not one.inputs:
        return None
    return leading_to([node for node, _ in one.inputs if node is not None], one.graph)
