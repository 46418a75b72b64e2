"""Why `.grad` stays None: torch says that it does, the reason and its line are known from how the program was made."""

import warnings

import pytest

from gradwalk.words.catalogue import tell_attribute
from tests.twin import run_plain, run_traced

BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
OUT = "\ny = (z * w).sum()\ny.backward()"
ABSENT = {
    "not used": (BOTH + "y = (w * 2).sum()\ny.backward()", "no_path", "missing-unused", {}),
    "used elsewhere": (BOTH + "z = x * 2\ny = (w * 2).sum()\ny.backward()", "no_path", "missing-not-in-output",
        {"call": "mul", "line": "3"}),
    "detach": (BOTH + "z = x.detach()" + OUT, "no_path", "missing-detach", {"call": ".detach()", "line": "3"}),
    "detach in place": (BOTH + "z = x * 2\nz.detach_()" + OUT, "no_path", "missing-detach",
        {"call": ".detach_()", "line": "4"}),
    "the detach that is used": (BOTH + "z = x.detach()\nprint(x.detach())" + OUT, "no_path", "missing-detach",
        {"call": ".detach()", "line": "3"}),
    "detach in a function": (BOTH + "def f(a):\n    return a.detach() * 2\nz = f(x)" + OUT, "no_path",
        "missing-detach", {"call": ".detach()", "line": "4"}),
    "no_grad": (BOTH + "with torch.no_grad():\n    z = x * 2" + OUT, "no_path", "missing-no-grad",
        {"call": "torch.no_grad()", "line": "4"}),
    "no_grad around a module": ("m = nn.Linear(2, 2)\nw = torch.ones(2, requires_grad=True)\nwith torch.no_grad():\n"
                                "    z = m(w)" + OUT, "no_path", "missing-no-grad",
        {"call": "torch.no_grad()", "line": "4"}),
    "no_grad as decorator": (BOTH + "@torch.no_grad()\ndef f(a):\n    return a * 2\nz = f(x)" + OUT, "no_path",
                             "missing-no-grad", {"call": "torch.no_grad()", "line": "5"}),
    "requires_grad false": ("x = torch.tensor([1., 2.])\nw = torch.ones(2, requires_grad=True)\nz = x * 2" + OUT
                            + "\nprint(x.grad)", "not_required", "missing-made-without", {}),
    "switched off": (BOTH + "x.requires_grad_(False)\nz = x * 2" + OUT, "not_required", "missing-frozen-in-line",
        {"line": "3"}),
    "switched off by hand": (BOTH + "x.requires_grad = False\nz = x * 2" + OUT, "not_required",
                             "missing-frozen-in-line", {"line": "3"}),
    "whole numbers asked": ("x = torch.tensor([1, 2])\nw = torch.ones(2, requires_grad=True)\nz = x * 2" + OUT
                            + "\nprint(x.grad)", "not_required", "missing-integer", {"dtype": "int64"}),
    "whole numbers": (BOTH + "z = x.long()" + OUT, "no_path", "missing-discrete", {"call": "long", "line": "3"}),
    "comparison": (BOTH + "z = x > 1" + OUT, "no_path", "missing-discrete", {"call": "gt", "line": "3"}),
    "argmax": (BOTH + "z = w[x.argmax()]" + OUT, "no_path", "missing-discrete", {"call": "argmax", "line": "3"}),
    "data": (BOTH + "z = x.data * 2" + OUT, "no_path", "missing-data", {"call": ".data", "line": "3"}),
    "item": (BOTH + "z = x.sum().item()" + OUT, "no_path", "missing-numbers", {"call": ".item()", "line": "3"}),
    "float": (BOTH + "z = float(x[0])" + OUT, "no_path", "missing-numbers", {"call": "float()", "line": "3"}),
    "tolist": (BOTH + "z = torch.tensor(x.tolist())" + OUT, "no_path", "missing-numbers",
        {"call": ".tolist()", "line": "3"}),
    "numpy": (BOTH + "z = torch.from_numpy(x.detach().numpy() * 2)" + OUT, "no_path", "missing-detach",
        {"call": ".detach()", "line": "3"}),
    "copied by torch.tensor": (BOTH + "z = torch.tensor(x)" + OUT, "no_path", "missing-rebuilt",
        {"call": "tensor", "line": "3"}),
    "overwritten": (BOTH + "z = x * 2\nx = torch.ones(2, requires_grad=True)" + OUT, "no_path",
                    "missing-reassigned-in-line", {"line": "4"}),
    "no leaf any more": (BOTH + "x = x * 1\nz = x * 2" + OUT, "not_computed",
                         "missing-non-leaf-of", {"call": "mul", "line": "3", "count": 1, "lines": ["1"]}),
    "moved": ("w = torch.ones(2)\nx = torch.ones(2, requires_grad=True).to(torch.float64)\nz = x * 2" + OUT,
              "not_computed", "missing-non-leaf-of", {"call": "to", "line": "2", "count": 1, "lines": ["2"]}),
    "intermediate asked": ("w = torch.ones(2, requires_grad=True)\nx = w * 2\nz = x * 2" + OUT + "\nprint(x.grad)",
                           "not_computed", "missing-non-leaf-of",
        {"call": "mul", "line": "2", "count": 1, "lines": ["1"]}),
    "returned None": ("class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
                      "        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        return None\n" + BOTH
                      + "z = F1.apply(x)" + OUT, "returned_none", "missing-only-none", {}),
    "taken away by a hook": (BOTH + "x.register_post_accumulate_grad_hook(lambda p: setattr(p, 'grad', None))\n"
                             "z = x * 2" + OUT, "not_computed", "missing-cleared-by-hook", {}),
    "not named in inputs": (BOTH + "z = x * 2\ny = (z * w).sum()\ny.backward(inputs=[w])", "no_path",
        "missing-not-inputs", {}),
    "printed": (BOTH + "z = x * 2\nprint(z.sum().item())\ny = (w * 2).sum()\ny.backward()", "no_path",
                "missing-not-in-output", {"call": "mul", "line": "3"}),
    "plotted": (BOTH + "z = x * 2\nshown = [z.detach().numpy()]\ny = (w * 2).sum()\ny.backward()", "no_path",
                "missing-not-in-output", {"call": "mul", "line": "3"}),
    "counted": (BOTH + "z = x * 2\naccuracy = (z.argmax() == 1).float()\ny = (w * 2).sum()\ny.backward()", "no_path",
                "missing-not-in-output", {"call": "mul", "line": "3"}),
    "item through a list": (BOTH + "held = []\nheld.append(x.sum().item())\nz = sum(held)" + OUT, "no_path",
                            "missing-numbers", {"call": ".item()", "line": "4"}),
    "cut beside others by a helper": (BOTH + "def cut(*ts):\n    return [t.detach() for t in ts]\n"
                                      "a, z = cut(torch.ones(1, requires_grad=True), x)" + OUT, "no_path",
                                      "missing-detach", {"call": ".detach()", "line": "4"}),
    "asked after use": ("x = torch.ones(2)\nw = torch.ones(2, requires_grad=True)\nz = 1\ny = (x * w).sum()\n"
                        "x.requires_grad_()\ny.backward()", "no_path", "missing-asked-late",
        {"call": "mul", "line": "4"}),
    "func.grad": (BOTH + "torch.func.grad(lambda t: (t * t).sum())(x)", "not_computed", "missing-grad-returned",
                  {"call": "torch.func"}),
    "grad of a result": (BOTH + "h = w * 2\nx = h * 1\ntorch.autograd.grad((x * x).sum(), x)\nx.grad", "not_computed",
                         "missing-grad-returned", {"call": "torch.autograd.grad"}),
    "grad instead": (BOTH + "z = x * 2\ny = (z * w).sum()\ntorch.autograd.grad(y, [x, w])", "not_computed",
                     "missing-grad-returned", {"call": "torch.autograd.grad"}),
}  # fmt: skip


@pytest.mark.parametrize("name", ABSENT)
def test_a_grad_that_stays_none_says_why_and_where(name):
    source, reason, kind, operands = ABSENT[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = run_plain(source).namespace
        tensor = plain["m"].weight if "m" in plain else plain["x"]
        assert tensor.grad is None
    [event] = run_traced(source).of("pass_finished")
    absent = {one["leaf"]: one["grad"] for one in event["leaf_grads"] if "missing" in one["grad"]}
    names = ["m.weight"] if "m" in plain else [one for one in absent if one.partition(" ")[0] == "x"]
    [found] = [absent[one] for one in names]
    assert found["missing"] == reason
    assert spoken(found["because"]) == (kind, {"name": names[0].partition(" ")[0], **operands})


def spoken(told):
    """The kind of a fact and its operands, those of the call that it names among them."""
    operands = dict(told["operands"])
    if isinstance(operands.get("call"), dict):
        operands |= operands.pop("call")["operands"]
    return told["kind"], operands


LINES = {
    "detach": 3, "detach in place": 4, "the detach that is used": 3, "no_grad": 4, "not used": 1, "used elsewhere": 3,
    "requires_grad false": 1, "switched off by hand": 3, "whole numbers asked": 1, "whole numbers": 3, "argmax": 3,
    "data": 3, "item": 3, "float": 3, "tolist": 3, "copied by torch.tensor": 3, "overwritten": 4, "no leaf any more": 3,
    "returned None": None, "not named in inputs": None, "grad instead": None,
}  # fmt: skip


@pytest.mark.parametrize("name", LINES)
def test_what_the_program_could_write_otherwise_has_a_line_and_says_what_to_write(name):
    [event] = run_traced(ABSENT[name][0]).of("pass_finished")
    [found] = [one for one in event["leaf_grads"] if one["leaf"].partition(" ")[0] == "x"][-1:]
    assert found["grad"].get("line") == LINES[name]
    assert ("line" in found["grad"]) is (tell_attribute(found["grad"]["because"], "hint") is not None)


def test_a_copy_that_requires_grad_itself_is_a_copy_all_the_same():
    source = BOTH + "z = torch.tensor(x, requires_grad=True)" + OUT
    [event] = run_traced(source).of("pass_finished")
    [found] = [one["grad"] for one in event["leaf_grads"] if one["leaf"] == "x"]
    assert spoken(found["because"]) == ("missing-rebuilt", {"name": "x", "call": "tensor", "line": "3"})
    assert found["line"] == 3


READ = ["m[0].weight.grad", "m[0].weight.grad.norm()", "list(m.parameters()); m[0].weight.grad"]


@pytest.mark.parametrize("read", READ)
def test_a_frozen_weight_that_the_program_looks_at_is_marked(read):
    source = "m = nn.Sequential(nn.Linear(2, 2))\nm[0].weight.requires_grad_(False)\nm(torch.ones(2)).sum().backward()"
    for text, is_read in [("", False), (f"\nif m[0].weight.requires_grad: {read}", True)]:
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


def test_a_gradient_that_is_kept_is_shown():
    source = (
        "w = torch.ones(2, requires_grad=True)\nx = w * 2\nx.retain_grad()\ny = (x * x).sum()\ny.backward()\nx.grad"
    )
    [event] = run_traced(source).of("pass_finished")
    assert {one["leaf"]: one["grad"]["data"] for one in event["leaf_grads"]} == {"w": [8, 8], "x": [4, 4]}


def test_data_and_results_that_nobody_asks_for_are_not_listed():
    source = "w = torch.ones(2, requires_grad=True)\nd = torch.ones(2)\nh = w * d\ny = h.sum()\ny.backward()"
    [event] = run_traced(source).of("pass_finished")
    assert [one["leaf"] for one in event["leaf_grads"]] == ["w"]


CUT_ON_THE_WAY = {
    "in forward": "class Net(nn.Module):\n    def forward(self, a):\n        h = a.detach() * 2\n        return h * 3\n"
                  "z = Net()(x)",
    "in __call__": "class F1:\n    def __call__(self, a):\n        return a.sum().item() * 2\nz = F1()(x)",
    "kept by forward": "class Net(nn.Module):\n    def forward(self, a):\n        self.h = a\n        return a\n"
                       "net = Net()\nc = x.sum().item() * 2\nnet(c)\nz = net.h",
    "in a generator": "def parts(a):\n    yield a.detach() * 2\n[z] = parts(x)",
    "passed to map": "def cut(a):\n    return a.detach() * 2\n[z] = map(cut, [x])",
    "in a property": "class Box:\n    def __init__(self, a): self.a = a\n    @property\n    def half(self):\n"
                     "        return self.a.detach() / 2\nz = Box(x).half",
    "methods of one name": "class A:\n    def put(self, a): self.h = a * 2\nclass B:\n    def put(self, b): self.k = b"
                           "\no = A()\no.put(x.sum().item())\nz = o.h",
    "under another name": "held = []\nother = held\nother.append(x.sum().item())\nz = held[0]",
    "filled by a helper": "def fill(box, a):\n    box.append(a.sum().item())\nheld = []\nfill(held, x)\nz = held[0]",
    "setattr": "class Box: pass\no = Box()\nsetattr(o, 'h', x.sum().item())\nz = o.h",
    "by a condition": "z = 1.0\nif x.sum().item() > 0:\n    z = 2.0",
    "by a walrus": "if (z := x.sum().item()) > 0: pass",
}  # fmt: skip


@pytest.mark.parametrize("name", CUT_ON_THE_WAY)
def test_a_cut_whose_result_is_used_on_any_way_is_the_reason(name):
    source = BOTH + CUT_ON_THE_WAY[name] + OUT
    assert run_plain(source).namespace["x"].grad is None
    [event] = run_traced(source).of("pass_finished")
    [found] = [one["grad"] for one in event["leaf_grads"] if one["leaf"] == "x"]
    assert found["because"]["kind"] in ("missing-detach", "missing-numbers")
