"""Numbers by which a run knows its tensors for good: an `id` goes to another tensor once its own is gone."""

import weakref

import torch


class Identities:
    """A number for each tensor, from 1. Keeps no tensor alive."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[torch.Tensor], int]] = {}
        """By `id`."""
        self._count = 0

    def of(self, tensor: torch.Tensor) -> int:
        """The tensor's number, which no other tensor ever has."""
        known = self._known.get(id(tensor))
        if known is not None and known[0]() is tensor:
            return known[1]
        self._count += 1
        self._known[id(tensor)] = weakref.ref(tensor), self._count
        return self._count

    def alive(self) -> set[int]:
        """The numbers of the tensors that are still there; the others are forgotten."""
        self._known = {key: known for key, known in self._known.items() if known[0]() is not None}
        return {number for _, number in self._known.values()}
