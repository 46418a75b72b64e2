"""The nodes of torch's operator database, executed once for all tests of formulas."""

from typing import Any

import pytest
import torch

from gradwalk.formulas.registry import entry_of
from tests.databases import operator_database
from tests.formulas.live_nodes import Met, database_visits, run_backward
from tests.formulas.samples import EDGES, FAMILIES, HAND_SAMPLES

__all__ = ["operator_database"]


@pytest.fixture(scope="session")
def visits_of_operators(operator_database: list[Any], sweeps: bool) -> list[Met]:
    """The nodes met in the operator database, with where each was met."""
    return [*database_visits(operator_database, limit=12 if sweeps else 4)]


@pytest.fixture(scope="session")
def complex_visits(operator_database: list[Any], sweeps: bool) -> list[Met]:
    """Nodes met with complex operands."""
    return [*database_visits(operator_database, torch.complex128, limit=2 if sweeps else 1)]


@pytest.fixture(scope="session")
def visits(visits_of_operators: list[Met], sweeps: bool) -> dict[str, list[Met]]:
    """Covered nodes met in the operator database, the hand samples and at edges, by their names."""
    torch.manual_seed(0)
    found = [*visits_of_operators]
    for node_name, sample in HAND_SAMPLES.items():
        found += [("hand", visit) for visit in run_backward([sample()]) if visit.node_name == node_name]
    found += [
        ("edge", visit) for edge in [*EDGES, *FAMILIES[:: 1 if sweeps else 3]] for visit in run_backward([edge()])
    ]
    met: dict[str, list[Met]] = {}
    for where, visit in found:
        if (visit.has_gradients or where == "hand") and entry_of(visit.node_name) is not None:
            met.setdefault(visit.node_name, []).append((where, visit))
    return met
