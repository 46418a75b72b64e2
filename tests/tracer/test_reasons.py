"""Why `.grad` stays None: torch says that it does, the reason and its line are known from how the program was made."""

import warnings

import pytest

from gradwalk.words.catalogue import tell_attribute
from tests.tracer.facts import spoken
from tests.tracer.programs import custom_function
from tests.twin import assert_same, run_plain, run_traced

BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
F2 = custom_function("F2", "a", "return a * 2", "return g * 2")
OUT = "\ny = (z * w).sum()\ny.backward()"
# By what is missing: the program, the fact, and the line where the program could be written otherwise, if there is one.
ABSENT = {
    "no_path": {
        "an input of grad alone": (BOTH + "g, _ = torch.autograd.grad((w ** 3).sum(), (w, x), allow_unused=True, "
            "create_graph=True)\ng.sum().backward()", "missing-unused x", 1),
        "used elsewhere": (BOTH + "z = x * 2\ny = (w * 2).sum()\ny.backward()", "missing-not-in-output x mul 3", 3),
        "detach": (BOTH + "z = x.detach()" + OUT, "missing-detach x .detach() 3", 3),
        "detach in place": (BOTH + "z = x * 2\nz.detach_()" + OUT, "missing-detach x .detach_() 4", 4),
        "no_grad": (BOTH + "with torch.no_grad():\n    z = x * 2" + OUT, "missing-no-grad x torch.no_grad() 4", 4),
        "no_grad around a module": ("m = nn.Linear(2, 2)\nw = torch.ones(2, requires_grad=True)\n"
            "with torch.no_grad():\n    z = m(w)" + OUT, "missing-no-grad m.weight torch.no_grad() 4", 4),
        "no_grad as decorator": (BOTH + "@torch.no_grad()\ndef f(a):\n    return a * 2\nz = f(x)" + OUT,
            "missing-no-grad x torch.no_grad() 5", 5),
        "whole numbers": (BOTH + "z = x.long()" + OUT, "missing-discrete x long 3", 3),
        "data": (BOTH + "z = x.data * 2" + OUT, "missing-data x .data 3", 3),
        "item": (BOTH + "z = x.sum().item()" + OUT, "missing-numbers x .item() 3", 3),
        "tolist": (BOTH + "z = torch.tensor(x.tolist())" + OUT, "missing-numbers x .tolist() 3", 3),
        "copied by torch.tensor": (BOTH + "z = torch.tensor(x)" + OUT, "missing-rebuilt x tensor 3", 3),
        "inside a Function": (BOTH + F2.replace("2\n", "x\n") + "z = F2.apply(w)" + OUT,
            "missing-inside x F2 10", 10),
        "overwritten": (BOTH + "z = x * 2\nx = torch.ones(2, requires_grad=True)" + OUT,
            "missing-reassigned-in-line x 4", 4),
        "not named in inputs": (BOTH + "z = x * 2\ny = (z * w).sum()\ny.backward(inputs=[w])", "missing-not-inputs x"),
        "cut, then a name that a function has too": (BOTH + "def f(a):\n    return a * 2\nz = x.detach()\nf(z)\n"
            "a = w * 2\nx * 3\ny = (a * w).sum()\ny.backward()", "missing-not-in-output x mul 8", 8),
        "cut into an entry that is used": (BOTH + "h = torch.zeros(2)\nh.view(-1)[0] = x.detach()[0]\nx * 3\nz = h * 2"
            + OUT, "missing-detach x .detach() 4", 4),
        "indices of the largest": (BOTH + "_, z = x.max(0)" + OUT, "missing-discrete x max 3", 3),
        "asked after a Function": (F2 + "x = torch.ones(2)\nw = torch.ones(2, requires_grad=True)\nz = F2.apply(x)\n"
            "x.requires_grad_()\nx * 3" + OUT, "missing-asked-late x F2 10", 10),
        "asked after a Function that is only looked at": (F2 + "x = torch.ones(2)\n"
            "w = torch.ones(2, requires_grad=True)\nF2.apply(x)\nx.requires_grad_()\nx * 3\nz = F2.apply(w)" + OUT,
            "missing-not-in-output x mul 12", 12),
        "asked after a use without a history": ("x = torch.ones(2)\nw = torch.ones(2, requires_grad=True)\n"
            "z = x.exp()\nx.requires_grad = True" + OUT, "missing-asked-late x exp 3", 3),
    },
    "not_required": {
        "requires_grad false": ("x = torch.tensor([1., 2.])\nw = torch.ones(2, requires_grad=True)\nz = x * 2" + OUT +
            "\nprint(x.grad)", "missing-made-without x", 1),
        "switched off": (BOTH + "x.requires_grad_(False)\nz = x * 2" + OUT, "missing-frozen-in-line x 3", 3),
        "switched off by hand": (BOTH + "x.requires_grad = False\nz = x * 2" + OUT, "missing-frozen-in-line x 3", 3),
        "whole numbers asked": ("x = torch.tensor([1, 2])\nw = torch.ones(2, requires_grad=True)\nz = x * 2" + OUT +
            "\nprint(x.grad)", "missing-integer x int64", 1),
    },
    "not_computed": {
        "no leaf any more": (BOTH + "x = x * 1\nz = x * 2" + OUT, "missing-non-leaf-of x mul 3 1 1", 3),
        "intermediate asked": ("w = torch.ones(2, requires_grad=True)\nx = w * 2\nz = x * 2" + OUT + "\nprint(x.grad)",
            "missing-non-leaf-of x mul 2 1 1", 2),
        "taken away by a hook": (BOTH + "x.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))\n"
            "z = x * 2" + OUT, "missing-cleared-by-hook x"),
        "taken away by other code": (BOTH + "v = w * 1\nv.register_hook(lambda g: setattr(x, 'grad', None))\n"
            "(torch.cat([v]) + x).sum().backward()", "missing-cleared x"),
        "func.grad": (BOTH + "torch.func.grad(lambda t: (t * t).sum())(x)", "missing-grad-returned torch.func x"),
        "autograd.functional": (BOTH + "torch.autograd.functional.jacobian(lambda t: t * t, x)",
            "missing-grad-returned torch.autograd.grad x"),
        "grad of a result": (BOTH + "h = w * 2\nx = h * 1\ntorch.autograd.grad((x * x).sum(), x)\nx.grad",
            "missing-grad-returned torch.autograd.grad x"),
    },
}  # fmt: skip


def absent_of(traced, name):
    """What the last pass says of a leaf."""
    grads = traced.of("pass_finished")[-1]["leaf_grads"]
    return [one["grad"] for one in grads if one["leaf"].split(" ")[0].rstrip("₂₃") == name][-1]


@pytest.mark.parametrize(("missing", "name"), [(missing, name) for missing, rows in ABSENT.items() for name in rows])
def test_a_grad_that_stays_none_says_why_and_where_and_what_to_write(missing, name):
    source, fact, *lines = ABSENT[missing][name]
    leaf = "m.weight" if "m = nn" in source else "x"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert eval(f"{leaf}.grad", run_plain(source).namespace) is None
    found = absent_of(run_traced(source), leaf)
    assert found["missing"] == missing
    assert spoken(found["because"]) == fact
    assert [found[key] for key in found if key == "line"] == lines
    assert bool(lines) is (tell_attribute(found["because"], "hint") is not None)


def test_a_frozen_weight_that_the_program_looks_at_is_marked():
    source = "m = nn.Sequential(nn.Linear(2, 2))\nm[0].weight.requires_grad_(False)\nm(torch.ones(2)).sum().backward()"
    for text, is_read in [("", False), ("\nlist(m.parameters()); m[0].weight.grad.norm", True)]:
        [event] = run_traced(source + text).of("pass_finished")
        [found] = [one for one in event["leaf_grads"] if one["leaf"] == "m.0.weight"]
        assert found.get("is_read", False) is is_read


def test_a_leaf_of_the_pass_around_is_not_said_to_be_cut_off():
    source = (
        "from torch.utils.checkpoint import checkpoint\nx = torch.ones(2, requires_grad=True)\n"
        "checkpoint(torch.sin, x, use_reentrant=True).sum().backward()\n"
    )
    inner, outer = run_traced(source).of("pass_finished")
    assert (inner["pass"], outer["pass"]) == (1, 0)
    [found] = [one["grad"] for one in inner["leaf_grads"] if one["leaf"] == "x"]
    assert found["missing"] == "not_computed"
    assert found["because"] == {"kind": "missing-around", "operands": {"name": "x", "number": "1"}}
    [kept] = [one["grad"] for one in outer["leaf_grads"] if one["leaf"] == "x"]
    assert kept["data"] == pytest.approx(run_plain(source).namespace["x"].grad.tolist())


def test_a_gradient_that_is_kept_is_shown_and_data_and_other_results_are_not_listed():
    source = "w, d = torch.ones(2, requires_grad=True), torch.ones(2)\nx = w * 2 * d\nx.retain_grad()\n"
    [event] = run_traced(source + "y = (x * x).sum()\ny.backward()\nx.grad").of("pass_finished")
    assert {one["leaf"]: one["grad"]["data"] for one in event["leaf_grads"]} == {"w": [8, 8], "x": [4, 4]}


SCALE = custom_function("Scale", "a, k", "ctx.k = k\nreturn a * k", "return g * ctx.k, None")
CUT_ON_THE_WAY = {
    "kept by forward": "class Net(nn.Module):\n    def forward(self, a):\n        self.h = a\n        return a\n"
                       "net = Net()\nc = x.sum().item() * 2\nnet(c)\nz = net.h",
    "methods of one name": "class A:\n    def put(self, a): self.h = a * 2\nclass B:\n    def put(self, b): self.k = b"
                           "\no = A()\no.put(x.sum().item())\nz = o.h",
    "filled by a helper": "def fill(box, a):\n    box.append(a.sum().item())\nheld = []\nfill(held, x)\nz = held[0]",
    "by a condition": "z = 1.0\nif x.sum().item() > 0:\n    z = 2.0",
    "in a closure": "def make(a):\n    k = a.sum().item()\n    def f(b): return b * k\n    return f\n"
                    "f = make(x)\nz = f(w)",
    "by recursion": "def rec(n, a): return a.sum().item() if n == 0 else rec(n - 1, a) + 1\nz = rec(3, x)",
    "through an inherited Function": SCALE + "class T(Scale): pass\nz = T.apply(w, x.sum().item())",
    "through numpy": "def load(a): return torch.from_numpy(a * 2)\nz = load(x.detach().numpy())",
}  # fmt: skip


@pytest.mark.parametrize("name", CUT_ON_THE_WAY)
def test_a_cut_whose_result_is_used_on_any_way_is_the_reason(name):
    source = BOTH + CUT_ON_THE_WAY[name] + OUT
    assert run_plain(source).namespace["x"].grad is None
    assert absent_of(run_traced(source), "x")["because"]["kind"] in ("missing-numpy", "missing-numbers")


CALLED_TWICE = {
    "a Function": SCALE + "k = x.sum().item()\nScale.apply(w, k)\nz = Scale.apply(w, 2.0)",
    "a helper": "def scale(a, k): return a * k\nk = x.sum().item()\nscale(w, k)\nz = scale(w, k=2.0)",
    "a helper of a helper": "def scale(a, k): return a * k\ndef deep(a, k): return scale(a, k + 1)\n"
                            "k = x.sum().item()\ndeep(w, k)\nz = deep(w, 2.0)",
    "a module": "class Net(nn.Module):\n    def forward(self, a, k): return a * k\nnet = Net()\nk = x.sum().item()\n"
                "net(w, k)\nz = net(w, 2.0)",
    "what returns a number": "def number(a): return a.sum().item()\nnumber(x)\nk = number(w)\nz = k * 2",
    "what reads a number and uses it": "def both(a, b):\n    k = a.sum().item()\n    return b * k\nboth(x, w)\n"
                                       "z = both(w, w)",
    "what is written into a tensor beside it": "k = x.sum().item()\nh = torch.zeros(2)\nh.fill_(k)\nh.add_(w)\n"
                                               "z = w * 2",
    "a list, filled later": "held = [1.5]\nz = w * held[0]\nheld.append(x.sum().item())",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLED_TWICE)
def test_a_number_in_another_call_of_the_same_is_no_reason(name):
    source = BOTH + CALLED_TWICE[name] + OUT
    assert run_plain(source).namespace["x"].grad is None
    assert absent_of(run_traced(source), "x")["because"]["kind"] == "missing-not-in-output"


ASKED = "x = torch.tensor([1., 2.], requires_grad=True)\ny = torch.tensor([3., 4., 5.], requires_grad=True)\n"


# The call, and which of its results are zeros that torch made in place of None.
RETURNED = {
    "(x * x).sum(), (x, y), allow_unused=True, materialize_grads=True": [1],
    "(x * x).sum(), (x, y), allow_unused=True, materialize_grads=True, create_graph=True": [1],
    "(x * 0).sum(), x, materialize_grads=True": None,
    "(x * x).sum(), (x, y), allow_unused=True": None,
}


@pytest.mark.parametrize("call", RETURNED)
def test_what_grad_returned_is_a_result_and_zeros_that_were_made_are_told_from_computed_ones(call: str) -> None:
    source = f"{ASKED}r = torch.autograd.grad({call})\n"
    [finished] = run_traced(source).of("pass_finished")
    for value, expected in zip(finished["results"], run_plain(source).namespace["r"], strict=True):
        assert_same(value, expected, call)
        assert value.get("missing") == ("no_path" if expected is None else None)
    assert finished.get("materialized") == RETURNED[call]


def test_a_leaf_is_not_taken_for_a_tensor_that_is_gone_and_whose_id_it_has() -> None:
    document = run_traced(
        "w = torch.ones(1, requires_grad=True)\n"
        "for _ in range(40):\n    w * torch.ones(1)\n"
        "late = [torch.ones(1, requires_grad=True) for _ in range(40)]\n"
        "(w * 2).sum().backward()\n"
    )
    [finished] = document.of("pass_finished")
    missing = [one["grad"]["because"]["kind"] for one in finished["leaf_grads"] if "missing" in one["grad"]]
    assert missing == ["missing-unused"] * 40
