"""What the values of the forward pass come from: which cuts and which early uses are in which tensor.

Each of these is a bit, and a tensor holds the bits of all that it was computed from. A plain number holds none: where a
tensor becomes numbers, and where numbers may go into a tensor, is kept by place, and the text of the program tells
which of them can go from the one to the other.
"""

from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, Final

import torch

from gradwalk.tracer.frames import Lines, running_lines
from gradwalk.tracer.identities import Identities
from gradwalk.tracer.originals import base_of, functorch_unwrapped, grad_fn_of, is_functorch_wrapped

_WITHOUT_VALUES: Final = frozenset(
    {"empty_like", "full_like", "grad", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "rand_like",
     "randint_like", "randn_like", "zeros_like"}
)  # fmt: skip
"""Operations whose result does not depend on the values of their first argument."""
TO_NUMBERS: Final = frozenset(
    {"__array__", "__complex__", "__float__", "__index__", "__int__", "item", "numpy", "tolist"}
)
"""Operations that give plain numbers, or what shares memory with them."""


class Sources:
    """The bits of each tensor. Keeps no tensor alive."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities
        self._held: dict[int, tuple[int, int]] = {}
        """By `id`: the identity, and the bits."""
        self._count = 0
        self._left: dict[Lines, int] = {}
        """Where tensors became numbers -> their bits."""
        self._entered: dict[tuple[Lines, int], int] = {}
        """Where numbers may have gone into a tensor, and of how many places they could be -> the bit of that."""

        self._wrapped = 0
        """Bits of tensors of torch.func, which are other tensors outside its transforms: any output may hold them."""

    def new(self) -> int:
        """A bit that nothing holds yet."""
        self._count += 1
        return 1 << self._count

    def mark(self, tensor: torch.Tensor, bits: int) -> None:
        """From now on the tensor holds these."""
        self._give(tensor, bits, 0)

    def of(self, tensor: torch.Tensor) -> int:
        """All that the values of a tensor come from."""
        base = base_of(tensor)
        return self._own(tensor) | (0 if base is None else self._own(base))

    def of_all(self, tensors: Iterable[torch.Tensor]) -> int:
        """All that the values of these come from."""
        bits = 0
        for tensor in tensors:
            bits |= self.of(tensor)
        return bits

    def follow(  # noqa: PLR0913 (what one call was)
        self,
        label: str,
        arguments: Iterable[Any],
        given: list[torch.Tensor],
        results: list[torch.Tensor],
        written: tuple[torch.Tensor, int] | None,
        frame: FrameType | None,
        used: int = 0,
        cut: int = 0,
    ) -> None:
        """A call hands on what the tensors that it got hold, and `used`; what has no history then holds `cut`, too."""
        if not self._count:
            return
        bits = used | self.of_all(given[1:] if label in _WITHOUT_VALUES else given)
        if self._left and self._may_enter(arguments) and (lines := running_lines(frame)):
            entry = lines, len(self._left)
            bits |= self._entered.get(entry) or self._entered.setdefault(entry, self.new())
        if not bits | cut:
            return
        for tensor in results:
            self._give(tensor, bits, cut)
        if written is not None:
            self._give(written[0], bits, cut)
            base = base_of(written[0])
            if base is not None:
                self._give(base, bits, cut)
        if label in TO_NUMBERS and (lines := running_lines(frame)):
            self._left[lines] = self._left.get(lines, 0) | bits | cut

    def reached(self, bits: int, leads_to: Callable[[Lines, Lines], bool]) -> int:
        """These bits, and those of the numbers that went in on the way."""
        bits |= self._wrapped
        pending = {lines: (order, left) for order, (lines, left) in enumerate(self._left.items()) if left & ~bits}
        while True:
            entered = [entry for entry, bit in self._entered.items() if bit & bits]
            found = [
                start
                for start, (order, _) in pending.items()
                if any(order < known and leads_to(start, end) for end, known in entered)
            ]
            if not found:
                return bits
            for start in found:
                bits |= pending.pop(start)[1]

    def _may_enter(self, arguments: Iterable[Any]) -> bool:
        """Whether there is a number among the arguments of a call, or a tensor that may be made of some."""
        for one in arguments:
            if isinstance(one, list | tuple):
                if self._may_enter(one):
                    return True
            elif isinstance(one, torch.Tensor):
                if not (one.requires_grad or self.of(one)):
                    return True
            elif not isinstance(one, torch.dtype | str | None):
                return True
        return False

    def _own(self, tensor: torch.Tensor) -> int:
        if is_functorch_wrapped(tensor):
            return self._known(tensor) | self._own(functorch_unwrapped(tensor))
        return self._known(tensor)

    def _known(self, tensor: torch.Tensor) -> int:
        known = self._held.get(id(tensor))
        return known[1] if known is not None and known[0] == self._identities.of(tensor) else 0

    def _give(self, tensor: torch.Tensor, bits: int, cut: int) -> None:
        if grad_fn_of(tensor) is None:
            bits |= cut
        if is_functorch_wrapped(tensor):
            self._wrapped |= bits
        identity = self._identities.of(tensor)
        known = self._held.get(id(tensor))
        self._held[id(tensor)] = identity, bits if known is None or known[0] != identity else bits | known[1]
