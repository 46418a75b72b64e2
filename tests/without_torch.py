"""`gradwalk` where PyTorch is not installed: as in the image of a server of a cluster."""

import importlib.metadata
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError

ABSENT = ("torch", "numpy", "sympy")
_version = importlib.metadata.version


class WhatIsThere:
    """Finds modules as usual, but for those that are absent."""

    @staticmethod
    def find_spec(
        name: str,
        path: Sequence[str] | None = None,
        target: object = None,  # noqa: ARG004
    ) -> ModuleSpec | None:
        """Where a module is."""
        return None if name.partition(".")[0] in ABSENT else PathFinder.find_spec(name, path)


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
