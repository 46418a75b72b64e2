"""Where recording ends before the program does, as problems: what is shown before is right."""

from gradwalk.protocol.events import Problem
from gradwalk.protocol.graph import Span
from gradwalk.protocol.problems import problem
from gradwalk.tracer.explanation import is_out_of_memory


def room_ended(error: Exception, span: Span | None) -> tuple[str, Problem] | None:
    """The limit and its problem, where `error` says that memory or room for nested calls ran out; else None."""
    if is_out_of_memory(error):
        title = "Out of memory"
        message = "The program and the record of what it does need more memory than they may have."
        hint = "Use smaller tensors, shorter lists or fewer iterations."
        return "memory", problem("memory", title, _until_here(message), span=span, hint=hint)
    if isinstance(error, RecursionError):
        title = "Calls nested too deeply"
        message = "The program's functions call each other so deeply that Python has no room left for recording it."
        hint = "Check the condition that should end the recursion, or use a loop."
        return "recursion", problem("error", title, _until_here(message), span=span, hint=hint)
    return None


def _until_here(message: str) -> str:
    return f"{message} What is shown before this is right; what the program did afterwards is not recorded."


def too_many_nodes(nodes: int, span: Span | None) -> Problem:
    """A pass that walks more than `nodes` nodes."""
    return problem(
        "too_big",
        "The graph is too large to show",
        f"This backward pass walks more than {nodes:,} autograd nodes. It was run, but not recorded.",
        span=span,
        hint="Use fewer iterations or a smaller model: the rules at each node stay the same.",
    )


def too_many_steps(steps: int) -> Problem:
    """A run of more than `steps` steps."""
    return problem(
        "too_big",
        "Too many steps to show",
        f"The first {steps:,} steps are shown. The program ran on without being recorded.",
        hint="Use fewer iterations or a smaller model.",
    )
