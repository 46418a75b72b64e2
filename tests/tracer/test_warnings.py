"""Warnings are told where they were given, as Python itself gives them; what gradwalk's own work sets off is not."""

import warnings

import pytest
import torch

from gradwalk.tracer.originals import SNIPPET
from gradwalk.tracer.stream import WARNINGS_MAX
from tests.twin import run_traced

X = "import warnings\nx = torch.ones(4, 1, requires_grad=True)\n"
PROGRAMS = {
    "a broadcast loss": X + "F.mse_loss(x, torch.zeros(4)).backward()",
    "the grad of a result": X + "y = x * 2\ny.sum().backward()\nprint(y.grad)",
    "its own": X + "warnings.warn('hello')\nx.sum().backward()\nwarnings.warn('bye', RuntimeWarning)",
    "the order of a scheduler": "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
    "s = torch.optim.lr_scheduler.StepLR(opt, 1)\nw.sum().backward()\ns.step()\nopt.step()",
    "ignored": X + "warnings.filterwarnings('ignore')\nwarnings.warn('hello')\nF.mse_loss(x, torch.ones(4)).backward()",
    "ignored for a while": X + "with warnings.catch_warnings():\n    warnings.simplefilter('ignore')\n"
    "    warnings.warn('a')\nwarnings.warn('b')\nx.sum().backward()",
    "caught": X + "with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    warnings.warn('a')\n    warnings.warn('a')\nprint(len(w))\nx.sum().backward()",
    "a deprecation of its own": X + "warnings.warn('old', DeprecationWarning)\nx.sum().backward()",
    "in a backward": X + "class F1(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, a):\n"
    "        return a * 2\n    @staticmethod\n    def backward(ctx, g):\n        warnings.warn('in backward')\n"
    "        return g * 2\nF1.apply(x).sum().backward()",
    "a cast from complex": "z = torch.ones(2, dtype=torch.complex64)\nx = torch.ones(2, requires_grad=True)\n"
    "y = z.float() * x\ny.sum().backward()",
    "none": X + "(x * x).sum().backward()",
    "none where J is asked for": "x = torch.ones(3, dtype=torch.complex64, requires_grad=True)\n"
    "(x * x.conj()).real.sum().backward()",
}


def given_by_python(source):
    """What a script would print on stderr: category, text and line."""
    told = []
    space = {"__name__": "__main__"}
    exec("import torch\nfrom torch import nn\nimport torch.nn.functional as F", space)

    def show(message, category, filename, line, *_more):
        assert filename == SNIPPET or "torch" in filename
        told.append((category.__name__, str(message).partition(" (Triggered")[0], line))

    # A script is a process of its own; here what ran before may have had a warning that torch gives once per process.
    was_always = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    with warnings.catch_warnings():
        warnings.resetwarnings()
        for quiet in (ResourceWarning, ImportWarning, PendingDeprecationWarning, DeprecationWarning):
            warnings.simplefilter("ignore", quiet)
        warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
        warnings.showwarning = show
        exec(compile(source, SNIPPET, "exec"), space)
    torch.set_warn_always(was_always)
    return told


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_a_script_would_print_is_told_at_its_line(name):
    source = PROGRAMS[name]
    told = [(one["category"], one["text"], one["span"]["line"]) for one in run_traced(source).of("warning")]
    assert told == given_by_python(source)
    assert run_traced(source).events == run_traced(source).events


def test_they_stand_in_their_place_among_what_was_printed():
    source = X + "print('a')\nwarnings.warn('w')\nprint('b')\nx.sum().backward()"
    kinds = [event["type"] for event in run_traced(source).events]
    assert kinds[1:4] == ["stdout", "warning", "stdout"]


def test_a_filter_that_raises_ends_the_program_as_in_python():
    traced = run_traced(X + "warnings.filterwarnings('error')\nF.mse_loss(x, torch.zeros(4)).backward()")
    [problem] = traced.of("problem")
    assert (problem["fact"]["operands"]["name"], problem["span"]["line"]) == ("UserWarning", 4)
    assert traced.of("warning") == []


def test_one_that_comes_again_is_counted_and_many_are_cut_short():
    source = X + "y = x * 2\nfor _ in range(3):\n    y.grad\ny.sum().backward()"
    traced = run_traced(source)
    [one] = traced.of("warning")
    assert traced.events[-1]["repeated_warnings"] == [{"seq": one["seq"], "count": 3}]
    many = X + "for i in range(200):\n    warnings.warn(str(i))\nx.sum().backward()"
    assert len(run_traced(many).of("warning")) == WARNINGS_MAX


def test_what_the_process_warns_of_is_as_it_was():
    before = warnings.filters[:], warnings.showwarning
    run_traced(PROGRAMS["ignored"])
    assert (warnings.filters[:], warnings.showwarning) == before
