"""Which backward passes are recorded: decided before the forward of each, by counts alone, so that every run agrees.

A turn of a loop is recorded whole or not at all. Of a loop whose length is known: the first turns, the last, and an
even sample between; of another one the first turns, then every second, fourth, eighth. Passes that the program starts
at one place outside of such loops (a gradcheck's probes) are thinned in the same way. Between recorded turns nothing
listens to the forward pass, so that such a turn costs what it costs without us.
"""

from collections.abc import Sequence
from typing import Any, Final

from gradwalk.protocol.requests import ResolvedLimits
from gradwalk.tracer import originals
from gradwalk.tracer.frames import Place
from gradwalk.tracer.listening import Listening
from gradwalk.tracer.loops import Loop
from gradwalk.tracer.turns import RunningLoop, Spent, Turns, length_of

FIRST_SHARE: Final = 8
"""Of the turns that can be recorded, one in so many is for the first ones."""
LOOP_SHARE: Final = 10
"""The turns that are recorded of one loop have this part of all steps."""
LOOP_ENTRIES: Final = 2**26
"""Of large values, the entries that are summarised for one loop, about: two seconds of work."""
FIRST_MIN: Final = 2
"""The second turn shows what was left over from the first one."""
_PER_OCTAVE_BITS: Final = 2


class AllRecordedError(BaseException):
    """Ends a run once it has recorded what was asked for. Not an Exception, so that no program takes it for its own."""


class Schedule:
    """Decides for one run."""

    def __init__(self, limits: ResolvedLimits, loops: Sequence[Loop], asked: Sequence[int] | None) -> None:
        self.listening: Listening | None = None
        """What can be switched off; None where it never is."""
        self.number = 0
        """Of the next pass, among all that run."""
        self.steps = 0
        """Recorded so far."""
        self.entries = 0
        """Summarised so far."""
        self._limits = limits
        self._asked = None if asked is None else frozenset(asked)
        self._turns = Turns(loops)
        self._is_turn_due = asked is None
        self._counts: dict[tuple[int, int] | None, int] = {}
        """By the place that starts passes: how many since the running turn began."""
        self.looks_ahead = False
        """Whether loops tell no turns: then the passes themselves tell when to listen."""
        self._latest: dict[tuple[int, int] | None, int] = {}
        """By the place that starts passes: the number of the last one."""
        self._place: tuple[int, int] | None = None
        """Of the pass that runs, or ran last."""
        self._ends: dict[tuple[int, int] | None, tuple[int, int]] = {}
        """By the place that starts passes: the sequence numbers at which the last two ended."""
        self._round: list[tuple[int, int] | None] = []
        """The places of the passes since the one before at this place."""

    def start_loop(self, number: int, iterable: Any) -> Any:
        """A `for` of the program is about to go through `iterable`, which is given back."""
        self._turns.start(number, length_of(iterable))
        return iterable

    def begin_turn(self, number: int) -> None:
        """A loop of the program begins a turn.

        Raises:
            AllRecordedError: every pass that was asked for has run.
        """
        one = self._turns.turn(number, Spent(self.number, self.steps, self.entries))
        history = one.history
        if not history.trains or not history.is_innermost:
            return
        if self._asked is not None and all(asked < self.number for asked in self._asked):
            raise AllRecordedError
        self._is_turn_due = self._is_due(one)
        self._counts.clear()
        if self.listening is not None:
            is_learning = history.turns <= FIRST_MIN
            self.listening.switch(on=self._is_turn_due or is_learning or history.carries)

    def leave_loop(self, number: int) -> None:
        """An outermost loop of a function was left."""
        self._turns.leave(number)
        if not any(one.history.trains for one in self._turns.running):
            self._is_turn_due = self._asked is None
            self._counts.clear()
            self.listen()

    def listen(self) -> None:
        """Switches on what listens to the forward pass."""
        if self.listening is not None:
            self.listening.switch(on=True)

    def take_number(self) -> int:
        """The number of the pass that is about to start."""
        self.number += 1
        return self.number - 1

    @property
    def is_learning(self) -> bool:
        """Whether the turn of a loop runs that shows whether its graphs reach back into an earlier one."""
        if self.looks_ahead and self._asked is not None:
            return self._counts.get(self._place) == FIRST_MIN
        for one in self._turns.running:
            history = one.history
            if history.turns == FIRST_MIN and history.trains and history.is_innermost:
                return True
        return False

    def is_due(self, place: Place | None) -> bool:
        """Whether the pass that is about to start at this place of the program is recorded."""
        key = None if place is None else (id(place[0]), place[1])
        count = self._counts[key] = self._counts.get(key, -1) + 1
        if self.looks_ahead:
            before, self._place = self._latest.get(key, 0), key
            self._latest[key] = self.number
            self._round = [one for one, number in self._latest.items() if number >= before]
        if not self._is_turn_due:
            return self._asked is not None and self.number in self._asked
        return _is_on_grid(count, self._limits.passes)

    def look_ahead(self) -> None:
        """A pass has ended: what leads to the next ones is listened to only if one of these will be recorded."""
        if not self.looks_ahead or self.listening is None:
            return
        _, latest = self._ends.get(self._place, (0, 0))
        self._ends[self._place] = latest, originals.sequence_number()
        if self._asked is None:
            on = any(_is_on_grid(self._counts[one] + 1, self._limits.passes) for one in self._round)
        else:
            on = any(self.number <= asked < self.number + len(self._round) for asked in self._asked)
            on = on or any(self._counts[one] < FIRST_MIN for one in self._round)
        self.listening.pause(on=on)

    def reaches(self, sequences: Sequence[int]) -> bool:
        """Whether the graph with these sequence numbers has nodes that were made while nothing listened."""
        for one in self._turns.running:
            if any(one.started_at <= sequence < one.turned_at for sequence in sequences):
                one.history.carries = True
        before, latest = self._ends.get(self._place, (0, 0))
        if self.looks_ahead and before and any(before <= one < latest for one in sequences):
            # A graph that is carried from pass to pass has to be heard whole.
            self.looks_ahead = False
        return self.listening is not None and self.listening.has_missed(sequences)

    def _is_due(self, one: RunningLoop) -> bool:
        history, of_turn = one.history, one.history.of_turn
        if self._asked is not None:
            return any(self.number <= asked < self.number + of_turn.passes for asked in self._asked)
        most = min(
            self._limits.passes // of_turn.passes,
            self._limits.steps // LOOP_SHARE // of_turn.steps,
            LOOP_ENTRIES // of_turn.entries,
        )
        position, total = self._turns.progress()
        if total is None:
            return _is_on_grid(history.turns - 1, most)
        first = max(FIRST_MIN, most // FIRST_SHARE)
        if total <= most or position < first:
            return True
        cells, between = max(1, most - first), total - first
        # After the first turns, each recorded turn ends a cell; the cells are equally long.
        return (position - first) * cells // between != (position - first + 1) * cells // between


def _is_on_grid(count: int, most: int) -> bool:
    """All of the first `most`, then four of each octave: every second, fourth, eighth ... of the rest."""
    if count < max(most, FIRST_MIN):
        return True
    return count % (1 << max(0, count.bit_length() - 1 - _PER_OCTAVE_BITS)) == 0
