"""The LSTM layer that torch runs as one node on the CPU."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from dataclasses import dataclass

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp


@dataclass(frozen=True, slots=True)
class _Walk:
    """Gradients of one LSTM layer, gathered from the last moment to the first."""

    input: Tensor
    weight0: Tensor
    weight1: Tensor
    bias: Tensor
    hidden: Tensor
    cell: Tensor


def _cells(n: NodeView) -> list[tuple[Tensor, ...]]:
    """The forward pass again: per moment (x, h, c, i, f, g, o, c')."""
    hidden, cell = (state.reshape(-1, n.hidden_size) for state in (n.hx_, n.cx_))
    moments: list[tuple[Tensor, ...]] = []
    times = range(n.input.shape[0])
    for time in reversed(times) if n.reverse else times:
        x = n.input[time]
        gates = x @ n.weight0.T + hidden @ n.weight1.T
        if n.has_biases:
            gates = gates + n.weight2 + n.weight3
        i, f, g, o = gates.chunk(4, -1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        following = f * cell + i * g
        moments.append((x, hidden, cell, i, f, g, o, following))
        hidden, cell = o * following.tanh(), following
    return moments


def _walk_back(n: NodeView) -> _Walk:
    if n.mode != 2:
        raise NotImplementedError("only the LSTM is written out")
    v, v_hidden, v_cell = (*n.grad_outputs, None, None)[:3]
    moments = _cells(n)
    size = (n.input.shape[1], n.hidden_size)
    zeros = n.input.new_zeros(size)
    dh = zeros if v_hidden is None else v_hidden.reshape(size)
    dc = zeros if v_cell is None else v_cell.reshape(size)
    to_input = torch.zeros_like(n.input)
    to_weight0, to_weight1 = torch.zeros_like(n.weight0), torch.zeros_like(n.weight1)
    to_bias = n.weight0.new_zeros(4 * n.hidden_size)
    for count in reversed(range(len(moments))):
        x, hidden, cell, i, f, g, o, following = moments[count]
        time = len(moments) - 1 - count if n.reverse else count
        if v is not None:
            dh = dh + v[time]
        dc = dc + dh * o * (1 - following.tanh() ** 2)
        gates = torch.cat(
            [
                dc * g * i * (1 - i),
                dc * cell * f * (1 - f),
                dc * i * (1 - g * g),
                dh * following.tanh() * o * (1 - o),
            ],
            -1,
        )
        to_input[time] = gates @ n.weight0
        to_weight0 = to_weight0 + gates.T @ x
        to_weight1 = to_weight1 + gates.T @ hidden
        to_bias = to_bias + gates.sum(0)
        dh, dc = gates @ n.weight1, dc * f
    return _Walk(to_input, to_weight0, to_weight1, to_bias, dh, dc)


_SHARED = "The same weights are used at every moment, so the contributions of all moments add up."
_TIME = "Back through time: at each moment what comes from the result and what comes from the moment after are added."
_SYMBOLS = {"input": "x", "weight0": "W", "weight1": "U", "weight2": "b", "weight3": "b'", "hx_": "h_0", "cx_": "c_0"}

RECURRENCE: tuple[Entry, ...] = (
    Entry(
        "lstm",
        ("MkldnnRnnLayerBackward0",),
        r"(i, f, g, o) = W x_t + U h_{t-1} + b + b', \quad c_t = \sigma(f) c_{t-1} + \sigma(i) \tanh g, \quad h_t = \sigma(o) \tanh c_t",
        (
            Vjp(
                "input",
                r"q_t W, \; q_t = \text{gradient of the four gates at time } t",
                "q_t @ W",
                _TIME,
                lambda n: _walk_back(n).input,
            ),
            Vjp(
                "weight0",
                r"\textstyle\sum_t q_t^\top x_t",
                "sum over time of q_t^T @ x_t",
                _SHARED,
                lambda n: _walk_back(n).weight0,
            ),
            Vjp(
                "weight1",
                r"\textstyle\sum_t q_t^\top h_{t-1}",
                "sum over time of q_t^T @ h_(t-1)",
                _SHARED,
                lambda n: _walk_back(n).weight1,
            ),
            Vjp(
                "weight2",
                r"\textstyle\sum_t q_t",
                "sum over time of q_t",
                _SHARED,
                lambda n: _walk_back(n).bias,
            ),
            Vjp(
                "weight3",
                r"\textstyle\sum_t q_t",
                "sum over time of q_t",
                _SHARED,
                lambda n: _walk_back(n).bias,
            ),
            Vjp(
                "hx_",
                r"q_1 U",
                "q_1 @ U",
                "The first moment is the only one that sees it directly.",
                lambda n: _walk_back(n).hidden.reshape(n.shape),
            ),
            Vjp(
                "cx_",
                r"\left(\textstyle\prod_t \sigma(f_t)\right) \cdots",
                "through the forget gates of all moments",
                "The cell is carried on, scaled by the forget gate: near 1 the gradient lives long, near 0 it dies.",
                lambda n: _walk_back(n).cell.reshape(n.shape),
            ),
        ),
        ("The gates' activations are not kept in a readable form; the check runs the forward pass again.",),
        _SYMBOLS,
    ),
)
