"""Values as plain data; torch's own reading of the numbers is the oracle."""

import json
import math
from array import array
from base64 import b64decode
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gradwalk.protocol.values import TensorValue
from gradwalk.tracer.snapshot import snapshot
from tests.twin import tensor_of

VALUE = TypeAdapter(TensorValue)
FLOAT8 = [getattr(torch, name) for name in dir(torch) if name.startswith("float8_") and "x2" not in name]

pytestmark = pytest.mark.filterwarnings("ignore:.*prototype stage.*", "ignore:ComplexHalf", "ignore:.*Sparse CSR.*")


def read_value(value: TensorValue) -> torch.Tensor:
    """The tensor that a reader of the JSON text makes of it."""
    return tensor_of(VALUE.validate_python(json.loads(json.dumps(value, allow_nan=False))))


def assert_identical(tensor: torch.Tensor) -> None:
    """Entry by entry the same bytes, any NaN for a NaN."""
    back = read_value(snapshot(tensor, tensor.numel()))
    nan = torch.isnan(tensor) if tensor.is_complex() else torch.isnan(tensor.to(torch.float64))
    assert (back.dtype, back.shape) == (tensor.dtype, tensor.shape)
    theirs, ours = (one.view(torch.uint8).reshape(tensor.numel(), -1)[~nan.flatten()] for one in (tensor, back))
    assert torch.equal(ours, theirs)


SMALL = [pytest.param(torch.float16, marks=pytest.mark.sweep), torch.bfloat16, *FLOAT8]


@pytest.mark.parametrize("dtype", SMALL, ids=str)
def test_every_number_of_16_or_8_bits_reads_back(dtype):
    of_bits = torch.arange(256, dtype=torch.uint8) if dtype in FLOAT8 else torch.arange(-(2**15), 2**15).short()
    assert_identical(of_bits.view(dtype))


@settings(max_examples=200, deadline=None)
@example([1 << 31, 1 << 63])
@given(st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 2**64 - 1), min_size=1, max_size=20))
def test_all_bits_read_back_and_no_digit_of_a_float32_is_wasted(patterns):
    array = np.array(patterns, dtype=np.uint64)
    for dtype in (np.float32, np.float64, np.complex64):
        assert_identical(torch.from_numpy(array.view(dtype)))
    assert_identical(torch.from_numpy(np.concatenate([array, array]).view(np.complex128)))
    for entry in array.view(np.float32):
        alone = snapshot(torch.tensor(entry), 1)["data"][0]
        assert alone == (
            float(str(entry))
            if np.isfinite(entry)
            else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(entry, "NaN")
        )


SPELLED = [
    *[(lambda n=n: torch.tensor(0.1).to(getattr(torch, n)), [], n, [0.1]) for n in ("float32", "bfloat16", "float16")],
    (lambda: torch.tensor([[1, 2], [3, 4]]), [2, 2], "int64", [1, 2, 3, 4]),
    *[(lambda end=end, name=name: torch.tensor(end, dtype=getattr(torch, name)), [], name, [end])
      for name in ("uint8", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
      for end in (torch.iinfo(getattr(torch, name)).min, torch.iinfo(getattr(torch, name)).max)],
    (lambda: torch._efficientzerotensor((2,), dtype=torch.float64), [2], "float64", [0.0, 0.0]),
    (lambda: torch.tensor([True, False]), [2], "bool", [True, False]),
    (lambda: torch.zeros(2, 0), [2, 0], "float32", []),
    (lambda: torch.tensor([math.nan, math.inf, -math.inf]), [3], "float32", ["NaN", "Infinity", "-Infinity"]),
    (lambda: torch.tensor(1e-45), [], "float32", [1e-45]),
    (lambda: torch.ones(1).expand(3), [3], "float32", [1.0, 1.0, 1.0]),
    (lambda: torch.tensor([1 + 2j]).conj(), [1], "complex64", [[1.0, -2.0]]),
    (lambda: torch.tensor([1 + 2j]).conj().imag, [1], "float32", [-2.0]),
    (lambda: torch.tensor([1 + 0.1j], dtype=torch.complex32), [1], "complex32", [[1.0, 0.1]]),
    (lambda: torch.tensor([[0.0, 2.0]]).to_sparse(), [1, 2], "float32", [0.0, 2.0], "sparse_coo"),
    (lambda: torch.tensor([[0.0, 2.0]]).to_sparse_csr(), [1, 2], "float32", [0.0, 2.0], "sparse_csr"),
    (lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(1)], layout=torch.jagged), [2, 2], "float32",
     [1.0, 1.0, 1.0, "NaN"], "nested, padded with NaN"),
    (lambda: torch.empty(3, device="meta"), [3], "float32", "note-meta"),
    (lambda: torch.quantize_per_tensor(torch.tensor([0.12]), 0.1, 0, torch.qint8), [1], "qint8", [0.1]),
    *[(lambda n=n: torch.empty(1, dtype=getattr(torch, n)), [1], n, "note-opaque-dtype") for n in ("int4", "qint8")],
]  # fmt: skip


@pytest.mark.parametrize("row", SPELLED)
def test_a_value_is_spelled(row):
    make, shape, dtype, data, *layout = row
    value = snapshot(make(), 10)
    numbers = {"data": data} if isinstance(data, list) else {"unavailable": {"kind": data}}
    assert value == {"shape": shape, "dtype": dtype, **numbers, **({"layout": layout[0]} if layout else {})}
    VALUE.validate_python(value)


def assert_close(spelled, expected):
    assert float(spelled) == pytest.approx(float(expected), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("shape", [(2000,), (50, 70), (3, 20, 50), (5, 7, 3, 40)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.complex64], ids=str)
def test_a_summary_agrees_with_torch(shape, dtype):
    tensor = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 5).to(dtype)
    value = snapshot(tensor, 1000)
    VALUE.validate_python(value)
    # Summaries of complex numbers are of magnitudes.
    summary, exact = value["summary"], (tensor.abs() if tensor.is_complex() else tensor).double()
    assert "data" not in value
    for name in ("min", "max", "mean", "std", "norm"):
        assert_close(summary[name], getattr(exact, name)())
    assert summary["zeros"] == int((tensor == 0).sum())
    counts, _ = np.histogram((exact / exact.abs().max()).numpy(), bins=24)
    assert summary["histogram"]["counts"] == counts.tolist()
    drawn, cells = summary["thumbnail"]["shape"], cells_of(summary)
    assert math.prod(drawn) == len(cells)
    assert max(drawn) <= 64
    rows, columns = (1, shape[0]) if len(shape) == 1 else (math.prod(shape[:-1]), shape[-1])
    height, width = min(rows, 16), min(columns, 16)
    means = [
        float(exact.reshape(rows, columns)[top:bottom, left:right].mean())
        for top, bottom in pairwise(row * rows // height for row in range(height + 1))
        for left, right in pairwise(column * columns // width for column in range(width + 1))
    ]
    assert_drawn(cells, means)
    if dtype == torch.float64:
        assert_drawn(cells_of(snapshot(tensor * 1e-300, 1000)["summary"]), means)
        assert_close(snapshot(tensor * 1e200, 1000)["summary"]["norm"], 1e200 * tensor.norm())


def cells_of(summary):
    return [*array("b", b64decode(summary["thumbnail"]["cells"]))]


def assert_drawn(cells, means):
    """The cells are these numbers, relative to the largest, and no sign or zero is lost."""
    largest = max(map(abs, means)) or 1.0
    assert [(cell > 0) - (cell < 0) for cell in cells] == [(mean > 0) - (mean < 0) for mean in means]
    for cell, mean in zip(cells, means, strict=True):
        assert abs(cell) == 1 or cell / 126 == pytest.approx(mean / largest, abs=0.51 / 126)
        assert abs(cell) > 1 or abs(mean / largest) < 1.51 / 126


def test_statistics_leave_out_what_is_not_finite():
    tensor = torch.ones(2000)
    tensor[:3] = torch.tensor([math.nan, math.inf, -math.inf])
    summary = snapshot(tensor, 10)["summary"]
    assert (summary["nans"], summary["infs"], summary["mean"], summary["std"]) == (1, 2, 1.0, 0.0)
    assert cells_of(summary)[0] == -128
    for infinity, cell in ((math.inf, 127), (-math.inf, -127)):
        tensor = torch.ones(2000)
        tensor[-1] = infinity
        assert cells_of(snapshot(tensor, 10)["summary"]) == [126] * 15 + [cell]
    nothing = snapshot(torch.full((2000,), math.nan), 10)["summary"]
    assert (nothing["min"], nothing["mean"], nothing["nans"]) == ("NaN", "NaN", 2000)
    VALUE.validate_python(snapshot(torch.full((2000,), math.nan), 10))


def test_an_expanded_value_is_not_copied_out_and_blocks_add_up_to_the_whole():
    expanded = torch.tensor(2.0).expand(100_000, 100_000)
    summary = snapshot(expanded, 10)["summary"]
    assert (summary["min"], summary["mean"], summary["std"], summary["norm"]) == (2.0, 2.0, 0.0, 200_000.0)
    assert set(cells_of(summary)) == {126}
    assert sum(summary["histogram"]["counts"]) == 10**10
    rows = torch.randn(1, 300).expand(500, 300)
    partly, copied = snapshot(rows, 10)["summary"], snapshot(rows.contiguous(), 10)["summary"]
    assert_close(partly["std"], copied["std"])
    assert partly["thumbnail"] == copied["thumbnail"]
    blocks = torch.randn(3, 1_500_000).t()
    summary = snapshot(blocks, 10)["summary"]
    assert_close(summary["mean"], blocks.double().mean())
    assert_close(summary["std"], blocks.double().std())


def test_patched_methods_are_not_used(monkeypatch):
    def broken(*arguments: object, **named: object) -> object:
        raise AssertionError("the program's own patch was called")

    for name in ("tolist", "numpy", "detach", "reshape", "to", "item", "clone"):
        monkeypatch.setattr(torch.Tensor, name, broken, raising=False)
    monkeypatch.setattr(torch, "tensor", broken)
    with torch._C.DisableTorchFunction():
        assert snapshot(torch.ones(2, 2, dtype=torch.bfloat16) / 7, 4)["data"][0] == 0.143
        assert "summary" in snapshot(torch.ones(2, 2), 3)
