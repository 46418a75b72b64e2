"""`gradwalk` where PyTorch is not installed: as in the image of a server of a cluster."""

import importlib.metadata
import sys
from importlib.metadata import PackageNotFoundError

ABSENT = ("torch", "numpy", "sympy")
_version = importlib.metadata.version


def version_of_what_is_there(name: str) -> str:
    """As `importlib.metadata.version`."""
    if name in ABSENT:
        raise PackageNotFoundError(name)
    return _version(name)


def main() -> None:
    """As `python -m gradwalk`."""
    sys.modules.update(dict.fromkeys(ABSENT))
    importlib.metadata.version = version_of_what_is_there
    from gradwalk.cli.main import main as command_line  # noqa: PLC0415 (it must see what is absent)

    command_line()


if __name__ == "__main__":
    main()
