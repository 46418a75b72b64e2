"""`python -m gradwalk.exports.baker SCRIPT FUNCTION LANGUAGE`: from a trace document on standard input to an answer.

V8, from mini-racer's wheel, runs the page's own code for layout, formulas and sentences. A process of its own: it
reads text made from strangers' programs, and must not be able to take the server down with it.
"""

import json
import sys
from pathlib import Path

from py_mini_racer import JSPromise, MiniRacer

from gradwalk.words.catalogue import LANGUAGE, read_catalogue

MEMORY_BYTES_MAX = 1 << 30
SECONDS_MAX = 50


def main() -> None:
    """Prints what `bake` or `tell` of frontend/src/embed/bake.ts gives: JSON."""
    engine = MiniRacer()
    engine.set_hard_memory_limit(MEMORY_BYTES_MAX)
    engine.eval(Path(sys.argv[1]).read_text("utf-8"))
    language = sys.argv[3]
    if language != LANGUAGE:
        engine.eval(f"gradwalk.speak({json.dumps(language)}, {json.dumps(read_catalogue(language))})")
    document = json.dumps(sys.stdin.buffer.read().decode("utf-8"))
    made = engine.eval(f"gradwalk.{sys.argv[2]}({document})")
    if isinstance(made, JSPromise):
        made = made.get(timeout=SECONDS_MAX)
    sys.stdout.buffer.write(str(made).encode("utf-8"))


if __name__ == "__main__":
    main()
