"""Passes in which no Python of the program runs: hooks only take references, and the steps are told later.

A reference keeps the engine from adding into a gradient in place, and from handing it out as a `.grad`; so what was
taken is still what it was when the pass is over. Where a hook may have been registered before anybody watched, what
it could write into is copied at once.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from time import perf_counter
from typing import Any, Final

import torch

from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.description import GraphWriter, Record
from gradwalk.tracer.passes import Asked, Begun, Pass, PassNode, Taken
from gradwalk.tracer.values import ValueTable
from gradwalk.tracer.walk import Node

SECONDS_UNTOLD: Final = 0.05
"""A pass that takes longer is told in pieces."""
TAKEN_TOGETHER: Final = 32
"""Nodes after which memory is looked at."""
BYTES_HELD: Final = 2**28
"""Of gradients that are not told yet, where nobody waits for them."""
_PLAIN_TYPES: Final = frozenset({torch.Tensor, torch.nn.Parameter})

Ask = Callable[[Pass, PassNode, Any, Any], Asked]
"""Given the pass, what stands in it for the node that is running, grad_outputs and grad_inputs; in a hook."""


class QuietPasses:
    """Recognises quiet passes, and takes what their nodes are given and return."""

    def __init__(
        self, values: ValueTable, log: CallLog, writer: GraphWriter, ask: Ask, tell: Callable[[Pass], None]
    ) -> None:
        self._values = values
        self._writer = writer
        self._log = log
        self._ask = ask
        self._tell = tell

    def watch(self, one: Pass, *, on_nodes: bool) -> "QuietHooks | None":
        """Puts hooks on the nodes of a pass of a program, whose hooks are all known; None where it is not quiet.

        `on_nodes`: the program may have put hooks on nodes.
        """
        running = _running(one)
        if (
            self._writer.met_python
            or not self._is_quiet(one)
            or not all(_is_unwatched(one.nodes[node]) for node in running)
        ):
            return None
        ask, append, is_due, tell = self._ask, one.taken.append, _by_time(), self._tell

        def taker(node: Node) -> Callable[[Any, Any], None]:
            entry = one.nodes[node]
            leaf = entry.record.variable

            def take(grad_inputs: Any, grad_outputs: Any) -> None:
                asked = ask(one, entry, grad_outputs, grad_inputs)
                append(Taken(node, grad_inputs, grad_outputs, _NO_COPIES, asked, leaf))
                if is_due():
                    tell(one)

            return take

        hooks = QuietHooks()
        if not hooks.attach(((node, taker(node)) for node in running), look_before=on_nodes):
            return None
        for node in running:
            entry = one.nodes[node]
            leaf = entry.record.variable
            if leaf is not None and leaf.grad is not None:
                entry.before = self._values.value_of(leaf.grad)
        one.is_quiet = True
        return hooks

    def record(self, one: Pass, begun: Begun) -> "QuietHooks | None":
        """As `watch`, of a graph that was there before anybody watched, and that is described after the pass.

        What its nodes saved is kept, and what a hook that nobody saw might write into is copied.
        """
        running, records = _running(one), begun.records
        if not self._is_quiet(one) or not all(_is_plain(records[node]) for node in running):
            return None
        keep = self._writer.kept.keep
        if not all(keep(node) for node, record in records.items() if record.kind == "op"):
            return None
        append, is_due, tell = one.taken.append, _by_memory(one), self._tell
        graph = one.graph

        def taker(node: Node) -> Callable[[Any, Any], None]:
            leaf = records[node].variable
            risked = [
                argnum
                for argnum, (target, _) in enumerate(graph[node])
                if target is not None and records[target].variable is None
            ]

            def take(grad_inputs: Any, grad_outputs: Any) -> None:
                copies = {argnum: clone(each) for argnum in risked if (each := grad_inputs[argnum]) is not None}
                append(Taken(node, grad_inputs, grad_outputs, copies, None, leaf))
                if is_due():
                    tell(one)

            return take

        clone = originals.clone
        hooks = QuietHooks()
        if not hooks.attach(((node, taker(node)) for node in running), look_before=True):
            return None
        for node in running:
            leaf = records[node].variable
            if leaf is not None and leaf.grad is not None:
                begun.grads[node] = clone(originals.detach(leaf.grad))
        seeds = [clone(each) if isinstance(each, originals.Tensor) else each for each in begun.seeds]
        one.begun = begun._replace(seeds=seeds)
        one.is_quiet = True
        return hooks

    def _is_quiet(self, one: Pass) -> bool:
        is_ordinary = not (one.create_graph or one.batch or one.is_functional or one.around)
        is_watched_by_torch = torch.is_anomaly_enabled() or originals.count_dispatch_modes()
        return is_ordinary and not is_watched_by_torch and not self._log.hooks and not self._log.inner

    def forget(self, one: Pass, taken: Sequence[Taken]) -> None:
        """Lets go of what was told, except for gradients that have not arrived yet where nothing can change them."""
        self._values.unpack(
            gradient
            for node, grad_inputs, _, copies, *_ in taken
            for gradient, (receiver, _, _) in zip(grad_inputs, one.nodes[node].targets, strict=False)
            if gradient is not None and receiver is not None and not receiver.executed and not copies
        )

    def pack(self, one: Pass, taken: Sequence[Taken]) -> None:
        """Reads everything that was taken, at once; with it what the graph holds, where that is not described yet."""
        tensors: list[torch.Tensor] = []
        copied: list[tuple[torch.Tensor, torch.Tensor]] = []
        if one.begun is not None:
            leaves = (record.variable for record in one.begun.records.values())
            tensors += [*self._writer.kept.tensors(), *(leaf for leaf in leaves if leaf is not None)]
            tensors += one.begun.grads.values()
        for _, grad_inputs, grad_outputs, copies, _, leaf in taken:
            if copies:
                copied += [(grad_inputs[argnum], copy) for argnum, copy in copies.items()]  # type: ignore[misc]
                tensors += [
                    each for argnum, each in enumerate(grad_inputs) if each is not None and argnum not in copies
                ]
            else:
                tensors += [each for each in grad_inputs if each is not None]
            tensors += [each for each in grad_outputs if each is not None]
            if leaf is not None and leaf.grad is not None:
                tensors.append(leaf.grad)
        self._values.pack(tensors, copied)


_NO_COPIES: Final[Mapping[int, torch.Tensor]] = {}


def _running(one: Pass) -> list[Node]:
    alive = one.alive
    return [node for node in one.graph if (alive is None or node in alive) and node not in one.cut]


def _is_unwatched(entry: PassNode) -> bool:
    described = entry.record.node
    return _is_plain(entry.record) and described is not None and not any("was" in one for one in described["saved"])


def _is_plain(record: Record) -> bool:
    """Whether no Python of the program runs with this node."""
    leaf = record.variable
    if leaf is None:
        return record.kind == "op"
    return type(leaf) in _PLAIN_TYPES and not leaf._backward_hooks and not leaf._post_accumulate_grad_hooks


def _by_time() -> Callable[[], bool]:
    """Somebody may be waiting; what is told does not depend on when."""
    due = perf_counter() + SECONDS_UNTOLD

    def is_due() -> bool:
        nonlocal due
        now = perf_counter()
        if now < due:
            return False
        due = now + SECONDS_UNTOLD
        return True

    return is_due


def _by_memory(one: Pass) -> Callable[[], bool]:
    """What is told depends on when, so when depends on counts."""
    held = 0

    def is_due() -> bool:
        nonlocal held
        if len(one.taken) % TAKEN_TOGETHER:
            return False
        for taken in one.taken[-TAKEN_TOGETHER:]:
            held += sum(each.nbytes for each in (*taken.grad_inputs, *taken.grad_outputs) if each is not None)
        if held < BYTES_HELD:
            return False
        held = 0
        return True

    return is_due


class QuietHooks:
    """Posthooks of ours on nodes that have no other hooks. torch asks a function of its own for each node's table."""

    __slots__ = ("_tables",)

    def __init__(self) -> None:
        self._tables: list[OrderedDict[Any, Any]] = []

    def attach(self, hooks: Iterable[tuple[Node, Callable[..., None]]], *, look_before: bool) -> bool:
        """Puts each hook on its node; False, and none is left, where a node has hooks of somebody else.

        `look_before` looks for prehooks, too.
        """
        register = torch.autograd.Function._register_hook
        torch.autograd.Function._register_hook = staticmethod(self._register)  # type: ignore[method-assign]
        try:
            for node, hook in hooks:
                node.register_hook(hook)
                if look_before:
                    _look_before(node)
        except _OccupiedError:
            self.remove()
            return False
        finally:
            torch.autograd.Function._register_hook = staticmethod(register)  # type: ignore[method-assign]
        return True

    def _register(self, present: OrderedDict[Any, Any] | None, hook: Any) -> tuple[OrderedDict[Any, Any], None]:
        if hook is _look_before:
            raise _OccupiedError if present else _FreeError
        if present:
            raise _OccupiedError
        table: OrderedDict[Any, Any] = OrderedDict() if present is None else present
        table[self] = hook
        self._tables.append(table)
        return table, None

    def remove(self) -> None:
        """Takes them away."""
        for table in self._tables:
            del table[self]
        self._tables.clear()


class _OccupiedError(Exception):
    """A node has hooks of somebody else."""


class _FreeError(Exception):
    """A node has no prehooks; raised so that torch adds none."""


def _look_before(node: Node) -> None:
    with suppress(_FreeError):
        node.register_prehook(_look_before)
