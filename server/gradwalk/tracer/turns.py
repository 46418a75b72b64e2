"""How far the loops of a running program are: which are running, at which turn, of how many."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from torch.utils.data import DataLoader

from gradwalk.tracer.loops import Loop
from gradwalk.tracer.originals import sequence_number

_COUNTED: Final = frozenset({range, list, tuple, dict, set, str})
_ITERATORS: Final = frozenset(map(type, (iter(range(0)), iter([]), iter(()), iter({}), iter(set()), iter(""))))
_OF_TORCH: Final = "torch."


class Spent(NamedTuple):
    """What was done so far in a run, or in one turn of a loop."""

    passes: int
    steps: int
    """Recorded ones."""
    entries: int
    """Of large values, summarised."""


class LoopHistory:
    """What is known of one loop of the text, over all times that it ran."""

    def __init__(self) -> None:
        self.trains = False
        """True once a turn of it ran a backward pass."""
        self.is_innermost = True
        """False once a loop that runs passes was met inside it."""
        self.carries = False
        """True once a graph reached back into an earlier turn."""
        self.of_turn = Spent(1, 1, 1)
        """The most that one turn took, of each."""
        self.turns = 0
        """Over all times that it ran."""

    def note_turn(self, before: Spent, after: Spent) -> None:
        """A turn is over."""
        passes, steps, entries = (
            after.passes - before.passes,
            after.steps - before.steps,
            after.entries - before.entries,
        )
        most = self.of_turn
        if passes > most.passes or steps > most.steps or entries > most.entries:
            self.of_turn = Spent(max(passes, most.passes), max(steps, most.steps), max(entries, most.entries))


class RunningLoop:
    """One time that a loop runs."""

    __slots__ = ("history", "length", "loop", "position", "spent_before", "started_at", "turned_at")

    def __init__(self, loop: Loop, history: LoopHistory, length: int | None) -> None:
        self.loop = loop
        self.history = history
        self.length = length
        """How many turns it makes; None where nobody knows."""
        self.position = -1
        """The turn that it is at, from 0."""
        self.spent_before = Spent(0, 0, 0)
        """What had been done when this turn began."""
        self.started_at = self.turned_at = sequence_number()
        """The sequence numbers at which it and its turn began."""


class Turns:
    """The loops that are running, outermost first."""

    def __init__(self, loops: Sequence[Loop]) -> None:
        self._loops = loops
        self._histories = [LoopHistory() for _ in loops]
        self.running: list[RunningLoop] = []

    def start(self, number: int, length: int | None) -> None:
        """A loop starts, of so many turns."""
        loop = self._loops[number]
        while (
            self.running
            and self.running[-1].loop.function == loop.function
            and not self.running[-1].loop.is_around(loop)
        ):
            self.running.pop()
        self.running.append(RunningLoop(loop, self._histories[number], length))

    def leave(self, number: int) -> None:
        """An outermost loop of a function was left, with all that ran inside it."""
        at = self._place(number)
        if at is not None:
            del self.running[at:]

    def turn(self, number: int, spent: Spent) -> RunningLoop:
        """A loop begins a turn, after so much was done in the whole run."""
        at = self._place(number)
        if at is None:
            # A `while` does not tell that it starts.
            self.start(number, None)
            at = len(self.running) - 1
        one = self.running[at]
        history = one.history
        if one.position >= 0 and spent.passes > one.spent_before.passes:
            for around in self.running[:at]:
                around.history.trains, around.history.is_innermost = True, False
            history.trains = True
            history.note_turn(one.spent_before, spent)
        del self.running[at + 1 :]
        one.position += 1
        history.turns += 1
        one.spent_before = spent
        one.turned_at = sequence_number()
        return one

    def progress(self) -> tuple[int, int | None]:
        """The turn over all running loops that run passes, and how many there will be, where all lengths are known."""
        position, total = 0, 1
        is_known = True
        for one in self.running:
            if one.history.trains:
                length = one.length or 0
                is_known = is_known and one.length is not None
                position, total = position * length + one.position, total * length
        return position, total if is_known else None

    def _place(self, number: int) -> int | None:
        for place in range(len(self.running) - 1, -1, -1):
            if self.running[place].loop.number == number:
                return place
        return None


def length_of(iterable: Any) -> int | None:
    """How many turns a loop over this makes; None where nobody knows, or finding out would run code of the program."""
    kind = type(iterable)
    if kind in _COUNTED:
        return len(iterable)
    if kind in _ITERATORS:
        length: int = iterable.__length_hint__()
        return length
    if kind is enumerate or kind is zip:
        # What pickle would be told: the iterators inside.
        inside = iterable.__reduce__()[1]
        lengths = [length_of(one) for one in (inside if kind is zip else inside[:1])]
        known = [one for one in lengths if one is not None]
        return min(known) if known and len(known) == len(lengths) else None
    if isinstance(iterable, DataLoader):
        return _batches(iterable, iterable.dataset)
    if kind.__module__ == DataLoader.__module__:
        return _batches(iterable, getattr(iterable, "_dataset", None))
    return None


def _batches(loader: Any, data: Any) -> int | None:
    """The length of a loader, or of one walk through it, unless its data are of a class of the program's."""
    if not isinstance(data, list | tuple) and not type(data).__module__.startswith(_OF_TORCH):
        return None
    try:
        return len(loader)
    except (TypeError, NotImplementedError):
        return None
