"""`x.__dict__` as a program finds it on its own objects."""

from typing import Any, Protocol, Self


class Rules(Protocol):
    """Which names are whose."""

    def is_readable(self, name: str) -> bool:
        """Whether a program may read an attribute of this name."""

    def check_write(self, name: object) -> str:
        """The plain name; raises where a program may not set it."""


def view_attributes(table: dict[str, Any], rules: Rules) -> dict[str, Any]:  # noqa: C901 (one small class)
    """What an object's `__dict__` holds now, as far as a program may read it; what is changed here changes there.

    `table` is held by a closure: no attribute of the view, public or private, leads to it.
    """

    class View(dict[str, Any]):
        def __setitem__(self, name: str, value: Any) -> None:
            plain = rules.check_write(name)
            table[plain] = value
            super().__setitem__(plain, value)

        def __delitem__(self, name: str) -> None:
            super().__delitem__(name)
            del table[str.__str__(name)]

        def __ior__(self, other: Any) -> Self:  # type: ignore[misc, override]
            self.update(other)
            return self

        def update(self, *values: Any, **named: Any) -> None:
            for name, value in dict(*values, **named).items():
                self[name] = value

        def setdefault(self, name: str, default: Any = None) -> Any:
            if name not in self:
                self[name] = default
            return self[name]

        def pop(self, name: str, *default: Any) -> Any:
            if name not in self:
                return super().pop(name, *default)
            value = self[name]
            del self[name]
            return value

        def popitem(self) -> tuple[str, Any]:
            name = next(reversed(self))
            return name, self.pop(name)

        def clear(self) -> None:
            for name in tuple(self):
                del self[name]

    View.__name__ = View.__qualname__ = "dict"
    View.__module__ = "builtins"
    return View((name, value) for name, value in table.items() if rules.is_readable(name))
