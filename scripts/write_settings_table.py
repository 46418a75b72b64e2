"""Writes the table of settings in server/README.md anew from `Settings`."""

import json
import re
from pathlib import Path
from typing import Any

from gradwalk.api.settings import UNLESS_SET, Settings, variable

DOCUMENT = Path(__file__).parents[1] / "server" / "README.md"
TABLE = re.compile(r"\| variable \|.*?(?=\n\n)", re.DOTALL)
UNIT_BYTES = {"GiB": 1 << 30, "MiB": 1 << 20, "KiB": 1 << 10, "bytes": 1}


def main() -> None:
    """Leaves the rest of the page as it is."""
    DOCUMENT.write_text(TABLE.sub(lambda _: settings_table(), DOCUMENT.read_text(), count=1))


def settings_table() -> str:
    """Every setting as a row of Markdown."""
    rows = ["| variable | unless set | means |", "| --- | --- | --- |"]
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        told = extra[UNLESS_SET] if isinstance(extra, dict) and UNLESS_SET in extra else None
        shown = told if told is not None else in_words(name, field.get_default(call_default_factory=True))
        rows.append(f"| `{variable(name)}` | {shown} | {field.description} |")
    return "\n".join(rows)


def in_words(name: str, value: Any) -> str:
    if "bytes" in name and isinstance(value, int):
        unit = next((unit for unit in ("GiB", "MiB", "KiB") if value % UNIT_BYTES[unit] == 0), "bytes")
        return f"{value // UNIT_BYTES[unit]} {unit}"
    if isinstance(value, str):
        return f"`{value}`" if value else "nothing"
    return f"`{json.dumps(value)}`" if isinstance(value, list) else f"{value:g}"


if __name__ == "__main__":
    main()
