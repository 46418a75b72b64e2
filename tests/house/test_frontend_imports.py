"""The arrows between the front-end's rooms: `make check` holds them, here it is seen to fail on planted faults."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.house.tree import ROOT

FRONTEND = ROOT / "frontend"

# File, what it imports, the rule that must name it.
FAULTS = [
    ("src/protocol/planted.ts", "../model/planted", "protocol-looks-inward-only"),
    ("src/model/planted.ts", "../stream/planted", "model-looks-inward-only"),
    ("src/stream/planted.ts", "../player/planted", "stream-looks-inward-only"),
    ("src/words/planted.ts", "../scene/planted", "words-looks-inward-only"),
    ("src/player/planted.ts", "./nowhere", "no-unresolved"),
    ("src/cellar/planted.ts", "../model/planted", "every-room-is-placed"),
    ("src/scene/planted.ts", "./planted_back", "no-cycles"),
    ("src/scene/planted_back.ts", "./planted", "no-cycles"),
]


@pytest.mark.soak
def test_every_planted_fault_is_found(tmp_path: Path, run_program: Callable[..., Any]) -> None:
    shutil.copytree(FRONTEND / "src", tmp_path / "src")
    for name in (".dependency-cruiser.cjs", "tsconfig.json", "package.json", "svelte.config.js"):
        shutil.copy(FRONTEND / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(FRONTEND / "node_modules")
    for where, imported, _ in FAULTS:
        (tmp_path / where).parent.mkdir(exist_ok=True)
        (tmp_path / where).write_text(f'import "{imported}";\nexport {{}};\n')

    command = ["node", "node_modules/.bin/depcruise", "--config", ".dependency-cruiser.cjs", "--output-type", "json"]
    said = run_program([*command, "src"], cwd=tmp_path, status=None).stdout

    broken = {(violation["from"], violation["rule"]["name"]) for violation in json.loads(said)["summary"]["violations"]}
    for where, _, rule in FAULTS:
        assert (where, rule) in broken or (rule == "no-cycles" and any(name == rule for _, name in broken))
