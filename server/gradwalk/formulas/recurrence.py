"""The LSTM layer that torch runs as one node on the CPU."""

from gradwalk.formulas.entry import Entry, Given, NotWritten, Vjp, why
from gradwalk.formulas.expression import Expression

_SHARED = why("why-lstm-weight0")
_TIME = why("why-lstm")


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
            Vjp("hx_", _unrolled, why("why-lstm-hx")),
            Vjp(
                "cx_",
                _unrolled,
                why("why-lstm-cx"),
            ),
        ),
    ),
)
