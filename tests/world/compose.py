"""docker-compose.yml as compose reads it, with passwords in place of its variables."""

import re
from typing import Any

import yaml

from tests.world.processes import ROOT


def _fill(text: str) -> str:
    """A variable's password is its name: `${WEB_PASSWORD:?why}` is `WEB_PASSWORD`."""
    return re.sub(r"\$\{(\w+)[^}]*\}", r"\1", text)


SERVICES: dict[str, Any] = yaml.safe_load(_fill((ROOT / "docker-compose.yml").read_text()))["services"]
