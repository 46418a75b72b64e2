"""Scaled dot-product attention where torch runs it as one node."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import math

import torch

from gradwalk.formulas.entry import Entry, Given, Vjp
from gradwalk.formulas.expression import Expression, Named, apply, ones, times, total, transpose, where

_SOFTMAX = "Through the softmax: v reaches the weights through the values, what all weights of a row have in common is taken out, and "


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
                _SOFTMAX + "the scores hand the rest to `{query}` as through any matrix product.",
            ),
            Vjp(
                "key",
                lambda n: _scaled(n, transpose(_to_scores(n)) @ n.query),
                _SOFTMAX + "the scores hand the rest to `{key}` as through any matrix product.",
            ),
            Vjp(
                "value",
                lambda n: transpose(_weights(n)) @ n.v,
                "The result mixes the rows of `{value}`, so each row gets the v's it was mixed into, with the same weights.",
            ),
        ),
        (
            "Masked scores have weight 0 and get no gradient.",
            "Neither the weights nor the scores are kept: torch computes them again on the way back, and so does the check.",
        ),
        {"value": "V", "attn_mask": "M"},
    ),
)
