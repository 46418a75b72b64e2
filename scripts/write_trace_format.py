"""Writes the tables of the trace format's page anew from the models."""

import re
from pathlib import Path

from gradwalk.protocol.format_tables import format_tables

DOCUMENT = Path(__file__).parents[1] / "server" / "gradwalk" / "protocol" / "FORMAT.md"
TABLES = re.compile(r"^## Events\n.*\Z", re.DOTALL | re.MULTILINE)


def main() -> None:
    """Leaves what stands before them as it is."""
    DOCUMENT.write_text(TABLES.sub(lambda _: format_tables() + "\n", DOCUMENT.read_text()))


if __name__ == "__main__":
    main()
