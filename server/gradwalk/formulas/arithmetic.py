"""Sums, products, quotients, powers, and the choice between two values, element by element."""

# mypy: disable-error-code="no-any-return"
# What a node saved has no static type.

import torch
from torch import Tensor

from gradwalk.formulas.formula import BROADCAST, Entry, NodeView, Vjp, conjugate, elementwise, times

_PASSES = "Adding 1 to it adds 1 to the sum, so v passes unchanged."


def _power_slope(n: NodeView) -> Tensor:
    """d x^p / dx with the limits torch takes: 0 where p is 0."""
    exponent = torch.as_tensor(n.exponent, device=n.self.device)
    slope = exponent * n.self.pow(exponent - 1)
    return slope.where(exponent != 0, torch.zeros_like(slope))


def _exponent_slope(n: NodeView) -> Tensor:
    """d x^p / dp = x^p log x, with 0 where x is 0 and p is not negative."""
    base = torch.as_tensor(n.self, device=n.exponent.device, dtype=n.result.dtype)
    exponent = torch.as_tensor(n.exponent)
    slope = n.result * base.log()
    flat = (base == 0) & ((exponent.real if exponent.is_complex() else exponent) >= 0)
    return slope.masked_fill(flat.expand(slope.shape), 0)


def _quotient_other(n: NodeView) -> Tensor:
    return -n.v * conjugate(n.self / n.other / n.other)


def _rounded(n: NodeView) -> bool:
    return n.rounding_mode is not None


def _larger(n: NodeView, mine: Tensor, theirs: Tensor) -> Tensor:
    halved = torch.where(mine == theirs, n.v / 2, n.v)
    return halved.masked_fill(mine < theirs, 0)


def _wins(mine: Tensor, theirs: Tensor) -> Tensor:
    return (mine >= theirs) | theirs.isnan()


_MAXIMUM_TIE = "Where both are equal each gets half of v, so that the two together still get v."
_NAN_LOSES = "A NaN loses: the other operand gets all of v. Equal values: the first operand gets all of it."
_FLOOR = "With a rounding mode the result is a staircase: flat almost everywhere, so both gradients are 0."

ARITHMETIC: tuple[Entry, ...] = (
    Entry(
        "add",
        ("AddBackward0", "AddBackward1"),
        r"@result = @self + @alpha @other",
        (
            Vjp("self", r"@v", "v", _PASSES, lambda n: n.v),
            Vjp(
                "other",
                r"@alpha @v",
                "alpha * v",
                "y enters the sum alpha times, so a nudge of y moves the sum alpha times as much; alpha is 1 unless given.",
                lambda n: times(n.alpha, n.v),
            ),
        ),
        (BROADCAST, "alpha is 1 unless the call gives it; then v passes unchanged to both."),
    ),
    Entry(
        "sub",
        ("SubBackward0", "SubBackward1"),
        r"@result = @self - @alpha @other",
        (
            Vjp("self", r"@v", "v", _PASSES, lambda n: n.v),
            Vjp(
                "other",
                r"-@alpha @v",
                "-alpha * v",
                "More of y means less of the difference, so the sign turns; alpha is 1 unless given.",
                lambda n: times(n.alpha, -n.v),
            ),
        ),
        (BROADCAST, "alpha is 1 unless the call gives it."),
    ),
    Entry(
        "rsub",
        ("RsubBackward0", "RsubBackward1"),
        r"@result = @other - @alpha @self",
        (
            Vjp(
                "self",
                r"-@alpha @v",
                "-alpha * v",
                "x is what is taken away, so a nudge upwards moves the result down.",
                lambda n: times(n.alpha, -n.v),
            ),
            Vjp("other", r"@v", "v", _PASSES, lambda n: n.v),
        ),
        (BROADCAST, "`1 - x` is written this way round: the number has no gradient, x gets -v."),
    ),
    Entry(
        "mul",
        ("MulBackward0",),
        r"@result = @self \odot @other",
        (
            Vjp(
                "self",
                r"@v \odot @other",
                "v * y",
                "y scales x, so a nudge of x moves the product y times as much.",
                lambda n: n.v * conjugate(n.other),
            ),
            Vjp(
                "other",
                r"@v \odot @self",
                "v * x",
                "x scales y, so a nudge of y moves the product x times as much.",
                lambda n: n.v * conjugate(n.self),
            ),
        ),
        (BROADCAST, "`x * x` has two operands that are the same tensor: each gets v * x, and they add up to 2 x v."),
    ),
    Entry(
        "mul",
        ("MulBackward1",),
        r"@result = @other \cdot @self",
        (
            Vjp(
                "self",
                r"@other \cdot @v",
                "c * v",
                "The number c scales x, so a nudge of x moves the product c times as much.",
                lambda n: times(n.other, n.v),
            ),
        ),
        symbols={"other": "c"},
    ),
    Entry(
        "div",
        ("DivBackward0",),
        r"@result = @self / @other",
        (
            Vjp(
                "self",
                r"@v / @other",
                "v / y",
                "x is divided by y, so a nudge of x counts for one y-th.",
                lambda n: n.v / conjugate(n.other),
            ),
            Vjp(
                "other",
                r"-@v \odot @self / @other^2",
                "-v * x / y^2",
                "A larger divisor makes the quotient smaller, and the quotient x / y itself is divided by y once more.",
                _quotient_other,
            ),
        ),
        (BROADCAST, "Where y is 0 the gradients are infinite or NaN, as the quotient is."),
    ),
    Entry(
        "div",
        ("DivBackward1",),
        r"@result = @self / @other",
        (
            Vjp(
                "self",
                r"@v / @other",
                "v / c",
                "x is divided by the number c, so a nudge of x counts for one c-th.",
                lambda n: n.v / conjugate(n.other),
            ),
        ),
        symbols={"other": "c"},
    ),
    Entry(
        "div",
        ("DivBackward2", "DivBackward3"),
        r"@result = \operatorname{round}(@self / @other)",
        (
            Vjp(
                "self",
                r"0",
                "0 (v / y where no rounding mode is given)",
                _FLOOR,
                lambda n: torch.zeros_like(n.v) if _rounded(n) else n.v / conjugate(n.other),
            ),
            Vjp(
                "other",
                r"0",
                "0 (-v * x / y^2 where no rounding mode is given)",
                _FLOOR,
                lambda n: torch.zeros_like(n.v) if _rounded(n) else _quotient_other(n),
            ),
        ),
        (_FLOOR, "With rounding_mode=None it is an ordinary division."),
    ),
    Entry(
        "remainder",
        ("RemainderBackward0", "RemainderBackward1"),
        r"@result = @self - @other \lfloor @self / @other \rfloor",
        (
            Vjp("self", r"@v", "v", "Between two jumps the remainder moves exactly as x does.", lambda n: n.v),
            Vjp(
                "other",
                r"-@v \odot \lfloor @self / @other \rfloor",
                "-v * floor(x / y)",
                "y is subtracted floor(x / y) times, so each nudge of y counts that often.",
                lambda n: -n.v * n.self.div(n.other, rounding_mode="floor"),
            ),
        ),
        ("At the jumps (x a multiple of y) torch uses the slope beside the jump.", BROADCAST),
    ),
    Entry(
        "fmod",
        ("FmodBackward0", "FmodBackward1"),
        r"@result = @self - @other \operatorname{trunc}(@self / @other)",
        (
            Vjp("self", r"@v", "v", "Between two jumps the remainder moves exactly as x does.", lambda n: n.v),
            Vjp(
                "other",
                r"-@v \odot \operatorname{trunc}(@self / @other)",
                "-v * trunc(x / y)",
                "y is subtracted trunc(x / y) times, so each nudge of y counts that often.",
                lambda n: -n.v * n.self.div(n.other, rounding_mode="trunc"),
            ),
        ),
        ("fmod keeps the sign of x, remainder that of y: trunc here, floor there.", BROADCAST),
    ),
    elementwise(
        "neg",
        ("NegBackward0", "NegViewBackward0"),
        r"-@self",
        r"(-1)",
        "(-1)",
        "The result moves as much as x, the other way.",
        lambda n: -torch.ones_like(n.v),
    ),
    elementwise(
        "reciprocal",
        ("ReciprocalBackward0",),
        r"1 / @self",
        r"(-@result^2)",
        "(-z^2)",
        "The slope of 1/x is -1/x^2; z already is 1/x, so its square is used again instead of dividing twice.",
        lambda n: -n.result * n.result,
        ("At x = 0 the result is infinite, and so is the gradient.",),
    ),
    elementwise(
        "pow",
        ("PowBackward0",),
        r"@self^{@exponent}",
        r"@exponent @self^{@exponent - 1}",
        "p * x^(p-1)",
        "The power rule: the exponent comes down in front and drops by one.",
        _power_slope,
        (
            "x^0 is constant, so its gradient is 0 even at x = 0.",
            "A fractional exponent below 1 has infinite slope at 0.",
        ),
    ),
    Entry(
        "pow",
        ("PowBackward1",),
        r"@result = @self^{@exponent}",
        (
            Vjp(
                "self",
                r"@v \odot @exponent @self^{@exponent - 1}",
                "v * p * x^(p-1)",
                "The power rule: the exponent comes down in front and drops by one.",
                lambda n: n.v * conjugate(_power_slope(n)),
            ),
            Vjp(
                "exponent",
                r"@v \odot @result \odot \log @self",
                "v * z * log(x)",
                "x^p is e^(p log x); in p it is an exponential whose rate is log x.",
                lambda n: n.v * conjugate(_exponent_slope(n)),
            ),
        ),
        (
            BROADCAST,
            "Where the base is 0 and the exponent is not negative the exponent's gradient is 0, not 0 times minus infinity.",
            "A negative base has no real logarithm: the exponent's gradient is NaN there.",
        ),
    ),
    Entry(
        "pow",
        ("PowBackward2",),
        r"@result = @self^{@exponent}",
        (
            Vjp(
                "exponent",
                r"@v \odot @result \cdot \log @self",
                "v * z * log(c)",
                "c^p is e^(p log c); in p it is an exponential whose rate is log c.",
                lambda n: n.v * conjugate(_exponent_slope(n)),
            ),
        ),
        ("With base 0 the gradient is 0 for exponents that are not negative.",),
        {"self": "c"},
    ),
    Entry(
        "addcmul",
        ("AddcmulBackward0",),
        r"@result = @self + @value \, @tensor1 \odot @tensor2",
        (
            Vjp("self", r"@v", "v", _PASSES, lambda n: n.v),
            Vjp(
                "tensor1",
                r"@value \, @v \odot @tensor2",
                "c * v * b",
                "a is multiplied by c and b before it is added.",
                lambda n: n.v * conjugate(n.tensor2 * n.value),
            ),
            Vjp(
                "tensor2",
                r"@value \, @v \odot @tensor1",
                "c * v * a",
                "b is multiplied by c and a before it is added.",
                lambda n: n.v * conjugate(n.tensor1 * n.value),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "addcdiv",
        ("AddcdivBackward0",),
        r"@result = @self + @value \, @tensor1 / @tensor2",
        (
            Vjp("self", r"@v", "v", _PASSES, lambda n: n.v),
            Vjp(
                "tensor1",
                r"@value \, @v / @tensor2",
                "c * v / b",
                "a is multiplied by c and divided by b before it is added.",
                lambda n: n.v * conjugate(n.value / n.tensor2),
            ),
            Vjp(
                "tensor2",
                r"-@value \, @v \odot @tensor1 / @tensor2^2",
                "-c * v * a / b^2",
                "A larger divisor makes the added quotient smaller: the quotient rule.",
                lambda n: -n.v * conjugate(n.value * n.tensor1 / (n.tensor2 * n.tensor2)),
            ),
        ),
        (BROADCAST,),
    ),
    Entry(
        "lerp",
        ("LerpBackward0", "LerpBackward1"),
        r"@result = (1 - @weight) \odot @self + @weight \odot @end",
        (
            Vjp(
                "self",
                r"@v \odot (1 - @weight)",
                "v * (1 - w)",
                "x has the share 1 - w in the mixture.",
                lambda n: n.v * conjugate(1 - n.weight),
            ),
            Vjp(
                "end",
                r"@v \odot @weight",
                "v * w",
                "y has the share w in the mixture.",
                lambda n: n.v * conjugate(n.weight),
            ),
            Vjp(
                "weight",
                r"@v \odot (@end - @self)",
                "v * (y - x)",
                "Moving w from 0 to 1 moves the result all the way from x to y.",
                lambda n: n.v * conjugate(n.end - n.self),
            ),
        ),
        (BROADCAST,),
        {"weight": "w"},
    ),
    Entry(
        "maximum",
        ("MaximumBackward0",),
        r"@result = \max(@self, @other)",
        (
            Vjp(
                "self",
                r"@v \odot [@self > @other] + \tfrac{1}{2} @v \odot [@self = @other]",
                "v where x > y, v/2 where equal, else 0",
                "Only the larger of the two decides the result, so only it gets v; equal ones get half each.",
                lambda n: _larger(n, n.self, n.other),
            ),
            Vjp(
                "other",
                r"@v \odot [@other > @self] + \tfrac{1}{2} @v \odot [@self = @other]",
                "v where y > x, v/2 where equal, else 0",
                "Only the larger of the two decides the result, so only it gets v; equal ones get half each.",
                lambda n: _larger(n, n.other, n.self),
            ),
        ),
        (_MAXIMUM_TIE, BROADCAST),
    ),
    Entry(
        "minimum",
        ("MinimumBackward0",),
        r"@result = \min(@self, @other)",
        (
            Vjp(
                "self",
                r"@v \odot [@self < @other] + \tfrac{1}{2} @v \odot [@self = @other]",
                "v where x < y, v/2 where equal, else 0",
                "Only the smaller of the two decides the result, so only it gets v; equal ones get half each.",
                lambda n: _larger(n, -n.self, -n.other),
            ),
            Vjp(
                "other",
                r"@v \odot [@other < @self] + \tfrac{1}{2} @v \odot [@self = @other]",
                "v where y < x, v/2 where equal, else 0",
                "Only the smaller of the two decides the result, so only it gets v; equal ones get half each.",
                lambda n: _larger(n, -n.other, -n.self),
            ),
        ),
        (_MAXIMUM_TIE, BROADCAST),
    ),
    Entry(
        "fmax",
        ("FmaxBackward0",),
        r"@result = \operatorname{fmax}(@self, @other)",
        (
            Vjp(
                "self",
                r"@v \odot [@self \ge @other]",
                "v where x >= y, else 0",
                "Only the larger of the two decides the result.",
                lambda n: n.v.masked_fill(~_wins(n.self, n.other), 0),
            ),
            Vjp(
                "other",
                r"@v \odot [@self < @other]",
                "v where x < y, else 0",
                "Only the larger of the two decides the result.",
                lambda n: n.v.masked_fill(_wins(n.self, n.other), 0),
            ),
        ),
        (_NAN_LOSES, BROADCAST),
    ),
    Entry(
        "fmin",
        ("FminBackward0",),
        r"@result = \operatorname{fmin}(@self, @other)",
        (
            Vjp(
                "self",
                r"@v \odot [@self \le @other]",
                "v where x <= y, else 0",
                "Only the smaller of the two decides the result.",
                lambda n: n.v.masked_fill(~_wins(-n.self, -n.other), 0),
            ),
            Vjp(
                "other",
                r"@v \odot [@self > @other]",
                "v where x > y, else 0",
                "Only the smaller of the two decides the result.",
                lambda n: n.v.masked_fill(_wins(-n.self, -n.other), 0),
            ),
        ),
        (_NAN_LOSES, BROADCAST),
    ),
    Entry(
        "where",
        ("WhereBackward0",),
        r"@result = @condition \mathbin{?} @self : @other",
        (
            Vjp(
                "self",
                r"@v \odot [@condition]",
                "v where the condition holds, else 0",
                "x is copied where the condition holds, and ignored elsewhere.",
                lambda n: n.v.masked_fill(~n.condition, 0),
            ),
            Vjp(
                "other",
                r"@v \odot [\neg @condition]",
                "v where the condition fails, else 0",
                "y is copied where the condition fails, and ignored elsewhere.",
                lambda n: n.v.masked_fill(n.condition, 0),
            ),
        ),
        (
            BROADCAST,
            "The condition gets no gradient: it is true or false, nothing in between.",
            "A NaN or infinite slope further back in the branch that was not chosen still spoils the gradient: 0 times infinity is NaN.",
        ),
    ),
    Entry(
        "hypot",
        ("HypotBackward0",),
        r"@result = \sqrt{@self^2 + @other^2}",
        (
            Vjp(
                "self",
                r"@v \odot @self / @result",
                "v * x / z",
                "The length grows with x by the cosine of the angle, x / z.",
                lambda n: n.v * n.self / n.result,
            ),
            Vjp(
                "other",
                r"@v \odot @other / @result",
                "v * y / z",
                "The length grows with y by the sine of the angle, y / z.",
                lambda n: n.v * n.other / n.result,
            ),
        ),
        (BROADCAST, "At x = y = 0 the gradient is 0 / 0 = NaN."),
    ),
    Entry(
        "copysign",
        ("CopysignBackward0", "CopysignBackward1"),
        r"@result = |@self| \operatorname{sign}(@other)",
        (
            Vjp(
                "self",
                r"@v \odot @result / @self",
                "v * z / x",
                "The sign was kept (slope 1) or turned (slope -1); z / x says which.",
                lambda n: (n.v * n.result / n.self).masked_fill(n.result == 0, 0),
            ),
            Vjp(
                "other",
                r"0",
                "0",
                "Only the sign of y is used, and a sign does not change with a nudge.",
                lambda n: torch.zeros_like(n.v),
            ),
        ),
        ("At x = 0 the gradient is 0.", BROADCAST),
    ),
)
