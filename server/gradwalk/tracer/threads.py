"""Nodes made in threads that the program starts: their numbers begin at 0 again, so no call may claim them."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from torch.overrides import TorchFunctionMode

from gradwalk.protocol.facts import fact
from gradwalk.tracer.arguments import tensors_in
from gradwalk.tracer.originals import grad_fn_of, sequence_number
from gradwalk.tracer.patches import replaced
from gradwalk.tracer.walk import Node

NOTE: Final = fact("note-thread")
_MARK: Final = object()


class ThreadMarks:
    """Marks every node that a thread of the program makes, while a run is recorded."""

    def __init__(self) -> None:
        self.any = False
        """True once a thread was started; until then no node needs to be asked."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, threads that start are watched."""
        original = threading.Thread.run

        def run(thread: threading.Thread) -> None:
            self.any = True
            with _Marking():
                original(thread)

        with replaced(lambda: threading.Thread, "run", run):
            yield

    def holds(self, node: Node) -> bool:
        """Whether a thread of the program made this node."""
        return self.any and _MARK in node.metadata


class _Marking(TorchFunctionMode):
    """Marks what each torch call of its thread builds."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        low = sequence_number()
        result = func(*args, **(kwargs or {}))
        high = sequence_number()
        if high != low:
            _mark([grad_fn_of(tensor) for tensor in tensors_in((result, *args))], low, high)
        return result


def _mark(pending: list[Node | None], low: int, high: int) -> None:
    """Marks the nodes with these numbers, each number once: further down others of another thread may have them too."""
    seen: set[int] = set()
    while pending:
        node = pending.pop(0)
        if node is None:
            continue
        number = node._sequence_nr()
        if not low <= number < high or number in seen:
            continue
        seen.add(number)
        node.metadata[_MARK] = True
        pending += [following for following, _ in node.next_functions]
