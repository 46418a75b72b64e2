"""What stands out in a pass and what PyTorch runs without a word is told; what a teacher would write is not.

Truth by plain torch: where the first NaN is, how large gradients are, which gradients are not those of the program.
"""

import re
from pathlib import Path

import pytest
import torch

from gradwalk.protocol.requests import ResolvedLimits
from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import run_traced, run_watched

LEAF = "x = torch.tensor([1., 2.], requires_grad=True)\n"


def findings(source, kind=None, **options):
    traced = run_traced(source, **options)
    found = [one for event in traced.of("pass_finished") for one in event.get("findings", [])]
    return traced, [one for one in found if kind is None or one["kind"] == kind]


def lines(found):
    return [one["span"]["line"] for one in found]


COLLECTED = re.findall(
    r"### (.*?)(?:, line (\d+))?: (\S+)(?: (.*))?\n((?:.*\n)+?)(?:--- mended\n((?:.*\n)+?))?(?=###|$)",
    Path(__file__).with_name("findings.txt").read_text(),
)


@pytest.mark.parametrize(
    ("line", "kind", "fact", "source", "mended"), [pytest.param(*one, id=name) for name, *one in COLLECTED]
)
def test_it_is_told_once_with_its_line_and_nothing_else_is(line, kind, fact, source, mended):
    traced, found = findings(source)
    notes = notes_of(traced)
    assert (kind == "note") == (notes != [])
    if kind in ("note", "nothing"):
        assert (found, notes) == ([], [fact] * (kind == "note"))
    else:
        [finding] = [one for one in found if one["kind"] == kind]
        # A pole is none.
        assert kind == "overflow" or "overflow" not in [one["kind"] for one in found]
        assert lines([finding]) == [int(line)]
        assert spoken(finding["fact"]) == fact
    if kind == "first_non_finite" and not fact.startswith("finding-leaf"):
        assert fact.split()[1] in (traced.nodes()[finding["node"]][name].strip("_") for name in ("name", "op"))
        assert [finding["step"]] == [one["index"] for one in traced.of("step") if one["node"] == finding["node"]]
    if mended:
        traced, found = findings(mended)
        assert (found, notes_of(traced)) == ([], [])


def notes_of(traced):
    return [spoken(note) for event in traced.events for note in event.get("notes", ())]


SAVED_TWICE = custom_function("F1", "a, b", "ctx.save_for_backward(a)\nctx.save_for_backward(b)\nreturn a * b",
    "return g * ctx.saved_tensors[0], None") + "F1.apply(w, w.detach() + 1).sum().backward()\n"  # fmt: skip
AGAIN = "w.grad = None\ny.sum().backward(retain_graph=True)\n" * 2


@pytest.mark.parametrize("rest", ["y.sum().backward()\n", AGAIN, SAVED_TWICE])  # fmt: skip
def test_what_did_not_change_behind_autograd_is_not_told(rest):
    source = f"w = torch.tensor([2., float('nan')], requires_grad=True)\ny = (w * w).exp().sqrt()\n{rest}"
    assert not [one for node in run_traced(source).nodes().values() for one in node["saved"] if "was" in one]


BACKWARD = {
    "root at zero": LEAF + "y = x - 1\nz = y.sqrt()\nz.sum().backward()",
    "where": LEAF + "y = torch.where(x > 1.5, x, (x - 1).sqrt())\ny.sum().backward()",
    "one of two": "x = torch.tensor([0., 2.], requires_grad=True)\n((x * 0).sqrt() + 1 / x).sum().backward()",
}


@pytest.mark.parametrize("name", BACKWARD)
def test_the_first_gradient_that_is_no_number_is_where_a_hook_sees_it(name):
    """The oracle: the earliest executed node in plain torch that returns something that is not finite."""
    watched = run_watched(BACKWARD[name]).steps
    first = next(at for at, one in enumerate(watched) if not all(map(is_finite, one.grad_inputs)))
    traced, found = findings(BACKWARD[name], "first_non_finite")
    kinds = {one["step"]: one["fact"]["kind"] for one in found if one["fact"]["kind"].startswith("finding-gradient")}
    assert traced.nodes()[traced.of("step")[first]["node"]]["name"] == watched[first].name
    if name == "one of two":
        assert first not in kinds
        assert [*kinds.values()] == ["finding-gradient-too"]
    else:
        assert kinds == {first: "finding-gradient-sqrt"}


def is_finite(gradient):
    return gradient is None or bool(torch.isfinite(gradient).all())


@pytest.mark.parametrize("elements", [1024, 1])
def test_a_dead_relu_is_found_in_place_or_not_written_out_or_summarised(elements):
    source = "x = torch.randn(6, requires_grad=True)\ny = F.relu(x.abs() - 100)\nz = F.relu_(x.abs() - 100)\n"
    source += "u = F.relu(x)\n(y + z + u).sum().backward()"
    limits = ResolvedLimits(elements=elements)
    assert lines(findings(source, "dead_relu", limits=limits)[1])[:1] == [2]
    assert set(lines(findings(source, "dead_relu", limits=limits)[1])) <= {2, 3}


TIED = {
    "an input": ("ctx.save_for_backward(x)\nreturn x ** 3", "x, = ctx.saved_tensors\nreturn g * 3 * x ** 2"),
    "an output": ("y = x.exp()\nctx.save_for_backward(y)\nreturn y", "y, = ctx.saved_tensors\nreturn g * y"),
    "a mask": ("m = (x > 0).double()\nctx.save_for_backward(m)\nreturn x * m", "m, = ctx.saved_tensors\nreturn g * m"),
    "an extra output": ("e = x.exp()\nctx.save_for_backward(e)\nreturn e * 2, e",
        "e, = ctx.saved_tensors\nreturn (g * 2 + h) * e"),
}  # fmt: skip


@pytest.mark.parametrize("name", TIED)
def test_what_is_tied_to_the_graph_is_no_cut(name):
    source = custom_function("F1", "x", *TIED[name], arrived="g, h" if name == "an extra output" else "g")
    source += "x = torch.tensor([0.7, -1.], dtype=torch.float64, requires_grad=True)\ny = F1.apply(x)\n"
    source += "y = y[0] if isinstance(y, tuple) else y\ng, = torch.autograd.grad(y.sum(), x, create_graph=True)\n"
    assert findings(source)[1] == []
