"""What only a live node can tell while its hook runs: its local Jacobians, and what it saved."""

from collections.abc import Callable, Sequence
from typing import Any

import torch

from gradwalk.protocol.events import LocalJacobian
from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer import originals
from gradwalk.tracer.backward_checks import BackwardChecks
from gradwalk.tracer.direction_check import Gradients
from gradwalk.tracer.jacobian import JacobianBudget, local_jacobians, small_jacobians
from gradwalk.tracer.node_formulas import NodeFormulas
from gradwalk.tracer.passes import Asked, Pass, PassNode
from gradwalk.tracer.repeatable import is_repeatable
from gradwalk.tracer.snapshot import has_numbers
from gradwalk.tracer.values import ValueTable
from gradwalk.tracer.walk import Node

LookAtStep = Callable[[int, Node, Any, Any, Sequence[bool] | None], None]
"""Given index, live node, grad_outputs, grad_inputs and, per operand, whether a gradient flows there (None: to all)."""


class LiveNodes:
    """Asks nodes while they run."""

    def __init__(self, limits: ResolvedLimits, values: ValueTable, formulas: NodeFormulas) -> None:
        self.look_at_step: LookAtStep | None = None
        """Given each step instead of the usual local Jacobians."""
        self._limits = limits
        self._values = values
        self._formulas = formulas
        self._budget = JacobianBudget(limits.jacobian_cells, limits.jacobian_cells_total)
        self._backward_checks = BackwardChecks()

    @property
    def wants_jacobians(self) -> bool:
        """Whether any local Jacobian may be computed."""
        return self._budget.cells_each > 0

    def ask(  # noqa: PLR0913 (what one step saw)
        self,
        one: Pass,
        node: Node,
        entry: PassNode,
        index: int,
        grad_outputs: Any,
        grad_inputs: Any,
        unfitted: dict[int, torch.Tensor],
    ) -> Asked:
        """What only the live node can tell in the step of this index; a leaf has nothing to tell.

        `unfitted`: by grad_input, what the rule returned where the engine then summed or cast it; what is found out of
        it is put in.
        """
        record = entry.record
        if record.variable is not None:
            return Asked([], unfitted, None)
        vs, returned = grad_outputs, grad_inputs
        if one.batch is not None:
            vs, returned = ([self._first_row(gradient) for gradient in each] for each in (grad_outputs, grad_inputs))
        flowing = None if one.alive is None else [missing is None for missing in entry.missing]
        if self.look_at_step is not None:
            self.look_at_step(index, node, vs, returned, flowing)
            return Asked([], unfitted, None)
        budget = self._budget
        is_wrapped = any(
            one is not None and (originals.is_functorch_wrapped(one) or not has_numbers(one)) for one in vs
        )
        if is_wrapped or (record.kind == "custom" and not is_repeatable(type(node)._forward_cls)):
            budget = JacobianBudget(self._limits.jacobian_cells, 0)
        if is_wrapped:
            # What holds no numbers of one pass cannot be checked.
            returned = None
        sides = record.sides, entry.operand_sides()
        refit = unfitted.update if one.batch is None and not is_wrapped else dict[int, torch.Tensor]().update
        found: list[Any] = local_jacobians(node, vs, returned, budget, flowing=flowing, sides=sides, refit=refit)
        if record.kind == "custom" and not is_wrapped and not self._is_written(entry, grad_outputs):
            gradients = Gradients(vs, returned)
            self._backward_checks.add(node, record.call, found, record.described()["outputs"], gradients)
        is_op = record.kind == "op"
        saved = self._formulas.evidence(node, record.name, grad_outputs, grad_inputs) if is_op else None
        return Asked(found, unfitted, saved)

    def ask_raised(self, node: Node, entry: PassNode, arrived: Sequence[int]) -> list[LocalJacobian]:
        """The local Jacobians of a Function whose backward raised, for the outputs at which a gradient had arrived."""
        record, budget = entry.record, JacobianBudget(self._limits.jacobian_cells, 0)
        if record.kind != "custom":
            return []
        flowing = [None if entry.missing[argnum] else side for argnum, side in enumerate(entry.operand_sides())]
        wanted = small_jacobians(arrived, record.sides, flowing, budget)
        return self._backward_checks.derivatives(node, record.call, wanted, record.described()["outputs"])

    def _is_written(self, entry: PassNode, grad_outputs: Any) -> bool:
        """Whether backward wrote into a v that it was given, so that nobody has it any more."""
        return any(
            before is not None and v is not None and self._values.value_of(v) != before
            for before, v in zip(entry.changed or (), grad_outputs, strict=False)
        )

    def _first_row(self, gradient: torch.Tensor | None) -> torch.Tensor | None:
        """The first of m stacked v's: they all meet the same local Jacobian."""
        if gradient is None or not originals.is_legacy_batched(gradient):
            return gradient
        return originals.detach(self._values.unwrap(gradient))[0]
