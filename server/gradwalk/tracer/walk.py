"""The nodes that a pass can reach, and the ones it needs; nothing here runs or changes anything."""

from collections import Counter
from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import Any, TypeAlias

Node: TypeAlias = Any  # noqa: UP040 (torch has no class that all of its nodes share)
"""An autograd node as torch hands it to Python."""
NextFunctions: TypeAlias = tuple[tuple[Node | None, int], ...]  # noqa: UP040


def walk(starts: Iterable[Node], nodes_max: int) -> dict[Node, NextFunctions] | None:
    """Every node reachable from `starts`, in depth-first order, with its edges; None when there are too many.

    Iterative: chains of 100,000 nodes are ordinary. The wrappers must be kept while they are compared.
    """
    found: dict[Node, NextFunctions] = {}
    pending = list(starts)
    pending.reverse()
    while pending:
        node = pending.pop()
        if node in found:
            continue
        edges = node.next_functions
        found[node] = edges
        if len(found) > nodes_max:
            return None
        for following, _ in reversed(edges):
            if following is not None and following not in found:
                pending.append(following)
    return found


def first_to_run(starts: Iterable[Node], graph: dict[Node, NextFunctions], count: int) -> list[Node]:
    """The nodes of a graph that the engine runs first, in its order: of the ready ones the latest made, leaves first.

    A node is ready when everything that hands it a gradient has run, so all that arrives at these comes from these.
    """
    waits = Counter(following for edges in graph.values() for following, _ in edges if following is not None)
    ready = [(-node._sequence_nr(), at, node) for at, node in enumerate(dict.fromkeys(starts)) if not waits[node]]
    heapify(ready)
    found: list[Node] = []
    while ready and len(found) < count:
        _, at, node = heappop(ready)
        found.append(node)
        for following, _ in graph[node]:
            if following is not None:
                waits[following] -= 1
                if not waits[following]:
                    at = len(waits) + len(found) + len(ready)
                    heappush(ready, (-following._sequence_nr(), at, following))
    return found


def leading_to(targets: Iterable[Node], graph: dict[Node, NextFunctions]) -> set[Node]:
    """The nodes from which some target can be reached, targets included: what `inputs=` leaves of a pass."""
    producers: dict[Node, list[Node]] = {}
    for node, edges in graph.items():
        for following, _ in edges:
            if following is not None:
                producers.setdefault(following, []).append(node)
    alive: set[Node] = set()
    pending = [target for target in targets if target in graph]
    while pending:
        node = pending.pop()
        if node not in alive:
            alive.add(node)
            pending.extend(producers.get(node, ()))
    return alive


def next_to_run(graph: dict[Node, NextFunctions], alive: set[Node] | None, executed: set[Node]) -> Node | None:
    """The node that the engine takes next after `executed`: of the ready ones the latest made, leaves first."""
    waiting: set[Node] = set()
    candidates = [node for node in graph if node not in executed and (alive is None or node in alive)]
    for node in candidates:
        waiting.update(following for following, _ in graph[node] if following is not None)
    ready = [node for node in candidates if node not in waiting]
    return max(ready, key=lambda node: node._sequence_nr(), default=None)
