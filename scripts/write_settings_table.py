"""Writes the table of settings in server/README.md anew from `Settings`."""

import re
from pathlib import Path

from gradwalk.api.settings import settings_table

DOCUMENT = Path(__file__).parents[1] / "server" / "README.md"
TABLE = re.compile(r"\| variable \|.*?(?=\n\n)", re.DOTALL)


def main() -> None:
    """Leaves the rest of the page as it is."""
    DOCUMENT.write_text(TABLE.sub(lambda _: settings_table(), DOCUMENT.read_text(), count=1))


if __name__ == "__main__":
    main()
