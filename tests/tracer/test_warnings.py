"""Warnings are told where they were given, as Python itself gives them; what gradwalk's own work sets off is not."""

import warnings

import pytest
import torch

from gradwalk.tracer.originals import SNIPPET
from gradwalk.tracer.stream import WARNINGS_MAX
from tests.tracer.programs import custom_function
from tests.twin import PRELUDE, run_traced

X = "import warnings\nx = torch.ones(4, 1, requires_grad=True)\n"
PROGRAMS = {
    "a broadcast loss": X + "F.mse_loss(x, torch.zeros(4)).backward()",
    "the grad of a result": X + "y = x * 2\ny.sum().backward()\nprint(y.grad)",
    "its own": X + "warnings.warn('hello')\nx.sum().backward()\nwarnings.warn('bye', RuntimeWarning)",
    "the order of a scheduler": "w = torch.ones(2, requires_grad=True)\nopt = torch.optim.SGD([w], lr=0.1)\n"
    "s = torch.optim.lr_scheduler.StepLR(opt, 1)\nw.sum().backward()\ns.step()\nopt.step()",
    "ignored": X + "warnings.filterwarnings('ignore')\nwarnings.warn('hello')\nF.mse_loss(x, torch.ones(4)).backward()",
    "caught": X + "with warnings.catch_warnings(record=True) as w:\n    warnings.simplefilter('always')\n"
    "    warnings.warn('a')\n    warnings.warn('a')\nprint(len(w))\nx.sum().backward()",
    "a deprecation of its own": X + "warnings.warn('old', DeprecationWarning)\nx.sum().backward()",
    "in a backward": custom_function("F1", "a", "return a * 2", "warnings.warn('in backward')\nreturn g * 2")
    + X + "F1.apply(x).sum().backward()",
    "a cast from complex": "z = torch.ones(2, dtype=torch.complex64)\nx = torch.ones(2, requires_grad=True)\n"
    "y = z.float() * x\ny.sum().backward()",
    "none where J is asked for": "x = torch.ones(3, dtype=torch.complex64, requires_grad=True)\n"
    "(x * x.conj()).real.sum().backward()",
}  # fmt: skip


def given_by_python(source):
    """What a script would print on stderr: category, text and line, which is None where it is one of torch's files."""
    told = []
    space = {"__name__": "__main__"}
    exec(PRELUDE, space)

    def show(message, category, filename, line, *_more):
        assert filename == SNIPPET or "torch" in filename
        text = str(message).partition(" (Triggered")[0]
        told.append((category.__name__, text, line if filename == SNIPPET else None))

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
    before = warnings.filters[:], warnings.showwarning
    traced = run_traced(PROGRAMS[name])
    assert (warnings.filters[:], warnings.showwarning) == before
    given = given_by_python(PROGRAMS[name])
    told = [(one["category"], one["text"], one["span"]["line"]) for one in traced.of("warning")]
    assert [(category, text, line or told[at][2]) for at, (category, text, line) in enumerate(given)] == told
    assert traced.events == run_traced(PROGRAMS[name]).events


def test_repeats_are_counted_in_their_place_and_many_are_cut_short():
    source = X + "y = x * 2\nprint('a')\nfor _ in range(3):\n    y.grad\nprint('b')\nx.sum().backward()"
    traced = run_traced(source)
    assert [event["type"] for event in traced.events[1:4]] == ["stdout", "warning", "stdout"]
    assert traced.events[-1]["repeated_warnings"] == [{"seq": traced.of("warning")[0]["seq"], "count": 3}]
    many = X + "for i in range(200):\n    warnings.warn(str(i))\nx.sum().backward()"
    assert len(run_traced(many).of("warning")) == WARNINGS_MAX


def test_a_filter_that_raises_ends_the_program_as_in_python():
    traced = run_traced(X + "warnings.filterwarnings('error')\nF.mse_loss(x, torch.zeros(4)).backward()")
    [problem] = traced.of("problem")
    assert (problem["fact"]["operands"]["name"], problem["span"]["line"]) == ("UserWarning", 4)
    assert traced.of("warning") == []
