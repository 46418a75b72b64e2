"""The programs that several benchmarks trace, and their one kind of table."""

import statistics
from collections.abc import Mapping, Sequence

SMALL = """
import torch
torch.manual_seed({number})
W1 = torch.randn(3, 4, requires_grad=True)
b1 = torch.zeros(4, requires_grad=True)
W2 = torch.randn(4, 2, requires_grad=True)
x = torch.randn(5, 3)
h = torch.tanh(x @ W1 + b1)
loss = ((h @ W2) ** 2).mean()
loss.backward()
"""
_PERCEPTRON = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(*[layer for _ in range(DEPTH) for layer in (nn.Linear(16, 16), nn.Tanh())])
x = torch.randn(4, 16)
"""
_TRANSFORMER = """
import torch
from torch import nn
from torch.nn.functional import gelu

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.fc, self.out = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        each = width // self.heads
        parts = self.qkv(self.norm_1(x)).split(width, dim=2)
        q, k, v = (part.reshape(batch, length, self.heads, each).transpose(1, 2) for part in parts)
        weights = torch.softmax(q @ k.transpose(-2, -1) / each**0.5, -1)
        x = x + self.proj((weights @ v).transpose(1, 2).reshape(batch, length, width))
        return x + self.out(gelu(self.fc(self.norm_2(x))))

torch.manual_seed(0)
net = nn.Sequential(*[Block(16, 2) for _ in range(DEPTH)])
x = torch.randn(2, 4, 16)
"""
BACKWARD = "net(x).square().mean().backward()\n"
"""Behind a program that has made `net` and `x`."""


def perceptron(depth: int) -> str:
    """A net and its input: 32 nodes with 6 layers, 5 more with each."""
    return _PERCEPTRON.replace("DEPTH", str(depth))


def transformer(depth: int) -> str:
    """A net and its input: 490 nodes with 8 blocks, 4,882 with 80."""
    return _TRANSFORMER.replace("DEPTH", str(depth))


def percentile(samples: Sequence[float], share: float = 0.95) -> float:
    """The sample below which `share` of all lie."""
    return sorted(samples)[int(share * (len(samples) - 1))]


def report(title: str, found: Mapping[str, Sequence[float]], base: str | None = None) -> None:
    """Prints seconds as milliseconds, a row per name; with a base, ratios to it, each formed within a round."""
    print(f"\n{title:<52}{'ms p50':>10}{'ms p95':>10}{'' if base is None else 'ratio':>8}")
    for name, seconds in found.items():
        ratio = ""
        if base is not None:
            ratio = f"{statistics.median(one / other for one, other in zip(seconds, found[base], strict=True)):.2f}"
        print(
            f"{name:<52}{statistics.median(seconds) * 1e3:>10.2f}{percentile(seconds) * 1e3:>10.2f}{ratio:>8}",
            flush=True,
        )
