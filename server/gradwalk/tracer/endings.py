"""Where recording ends before the program does, as problems: what is shown before is right."""

from gradwalk.protocol.events import Problem
from gradwalk.protocol.facts import fact
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.explanation import is_out_of_memory


def room_ended(error: Exception, span: Span | None) -> tuple[str, Problem] | None:
    """The limit and its problem, where `error` says that memory or room for nested calls ran out; else None."""
    if is_out_of_memory(error):
        return "memory", problem("memory", fact("problem-memory-recorded"), span=span)
    if isinstance(error, RecursionError):
        return "recursion", problem("error", fact("problem-recursion-recorded"), span=span)
    return None


def too_many_nodes(nodes: int, span: Span | None) -> Problem:
    """A pass that walks more than `nodes` nodes."""
    return problem("too_big", fact("problem-too-many-nodes", count=nodes), span=span)


def only_first_nodes(first: int, nodes: int, span: Span | None) -> Problem:
    """A pass of which only the `first` of `nodes` nodes are recorded."""
    return problem("too_big", fact("problem-first-nodes", first=first, count=nodes), span=span)


def too_many_steps(steps: int) -> Problem:
    """A run of more than `steps` steps."""
    return problem("too_big", fact("problem-too-many-steps", count=steps))
