"""Two hundred kills of server, zygote and children at random points under load; what became of everybody."""

import tempfile
import time
from pathlib import Path

from tests.sandbox.faults import rage

KILLS = 200
RESTARTS = 15
SEED = 4


def main() -> None:
    """Prints the tally; fails when anything was lost or left over."""
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        tally = rage(Path(home), KILLS, RESTARTS, SEED)
        seconds = time.monotonic() - began
    print(f"kills           {sum(tally.kills.values())}: {dict(tally.kills)} in {seconds:.0f} s")
    print(f"whole traces    {tally.traces}, after {tally.attempts} attempts")
    print(f"problems told   {dict(tally.problems)}")


if __name__ == "__main__":
    main()
