"""The offer: which names of which modules exist for a program, as `offer.json` says and nothing else."""

import importlib
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from gradwalk.sandbox.proxies import RefusedImportError, exists, make_proxy
from gradwalk.sandbox.refusals import Refusal, is_known, refuse_module, refuse_path
from gradwalk.sandbox.stand_ins import make_stand_ins

OFFER_PATH = Path(__file__).with_name("offer.json")


class Offer:
    """What a program finds: one read-only view per module. Built once, before the lockdown; it imports everything."""

    def __init__(self, frozen: Mapping[str, Any]) -> None:
        self.library_names = frozenset(frozen["private"])
        """Private names that belong to torch."""
        self._names: dict[str, frozenset[str]] = {name: frozenset(names) for name, names in frozen["modules"].items()}
        self._real = {name: importlib.import_module(name) for name in self._names}
        self._stand_ins = {name: dict(values) for name, values in make_stand_ins().items()}
        self._proxies: dict[str, object] = {}
        # Deepest first: a package's view holds the views of its modules.
        for name in sorted(self._names, key=lambda one: -one.count(".")):
            parent, _, last = name.rpartition(".")
            held = {one for one in self._names[name] if exists(self._real[name], one)}
            proxy = make_proxy(name, self._real[name], held, self._stand_ins.get(name, {}))
            self._proxies[name] = proxy
            if parent and last not in self._names[parent]:
                self._stand_ins.setdefault(parent, {})[last] = proxy

    @cached_property
    def modules(self) -> frozenset[str]:
        """Dotted names of the modules that may be imported."""
        return frozenset(self._names)

    def find_refusal(self, module: str, name: str) -> Refusal | None:
        """Why `module.name` is refused; None where it is offered, and where there is no such name."""
        if module not in self._names or name in self._names[module] or name in self._stand_ins.get(module, {}):
            return None
        real = self._real[module]
        if name.startswith("__") or not (exists(real, name) or is_known(module, name)):
            return None
        return refuse_path(module, name)

    def star_names(self, module: str) -> tuple[str, ...]:
        """What `from module import *` binds: what Python would bind, as far as it is offered."""
        if module not in self._names:
            return ()
        offered = self._names[module] | self._stand_ins.get(module, {}).keys()
        public = getattr(self._real[module], "__all__", None)
        wanted = [name for name in offered if not name.startswith("_")] if public is None else offered & set(public)
        return tuple(sorted(name for name in wanted if hasattr(self._proxies[module], name)))

    def look_up(self, path: str) -> object:
        """What stands at a dotted path, as a program sees it."""
        if path in self._proxies:
            return self._proxies[path]
        module, _, name = path.rpartition(".")
        return getattr(self._proxies[module], name)

    def import_module(self, name: str, bound: str) -> object:
        """What `import name` binds: the module called `bound`.

        Raises:
            RefusedImportError: it is not offered.
        """
        if name not in self._proxies:
            raise RefusedImportError(refuse_module(name, self._proxies))
        return self._proxies[bound]

    def import_from(self, module: str, name: str) -> object:
        """What `from module import name` binds.

        Raises:
            ImportError: it is not offered, or there is no such name.
        """
        if module not in self._proxies:
            raise RefusedImportError(refuse_module(module, self._proxies))
        refusal = self.find_refusal(module, name)
        if refusal:
            raise RefusedImportError(refusal)
        try:
            return getattr(self._proxies[module], name)
        except AttributeError:
            raise ImportError(f"cannot import name '{name}' from '{module}'", name=module) from None

    def import_star(self, module: str) -> tuple[object, ...]:
        """The values of `star_names`, in their order."""
        return tuple(getattr(self._proxies[module], name) for name in self.star_names(module))


def read_offer() -> Mapping[str, Any]:
    """The frozen offer."""
    frozen: Mapping[str, Any] = json.loads(OFFER_PATH.read_text(encoding="utf-8"))
    return frozen
