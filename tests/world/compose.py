"""docker-compose.yml as compose reads it, with passwords in place of its variables."""

import re
from typing import Any

import yaml

from tests.world.processes import ROOT

_FILLED = re.sub(r"\$\{(\w+)[^}]*\}", r"\1", (ROOT / "docker-compose.yml").read_text())
"""A variable's password is its name: `${WEB_PASSWORD:?why}` is `WEB_PASSWORD`."""
SERVICES: dict[str, Any] = yaml.safe_load(_FILLED)["services"]
