"""What becomes of a gradient between a rule and the next: each hook of the program's, watched one by one.

torch keeps the hooks of a tensor, of a node and of a leaf in dictionaries. While a pass runs, a look stands before,
between and after them there; so each change has the hook that made it. Nothing else in the dictionaries changes.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from gradwalk.protocol.events import GradientChange, HookKind
from gradwalk.protocol.values import Gradient
from gradwalk.tracer.frames import Place
from gradwalk.tracer.places import Places

Look = Callable[..., None]
"""Called as torch calls the hooks beside it."""


class Hook(NamedTuple):
    """One hook of the program's."""

    kind: HookKind
    place: Place | None
    """Where it was registered."""


class Chain:
    """A gradient as it was before the first hook and after each."""

    def __init__(self) -> None:
        self.seen: list[tuple[Hook | None, Gradient]] = []
        """What ran just before (None: no hook) and what was there then, in order."""

    def changes(self, places: Places) -> Iterable[GradientChange]:
        """What each hook made of it; hooks that changed nothing are left out."""
        for (_, before), (hook, after) in zip(self.seen, self.seen[1:], strict=False):
            if hook is not None and before != after and not ("missing" in before and "missing" in after):
                yield {"kind": hook.kind, "before": before, "after": after, "span": places.span(hook.place)}

    @property
    def first(self) -> Gradient | None:
        """Before any hook ran; None where nobody looked."""
        return self.seen[0][1] if self.seen else None


class WatchedHooks:
    """A dictionary of torch's with looks beside the program's hooks, until `remove`."""

    def __init__(self, hooks: dict[Any, Any], look_after: Callable[[Hook | None], Look], known: "KnownHooks") -> None:
        self._hooks = hooks
        program = list(hooks.items())
        hooks.clear()
        hooks[self, 0] = look_after(None)
        for position, (key, hook) in enumerate(program, start=1):
            hooks[key] = hook
            found = known(key, hook)
            if found is not None:
                hooks[self, position] = look_after(found)

    def remove(self) -> None:
        """Takes the looks away."""
        for key in [key for key in self._hooks if isinstance(key, tuple) and key[0] is self]:
            del self._hooks[key]


KnownHooks = Callable[[Any, Any], Hook | None]
"""Of a key and a hook of such a dictionary: the program's hook; None for one of ours."""
