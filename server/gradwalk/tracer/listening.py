"""What listens to the forward pass, and can be switched off between two turns of a loop."""

from bisect import bisect_right
from collections.abc import Sequence

from gradwalk.tracer import originals
from gradwalk.tracer.calls import CallLog, CallRecorder
from gradwalk.tracer.scopes import ModuleScopes


class Listening:
    """The function mode, the hooks of modules and the patch of custom Functions, together."""

    def __init__(self, log: CallLog, calls: CallRecorder, scopes: ModuleScopes) -> None:
        self._log = log
        self._calls = calls
        self._scopes = scopes
        self._depth = 0
        """How many function modes were left when ours was taken out."""
        self._missed: list[int] = []
        """Sequence numbers at which it was switched off, on, off, ..."""

    def switch(self, *, on: bool) -> None:
        """Switches, unless the program has put something on top of ours, or runs inside a module or a Function."""
        log = self._log
        if on == log.is_listening or log.inner or log.scope is not None:
            return
        if on:
            if originals.count_modes() != self._depth:
                return
            originals.push_mode(self._calls)
        else:
            depth = originals.count_modes() - 1
            if depth < 0 or originals.mode_at(depth) is not self._calls:
                return
            originals.pop_mode()
            self._depth = depth
        self._turn(on=on)

    def pause(self, *, on: bool) -> None:
        """As `switch`, inside a call that the mode sees: it stays where it is and lets every call pass."""
        log = self._log
        if on != log.is_listening and not log.inner and log.scope is None:
            self._turn(on=on)

    def _turn(self, *, on: bool) -> None:
        if on:
            self._scopes.install()
            self._log.forget_the_dead()
        else:
            self._scopes.remove()
        self._log.is_listening = on
        self._missed.append(originals.sequence_number())

    def has_missed(self, sequences: Sequence[int]) -> bool:
        """Whether one of these nodes was made while it was switched off."""
        return bool(self._missed) and any(bisect_right(self._missed, one) % 2 for one in sequences)
