"""The files of the project, as git tracks them."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
_LISTING = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
TRACKED = [ROOT / name for name in _LISTING.strip("\0").split("\0") if (ROOT / name).is_file()]
