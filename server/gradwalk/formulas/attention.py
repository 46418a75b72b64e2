"""Scaled dot-product attention where torch runs it as one node."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch
from torch import Tensor

from gradwalk.formulas.formula import Entry, NodeView, Vjp

_SOFTMAX = (
    "Through the softmax: v reaches the weights P as v V^T, what all weights of a row have in common is taken out, and "
)


def _scale(n: NodeView) -> float:
    scale = n.saved_or("scale", None)
    return 1 / math.sqrt(n.query.shape[-1]) if scale is None else float(scale)


def _weights(n: NodeView) -> Tensor:
    scores = n.query @ n.key.mT * _scale(n)
    if n.is_causal:
        allowed = torch.ones(scores.shape[-2:], dtype=torch.bool, device=scores.device).tril()
        scores = scores.masked_fill(~allowed, -math.inf)
    mask = n.saved_or("attn_mask", None)
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if mask.dtype == torch.bool else scores + mask
    return scores.softmax(-1).nan_to_num(0.0)


def _score_gradient(n: NodeView) -> Tensor:
    weights, reached = _weights(n), n.v @ n.value.mT
    return weights * (reached - (weights * reached).sum(-1, keepdim=True)) * _scale(n)


ATTENTION: tuple[Entry, ...] = (
    Entry(
        "scaled_dot_product_attention",
        ("ScaledDotProductFlashAttentionForCpuBackward0",),
        r"@result = P @value, \quad P = \operatorname{softmax}\left(\tfrac{1}{\sqrt{d}} @query @{key}^\top\right)",
        (
            Vjp(
                "query",
                r"\tfrac{1}{\sqrt{d}} \, S \, @key, \; S = P \odot \left(R - \textstyle\sum_j P_j R_j\right), \; R = @v @{value}^\top",
                "S @ K / sqrt(d), where R = v @ V^T and S = P * (R - sum(P * R))",
                _SOFTMAX + "the scores hand the rest to Q as through any matrix product.",
                lambda n: _score_gradient(n) @ n.key,
            ),
            Vjp(
                "key",
                r"\tfrac{1}{\sqrt{d}} \, S^\top @query, \; S = P \odot \left(R - \textstyle\sum_j P_j R_j\right), \; R = @v @{value}^\top",
                "S^T @ Q / sqrt(d), where R = v @ V^T and S = P * (R - sum(P * R))",
                _SOFTMAX + "the scores hand the rest to K as through any matrix product.",
                lambda n: _score_gradient(n).mT @ n.query,
            ),
            Vjp(
                "value",
                r"P^\top @v",
                "P^T @ v",
                "The result mixes the rows of V with the weights P, so each row gets the v's it was mixed into, with the same weights.",
                lambda n: _weights(n).mT @ n.v,
            ),
        ),
        (
            "Masked scores have weight 0 and get no gradient.",
            "Neither P nor the scores are kept: torch computes them again from Q, K and V, and so does the check.",
        ),
        {"value": "V"},
    ),
)
