"""The LSTM layer that torch runs as one node on the CPU."""

from gradwalk.formulas.entry import Entry, Given, NotWritten, Vjp
from gradwalk.formulas.expression import Expression

_SHARED = "The same weights are used at every moment, so the contributions of all moments add up."
_TIME = "Back through time: at each moment what comes from the result and what comes from the moment after are added."


def _unrolled(_: Given) -> Expression:
    raise NotWritten("unrolled_in_time")


RECURRENCE: tuple[Entry, ...] = (
    Entry(
        "lstm",
        ("MkldnnRnnLayerBackward0",),
        None,
        (
            Vjp("input", _unrolled, _TIME),
            Vjp("weight0", _unrolled, _SHARED),
            Vjp("weight1", _unrolled, _SHARED),
            Vjp("weight2", _unrolled, _SHARED),
            Vjp("weight3", _unrolled, _SHARED),
            Vjp("hx_", _unrolled, "The first moment is the only one that sees it directly."),
            Vjp(
                "cx_",
                _unrolled,
                "The cell is carried on, scaled by the forget gate: near 1 the gradient lives long, near 0 it dies.",
            ),
        ),
    ),
)
