"""The nodes of torch's operator database, executed once for all tests of formulas."""

import pytest
import torch

from gradwalk.formulas.registry import entry_of
from tests.formulas.live_nodes import Visit, operators, run_backward, sample_visits
from tests.formulas.samples import EDGES, HAND_SAMPLES


@pytest.fixture(scope="session")
def visits() -> dict[str, list[tuple[str, Visit]]]:
    """All covered nodes met in the operator database and the hand samples, with where each was met."""
    met: dict[str, list[tuple[str, Visit]]] = {}
    for op in operators():
        for visit in sample_visits(op):
            if visit.has_gradients and entry_of(visit.node_name) is not None:
                met.setdefault(visit.node_name, []).append((op.full_name, visit))
    torch.manual_seed(0)
    for node_name, sample in HAND_SAMPLES.items():
        for visit in run_backward([sample()]):
            if visit.node_name == node_name:
                met.setdefault(node_name, []).append(("hand", visit))
    for edge in EDGES:
        for visit in run_backward([edge()]):
            if visit.has_gradients and entry_of(visit.node_name) is not None:
                met.setdefault(visit.node_name, []).append(("edge", visit))
    return met
