"""The English sentences of all examples, as they were read and approved.

After a change: `pytest tests/words/test_sentences.py --rewrite-goldens`, then read the diff. What happened at a step
beside its rule is said with the numbers that plain torch has.
"""

from pathlib import Path

import pytest

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import tell, tell_attribute
from gradwalk.words.problems import tell_problem
from tests.tracer.programs import custom_function, trace
from tests.twin import HANDS_OUT_SAVED, NEEDS_SAVED, run_plain, run_traced
from tests.words.page import told_by_page

APPROVED = Path(__file__).with_name("sentences.txt")


def sentences() -> list[str]:
    """One a line: where it is said, and what."""
    lines = []
    for example in EXAMPLES:
        traced = trace(example.slug)
        said: dict[str, str | None] = {}
        for at, step in enumerate(told_by_page(traced.document)["backward"], start=1):
            said |= {f"{at}.{stop['phase']}": stop["said"] for stop in step["stops"]}
        for event in traced.of("problem"):
            said |= zip(("problem", "message", "hint"), tell_problem(event), strict=True)
        for event in traced.of("pass_finished"):
            for one in event["leaf_grads"]:
                because = one["grad"].get("because")
                said[f"{one['leaf']}.grad"] = because and tell(because)
                said[f"{one['leaf']}.grad, hint"] = because and tell_attribute(because, "hint")
            for finding in event.get("findings", ()):
                said[f"{finding['kind']} in pass {event['pass']}"] = tell(finding["fact"])
        lines += [f"{example.slug} {where}: {sentence}" for where, sentence in said.items() if sentence]
    return lines


def test_the_sentences_of_the_examples_are_the_approved_ones(rewrite_goldens: bool) -> None:
    if rewrite_goldens:
        APPROVED.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    approved = APPROVED.read_text(encoding="utf-8").splitlines()
    unsaid = () if HANDS_OUT_SAVED else ("in-place message: ", "in-place hint: ")
    # What torch's own error reads depends on its version.
    said, expected = (
        [one.partition("The error reads: “")[0] for one in lines if not one.startswith(unsaid)]
        for lines in (sentences(), approved)
    )
    assert said == expected


PROGRAMS = {
    "hooks": """seen = []
def note(made):
    seen.append(made)
    return made
x = torch.tensor(2., requires_grad=True)
x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", note(p.grad * 2)))
x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
y = x * 3
y.register_hook(lambda g: note(g * 2))
y.register_hook(lambda g: note(g * 5))
z = y * 5
z.backward()
told = [
    f"Then the hook in line 9 made it {seen[0]:g} and the hook in line 10 made it {seen[1]:g}.",
    f"Then the hook in line 6 made it {seen[2]:g}; the hook in line 7 set it to {x.grad}.",
]
""",
    "casts": custom_function("Double", "x", "return x * 2", "return (g * 2).double()") + """
x, v, seen = torch.tensor(3., requires_grad=True), torch.tensor(2., dtype=torch.float64), []
y = Double.apply(x)
y.register_hook(lambda g: seen.append(str(g.dtype)[6:]))
y.backward(v)
told = [
    f"`Double.backward` returned {2 * v:g} for `x`; the engine cast it to `{str(x.grad.dtype)[6:]}`, {x.grad:g}.",
    f"The seed is `{str(v.dtype)[6:]}`; the engine cast it to `{seen[0]}`.",
]
""",
    "zero times infinity": """x = torch.tensor([[4., 0.], [0., 1.]], requires_grad=True)
y = x.sqrt()
y.backward(torch.tensor([[1., 0.], [1., 1.]]))
told = [f"`v` is 0 and `J` infinite for `x` at {x.grad.isnan().nonzero().tolist()[0]}: 0 · ∞ = NaN."]
""",
    "zeros that came in and a gradient that was dropped": "seen = []\n" + custom_function(
        "Mul", "x, y", "ctx.save_for_backward(x, y)\nreturn x * y, x + y",
        "x, y = ctx.saved_tensors\nseen[:] = b, a * x\nreturn a * y + b, a * x", arrived="a, b") + """
x, y = torch.tensor(5., requires_grad=True), torch.tensor(3.)
product, total = Mul.apply(x, y)
product.backward()
told = [
    f"Nothing arrived at `total`; `Mul.backward` gets {'zeros' if seen[0] == 0 else '?'}.",
    f"`Mul.backward` computed {seen[1]:g} for",
]
""",
    "a result unpacked to other values": """x = torch.tensor([1., 2.], requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * 2):
    y = x.exp()
y.backward(torch.tensor([1., 3.]))
told = [f"`exp` returned [{x.grad[0]:.4g}, {x.grad[1]:.4g}] for `x`."]
""",
    "a constant that stands twice": """x = torch.tensor(1., requires_grad=True)
a = torch.tensor(3.)
y = torch.addcmul(x, a, a)
y.backward()
told = [f"{x.grad:g} goes to `x`; `a` does not require grad."]
""",
    "values written behind autograd": """x = torch.tensor(3., requires_grad=True)
w = torch.tensor(2., requires_grad=True)
was = w.item()
y = w * x
w.data.fill_(10.)
y.backward()
told = [
    f"`w` held {was:g} when it was saved and holds {w.item():g} now, written behind autograd's back: "
    f"backward computes with {x.grad:g}."
]
""",
}  # fmt: skip
"""Each ends with the sentences in `told`, made of what its own hooks and backwards saw."""


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=NEEDS_SAVED if "unpacked" in one else ()) for one in PROGRAMS]
)
def test_a_fact_is_said_once(name: str) -> None:
    source = PROGRAMS[name]
    twin = run_plain(source)
    assert twin.error is None
    backward = told_by_page(run_traced(source).document)["backward"]
    sentences = [stop["said"] for step in backward for stop in step["stops"]]
    for told in twin.namespace["told"]:
        assert [sentence.count(told) for sentence in sentences].count(1) == 1, (told, sentences)
