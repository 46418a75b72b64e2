"""Random programs with views, writes in place, no_grad and hooks run as under plain torch, and are never our fault."""

import random

import pytest
import torch

from tests.twin import run_plain, run_traced

HEAD = [
    "a = torch.randn(4, requires_grad=True)",
    "b = torch.randn(2, 2, requires_grad=True)",
    "w = torch.randn(4, 4, requires_grad=True)",
]
MAKING = (
    "{x} * 2", "{x}.sin()", "{x}.view(-1)", "{x}.reshape(-1)[:2]", "{x}.reshape(-1)[:4] * {y}.reshape(-1)[:4]",
    "torch.cat([{x}.reshape(-1), {y}.reshape(-1)])[:4]", "torch.stack([{x}.sum(), {y}.mean()])", "{x}.unsqueeze(0)",
    "torch.where({x} > 0, {x}, 0.0)", "{x}.reshape(-1).unbind()[0]", "{x}.reshape(-1)[:4].chunk(2)[1]",
    "{x}.reshape(-1)[:4].split(2)[0]", "{x}.expand(2, *{x}.shape)", "torch.as_strided({x}, (2,), (1,))",
    "{x}.detach().requires_grad_()", "{x}.clone()",
)  # fmt: skip
DOING = (
    "{x}.mul_(2)", "{x}.tanh_()", "{x}.reshape(-1)[:1].fill_(3.)", "{x}[0] = {y}.sum()", "{x}.data.add_(1)",
    "{x}.retain_grad()", "{x}.register_hook(lambda g: g * 2)", "{x}.register_hook(lambda g: None)",
    "{x}.grad_fn.register_hook(lambda gi, go: tuple(g if g is None else g * 2 for g in gi))",
    "{x}.grad_fn.register_prehook(lambda go: tuple(g if g is None else g * 2 for g in go))", "{x}.sum().item()",
    "{x}.sum().backward(retain_graph=True)",
)  # fmt: skip


def program(seed: int) -> str:
    """Every statement of it runs under plain torch; what comes last may fail."""
    chance = random.Random(seed)
    lines, names = [f"torch.manual_seed({seed})", *HEAD], ["a", "b", "w"]
    for number in range(chance.randrange(4, 16)):
        operands = {"x": chance.choice(names), "y": chance.choice(names)}
        made = [f"t{number}"] if chance.random() < 0.6 else []
        statement = chance.choice(MAKING if made else DOING).format(**operands)
        statement = f"{made[0]} = {statement}" if made else statement
        new = ["with torch.no_grad():", f"    {statement}"] if chance.random() < 0.2 else [statement]
        if run_plain("\n".join(lines + new)).error is None:
            lines, names = lines + new, names + made
    output = " + ".join(f"{name}.sum()" for name in chance.sample(names, min(3, len(names))))
    return "\n".join([*lines, f"loss = {output}", "if loss.requires_grad: loss.backward()"])


REFUSING = [
    "c = a * 1\nu, v = c.split(2)\nc.mul_(2)\nloss = c.sum()\nloss.backward()",
    "c = a * 1\nwith torch.no_grad():\n    u = c.view(2, 2)\nc.mul_(2)\nc.sum().backward()",
    "e = nn.Embedding(4, 2, padding_idx=0)\n(e(torch.tensor([0, 1])) * b).sum().backward()",
]


@pytest.mark.parametrize("source", REFUSING)
def test_a_view_that_refuses_its_history_does_no_harm(source):
    whole = "\n".join(["torch.manual_seed(0)", *HEAD, source])
    plain, traced = run_plain(whole), run_traced(whole)
    assert plain.error is None
    assert traced.of("problem") == []
    for name in ("a", "b"):
        ours, theirs = traced.run.namespace[name].grad, plain.namespace[name].grad
        assert ours is theirs is None or torch.equal(ours, theirs)


@pytest.mark.parametrize(
    "chunk", [pytest.param(chunk, marks=pytest.mark.sweep if chunk else ()) for chunk in range(20)]
)
def test_a_wild_program_runs_as_under_plain_torch(chunk):
    for seed in range(25 * chunk, 25 * chunk + 25):
        source = program(seed)
        plain, traced = run_plain(source), run_traced(source)
        assert repr(plain.error) == repr(traced.run.error), source
        for name in ("a", "b", "w"):
            ours, theirs = traced.run.namespace[name].grad, plain.namespace[name].grad
            assert (ours is None) == (theirs is None), source
            assert ours is None or torch.equal(torch.nan_to_num(ours), torch.nan_to_num(theirs)), source
