"""What the engine makes of a gradient that a rule returned: it sums what was broadcast, and casts to the dtype."""

from collections.abc import Iterator
from typing import TypedDict

import torch

from gradwalk.protocol.events import ChangeKind
from gradwalk.protocol.values import Gradient
from gradwalk.tracer import originals
from gradwalk.tracer.values import ValueTable


class Refit(TypedDict):
    """One of the two."""

    kind: ChangeKind
    before: Gradient
    after: Gradient


def fits(gradient: torch.Tensor, fitted: torch.Tensor, values: ValueTable) -> Iterator[Refit]:
    """What lies between a gradient as a rule returned it and as the engine passed it on."""
    with torch.no_grad():
        gradient, fitted = (originals.detach(values.unwrap(one)) for one in (gradient, fitted))
        if gradient.layout is not fitted.layout or gradient.is_nested:
            return
        if gradient.shape != fitted.shape:
            summed = gradient.sum_to_size(fitted.shape)
            yield {"kind": "sum_to_size", "before": values.value_of(gradient), "after": values.value_of(summed)}
            gradient = summed
        if gradient.dtype != fitted.dtype:
            yield {"kind": "cast", "before": values.value_of(gradient), "after": values.value_of(fitted)}
