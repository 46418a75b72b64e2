"""Build the page into server/gradwalk/static, unless it is there already.

`--check` only asks: exit status 0 when what is built matches the sources (or there are no sources, as in a
release), 1 when it has to be built. Used by the Makefile and by hatch_build.py; needs npm on PATH.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontend"
WORDS = ROOT / "server" / "gradwalk" / "words"
STATIC = ROOT / "server" / "gradwalk" / "static"
STAMP = STATIC / ".source-hash"
NOT_SOURCES = {"node_modules", "dist", "docs", ".svelte-kit", "coverage"}
SCRIPTS_IN_ORDER = ("build", "build:embed")


def source_files() -> Iterator[Path]:
    """Everything that can change the built page; tests and what npm makes are left out."""
    for path in sorted(FRONTEND.rglob("*")):
        inside = path.relative_to(FRONTEND)
        if NOT_SOURCES.isdisjoint(inside.parts) and path.is_file() and ".test." not in path.name:
            yield path
    yield from sorted(WORDS.glob("*.ftl"))


def source_hash() -> str:
    """One hash over names and contents of the sources."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(path.relative_to(ROOT).as_posix().encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def is_fresh() -> bool:
    """Whether the built page is that of the sources at hand."""
    if not (FRONTEND / "package.json").is_file():
        return True
    return STAMP.is_file() and STAMP.read_text().strip() == source_hash()


def build(*, install: bool) -> None:
    """Build page and embeds, then note what they were built from.

    Raises:
        subprocess.CalledProcessError: npm failed; its own words are on the terminal.
    """
    npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm was not found; gradwalk's page is built with Node.js 20.19 or newer")
    if install:
        subprocess.run([npm, "ci", "--no-audit", "--no-fund"], cwd=FRONTEND, check=True)
    # The hash is taken first: a file saved during the build makes the build stale, not silently wrong.
    built_from = source_hash()
    declared = json.loads((FRONTEND / "package.json").read_text()).get("scripts", {})
    for script in SCRIPTS_IN_ORDER:
        if script in declared:
            subprocess.run([npm, "run", "--silent", script], cwd=FRONTEND, check=True)
    STAMP.write_text(built_from + "\n")


def main() -> None:
    """Parse the arguments and do what they ask."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say whether a build is needed")
    parser.add_argument("--install", action="store_true", help="run npm ci before a build")
    arguments = parser.parse_args()
    if is_fresh():
        return
    if arguments.check:
        sys.exit(1)
    build(install=arguments.install)


if __name__ == "__main__":
    main()
