"""What the databases hold but cannot be judged, each with its reason; a case that is not listed must be judged."""

from collections.abc import Iterable
from pathlib import Path

from tests.tracer.traced_calls import SAMPLES, Compute, compare_with_twin

FILE = Path(__file__).with_name("skipped_operators.txt")


def read() -> dict[str, str]:
    """Label -> reason."""
    lines = FILE.read_text(encoding="utf-8").splitlines()
    pairs = (line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    return dict(pairs)


SKIPPED = read()


def judge(label: str, samples: Iterable[Compute]) -> None:
    """Compares samples until enough could be; a case that has none must be listed, and no other may be."""
    judged, reason = 0, "the database has no sample"
    for compute in samples:
        why = compare_with_twin(compute)
        if why is not None:
            reason = why
            continue
        judged += 1
        if judged == SAMPLES:
            break
    found = None if judged else reason
    assert found == SKIPPED.get(label), f"{label}: {found}"
