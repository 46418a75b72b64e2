"""The backward of a backward: nodes that `create_graph=True` adds to the graph, from which second derivatives come.

What a first backward makes of grad_output is an operation like any other; here it is differentiated by both operands.
"""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

from gradwalk.formulas.activations import gelu_bend, gelu_slope
from gradwalk.formulas.entry import Entry, Formula, Given, Vjp, why, zero
from gradwalk.formulas.expression import Expression, Symbol, apply, number, product, reshape, total, where
from gradwalk.formulas.losses import averaged, gathered
from gradwalk.formulas.shapes import diagonal_taken, place_along, sliced

_SLOPE = why("why-second-slope")
_BEND = why("why-second-bend")
_STRAIGHT = why("why-second-straight")
_TAKEN = why("why-second-taken")
_SHARES = why("why-second-softmax")
_DIFFERENCE = why("why-second-mse-loss")


def _elementwise(
    op: str, node_name: str, slope: Formula, bend: Formula, *, first: str = "grad_output", x: str = "self"
) -> Entry:
    """Backward of a function of each element: grad_output, which is called `first`, times the slope at `x`.

    `bend` is the slope of the slope.
    """
    by_x = zero if bend is zero else lambda n: n.v * n.operand(first) * bend(n)
    return Entry(
        op,
        (node_name,),
        lambda n: n.operand(first) * slope(n),
        (Vjp(first, lambda n: n.v * slope(n), _SLOPE), Vjp(x, by_x, _STRAIGHT if bend is zero else _BEND)),
    )


def _elu_power(n: Given) -> Expression:
    """The slope of the curved half; its own slope is `input_scale` times it."""
    x = n.self_or_result
    if n.is_result:
        return product(n.input_scale, x + product(n.alpha, n.scale))
    return product(n.input_scale, n.alpha, n.scale, apply("exp", product(n.input_scale, x)))


def _elu_bend(n: Given) -> Expression:
    # Of a result, the slope is a line: it bends by no exponential.
    curve = number(n.input_scale) if n.is_result else product(n.input_scale, _elu_power(n))
    return where(n.self_or_result < 0, curve, 0)


def _softplus_share(n: Given) -> Expression:
    return apply("sigmoid", product(n.beta, n.self))


def _softplus_bend(n: Given) -> Expression:
    share = _softplus_share(n)
    return where(product(n.beta, n.self) > n.threshold, 0, product(n.beta, share * (1 - share)))


def _log_sigmoid_bend(n: Given) -> Expression:
    share = apply("sigmoid", n.self)
    return -(share * (1 - share))


def _along(n: Given, value: Expression) -> Expression:
    return total(value, [n.dim] if n.output.shape else [])


def _softmax_by_output(n: Given) -> Expression:
    sent = n.v * n.grad_output
    return sent - n.v * _along(n, n.grad_output * n.output) - n.grad_output * _along(n, n.v * n.output)


def _log_softmax_by_output(n: Given) -> Expression:
    return -(n.v * apply("exp", n.output) * _along(n, n.grad_output))


def _looked_up(n: Given) -> Expression:
    rows: Symbol = n.indices
    taken = apply("taken_at", n.v, rows, dims=(0,))
    if n.padding_idx < 0:
        return taken
    return where(reshape(rows, (*rows.shape, 1)).differs(n.padding_idx), taken, 0)


def _taken(op: str, node_name: str, taken: Formula, operand: str = "grad_output") -> Entry:
    """Backward of a part that was taken: grad_output among zeros, of which the same part is taken again."""
    return Entry(op, (node_name,), None, (Vjp(operand, taken, _TAKEN),))


SECOND_BACKWARD: tuple[Entry, ...] = (
    _elementwise(
        "tanh_backward",
        "TanhBackwardBackward0",
        lambda n: 1 - n.output**2,
        lambda n: -(2 * n.output),
        x="output",
    ),
    _elementwise(
        "sigmoid_backward",
        "SigmoidBackwardBackward0",
        lambda n: n.output * (1 - n.output),
        lambda n: 1 - 2 * n.output,
        x="output",
    ),
    _elementwise("gelu_backward", "GeluBackwardBackward0", gelu_slope, gelu_bend),
    _elementwise("threshold_backward", "ThresholdBackwardBackward0", lambda n: n.self > n.threshold, zero),
    _elementwise(
        "leaky_relu_backward",
        "LeakyReluBackwardBackward0",
        lambda n: where(n.self > 0, 1, n.negative_slope),
        zero,
    ),
    _elementwise(
        "hardtanh_backward",
        "HardtanhBackwardBackward0",
        lambda n: (n.self > n.min_val) & (n.self < n.max_val),
        zero,
    ),
    _elementwise(
        "hardshrink_backward",
        "HardshrinkBackwardBackward0",
        lambda n: apply("abs", n.self) > n.lambd,
        zero,
        first="grad_out",
    ),
    _elementwise("softshrink_backward", "SoftshrinkBackwardBackward0", lambda n: apply("abs", n.self) > n.lambd, zero),
    _elementwise(
        "elu_backward",
        "EluBackwardBackward0",
        lambda n: where(n.self_or_result > 0, n.scale, _elu_power(n)),
        _elu_bend,
        x="self_or_result",
    ),
    _elementwise(
        "softplus_backward",
        "SoftplusBackwardBackward0",
        lambda n: where(product(n.beta, n.self) > n.threshold, 1, _softplus_share(n)),
        _softplus_bend,
    ),
    _elementwise(
        "log_sigmoid_backward",
        "LogSigmoidBackwardBackward0",
        lambda n: apply("sigmoid", -n.self),
        _log_sigmoid_bend,
    ),
    _elementwise(
        "hardswish_backward",
        "HardswishBackwardBackward0",
        lambda n: where(n.self <= -3, 0, where(n.self < 3, n.self / 3 + number(1) / 2, 1)),
        lambda n: where((n.self > -3) & (n.self < 3), number(1) / 3, 0),
    ),
    Entry(
        "softmax_backward",
        ("SoftmaxBackwardDataBackward0",),
        lambda n: n.output * (n.grad_output - _along(n, n.grad_output * n.output)),
        (
            Vjp("grad_output", lambda n: n.output * (n.v - _along(n, n.v * n.output)), _SHARES),
            Vjp("output", _softmax_by_output, _BEND),
        ),
    ),
    Entry(
        "log_softmax_backward",
        ("LogSoftmaxBackwardDataBackward0",),
        lambda n: n.grad_output - apply("exp", n.output) * _along(n, n.grad_output),
        (
            Vjp("grad_output", lambda n: n.v - _along(n, n.v * apply("exp", n.output)), _SHARES),
            Vjp("output", _log_softmax_by_output, _BEND),
        ),
    ),
    Entry(
        "mse_loss_backward",
        ("MseLossBackwardBackward0",),
        lambda n: averaged(n, 2 * n.grad_output * (n.self - n.target)),
        (
            Vjp("grad_output", lambda n: gathered(n, 2 * n.v * (n.self - n.target)), _SLOPE),
            Vjp("self", lambda n: averaged(n, 2 * n.v * n.grad_output), _DIFFERENCE),
            Vjp("target", lambda n: averaged(n, -(2 * n.v * n.grad_output)), _DIFFERENCE),
        ),
    ),
    _taken(
        "select_backward",
        "SelectBackwardBackward0",
        lambda n: apply("part", n.v, at=place_along(n.dim, n.v.rank, n.index)),
    ),
    _taken("slice_backward", "SliceBackwardBackward0", lambda n: apply("part", n.v, at=sliced(n, n.v.shape))),
    _taken("diagonal_backward", "DiagonalBackwardBackward0", lambda n: diagonal_taken(n, n.v)),
    _taken(
        "unfold_backward",
        "UnfoldBackwardBackward0",
        lambda n: apply("windows", n.v, dimension=n.dim, size=n.size, step=n.step),
        "grad_in",
    ),
    _taken("embedding_backward", "EmbeddingDenseBackwardBackward0", _looked_up),
)
