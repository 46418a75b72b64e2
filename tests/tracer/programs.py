"""Programs that the tests share, one idea each: the corpus, each traced and watched once per process."""

import ast
from functools import cache
from textwrap import indent
from typing import Any, NamedTuple

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from tests.twin import Traced, Twin, run_traced, run_watched


def custom_function(name: str, given: str, forward: str, backward: str, arrived: str = "g") -> str:
    """The text of a Function, of its arguments and the bodies of its methods."""
    return "\n".join([
        f"class {name}(torch.autograd.Function):",
        "    @staticmethod", f"    def forward(ctx, {given}):", indent(forward, " " * 8),
        "    @staticmethod", f"    def backward(ctx, {arrived}):", indent(backward, " " * 8), "",
    ])  # fmt: skip


PROGRAMS = {
    "views that refuse their history": """
a = torch.randn(4, requires_grad=True)
c, d = a * 1, a * 2
with torch.no_grad():
    views = (*c.split(2), d.view(2, 2))
(c.mul_(2) + d.mul_(2)).sum().backward()
e = nn.Embedding(4, 4, padding_idx=0)
(e(torch.tensor([0, 1])) * a).sum().backward()
""",
    "several outputs": """
a = torch.randn(4, 3, requires_grad=True)
u, s, vh = torch.linalg.svd(a, full_matrices=False)
top, _ = s.topk(2)
first, second = a.split(2)
(top.sum() + (first * second).sum()).backward()
""",
    "inference": "with torch.inference_mode():\n    z = torch.ones(2).add_(1)\n    torch.add(z, 1, out=z)\nprint(z)\n",
    "roots twice": "a = torch.ones(2, requires_grad=True)\nu = a * 2\ny = u.sin()\n"
    "torch.autograd.backward([y, u, u], [torch.ones(2)] * 3)\n",
    "grad of some": """
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
z = a * 3
y = (z * z * b).sum()
g = torch.autograd.grad(y, [z, a], retain_graph=True)
y.backward(inputs=[b])
""",
    "double backward": """
a = torch.tensor([2., 3.], requires_grad=True)
g, = torch.autograd.grad((a**3 * a.sin()).sum(), a, create_graph=True)
h, = torch.autograd.grad(g.sum(), a, create_graph=True)
h.sum().backward()
""",
    "jacobian vectorized": "from torch.autograd.functional import jacobian\n"
    "J = jacobian(lambda x: x.sin() * x.sum(), torch.ones(3), vectorize=True)\n",
    "torch.func": """
f = lambda x: (x.sin() * x).sum()
g = torch.func.grad(f)(torch.ones(3))
H = torch.func.hessian(f)(torch.ones(2))
B = torch.func.vmap(torch.func.grad(f))(torch.ones(2, 3))
""",
    **{name: f"""
from torch.utils.checkpoint import checkpoint
a = torch.ones(3, requires_grad=True)
checkpoint(lambda t: t.sin().exp(), a, use_reentrant={is_reentrant}).sum().backward()
""" for name, is_reentrant in (("checkpoint", False), ("checkpoint reentrant", True))},
    "nested in a hook": """
a = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
z = a * 2
def inner(g):
    with torch.enable_grad():
        (b * b).sum().backward()
z.register_hook(inner)
z.sum().backward()
""",
    "complex": "a = torch.tensor([1+2j, 3-1j], requires_grad=True)\n(a * a.conj()).real.sum().backward()\n",
    "cast seed": "a = torch.tensor([1., 2.], dtype=torch.float16, requires_grad=True)\ny = a * a\n"
    "torch.autograd.backward([y, y], [torch.tensor([.1, .7])] * 2)\n",
    "sparse": "e = nn.Embedding(5, 2, sparse=True)\ne(torch.tensor([1, 1, 3])).sum().backward()\n",
    "tied": """
net = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3))
net[2].weight = net[0].weight
net(torch.randn(2, 3)).sum().backward()
""",
    "rnn": "net = nn.LSTM(3, 4, 2)\no, _ = net(torch.randn(3, 1, 3))\no.sum().backward()\n",
    "multihead attention": "net = nn.MultiheadAttention(4, 2)\nx = torch.randn(3, 1, 4, requires_grad=True)\n"
    "o, w = net(x, x, x)\no.sum().backward()\n",
    "cnn": """
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 2))
F.cross_entropy(net(torch.randn(2, 1, 6, 6)), torch.tensor([0, 1])).backward()
""",
    "einsum": "a = torch.randn(2, 3, requires_grad=True)\nb = torch.randn(3, 4, requires_grad=True)\n"
    "torch.einsum('ij,jk->ki', a, b).sum().backward()\n",
    "compiled": "f = torch.compile(lambda x: (x.sin() * 2).sum())\na = torch.ones(3, requires_grad=True)\n"
    "f(a).backward()\n",
    "writes into grad_output": custom_function("Scale", "a", "return a * 2", "g *= 2\nreturn g") + """
a = torch.ones(2, requires_grad=True)
Scale.apply(a.sin()).exp().sum().backward()
""",
    "resized": "a = torch.ones(4)\nw = torch.ones(4, requires_grad=True)\ny = (a * w).sum()\ny.backward()\n"
    "a.resize_(8).zero_()\nn = a.numel()\n",
    "randomness": """
import random
import numpy as np
a = torch.randn(2, requires_grad=True)
noise = torch.rand(2) + random.random() + np.random.rand()
F.dropout(a * noise).sum().backward()
after = torch.rand(1), random.random(), np.random.rand()
""",
}  # fmt: skip

PASS_IN_BACKWARD = custom_function(
    "Inner", "x",
    "with torch.enable_grad():\n    ctx.x = x.detach().requires_grad_()\n    ctx.y = ctx.x.sin()\n"
    "return ctx.y.detach()",
    "return torch.autograd.grad(ctx.y, ctx.x, g, retain_graph=True)[0]",
)  # fmt: skip
"""A custom Function whose backward runs a pass of its own."""


def plain_source(example: Example) -> str:
    """An example as a program for plain Python: its free variables first, the pass that gradwalk would start last."""
    given = example.options.get("inputs", {})
    lines = [f"{name} = torch.tensor({value}, requires_grad=True)" for name, value in given.items()]
    if given:
        tree = ast.parse(example.source)
        *before, last = tree.body
        if isinstance(last, ast.Expr):
            before.append(ast.Assign([ast.Name("result", ast.Store())], last.value))
        before.extend(ast.parse("result.backward()").body)
        tree.body = before
        return "\n".join([*lines, "from torch import sin", ast.unparse(ast.fix_missing_locations(tree))])
    if "grad_output" in example.options:
        return f"{example.source}\ny.backward(torch.tensor({example.options['grad_output']}))\n"
    return example.source


class Program(NamedTuple):
    """One program of the corpus."""

    source: str
    """As it is traced."""
    plain: str
    """As plain Python runs it."""
    options: dict[str, Any]


CORPUS = {
    **{name: Program(source, source, {}) for name, source in PROGRAMS.items()},
    **{one.slug: Program(one.source, plain_source(one), one.options) for one in EXAMPLES},
}


@cache
def trace(name: str) -> Traced:
    """A program of the corpus, traced once: leave the trace as it is."""
    program = CORPUS[name]
    return run_traced(program.source, **program.options)


@cache
def watch(name: str) -> Twin:
    """The same program by itself under plain hooks, once."""
    return run_watched(CORPUS[name].plain)
