"""What each kind of sentence claims, against plain torch: a twin run that knows nothing of gradwalk.

The sentences are the page's own, made in V8. A checker evaluates what a sentence names in the program's own variables
and compares it with what the twin's hooks saw at the same step.
"""

import ast
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest
import torch
from hypothesis import given, settings

from gradwalk.examples.catalogue import EXAMPLES
from tests.e2e.player import number
from tests.tracer.test_random_graphs import programs
from tests.twin import PRELUDE, Twin, run_traced, run_watched
from tests.words.page import phases_of, tell_by_page, told_by_page

CODE = r"`([^`]+)`"
NUMBER = r"[-\N{MINUS SIGN}]?(?:\d+(?:\.\d+)?(?:·10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?|NaN|[-\N{MINUS SIGN}]?∞)"
VALUE = rf"(?<!shape )(\[[^a-z`]*\]|{NUMBER})"


class Moment(NamedTuple):
    """One step as the twin saw it."""

    twin: Twin
    name: str
    grad_outputs: list[Any]
    grad_inputs: list[Any]
    event: dict[str, Any]
    node: dict[str, Any]
    ends: bool
    """Whether the variables still hold what they held in this pass."""

    def evaluate(self, text: str, **more: Any) -> Any:
        """What the program's text stands for at the end of the program; None where that is not known."""
        if not self.ends:
            return None
        space = {**vars(torch), **self.twin.namespace, **more}
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return eval(text, space)
        except (NameError, SyntaxError, AttributeError, TypeError, ValueError, RuntimeError, IndexError):
            return None


def read_value(text: str) -> list[float]:
    return [number(each) for each in re.findall(NUMBER, text)]


def is_spelling_of(text: str, value: Any) -> bool:
    """True where the spelled entries are those of a tensor, to four digits."""
    entries = torch.as_tensor(value).detach().double().flatten().tolist()
    spelled = read_value(text)
    return len(entries) == len(spelled) and all(
        math.isclose(one, other, rel_tol=6e-4, abs_tol=1e-12) or (math.isnan(one) and math.isnan(other))
        for one, other in zip(spelled, entries, strict=True)
    )


def is_returned(moment: Moment, value: torch.Tensor) -> bool:
    """True where some operand got just this."""
    return any(
        one.shape == value.shape and torch.allclose(one, value, rtol=1e-4, atol=1e-6, equal_nan=True)
        for one in moment.grad_inputs
        if one is not None
    )


class Replaced(ast.NodeTransformer):
    """An expression with `leaf` in every place of a part of it."""

    def __init__(self, part: str) -> None:
        self._part = ast.dump(ast.parse(part, mode="eval").body)

    def visit(self, node: ast.AST) -> Any:
        return ast.Name("leaf", ast.Load()) if ast.dump(node) == self._part else super().visit(node)


# One checker per claim: true, false, or None where the variables are gone.


def check_saved(moment: Moment, name: str, value: str) -> bool | None:
    """`x*y` was saved as 2: that text has this value."""
    known = moment.evaluate(name)
    return None if not isinstance(known, torch.Tensor | float | int) else is_spelling_of(value, known)


def check_derivative(moment: Moment, output: str, operand: str, derivative: str) -> bool | None:
    """∂ output/∂ operand = derivative: torch agrees, through every place of the operand in the output's text."""
    at, expected = moment.evaluate(operand), moment.evaluate(derivative)
    if not isinstance(at, torch.Tensor) or expected is None:
        return None
    leaf = at.detach().clone().requires_grad_()
    value = moment.evaluate(ast.unparse(Replaced(operand).visit(ast.parse(output, mode="eval"))), leaf=leaf)
    if not isinstance(value, torch.Tensor) or value.shape != at.shape:
        return None
    # Entry by entry: the sum has the same derivatives.
    (slope,) = torch.autograd.grad(value.sum(), leaf)
    return torch.allclose(slope, torch.as_tensor(expected).to(slope), rtol=1e-4)


def check_use(moment: Moment, derivative: str) -> bool | None:
    """Through this use the derivative is this: v times it is what was returned."""
    found = moment.evaluate(derivative)
    return None if not isinstance(found, torch.Tensor | float | int) else check_rule(moment, "", f"v * ({derivative})")


def check_stands_twice(moment: Moment, name: str) -> bool | None:
    """Through this use of x: there is another one in the text that it stands in, where that is known."""
    text = moment.node["outputs"][0].get("source")
    if text is None:
        return None
    wanted = ast.dump(ast.parse(name, mode="eval").body)
    return sum(ast.dump(one) == wanted for one in ast.walk(ast.parse(text, mode="eval"))) > 1


def check_rule(moment: Moment, _name: str, rule: str) -> bool | None:
    """With v for what arrived, the formula gives what the engine returned."""
    found = moment.evaluate(rule, v=moment.grad_outputs[0])
    return None if not isinstance(found, torch.Tensor) else is_returned(moment, found)


def check_product(moment: Moment, left: str, right: str, result: str) -> bool | None:
    """a × b = c: the first is v, the last was returned, and they multiply."""
    v, factor, product = map(read_value, (left, right, result))
    multiplies = all(
        math.isclose(a * b, c, rel_tol=2e-3, abs_tol=1e-9) for a, b, c in zip(v, factor, product, strict=True)
    )
    arrived = any(one is not None and is_spelling_of(left, one) for one in moment.grad_outputs)
    return multiplies and arrived and any(one is not None and is_spelling_of(result, one) for one in moment.grad_inputs)


def check_sum(moment: Moment, _name: str, _times: str, sum_text: str) -> bool | None:
    """Used n times: a + b = c: as many gradients as that arrived, and c is what the node was given."""
    terms, _, total = sum_text.rpartition(" = ")
    summands = [read_value(term) for term in terms.split(" + ")]
    added = [sum(entries) for entries in zip(*summands, strict=True)]
    close = all(math.isclose(a, b, rel_tol=3e-3, abs_tol=3e-3) for a, b in zip(added, read_value(total), strict=True))
    return close and is_spelling_of(total, moment.grad_outputs[0])


def check_used(moment: Moment, _name: str, times: str) -> bool | None:
    """Used n times: that many edges lead to the node."""
    count = {"twice": 2, "three times": 3}.get(times) or int(times.split()[0])
    return count == len(moment.event["contributions"]) and all(
        one["edge"] != "seed" for one in moment.event["contributions"]
    )


def check_goes(moment: Moment, value: str, name: str) -> bool | None:
    """A value goes to a name: it was returned, in the shape of what is called so."""
    returned = [one for one in moment.grad_inputs if one is not None and is_spelling_of(value, one)]
    known = moment.evaluate(name)
    if not isinstance(known, torch.Tensor):
        return bool(returned)
    return any(one.shape == known.shape for one in returned)


def check_copies(moment: Moment, _op: str, name: str, value: str) -> bool | None:
    """Every entry gets a copy of v."""
    (returned,) = [one for one in moment.grad_inputs if one is not None]
    known = moment.evaluate(name)
    is_copy = bool((returned == moment.grad_outputs[0]).all()) and is_spelling_of(value, moment.grad_outputs[0])
    return is_copy and (not isinstance(known, torch.Tensor) or known.shape == returned.shape)


def check_average(moment: Moment, _op: str, count: str, _name: str, _value: str) -> bool | None:
    """Each of n entries gets v divided by n."""
    (returned,) = [one for one in moment.grad_inputs if one is not None]
    return returned.numel() == int(count) and torch.allclose(returned, moment.grad_outputs[0] / int(count))


def check_repeated(moment: Moment, name: str, output: str) -> bool | None:
    """Repeated to fit: the operand is smaller than the output."""
    small, large = moment.evaluate(name), moment.evaluate(output)
    if not isinstance(small, torch.Tensor) or not isinstance(large, torch.Tensor):
        return None
    return small.numel() < large.numel() == moment.grad_outputs[0].numel()


def check_matrices(moment: Moment, rule: str, left: str, right: str, result: str, _name: str) -> bool | None:
    """A product of matrices: the shapes fit, and the product is what was returned."""
    (a, b), (c, d), shape = (tuple(map(int, re.findall(r"\d+", text))) for text in (left, right, result))
    fits = b == c and shape == (a, d)
    return fits and check_rule(moment, "", rule) is not False


def check_nothing_arrived(moment: Moment, *_: str) -> bool | None:
    """No gradient arrived: the engine brought none."""
    return all(one is None for one in moment.grad_outputs)


def check_returned(moment: Moment, *_: str) -> bool | None:
    """No operand needs a gradient: the engine wanted none."""
    return all(one is None for one in moment.grad_inputs)


def check_not_required(moment: Moment, name: str) -> bool | None:
    """A name does not require grad."""
    known = moment.evaluate(name)
    return None if not isinstance(known, torch.Tensor) else not known.requires_grad


CLAIMS: dict[str, Callable[..., bool | None]] = {
    rf"{CODE} was saved as {VALUE}": check_saved,
    rf"{CODE} as {VALUE}\.$": check_saved,
    r"`∂ ?(\(.+?\)|[^`/]+)/∂ ?(\(.+?\)|[^`/=]+) = ([^`]+)`": check_derivative,
    rf"[Tt]he derivative is {CODE}": check_use,
    rf"[Tt]hrough this use of {CODE}": check_stands_twice,
    rf"[Ff]or {CODE} (?:the rule|it) is {CODE}(?! added)": check_rule,
    rf"{VALUE} × \(?{VALUE}\)? = {VALUE}": check_product,
    rf"{CODE} was used (twice|three times|\d+ times): (.+ = [^=]+)\.$": check_sum,
    rf"{CODE} was used (twice|three times|\d+ times)": check_used,
    rf"{VALUE} (?:goes to|waits at) {CODE}": check_goes,
    rf"{CODE} adds up the entries of {CODE}: every entry gets a copy of {VALUE}": check_copies,
    rf"{CODE} averages the (\d+) entries of {CODE}: each gets {VALUE} divided": check_average,
    rf"{CODE} was repeated to fit {CODE}": check_repeated,
    rf"{CODE} is (\[[\d, ]+\]) @ (\[[\d, ]+\]) = (\[[\d, ]+\]) for {CODE}": check_matrices,
    r"`(\S+)\.grad` is still None": check_nothing_arrived,
    rf"{CODE} does not require grad": check_not_required,
    r"No gradient arrived": check_nothing_arrived,
    r"no gradient arrived at": check_nothing_arrived,
    r"no operand of `\S+` needs a gradient": check_returned,
}


def moments_of(source: str) -> Iterator[tuple[Moment, list[str]]]:
    """Every step with its sentences, code in backticks."""
    twin, traced = run_watched(source), run_traced(source)
    told = told_by_page(traced.document)
    nodes = traced.nodes()
    steps = traced.of("step")
    # A variable that is bound again, or changed, does not tell what it was.
    targets = Counter(re.findall(r"^\s*([\w, ]+?)\s*[-+*/@]?=(?!=)", source, re.MULTILINE))
    changes = r"\b(for|while|def|with)\b|_\(|step\(|is_grads_batched"
    is_straight = max(targets.values(), default=0) == 1 and not re.search(changes, source)
    for step, watched, said in zip(steps, twin.steps, told["backward"], strict=True):
        node = nodes[step["node"]]
        sides = [*watched.grad_outputs], [*watched.grad_inputs]
        yield Moment(twin, watched.name, *sides, step, node, is_straight), phases_of(said)


def check_all(source: str) -> Counter[str]:
    """How often each kind of claim was made and found true; a false one fails."""
    found: Counter[str] = Counter()
    for moment, sentences in moments_of(source):
        for sentence in sentences:
            for pattern, check in CLAIMS.items():
                for match in re.finditer(pattern, sentence):
                    verdict = check(moment, *match.groups())
                    assert verdict is not False, f"{check.__name__}: {sentence}"
                    if verdict:
                        found[check.__name__] += 1
    return found


STRAIGHT = (
    PRELUDE
    + """
torch.manual_seed(0)
x = torch.tensor(1.5, requires_grad=True)
y = torch.tensor(-2.0, requires_grad=True)
A = torch.randn(3, 4, requires_grad=True)
B = torch.randn(4, 2, requires_grad=True)
bias = torch.randn(2, requires_grad=True)
idle = torch.tensor(1.0, requires_grad=True)
C = A @ B + bias
s = (torch.tanh(C) * C.exp()).mean()
e, u = x.exp(), torch.sin(x) + x
w = x - x * x + (x - y) / y + (x + x + x)
z = torch.sin(x * y) / (x - y) + torch.sqrt(x**2 + 3) * torch.log(x) + x * x * s + e + u + w
z.backward()
"""
)


def test_every_claim_is_true_and_every_kind_is_checked_in_a_program_or_an_example() -> None:
    found = check_all(STRAIGHT)
    for one in EXAMPLES:
        # Others have their pass from gradwalk, or from gradcheck's own numbers.
        if re.search(r"\.(backward|grad)\(", one.source) and "gradcheck" not in one.slug:
            found += check_all(one.source)
    # Operands that need no gradient in this pass are met in random programs only.
    assert {check.__name__ for check in CLAIMS.values()} - found.keys() <= {check_returned.__name__}


@settings(max_examples=25)
@given(programs())
def test_every_claim_about_a_random_program_is_true(source: str) -> None:
    check_all(source)


@pytest.mark.parametrize(
    ("result", "kind"),
    [
        ("x + torch.ones(2, 3)", "rule-broadcast"),
        ("x.expand(2, 3)", "rule-broadcast"),
        ("torch.zeros(2).scatter(0, torch.tensor([0, 0, 1]), x)", "rule-overwritten"),
        ("torch.zeros(2).index_copy(0, torch.tensor([0, 0, 1]), x)", "rule-overwritten"),
        ("torch.zeros(2).index_put((torch.tensor([0, 0, 1]),), x)", "rule-overwritten"),
        ("torch.zeros(2).index_put((torch.tensor([0, 0, 1]),), x, accumulate=True)", None),
        ("F.embedding(torch.tensor([0, 1]), (x := x[:, None]), padding_idx=0)", "rule-lookup-padding"),
        ("F.embedding(torch.tensor([1, 1]), (x := x[:, None]))", None),
        ("F.embedding(torch.tensor([1, 1]), (x := x[:, None]), scale_grad_by_freq=True)", "rule-lookup-mean"),
        ("x * (1 + 2j)", None),
        ("torch.cummax(x, 0).values", None),
        ("torch.cumprod(x, 0)", None),
        ("F.pad(x[None], (1, 1), mode='reflect')", None),
        ("torch.sparse.mm(torch.eye(3).to_sparse(), x[:, None])", None),
    ],
)
def test_entries_are_called_repeated_or_overwritten_only_where_they_are(result: str, kind: str | None) -> None:
    source = f"x = torch.tensor([1., 0., 3.], requires_grad=True)\ny = {result}\ny.abs().sum().backward()\n"
    told = {said for node in told_by_page(run_traced(source).document)["backward"] for said in phases_of(node)}
    x, y = ({"kind": "code", "operands": {"text": name}} for name in "xy")
    claims = {
        one: tell_by_page({"kind": one, "operands": {"name": x, "output": y, "row": "0"}})
        for one in ("rule-broadcast", "rule-overwritten", "rule-lookup-padding", "rule-lookup-mean")
    }
    assert [one for one, claim in claims.items() if any(claim in said for said in told)] == ([kind] if kind else [])
