"""What becomes of v at each operation that moves can follow. A new structure is an entry of `RULES`."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from string import ascii_lowercase
from typing import Any

import torch
from torch import Tensor

from gradwalk.formulas.expression import Apply, Symbol, expressed, ones, walk
from gradwalk.formulas.making import NoMoves, Shape, is_writable
from gradwalk.formulas.operations import OPERATIONS
from gradwalk.formulas.ways import TURNING, Axes, Reading, Rule, Way, beside, has_v, joined, read_as, widened
from gradwalk.protocol.moves import Move, Verb


def _multiplied(reading: Reading, one: Apply) -> Way:
    way, (factor,) = reading.only(one)
    if isinstance(factor, Apply) and factor.operation == "ones":
        return widened(way, tuple(reading.tensor(one).shape))
    return reading.scaled(way, factor)


def _divided(reading: Reading, one: Apply) -> Way:
    value, divisor = one.arguments
    if has_v(divisor):
        raise NoMoves
    return reading.scaled(reading.way(value), divisor, "div")


def _negated(reading: Reading, one: Apply) -> Way:
    return reading.negated(reading.way(one.arguments[0]))


def _cases(reading: Reading, one: Apply) -> Way:
    condition, *cases = one.arguments
    ways = [reading.way(case) if has_v(case) else None for case in cases]
    start = next(way for way in ways if way is not None)
    if has_v(condition) or not all(
        _is_factor(way, start, reading.tensor(case)) for way, case in zip(ways, cases, strict=True)
    ):
        raise NoMoves
    factors = [0 if way is None else way.other or 1 for way in ways]
    chosen = reading.part("where", condition, *factors)
    way = widened(start, tuple(reading.tensor(one).shape))
    return replace(way, other=chosen, other_of=way.now[len(way.now) - reading.tensor(chosen).dim() :])


def _is_factor(way: Way | None, start: Way, value: Tensor) -> bool:
    """Whether a case is a factor times the same table as another, or 0."""
    if way is None:
        return not bool(value.any())
    return way.is_scaled and (way.source, way.of, way.now, way.shape) == (
        start.source,
        start.of,
        start.now,
        start.shape,
    )


def _subtracted(reading: Reading, one: Apply) -> Way:
    shared = _class_minus_shares(reading, one)
    if shared is not None:
        return shared
    ways = [reading.settled(reading.way(argument)) for argument in one.arguments]
    shape = tuple(reading.tensor(one).shape)
    letters = tuple(ascii_lowercase[8 : 8 + len(shape)])
    axes = ",".join(joined(letters[len(letters) - len(way.shape) :]) for way in ways)
    move: Move = {"verb": "subtract", "of": [*map(read_as, ways)], "axes": f"{axes}->{joined(letters)}"}
    move["text"] = reading.text(one)
    return reading.add(move, [way.value for way in ways], shape)


def _class_minus_shares(reading: Reading, one: Apply) -> Way | None:
    """`v - p * sum(v)` where a row of v has one entry: that number, times 1 at its own place and less p everywhere."""
    v, taken = one.arguments
    if not isinstance(taken, Apply) or taken.operation != "mul":
        return None
    totals = [
        part for part in taken.parts if isinstance(part, Apply) and part.operation == "sum" and part.parts[0] is v
    ]
    shares = [part for part in taken.parts if part not in totals]
    way = reading.way(v)
    if len(totals) != 1 or not way.is_plain or way.own != way.shape or not is_writable(way.own):
        return None
    is_class = way.value != 0
    dims = tuple(dict(totals[0].options)["dim"] or range(is_class.dim()))
    if not bool((is_class.sum(dims) == 1).all()):
        return None
    number = reading.settled(reading.way(totals[0]))
    factors = is_class.to(way.value.dtype) - reading.tensor(shares[0])
    source = reading.written(shares[0], factors)
    source["classes_minus"] = True
    letters = ascii_lowercase[8 : 8 + len(way.shape)]
    axes = f"{letters[len(letters) - len(number.shape) :]},{letters}->{letters}"
    return reading.add(
        {"verb": "scale", "of": [number.source, source], "axes": axes}, [number.value, factors], way.shape
    )


def _same(reading: Reading, one: Apply) -> Way:
    return reading.way(one.arguments[0])


def _reshaped(reading: Reading, one: Apply) -> Way:
    return reading.reshaped(reading.way(one.arguments[0]), tuple(reading.tensor(one).shape))


def _turned(reading: Reading, one: Apply) -> Way:
    way = reading.way(one.arguments[0])
    order = TURNING[one.operation](len(way.shape), dict(one.options))
    return replace(way, now=tuple(way.now[dim] for dim in order), shape=tuple(way.shape[dim] for dim in order))


def _summed(reading: Reading, one: Apply) -> Way:
    way = reading.way(one.arguments[0])
    dims = dict(one.options)["dim"]
    dims = range(len(way.shape)) if dims is None else [dim % len(way.shape) for dim in dims]
    if one.operation == "mean":
        way = reading.scaled(way, expressed(math.prod(way.shape[dim] for dim in dims)), "div")
    if not way.is_scaled:
        way = reading.settled(way)
    fresh = beside(way.of, way.now, way.other_of)
    now = tuple(next(fresh) if dim in dims else axis for dim, axis in enumerate(way.now))
    return replace(way, now=now, shape=tuple(1 if dim in dims else size for dim, size in enumerate(way.shape)))


def _matrices(reading: Reading, one: Apply) -> Way:
    way, (other,) = reading.only(one)
    ranks = [reading.tensor(argument).dim() for argument in one.arguments]
    batch = tuple(ascii_lowercase[: max(*ranks, 2) - 2])
    left = ("k",) if ranks[0] == 1 else (*batch[len(batch) - ranks[0] + 2 :], "i", "k")
    right = ("k",) if ranks[1] == 1 else (*batch[len(batch) - ranks[1] + 2 :], "k", "j")
    result = (*batch, *left[-2:-1], *(right[-1:] if ranks[1] > 1 else ()))
    mine, theirs = (left, right) if has_v(one.arguments[0]) else (right, left)
    return reading.product(way, other, (mine, theirs, result), tuple(reading.tensor(one).shape))


def _cumulated(reading: Reading, one: Apply) -> Way:
    """A running sum from the end, written with two flips: v meets a triangle of ones. Any other flip only arranges."""
    match one:
        case Apply("flip", (Apply("cumsum", (Apply("flip", (v,)),)) as running,)):
            way, (dim,) = reading.way(v), dict(one.options)["dims"]
            dim = dim % len(way.shape)
        case _:
            return _arranged(reading, one)
    if dict(running.options)["dim"] % len(way.shape) != dim:
        raise NoMoves
    mine = tuple(ascii_lowercase[: len(way.shape)])
    result = (*mine[:dim], "z", *mine[dim + 1 :])
    triangle = reading.part("tril", ones((way.shape[dim], way.shape[dim])))
    return reading.product(way, triangle, (mine, (mine[dim], "z"), result), way.shape)


def _contracted(reading: Reading, one: Apply) -> Way:
    """By the letters of an einsum; ones only say how often v is repeated."""
    *tables, result = re.split(",|->", dict(one.options)["equation"])
    way, _ = reading.only(one)
    factors = [*zip(tables, one.arguments, strict=True)]
    (mine,) = (table for table, argument in factors if has_v(argument))
    others = [
        factor
        for factor in factors
        if not has_v(factor[1]) and not (isinstance(factor[1], Apply) and factor[1].operation == "ones")
    ]
    shape = tuple(reading.tensor(one).shape)
    if not others:
        return reading.product(way, None, (tuple(mine), (), tuple(result)), shape)
    theirs, other = others[0]
    if len(others) > 1:
        theirs = "".join(dict.fromkeys(letter for table, _ in others for letter in table if letter in mine + result))
        equation = f"{','.join(table for table, _ in others)}->{theirs}"
        other = reading.part("einsum", *(factor for _, factor in others), equation=equation)
    return reading.product(way, other, (tuple(mine), tuple(theirs), tuple(result)), shape)


def _outer(reading: Reading, one: Apply) -> Way:
    way, (other,) = reading.only(one)
    mine, theirs = "ij" if has_v(one.arguments[0]) else "ji"
    return reading.product(way, other, ((mine,), (theirs,), ("i", "j")), tuple(reading.tensor(one).shape))


def _windows(rank: int, options: Mapping[str, Any]) -> Axes:
    """Per dim where the window stands and what of it: `2y+k-1` for a stride of 2 and a padding of 1."""
    stride, dilation, padding = (
        (value,) * rank if isinstance(value := options.get(name, plain), int) else value
        for name, plain in (("stride", 1), ("dilation", 1), ("padding", 0))
    )
    return tuple(
        f"{_times(stride[dim])}{y}+{_times(dilation[dim])}{k}" + (f"-{padding[dim]}" if padding[dim] else "")
        for dim, (y, k) in enumerate(zip("xyz"[3 - rank :], "klm"[:rank], strict=True))
    )


def _times(factor: int) -> str:
    return "" if factor == 1 else str(factor)


def _convolved(reading: Reading, one: Apply) -> Way:
    options, rank, shape = dict(one.options), reading.tensor(one).dim() - 2, tuple(reading.tensor(one).shape)
    if len(one.arguments) > 2:  # noqa: PLR2004
        raise NoMoves
    way, (other,) = reading.only(one)
    whole, windows, kernel = _windows(rank, options), tuple("xyz"[3 - rank :]), tuple("klm"[:rank])
    groups = options.get("groups", 1)
    group = ("g",) if groups > 1 else ()
    first, result = (("n", *group, "c", *whole), ("n", *group, "o", *windows))
    if "transpose" in one.operation:
        first, result = ("n", *group, "o", *windows), ("n", *group, "c", *whole)
    weight = (*group, "o", "c", *kernel)
    mine, theirs = (first, weight) if has_v(one.arguments[0]) else (weight, first)
    if not group:
        return reading.product(way, other, (mine, theirs, result), shape)
    # The window of a group slides over the channels of that group.
    at = (mine.index("g"), theirs.index("g"))
    way = reading.split(way, at[0], groups)
    other = reading.part("reshape", other, shape=_split(tuple(reading.tensor(other).shape), at[1], groups))
    made = reading.product(way, other, (mine, theirs, result), _split(shape, 1, groups))
    return reading.reshaped(made, shape)


def _split(shape: Shape, dim: int, parts: int) -> Shape:
    return (*shape[:dim], parts, shape[dim] // parts, *shape[dim + 1 :])


def _pooled(reading: Reading, one: Apply) -> Way:
    """A share of v to every place in its window; where windows are of several sizes, the shares are wrong and no move holds."""
    way, _ = reading.only(one)
    options, shape = dict(one.options), tuple(reading.tensor(one).shape)
    rank = len(options["input_size"])
    whole = [size // windows for size, windows in zip(shape[-rank:], way.shape[-rank:], strict=True)]
    kernel = options.get("kernel_size", whole)
    kernel = (kernel,) * rank if isinstance(kernel, int) else tuple(kernel)
    lead = tuple(ascii_lowercase[: len(shape) - rank])
    share = reading.part("div", 1, options.get("divisor_override") or math.prod(kernel))
    reading.repeat(share, kernel)
    axes = (*lead, *"xyz"[3 - rank :]), tuple("klm"[:rank]), (*lead, *_windows(rank, {"stride": kernel, **options}))
    return reading.product(way, share, axes, shape)


def _narrowed(reading: Reading, one: Apply) -> Way:
    """What falls outside of the result is left out; along an axis of size 1 nothing falls outside."""
    way, options = reading.way(one.arguments[0]), dict(one.options)
    if way.is_plain or options["start"] != 0 or options["length"] == 1:
        return _arranged(reading, one)
    return replace(way, shape=tuple(reading.tensor(one).shape))


def _arranged(reading: Reading, one: Apply) -> Way:
    """An operation that only copies cells says of their numbers where each comes from."""
    way, _ = reading.only(one)
    way = reading.settled(way)
    numbers = torch.arange(1, way.value.numel() + 1, dtype=way.value.dtype).reshape(way.shape)
    arguments = [numbers if has_v(argument) else reading.tensor(argument) for argument in one.arguments]
    copied = OPERATIONS[one.operation].evaluate(*arguments, **dict(one.options))
    source = (copied.reshape(-1).long() - 1).tolist()
    return _travelled(reading, way, source, tuple(copied.shape))


def _travelled(reading: Reading, way: Way, source: list[int], shape: Shape, verb: Verb = "travel") -> Way:
    found = [place for place in source if place >= 0]
    verb = verb if len(found) == len({*found}) else "deal"
    return reading.placed({"verb": verb, "of": [read_as(way)], "source": source}, way, shape)


def _added(reading: Reading, one: Apply) -> Way:
    """An operation that adds cells at places says of the result's numbers which each place is."""
    way, others = reading.only(one)
    way, shape, options = reading.settled(way), tuple(reading.tensor(one).shape), dict(one.options)
    numbers = torch.arange(math.prod(shape)).reshape(shape)
    if one.operation in ("scatter_add", "index_add", "put") and bool(reading.tensor(others[0]).any()):
        raise NoMoves
    indices = [reading.tensor(other) for other in others]
    places = _PLACES[one.operation](numbers, indices, options)
    if places.numel() != way.value.numel():
        raise NoMoves
    goal = places.reshape(-1).tolist()
    if len({*goal}) < len(goal):
        return reading.placed({"verb": "fold", "of": [read_as(way)], "goal": goal}, way, shape)
    source = [-1] * math.prod(shape)
    for cell, place in enumerate(goal):
        source[place] = cell
    is_picked = any(isinstance(one, Symbol) and one.name in _PICKED for other in others for one in walk(other))
    return _travelled(reading, way, source, shape, "win" if is_picked and len(goal) < len(source) else "travel")


_PICKED = frozenset({"indices", "result1"})
"""Saved by nodes whose forward pass chose cells."""
_PLACES: Mapping[str, Callable[[Tensor, list[Tensor], Mapping[str, Any]], Tensor]] = {
    "scatter_add": lambda numbers, indices, options: numbers.gather(options["dim"], indices[1]),
    "index_add": lambda numbers, indices, options: numbers.index_select(options["dim"], indices[1]),
    "put": lambda numbers, indices, _: numbers.take(indices[1]),
    "added_at": lambda numbers, indices, options: OPERATIONS["taken_at"].evaluate(
        numbers, *indices, dims=options["dims"]
    ),
}
_COPYING = (
    "blocks block_diag cat diag_embed diagonal diagonal_scatter gather index_fill index_select into_zeros "
    "masked_scatter masked_select pad padded_to part pixel_shuffle pixel_unshuffle roll rot90 scatter select "
    "stack take taken_at tile tril triu windows with_zeros zeroed_at"
)
RULES: Mapping[str, Rule] = {
    "mul": _multiplied,
    "div": _divided,
    "neg": _negated,
    "where": _cases,
    "sub": _subtracted,
    "real": _same,
    "conj": _same,
    "reshape": _reshaped,
    "narrow": _narrowed,
    **dict.fromkeys(TURNING, _turned),
    "sum": _summed,
    "mean": _summed,
    "matmul": _matrices,
    "outer": _outer,
    "einsum": _contracted,
    "flip": _cumulated,
    **{f"{convolution}{rank}d": _convolved for convolution in ("conv", "conv_transpose") for rank in (1, 2, 3)},
    **{f"{pooling}_pool{rank}d_transposed": _pooled for pooling in ("avg", "adaptive_avg") for rank in (2, 3)},
    **dict.fromkeys(_COPYING.split(), _arranged),
    **dict.fromkeys(_PLACES, _added),
}
