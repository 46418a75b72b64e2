"""What the values of the forward pass come from: which cuts and which early uses are in which tensor.

Each of these is a bit, and a tensor holds the bits of all that it was computed from. A plain number holds none: where a
tensor becomes numbers, and where numbers may go into a tensor, is kept by place, and the text of the program tells
which of them can go from the one to the other.
"""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import or_
from typing import Final

import torch

from gradwalk.tracer.frames import Place
from gradwalk.tracer.identities import Identities
from gradwalk.tracer.originals import base_of, grad_fn_of

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
        self._left: dict[Place, int] = {}
        """Where tensors became numbers -> their bits."""
        self._entered: dict[Place, int] = {}
        """Where numbers may have gone into a tensor -> the bit of that."""

    def new(self) -> int:
        """A bit that nothing holds yet."""
        self._count += 1
        return 1 << self._count

    def of(self, tensor: torch.Tensor) -> int:
        """All that the values of a tensor come from."""
        base = base_of(tensor)
        return self._own(tensor) | (0 if base is None else self._own(base))

    def of_all(self, tensors: Iterable[torch.Tensor]) -> int:
        """All that the values of these come from."""
        return reduce(or_, map(self.of, tensors), 0)

    def follow(  # noqa: PLR0913 (what one call was)
        self,
        label: str,
        given: list[torch.Tensor],
        results: list[torch.Tensor],
        written: tuple[torch.Tensor, int] | None,
        place: Place | None,
        used: int = 0,
        cut: int = 0,
    ) -> None:
        """A call hands on what the tensors that it got hold, and `used`; what has no history then holds `cut`, too."""
        bits = used | self.of_all(given[1:] if label in _WITHOUT_VALUES else given)
        if self._left and place is not None:
            bits |= self._entered.get(place) or self._entered.setdefault(place, self.new())
        if not bits | cut:
            return
        changed = () if written is None else (written[0], base_of(written[0]))
        for tensor in (*results, *changed):
            if tensor is not None:
                self._give(tensor, bits if grad_fn_of(tensor) is not None else bits | cut)
        if place is not None and label in TO_NUMBERS:
            self._left[place] = self._left.get(place, 0) | bits | cut

    def reached(self, bits: int, leads_to: Callable[[Place, Place], bool]) -> int:
        """These bits, and those of the numbers that went in on the way."""
        pending = {place: left for place, left in self._left.items() if left & ~bits}
        while True:
            entered = [place for place, bit in self._entered.items() if bit & bits]
            found = [place for place in pending if any(leads_to(place, one) for one in entered)]
            if not found:
                return bits
            for place in found:
                bits |= pending.pop(place)

    def _own(self, tensor: torch.Tensor) -> int:
        known = self._held.get(id(tensor))
        return known[1] if known is not None and known[0] == self._identities.of(tensor) else 0

    def _give(self, tensor: torch.Tensor, bits: int) -> None:
        self._held[id(tensor)] = self._identities.of(tensor), self._own(tensor) | bits
