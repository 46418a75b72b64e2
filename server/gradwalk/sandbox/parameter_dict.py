"""`torch.nn.ParameterDict` that finds its parameters by their keys alone.

Torch's own looks up whatever attribute a key spells, on itself or on any other object it is called with.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView
from typing import Any, Self

import torch
from torch import nn

from gradwalk.sandbox.attributes import find_definition_refusal, is_special
from gradwalk.sandbox.proxies import RefusedAttributeError
from gradwalk.sandbox.refusals import refuse_attribute


class ParameterDict(nn.Module):
    """A dictionary of parameters, with the order, the conversions and the text of torch's own."""

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        key = _plain_key(key)
        if key not in self._keys:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{key}'")
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        key = _plain_key(key)
        if key not in self._keys and (hasattr(type(self), key) or key in self.__dict__):
            raise KeyError(f"attribute '{key}' already exists")
        self._keys[key] = None
        if isinstance(value, torch.Tensor) and not isinstance(value, nn.Parameter):
            value = nn.Parameter(value)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[_plain_key(key)]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> KeysView[str]:
        """As a dictionary's."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """As a dictionary's."""
        return (self[key] for key in self._keys)

    def items(self) -> Iterable[tuple[str, Any]]:
        """As a dictionary's."""
        return ((key, self[key]) for key in self._keys)

    def get(self, key: str, default: Any = None) -> Any:
        """As a dictionary's."""
        return self[key] if key in self else default  # noqa: SIM401 (this is what `get` is)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """As a dictionary's."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """As a dictionary's."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """As a dictionary's."""
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def clear(self) -> None:
        """As a dictionary's."""
        for key in tuple(self._keys):
            del self[key]

    def copy(self) -> "ParameterDict":
        """With the same parameters."""
        return ParameterDict(self)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> "ParameterDict":
        """With one value for all keys."""
        return ParameterDict((key, default) for key in keys)

    def update(self, parameters: Any) -> None:
        """As torch's own: a plain dictionary comes in the order of its keys, everything else in its own order."""
        if isinstance(parameters, OrderedDict | ParameterDict):
            pairs = list(parameters.items())
        elif isinstance(parameters, dict):
            pairs = sorted(parameters.items())
        else:
            pairs = list(parameters)
        for key, value in pairs:
            self[key] = value

    def extra_repr(self) -> str:
        """One line for each."""
        return nn.ParameterDict.extra_repr(self)  # type: ignore[arg-type]

    def __call__(self, _input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> "ParameterDict":
        both = self.copy()
        both.update(other)
        return both

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self


def _plain_key(key: object) -> str:
    """The text itself, if it may be the name of an attribute."""
    if not isinstance(key, str):
        raise TypeError(f"ParameterDict is indexed by strings, not by {type(key).__name__}")
    plain = str.__str__(key)
    refusal = refuse_attribute(plain) if is_special(plain) else find_definition_refusal(plain, frozenset())
    if refusal:
        raise RefusedAttributeError(refusal)
    return plain
