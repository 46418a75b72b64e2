"""Which tensors, nodes and modules have hooks of the program's, where they were registered, and what each does."""

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, cast

import torch

from gradwalk.protocol.events import HookKind
from gradwalk.protocol.graph import Span
from gradwalk.protocol.values import Gradient
from gradwalk.tracer.calls import CallLog
from gradwalk.tracer.description import Record
from gradwalk.tracer.frames import Place, snippet_place
from gradwalk.tracer.originals import frame_at, grad_fn_of, without_torch_function
from gradwalk.tracer.passes import PassNode
from gradwalk.tracer.patches import replaced
from gradwalk.tracer.places import Places
from gradwalk.tracer.rewrites import Chain, Hook, KnownHooks, Look, WatchedHooks
from gradwalk.tracer.walk import Node

_OURS = "gradwalk.tracer."
_REGISTER_AT_MODULE = ("register_full_backward_hook", "register_full_backward_pre_hook")
Spell = Callable[[torch.Tensor | None, int], Gradient]
"""A gradient, and which of several it is, as the trace spells it."""
_Numbered = tuple[int, torch.Tensor | None]


class HookWatch:
    """Sees every registration while a run is recorded: torch's own functions for it are written in Python."""

    def __init__(self, log: CallLog, places: Places, *, is_complete: bool) -> None:
        self._log = log
        self._spans = places
        self._is_complete = is_complete
        """False where tensors were live before we came: nobody saw their hooks being registered."""
        self._places: dict[int, Place | None] = {}
        """By the id of the handle."""
        self._at_modules: dict[int, Place | None] = {}
        """By the `id` of a function that is a hook of a module."""
        self.may_be_on_nodes = not is_complete
        """Whether the program may have put a hook on a node."""
        self._latest: dict[Any, Any] = {}
        """All hooks of the node and of the kind at which one of ours was registered last."""
        self._watched: dict[int, _Posthooks] = {}
        """By the `id` of its dictionary, the node of a running pass that has these posthooks."""
        self._of_tensors: dict[object, weakref.ref[OrderedDict[Any, Any]]] = {}
        """By the keys of `CallLog.hooks`."""

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Inside, every registration is seen."""
        of_nodes: Any = torch.autograd.Function._register_hook
        of_tensors: Any = torch.Tensor.register_hook
        after_accumulation: Any = torch.Tensor.register_post_accumulate_grad_hook

        def register(present: Any, hook: Callable[..., Any]) -> Any:
            result = of_nodes(present, hook)
            caller = frame_at(1)
            if not caller.f_globals.get("__name__", "").startswith(_OURS):
                self._places[result[1].id] = snippet_place(caller)
                self.may_be_on_nodes = True
                if id(result[0]) in self._watched:
                    self._watched[id(result[0])].watch()
            else:
                self._latest = result[0]
            return result

        @functools.wraps(of_tensors)
        def register_hook(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            handle = of_tensors(tensor, hook)
            node = grad_fn_of(tensor)
            key: object = self._log.identities.of(tensor) if node is None else (node._sequence_nr(), tensor.output_nr)
            place = snippet_place(frame_at(1))
            if place is not None or key not in self._log.hooks:
                self._log.hooks[key] = place
            self._places[handle.id] = place
            self._of_tensors[key] = weakref.ref(cast("OrderedDict[Any, Any]", tensor._backward_hooks))
            return handle

        @functools.wraps(after_accumulation)
        def register_after(tensor: torch.Tensor, hook: Callable[..., Any]) -> Any:
            handle = after_accumulation(tensor, hook)
            self._places[handle.id] = snippet_place(frame_at(1))
            return handle

        functions, tensors, modules = torch.autograd.Function, torch.Tensor, torch.nn.Module
        own: list[tuple[Callable[[], Any], str, Any]] = [
            (lambda: functions, "_register_hook", staticmethod(register)),
            (lambda: tensors, "register_hook", register_hook),
            (lambda: tensors, "register_post_accumulate_grad_hook", register_after),
            *((lambda: modules, name, self._at_module(getattr(modules, name))) for name in _REGISTER_AT_MODULE),
        ]
        with ExitStack() as stack:
            for one in own:
                stack.enter_context(replaced(*one))
            yield

    def _at_module(self, original: Any) -> Any:
        @functools.wraps(original)
        def register(module: torch.nn.Module, hook: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
            self._at_modules[id(hook)] = snippet_place(frame_at(1))
            return original(module, hook, *args, **kwargs)

        return register

    # Looks at the gradients beside the hooks, for the time of a pass.

    def watch_after(self, entry: PassNode, spell: Spell) -> "_Posthooks":
        """Looks beside the posthooks, also later ones, of the node at which one of ours was registered just now."""

        def after(hook: Hook | None, grad_inputs: Any, _grad_outputs: Any) -> Iterable[_Numbered]:
            if hook is None:
                entry.returned = [None if one is None else one.detach().clone() for one in grad_inputs]
            return enumerate(grad_inputs[: len(entry.targets)])

        look_after = _looks(entry, entry.sent, spell, after)
        return _Posthooks(self._watched, self._latest, look_after, self._known("node_hook"))

    def watch_before(self, node: Node, entry: PassNode, spell: Spell) -> list[WatchedHooks]:
        """Looks beside what runs before a node: hooks of its outputs, its prehooks; at a leaf also what runs after."""
        watched = []
        variable = entry.record.variable
        for slot in range(len(entry.arrived)):
            hooks = self._hooks_at(entry.record, slot)
            if hooks:
                looks = _looks(entry, entry.received, spell, lambda _, gradient, slot=slot: [(slot, gradient)])
                watched.append(WatchedHooks(hooks, looks, self._known("tensor_hook")))
        if self.may_be_on_nodes:
            node.register_prehook(_nothing).remove()
            if self._latest:
                looks = _looks(entry, entry.received, spell, lambda _, gradients: enumerate(gradients))
                watched.append(WatchedHooks(self._latest, looks, self._known("node_prehook")))
        after = None if variable is None else variable._post_accumulate_grad_hooks
        if after:
            looks = _looks(entry, entry.kept, spell, lambda _, leaf: [(0, leaf.grad)])
            watched.append(WatchedHooks(after, looks, self._known("post_accumulate_hook")))
        return watched

    def _hooks_at(self, record: Record, slot: int) -> dict[Any, Any] | None:
        """The hooks of the tensor that is an output of a node, or of a leaf."""
        if record.variable is not None:
            of_leaf: dict[Any, Any] | None = record.variable._backward_hooks
            return of_leaf
        found = self._of_tensors.get((record.sequence, slot)) if self._of_tensors else None
        return None if found is None else found()

    def _known(self, kind: HookKind) -> Callable[[Any, Any], Hook | None]:
        def known(key: Any, hook: Any) -> Hook | None:
            if str(getattr(hook, "__module__", "")).startswith(_OURS):
                return None
            place = self._places.get(key)
            if getattr(hook, "__module__", "") == torch.utils.hooks.__name__:
                return Hook("module_hook", self._place_of_module_hook(hook) or place)
            return Hook(kind, place)

        return known

    def _place_of_module_hook(self, hook: Any) -> Place | None:
        """Where the first of the hooks was registered that torch runs as one for a module."""
        held = "user_pre_hooks" if hook.__qualname__.startswith("BackwardHook.setup_output_hook") else "user_hooks"
        for cell in hook.__closure__ or ():
            for one in getattr(cell.cell_contents, held, ()):
                if id(one) in self._at_modules:
                    return self._at_modules[id(one)]
        return None

    def places_at(self, node: Node, entry: PassNode) -> list[Place | None]:
        """Where the program's hooks were registered that run before, at or after a node."""
        found: list[tuple[HookKind, dict[Any, Any] | None]] = [
            ("tensor_hook", self._hooks_at(entry.record, slot)) for slot in range(len(entry.arrived))
        ]
        for register in (node.register_prehook, node.register_hook):
            register(_nothing).remove()
            found.append(("node_hook", self._latest))
        known = [self._known(kind)(key, hook) for kind, hooks in found for key, hook in (hooks or {}).items()]
        return [hook.place for hook in known if hook is not None]

    def rewriter_of(self, record: Record, slot: int) -> tuple[bool, Span | None]:
        """Whether the program may have put a hook on this output at which nobody could look, and where."""
        variable = record.variable
        key: object = (record.sequence, slot) if variable is None else self._log.identities.of(variable)
        if key in self._log.hooks:
            return True, self._spans.span(self._log.hooks[key])
        return not self._is_complete, None


class _Posthooks:
    """The posthooks of a node in a pass; the program may add some while it runs."""

    __slots__ = ("_around", "_hooks", "_known", "_look_after", "_running", "_watched")

    def __init__(
        self,
        running: dict[int, "_Posthooks"],
        hooks: dict[Any, Any],
        look_after: Callable[[Hook | None], Look],
        known: KnownHooks,
    ) -> None:
        self._running, self._hooks, self._look_after, self._known = running, hooks, look_after, known
        self._around = running.get(id(hooks))
        self._watched: WatchedHooks | None = None
        running[id(hooks)] = self
        if len(hooks) > 1:
            self.watch()

    def watch(self) -> None:
        """Puts looks beside the hooks that are there now, and our own hook after them."""
        if self._watched is not None:
            self._watched.remove()
        ours = [
            key for key, hook in self._hooks.items() if self._known(key, hook) is None and not isinstance(key, tuple)
        ]
        for key in ours:
            self._hooks[key] = self._hooks.pop(key)
        self._watched = WatchedHooks(self._hooks, self._look_after, self._known)

    def remove(self) -> None:
        """Takes the looks away."""
        if self._watched is not None:
            self._watched.remove()
        if self._around is None:
            del self._running[id(self._hooks)]
        else:
            self._running[id(self._hooks)] = self._around


def _looks(
    entry: PassNode, chains: dict[int, Chain], spell: Spell, numbered: Callable[..., Iterable[_Numbered]]
) -> Callable[[Hook | None], Look]:
    """Looks that note what is there after each hook, until the node has run.

    `numbered` is given the hook and what torch gives to it. Nothing of the program's is called, and no graph is built.
    """

    def look_after(hook: Hook | None) -> Look:
        def look(*given: Any) -> None:
            if not entry.executed:
                with without_torch_function(), torch.no_grad():
                    for number, gradient in numbered(hook, *given):
                        chains.setdefault(number, Chain()).seen.append((hook, spell(gradient, number)))

        return look

    return look_after


def _nothing(*_gradients: Any) -> None:
    return None
