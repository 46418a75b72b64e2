"""`python -m gradwalk.exports.scene_child CATALOGUE SCRIPTS`: the page's scripts in V8, from mini-racer, asked by pipe.

A line in is JSON, a function of frontend/src/embed/bake.ts and its arguments: `["draw", "key", "7.3", "{}"]`. The
line out is `{"made": …}`, or `{"failed": …}` where the function threw.
"""

import json
import signal
import sys
from pathlib import Path

from py_mini_racer import JSEvalException, JSOOMException, JSPromise, JSPromiseError, MiniRacer

MEMORY_BYTES_MAX = 1 << 30


def main() -> None:
    """Answers until the pipe ends. Out of memory is the end of the process: V8 does nothing more then."""
    # An interrupt is for the process at the other end, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    english, *scripts = (Path(path).read_text("utf-8") for path in sys.argv[1:])
    engine = MiniRacer()
    engine.set_hard_memory_limit(MEMORY_BYTES_MAX)
    engine.eval(f"var gradwalkEnglish = {json.dumps(english)}")
    for each in scripts:
        engine.eval(each)
    script = engine.eval("gradwalk")
    for line in sys.stdin.buffer:
        name, *arguments = json.loads(line)
        answer = {}
        try:
            made = script[name](*arguments)  # type: ignore[index, operator]
            made = made.get() if isinstance(made, JSPromise) else made
            answer["made"] = made if isinstance(made, str) else ""
        except JSOOMException:
            raise
        except (JSEvalException, JSPromiseError) as error:
            answer["failed"] = str(error).partition("\n")[0]
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
