"""The edges of one pass: which grad_input becomes whose contribution."""

from gradwalk.protocol.values import Missing
from gradwalk.tracer.description import Record, not_required
from gradwalk.tracer.passes import Pass, PassNode
from gradwalk.tracer.reasons import PRUNED
from gradwalk.tracer.walk import Node


def link(one: Pass, records: dict[Node, Record]) -> None:
    """Puts down in `one.nodes` who hands what to whom in this pass, and where more than one contribution meets."""
    graph, alive = one.graph, one.alive
    nodes = one.nodes
    for node, record in records.items():
        described = record.node
        outputs = 1 if described is None else described["output_count"]
        nodes[node] = PassNode(record, [[] for _ in range(outputs)])
    fan_in: dict[tuple[PassNode, int], int] = {}
    for node, entry in nodes.items():
        runs = alive is None or node in alive
        for argnum, (target, slot) in enumerate(graph[node]):
            if target is None:
                entry.targets.append((None, slot, None))
                entry.missing.append(_no_edge(entry.record, argnum))
                continue
            receiver = nodes[target]
            entry.targets.append((receiver, slot, entry.record.edge_ids[argnum]))
            pruned = alive is not None and target not in alive
            entry.missing.append(PRUNED if pruned else None)
            if runs and not pruned:
                fan_in[receiver, slot] = fan_in.get((receiver, slot), 0) + 1
    for start, slot in one.outputs:
        if start is not None:
            receiver = nodes[start]
            fan_in[receiver, slot] = fan_in.get((receiver, slot), 0) + 1
    for (receiver, _), count in fan_in.items():
        if count > 1 and receiver.summands is None:
            receiver.summands = [[] for _ in receiver.arrived]


def _no_edge(record: Record, argnum: int) -> Missing:
    described = record.node
    if described is not None and argnum < len(described["inputs"]):
        operand = described["inputs"][argnum]
        return operand.get("missing") or not_required(operand)
    return {"missing": "not_required"}
