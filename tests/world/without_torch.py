"""`gradwalk` where PyTorch is not installed: as in the image of a server of a cluster."""

import importlib.metadata
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError
from types import ModuleType

ABSENT = ("torch", "numpy", "sympy")
_version = importlib.metadata.version


class WhatIsThere(PathFinder):
    """Finds modules as usual, but for those that are absent."""

    @classmethod
    def find_spec(
        cls, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where a module is."""
        return None if fullname.partition(".")[0] in ABSENT else super().find_spec(fullname, path, target)


def version_of_what_is_there(name: str) -> str:
    """As `importlib.metadata.version`."""
    if name in ABSENT:
        raise PackageNotFoundError(name)
    return _version(name)


def main() -> None:
    """As `python -m gradwalk`."""
    sys.meta_path[:] = [WhatIsThere if finder is PathFinder else finder for finder in sys.meta_path]
    importlib.metadata.version = version_of_what_is_there
    from gradwalk.cli.main import main as command_line  # noqa: PLC0415 (it must see what is absent)

    command_line()


if __name__ == "__main__":
    main()
