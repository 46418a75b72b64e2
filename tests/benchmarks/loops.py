"""Fifty clients send endless loops without a pause: how long page, /healthz and an honest trace take beside them."""

import statistics

from tests.api.crowd import high, measure_beside
from tests.benchmarks.server import serving

LOOPS = 50
ROUNDS = 60
TRACE_SECONDS = 1.0


def main() -> None:
    """Prints the table; fails above the bar."""
    with serving(GRADWALK_TRUSTED_PROXIES='["127.0.0.1"]') as client:
        seen = measure_beside(str(client.base_url), LOOPS, ROUNDS)
    print(f"{f'beside {LOOPS} endless loops':<44}{'ms p50':>9}{'ms p95':>9}{'ms max':>9}")
    for name, seconds in (("page", seen.page), ("/healthz", seen.health), ("an honest trace", seen.trace)):
        print(
            f"{name:<44}{statistics.median(seconds) * 1e3:>9.1f}{high(seconds) * 1e3:>9.1f}{max(seconds) * 1e3:>9.1f}"
        )
    print(f"loops answered meanwhile: {dict(seen.answers)}")
    assert high(seen.trace) < TRACE_SECONDS


if __name__ == "__main__":
    main()
