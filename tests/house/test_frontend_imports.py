"""The arrows between the front-end's rooms hold, and the check is seen to read files and to fail."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

FRONTEND = Path(__file__).parents[2] / "frontend"
ROOMS = ["app", "embed", "player", "render", "stream", "scene", "layout", "words", "model", "protocol"]


def cruise(folder: Path) -> dict[str, object]:
    """dependency-cruiser's summary over `folder/src`."""
    outcome = subprocess.run(
        ["node", "node_modules/.bin/depcruise", "--config", ".dependency-cruiser.cjs", "--output-type", "json", "src"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.stdout, outcome.stderr
    return json.loads(outcome.stdout)["summary"]


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the sources to plant faults in."""
    shutil.copytree(FRONTEND / "src", tmp_path / "src")
    for name in (".dependency-cruiser.cjs", "tsconfig.json", "package.json", "svelte.config.js"):
        shutil.copy(FRONTEND / name, tmp_path / name)
    (tmp_path / "node_modules").symlink_to(FRONTEND / "node_modules")
    return tmp_path


def test_the_arrows_hold_over_files_that_were_really_read() -> None:
    summary = cruise(FRONTEND)
    sources = [path for pattern in ("*.ts", "*.svelte") for path in (FRONTEND / "src").rglob(pattern)]
    assert summary["totalCruised"] >= len(sources) > 20, "a checker that read nothing found nothing"
    assert summary["violations"] == []


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


def test_every_planted_fault_is_found(house: Path) -> None:
    for where, imported, _ in FAULTS:
        (house / where).parent.mkdir(exist_ok=True)
        (house / where).write_text(f'import "{imported}";\nexport {{}};\n')

    broken = {(violation["from"], violation["rule"]["name"]) for violation in cruise(house)["violations"]}

    for where, _, rule in FAULTS:
        assert (where, rule) in broken or (rule == "no-cycles" and any(name == rule for _, name in broken))


def test_every_room_is_one_that_was_drawn() -> None:
    assert {path.name for path in (FRONTEND / "src").iterdir() if path.is_dir()} <= set(ROOMS)


RE_EXPORT = re.compile(r"^export\s+(type\s+)?(\*|\{[^}]*\})\s+from\b", re.MULTILINE)


def test_there_are_no_barrels() -> None:
    sources = list((FRONTEND / "src").rglob("*.ts"))
    assert [str(path) for path in sources if path.name == "index.ts"] == []
    assert [str(path) for path in sources if RE_EXPORT.search(path.read_text())] == []


def test_a_barrel_would_be_recognised() -> None:
    assert RE_EXPORT.search('export { a, b } from "./a";')
    assert RE_EXPORT.search('export * from "./a";')
    assert not RE_EXPORT.search("export const a = 1;")
