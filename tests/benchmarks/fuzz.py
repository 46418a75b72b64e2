"""The fuzz tests for long: policy, frame reader and answers, HTTP from the description, raw bytes into the socket.

`FUZZ_FACTOR` multiplies the number of tries.
"""

import os
import time
import warnings
from typing import Any

from hypothesis import settings

from gradwalk.sandbox.language import load_offer
from tests.api.raw import storm
from tests.benchmarks.server import serving
from tests.sandbox import test_frames_fuzz, test_language_fuzz

FACTOR = int(os.environ.get("FUZZ_FACTOR", "1"))
POLICY_TRIES = 5_000
FRAME_TRIES = 20_000
RAW_TRIES = 5_000
SEED = 4


def run(name: str, tries: int, test: Any, **fixtures: Any) -> None:
    """One property test with more tries than in `make test`; raises what it finds."""
    began = time.monotonic()
    longer = settings(test._hypothesis_internal_use_settings, max_examples=tries, deadline=None, database=None)
    test._hypothesis_internal_use_settings = longer
    test(**fixtures)
    print(f"{name:<44}{tries:>9} tries{time.monotonic() - began:>8.0f} s")  # noqa: T201


def main() -> None:
    """Prints the counts; fails at the first finding."""
    warnings.simplefilter("ignore", SyntaxWarning)
    offer = load_offer()
    for test in (
        test_language_fuzz.test_programs_of_dangerous_names,
        test_language_fuzz.test_shuffled_tokens,
        test_language_fuzz.test_mutated_programs,
        test_language_fuzz.test_any_text_through_the_tracer_s_door,
    ):
        run(f"policy: {test.__name__[5:]}", POLICY_TRIES * FACTOR, test, offer=offer)
    run(
        "frames: however they are cut",
        FRAME_TRIES * FACTOR,
        test_frames_fuzz.test_however_bytes_are_cut_the_payloads_are_those_of_the_whole,
    )
    run("answers: made up", FRAME_TRIES * FACTOR, test_frames_fuzz.test_a_made_up_answer_is_an_event_or_an_answer_error)
    with serving(GRADWALK_CLIENT_RATE="1000000/second") as client:
        began = time.monotonic()
        seen = storm(str(client.base_url), RAW_TRIES * FACTOR, SEED)
        assert not [status for status in seen if status.startswith("5")], seen
        assert client.get("/healthz").status_code == 200
    print(f"{'raw bytes into the socket':<44}{sum(seen.values()):>9} tries{time.monotonic() - began:>8.0f} s")  # noqa: T201
    print(dict(seen))  # noqa: T201


if __name__ == "__main__":
    main()
