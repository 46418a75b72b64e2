"""What a plain `pip install gradwalk` leaves out: packages that an extra brings, asked for when they are needed."""

from importlib import import_module
from types import ModuleType

from gradwalk.protocol.facts import fact
from gradwalk.words.errors import FactError


class ExtraMissingError(FactError, ImportError):
    """A package is not installed; the fact says which extra brings it."""


def import_with_extra(module: str, extra: str) -> ModuleType:
    """One of our modules that imports what an extra brings.

    Raises:
        ExtraMissingError: some of that is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ExtraMissingError(fact("extra-missing", name=str(error.name), extra=extra)) from error
