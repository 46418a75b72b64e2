"""The TypeScript types are generated from the Python models and must not drift from them."""

import shutil
import subprocess
from pathlib import Path

FRONTEND = Path(__file__).parents[2] / "frontend"


def test_typescript_types_are_what_the_models_say() -> None:
    node = shutil.which("node")
    assert node is not None, "Node 20 or newer is needed: see README.md"
    outcome = subprocess.run(
        [node, "scripts/generate-types.mjs", "--check"],
        cwd=FRONTEND,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 0, outcome.stderr
