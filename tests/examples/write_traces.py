"""Traces every example and every structure into a folder, for the front end's tests over all of them.

`python -m tests.examples.write_traces FOLDER`
"""

import sys
from pathlib import Path

from tests.examples.traced import REQUESTS, write_trace


def main(folder: Path) -> None:
    """Writes a file per trace."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in REQUESTS:
        write_trace(name, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
