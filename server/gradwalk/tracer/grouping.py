"""Which nodes collapse into one box: module calls, user functions, composites, one group per call."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from gradwalk.protocol.graph import Group, GroupKind
from gradwalk.tracer.calls import BACKWARD_CALLS, Call, Scope
from gradwalk.tracer.places import Places


class Grouping:
    """Gives scopes their group ids, the same over all passes."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._next_number = 0

    def group(
        self,
        owners: Mapping[str, Call],
        modules: Mapping[int, str],
        leaves: Mapping[str, Sequence[str]],
    ) -> tuple[list[Group], dict[str, str]]:
        """The groups of one graph, outer before inner, and the group of each node that has one.

        Args:
            owners: node id -> the call that made it.
            modules: `id` of a module -> its path.
            leaves: id of a module's parameter -> ids of the nodes that use it.
        """
        scope_of = _scopes(owners)
        members = _members(scope_of)
        kept = {scope for scope in members if _is_worth_a_box(scope, members)}
        innermost = {node: _nearest(scope, kept) for node, scope in scope_of.items()}
        for leaf, users in leaves.items():
            innermost[leaf] = _common_module(users, innermost)
        direct: defaultdict[Scope, list[str]] = defaultdict(list)
        for node, scope in innermost.items():
            if scope is not None:
                direct[scope].append(node)
        groups: list[Group] = []
        for scope in (one for one in members if one in kept):
            self._number(scope)
            parent = _nearest(scope.parent, kept)
            groups.append(
                {
                    "id": f"g{scope.number}",
                    "kind": scope.kind,
                    "label": self._label(scope, modules),
                    "parent": None if parent is None else f"g{parent.number}",
                    "span": self._places.span(scope.place),
                    "nodes": direct.get(scope, []),
                }
            )
        return groups, {node: f"g{scope.number}" for node, scope in innermost.items() if scope is not None}

    def _number(self, scope: Scope) -> None:
        if scope.number is None:
            scope.number = self._next_number
            self._next_number += 1

    def _label(self, scope: Scope, modules: Mapping[int, str]) -> str:
        module = None if scope.module is None else scope.module()
        path = None if module is None else modules.get(id(module))
        return scope.label if path is None else f"{path}: {scope.label}"


def _scopes(owners: Mapping[str, Call]) -> dict[str, Scope]:
    """The innermost scope of each node; a call that made several nodes becomes a scope itself."""
    made: defaultdict[Call, list[str]] = defaultdict(list)
    for node, call in owners.items():
        made[call].append(node)
    found: dict[str, Scope] = {}
    for node, call in owners.items():
        scope = call.scope
        if len(made[call]) > 1:
            if call.as_scope is None:
                label = call.label.strip("_")
                # What a backward pass recorded is no composite: the call only started it.
                kind: GroupKind = "function" if label in BACKWARD_CALLS else "composite"
                call.as_scope = Scope(call.scope, kind, label, call.place)
            scope = call.as_scope
        if scope is not None:
            found[node] = scope
    return found


def _members(scope_of: Mapping[str, Scope]) -> dict[Scope, list[str]]:
    """Every scope's nodes, nested ones included; outer scopes first."""
    members: dict[Scope, list[str]] = {}
    around: dict[Scope, list[list[str]]] = {}
    for node, innermost in scope_of.items():
        lists = around.get(innermost)
        if lists is None:
            chain: list[Scope] = []
            scope: Scope | None = innermost
            while scope is not None:
                chain.append(scope)
                scope = scope.parent
            lists = around[innermost] = [members.setdefault(one, []) for one in reversed(chain)]
        for one in lists:
            one.append(node)
    return members


def _is_worth_a_box(scope: Scope, members: Mapping[Scope, list[str]]) -> bool:
    """A composite must hold several nodes, and not just the ones that the box around it holds."""
    if scope.kind != "composite":
        return True
    count = len(members[scope])
    parent = scope.parent
    return count > 1 and (parent is None or len(members[parent]) > count)


def _nearest(scope: Scope | None, kept: set[Scope]) -> Scope | None:
    while scope is not None and scope not in kept:
        scope = scope.parent
    return scope


def _common_module(users: Iterable[str], innermost: Mapping[str, Scope | None]) -> Scope | None:
    """The innermost module call that holds every use of a parameter."""
    chains = []
    for user in users:
        chain, scope = [], innermost.get(user)
        while scope is not None:
            chain.append(scope)
            scope = scope.parent
        chains.append(chain)
    if not chains:
        return None
    for scope in chains[0]:
        if scope.kind == "module" and all(scope in chain for chain in chains[1:]):
            return scope
    return None
