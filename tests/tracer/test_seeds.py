"""Of a seed of another dtype the engine makes one of the output's: that is said, and is nobody's fault."""

import pytest
import torch

from tests.twin import run_plain, run_traced, tensor_of

CASTS = {
    "to float32": ("float32", "torch.tensor([.1, .7], dtype=torch.float64)"),
    "to float16": ("float16", "torch.tensor([.1, .7])"),
    "from whole numbers": ("float32", "torch.tensor([1, 2])"),
    "to complex": ("complex64", "torch.tensor([.1 + 1j, .7], dtype=torch.complex128)"),
}


@pytest.mark.parametrize(("dtype", "seed"), CASTS.values(), ids=CASTS.keys())
@pytest.mark.parametrize("uses", [1, 2])
def test_a_seed_of_another_dtype_is_cast_by_the_engine(dtype: str, seed: str, uses: int) -> None:
    source = (
        f"x = torch.tensor([1., 2.], dtype=torch.{dtype}, requires_grad=True)\ny = x * x\nv = {seed}\n"
        f"torch.autograd.backward([y] * {uses}, [v] * {uses})\n"
    )
    plain = run_plain(source)
    assert plain.error is None
    traced = run_traced(source)
    assert not traced.of("problem")
    [started] = traced.of("pass_started")
    given = plain.namespace["v"]
    for output in started["outputs"]:
        assert torch.equal(tensor_of(output["seed"]), given)
        assert torch.equal(tensor_of(output["cast"]), given.to(getattr(torch, dtype)))
    step = traced.of("step")[0]
    assert "hooks" not in step
    assert [one["value"] for one in step["contributions"]] == [one["cast"] for one in started["outputs"]]
    leaf = traced.of("pass_finished")[0]["leaf_grads"][0]["grad"]
    assert torch.equal(tensor_of(leaf), plain.namespace["x"].grad)


def test_a_seed_that_fits_is_not_cast() -> None:
    traced = run_traced("x = torch.ones(2, requires_grad=True)\n(x * 2).backward(torch.ones(2))\n")
    assert "cast" not in traced.of("pass_started")[0]["outputs"][0]
