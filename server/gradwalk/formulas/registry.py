"""The list of all entries."""

from gradwalk.formulas.entry import Entry

ENTRIES: tuple[Entry, ...] = ()

_BY_NODE = {node_name: entry for entry in ENTRIES for node_name in entry.nodes}


def entry_of(node_name: str) -> Entry | None:
    """The written entry for a node, None where nobody wrote one."""
    return _BY_NODE.get(node_name)
