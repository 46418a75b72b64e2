"""`python -m gradwalk.exports.baker SCRIPT`: a trace document on standard input, what was worked out of it on output.

V8, from mini-racer's wheel, runs the page's own code for layout and formulas. A process of its own: it reads text made
from strangers' programs, and must not be able to take the server down with it.
"""

import json
import sys
from pathlib import Path

from py_mini_racer import JSPromise, MiniRacer

MEMORY_BYTES_MAX = 1 << 30
SECONDS_MAX = 50


def main() -> None:
    """Prints the JSON of `Baked` in frontend/src/embed/baked.ts."""
    engine = MiniRacer()
    engine.set_hard_memory_limit(MEMORY_BYTES_MAX)
    engine.eval(Path(sys.argv[1]).read_text("utf-8"))
    document = json.dumps(sys.stdin.buffer.read().decode("utf-8"))
    promise = engine.eval(f"gradwalk.bake({document})")
    assert isinstance(promise, JSPromise)
    sys.stdout.buffer.write(str(promise.get(timeout=SECONDS_MAX)).encode("utf-8"))


if __name__ == "__main__":
    main()
