"""Scaled dot-product attention where torch runs it as one node."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch

from gradwalk.formulas.entry import Entry, Given, Vjp, why
from gradwalk.formulas.expression import Expression, Named, apply, ones, times, total, transpose, where


def _scaled(n: Given, scores: Expression) -> Expression:
    scale = n.saved_or("scale", None)
    return scores / apply("sqrt", n.query.shape[-1]) if scale is None else times(scale, scores)


def _weights(n: Given) -> Expression:
    scores = _scaled(n, n.query @ transpose(n.key))
    if n.is_causal:
        allowed = apply("tril", ones((n.query.shape[-2], n.key.shape[-2])))
        scores = where(allowed.equals(1), scores, -math.inf)
    mask = n.saved_or("attn_mask", None)
    if mask is None:
        return Named("P", apply("softmax", scores, dim=-1))
    is_boolean = n.kinds()["attn_mask"].dtype == torch.bool
    scores = where(mask, scores, -math.inf) if is_boolean else scores + mask
    # A row of which all is masked.
    return Named("P", apply("nan_to_num", apply("softmax", scores, dim=-1)))


def _to_scores(n: Given) -> Expression:
    weights, reached = _weights(n), Named("R", n.v @ transpose(n.value))
    return Named("S", weights * (reached - total(weights * reached, (n.query.rank - 1,))))


ATTENTION: tuple[Entry, ...] = (
    Entry(
        "scaled_dot_product_attention",
        ("ScaledDotProductFlashAttentionForCpuBackward0",),
        lambda n: _weights(n) @ n.value,
        (
            Vjp(
                "query",
                lambda n: _scaled(n, _to_scores(n) @ n.key),
                why("why-attention", operand="query"),
            ),
            Vjp(
                "key",
                lambda n: _scaled(n, transpose(_to_scores(n)) @ n.query),
                why("why-attention", operand="key"),
            ),
            Vjp(
                "value",
                lambda n: transpose(_weights(n)) @ n.v,
                why("why-scaled-dot-product-attention-value", "value"),
            ),
        ),
        (
            why("case-scaled-dot-product-attention"),
            why("case-attention-not-kept"),
        ),
        {"value": "V", "attn_mask": "M"},
    ),
)
