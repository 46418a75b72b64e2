"""What the traces of single examples show; `tests/tracer/test_truth.py` compares all of them with plain torch."""

import pytest
import torch

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from tests.tracer.programs import trace
from tests.twin import tensor_of


def test_rows_of_v_at_once_are_the_passes_one_by_one() -> None:
    """The batched pass against three single ones, which plain hooks have judged already."""
    together = trace("whole-jacobian").of("step")
    one_by_one = trace("rows-of-j").of("step")
    rows = [[step for step in one_by_one if step["pass"] == index] for index in range(3)]

    assert len(together) == 5, "grad() asks for p alone, so p accumulates nothing"
    for step, *single in zip(together, *(row[:5] for row in rows), strict=True):
        for part in ("grad_outputs", "grad_inputs"):
            for position, value in enumerate(step[part]):
                stacked = torch.stack([tensor_of(one[part][position]) for one in single])
                torch.testing.assert_close(tensor_of(value), stacked, rtol=0, atol=0)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.slug)
def test_an_example_opens_at_a_step_that_exists(example: Example) -> None:
    step, phase = map(int, example.start.split("."))
    assert 1 <= step <= trace(example.slug).events[-1]["steps"]
    assert 1 <= phase <= 5
    assert trace(example.slug).of("warning") == []
