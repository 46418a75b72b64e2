"""What stands in the place of a value that is too large to write out entry by entry.

Statistics are taken over the finite entries, in float64; of complex values over their magnitudes. The
work goes in blocks of about a million entries, so that a summary never needs a second copy of the value.
"""

import math
from binascii import b2a_base64
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import compress, islice, pairwise
from typing import Any

import numpy as np
import torch

from gradwalk.protocol.numbers import Real
from gradwalk.protocol.values import Histogram, Summary, Thumbnail
from gradwalk.tracer.decimals import spell_non_finite

BLOCK_ENTRIES = 2**20
ENTRIES_AT_ONCE = 2**14
"""Of several values together: what fits the processor's nearest memory."""
HISTOGRAM_BINS = 24
THUMBNAIL_SIDE = 16
"""As many cells as are ever drawn."""

SHORTEST_PAIRWISE_SUM = 8
"""From so many numbers on numpy sums in another order than one after the other."""

LARGEST_CELL = 126
"""Of a thumbnail: what stands for its largest magnitude. Infinity and NaN come after it."""

_Floats = np.ndarray[Any, np.dtype[np.float64]]
_base = torch._C.TensorBase
_detach, _narrow, _select, _reshape, _to = _base.detach, _base.narrow, _base.select, _base.reshape, _base.to
_numpy, _stride, _is_complex, _resolve_conj = _base.numpy, _base.stride, _base.is_complex, _base.resolve_conj
_float64, _complex128, _stack = torch.float64, torch.complex128, torch.stack


def summarise(tensor: torch.Tensor) -> Summary:
    """Statistics, histogram and thumbnail of a strided tensor with at least one entry.

    `std` divides by n - 1 as `torch.std` does (0 for a single entry); with no finite entry, `min`, `max`, `mean` and
    `std` are NaN. Statistics carry seven significant digits.
    """
    tensor = _detach(tensor)
    distinct, repeats = _without_repeats(tensor)
    # What is one block is read once.
    held = [*_blocks(distinct)] if distinct.numel() <= BLOCK_ENTRIES else None
    low, high, counts = _range(held or _blocks(distinct))
    moments = _moments(held or _blocks(distinct), low, high, all_finite=counts.finite == distinct.numel())
    finite = counts.finite
    deviation = moments.squares / (finite - 1 / repeats) if finite * repeats > 1 else 0.0
    return {
        "min": spell_statistic(low if finite else math.nan),
        "max": spell_statistic(high if finite else math.nan),
        "mean": spell_statistic(moments.scale * moments.mean if finite else math.nan),
        "std": spell_statistic(moments.scale * math.sqrt(deviation) if finite else math.nan),
        "norm": spell_statistic(moments.scale * math.sqrt(repeats * moments.sum_of_squares)),
        "zeros": counts.zeros * repeats,
        "nans": counts.nans * repeats,
        "infs": counts.infs * repeats,
        "histogram": _histogram(low, high, [count * repeats for count in moments.histogram]),
        "thumbnail": _thumbnail(tensor, distinct, held[0] if held and repeats == 1 else None),
    }


def summarise_all(tensors: Sequence[torch.Tensor]) -> list[Summary]:
    """The summaries of several strided tensors, the same numbers as one by one; those of one size are read at once."""
    found: list[Summary | None] = [None] * len(tensors)
    alike: defaultdict[tuple[Any, ...], list[int]] = defaultdict(list)
    for place, tensor in enumerate(tensors):
        if tensor.numel() <= ENTRIES_AT_ONCE and 0 not in _stride(tensor):
            alike[tensor.numel(), tensor.dtype, tensor.device].append(place)
    for (entries, *_), places in alike.items():
        each = max(1, ENTRIES_AT_ONCE // entries)
        for start in range(0, len(places) if len(places) > 1 else 0, each):
            some = places[start : start + each]
            rows = _floats(_stack([_reshape(_detach(tensors[place]), (-1,)) for place in some]))
            shapes = [tuple(tensors[place].shape) for place in some]
            for place, summary in zip(some, _summarise_rows(rows, shapes), strict=True):
                found[place] = summary
    return [summarise(tensor) if known is None else known for tensor, known in zip(tensors, found, strict=True)]


def _summarise_rows(rows: _Floats, shapes: Sequence[tuple[int, ...]]) -> list[Summary | None]:
    """Per row its summary; None where not all entries are finite."""
    lows, highs = rows.min(axis=1), rows.max(axis=1)
    is_finite = np.isfinite(lows) & np.isfinite(highs)
    if not is_finite.all():
        kept = [*compress(shapes, is_finite.tolist())]
        inside = iter(_summarise_rows(rows[is_finite], kept) if kept else ())
        return [next(inside) if each else None for each in is_finite.tolist()]
    count = rows.shape[1]
    zeros = (count - np.count_nonzero(rows, axis=1)).tolist()
    scales = np.maximum(np.abs(lows), np.abs(highs))
    scaled = rows / np.where(scales == 0.0, 1.0, scales)[:, np.newaxis]
    means = scaled.mean(axis=1)
    squares = np.square(scaled - means[:, np.newaxis]).sum(axis=1)
    deviations = scales * np.sqrt(squares / (count - 1)) if count > 1 else np.zeros(len(rows))
    norms = scales * np.sqrt(np.square(scaled).sum(axis=1))
    counts = np.zeros((len(rows), HISTOGRAM_BINS), np.intp)
    is_spread = lows != highs
    counts[~is_spread, 0] = count
    counts[is_spread] = _count_rows_in_bins(
        scaled[is_spread], lows[is_spread] / scales[is_spread], highs[is_spread] / scales[is_spread]
    )
    statistics = np.stack([lows, highs, scales * means, deviations, norms], axis=1)
    numbers = iter(spell_statistics(statistics.reshape(-1).tolist()))
    thumbnails = _thumbnails(rows, shapes)
    found: list[Summary | None] = []
    for at, zero_count, bins in zip(range(len(rows)), zeros, counts.tolist(), strict=True):
        low, high, mean, deviation, norm = islice(numbers, 5)
        found.append(
            {
                "min": low,
                "max": high,
                "mean": mean,
                "std": deviation,
                "norm": norm,
                "zeros": zero_count,
                "nans": 0,
                "infs": 0,
                "histogram": {"low": low, "high": high, "counts": bins},
                "thumbnail": thumbnails[at],
            }
        )
    return found


def _count_rows_in_bins(rows: _Floats, lows: _Floats, highs: _Floats) -> np.ndarray[Any, np.dtype[np.intp]]:
    """As `_count_in_bins`, of each row within its own edges."""
    edges = np.linspace(lows, highs, HISTOGRAM_BINS + 1, axis=1)
    last = HISTOGRAM_BINS - 1
    first, width = edges[:, :1], edges[:, -1:] - edges[:, :1]
    bins = ((rows - first) / width * HISTOGRAM_BINS).astype(np.intp)
    np.minimum(bins, last, out=bins)
    bins -= rows < np.take_along_axis(edges, bins, axis=1)
    bins += (rows >= np.take_along_axis(edges, bins + 1, axis=1)) & (bins != last)
    bins += HISTOGRAM_BINS * np.arange(len(rows))[:, np.newaxis]
    return np.bincount(bins.reshape(-1), minlength=HISTOGRAM_BINS * len(rows)).reshape(-1, HISTOGRAM_BINS)


def _thumbnails(rows: _Floats, shapes: Sequence[tuple[int, ...]]) -> list[Thumbnail]:
    alike: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for at, shape in enumerate(shapes):
        alike[shape or (1,)].append(at)
    found: dict[int, Thumbnail] = {}
    for shape, places in alike.items():
        full = (math.prod(shape[:-1]), shape[-1])
        small = (min(full[0], THUMBNAIL_SIDE), min(full[1], THUMBNAIL_SIDE))
        pooled = _pool(rows[places].reshape(len(places), *full), small).reshape(len(places), -1)
        shown = small if len(shape) > 1 else small[1:]
        for at, cells in zip(places, _cells(pooled), strict=True):
            found[at] = {"shape": [*shown], "cells": cells}
    return [found[at] for at in range(len(rows))]


def _cells(pictures: _Floats) -> list[str]:
    """Each row as the cells of a thumbnail."""
    magnitudes = np.abs(pictures)
    is_finite = np.isfinite(magnitudes)
    largest = np.max(magnitudes, axis=1, keepdims=True, where=is_finite, initial=0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        shares = np.rint(magnitudes / np.where(largest == 0.0, 1.0, largest) * LARGEST_CELL)
    np.maximum(shares, magnitudes > 0.0, out=shares)
    shares[~is_finite] = LARGEST_CELL + 1
    cells = np.copysign(shares, pictures)
    cells[np.isnan(pictures)] = -LARGEST_CELL - 2
    return [b2a_base64(row, newline=False).decode() for row in cells.astype(np.int8)]


def spell_statistics(numbers: Sequence[float]) -> list[Real]:
    """As `spell_statistic`, of finite numbers."""
    return [*map(float, ("%.7g " * len(numbers) % tuple(numbers)).split())]


def spell_statistic(number: float) -> Real:
    """Seven significant digits: enough to read, and the same on every machine."""
    return spell_non_finite(float(f"{number:.7g}"))


class _Counts:
    def __init__(self) -> None:
        self.finite = self.zeros = self.nans = self.infs = 0


class _Moments:
    """Of entries divided by `scale`, so that no square overflows; merged block by block (Chan et al. 1979)."""

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.count = 0
        self.mean = self.squares = self.sum_of_squares = 0.0
        self.histogram = [0] * HISTOGRAM_BINS

    def add(self, block: _Floats) -> None:
        count, mean = block.size, float(block.mean())
        difference, total = mean - self.mean, self.count + count
        self.squares += float(np.square(block - mean).sum()) + difference**2 * self.count * count / total
        self.mean += difference * count / total
        self.sum_of_squares += float(np.square(block).sum())
        self.count = total


def _without_repeats(tensor: torch.Tensor) -> tuple[torch.Tensor, int]:
    """The entries that exist in memory and how often each is seen: `sum` hands back one number expanded to a shape."""
    repeats = 1
    for axis, stride in enumerate(_stride(tensor)):
        length = tensor.shape[axis]
        if stride == 0 and length > 1:
            tensor, repeats = _narrow(tensor, axis, 0, 1), repeats * length
    return tensor, repeats


def _blocks(tensor: torch.Tensor) -> Iterator[_Floats]:
    """All entries in row-major order as fresh float64 arrays."""
    entries = tensor.numel()
    if entries <= BLOCK_ENTRIES or tensor.dim() == 0:
        yield _floats(_reshape(tensor, (-1,)))
        return
    length = tensor.shape[0]
    rows = BLOCK_ENTRIES // (entries // length)
    if rows == 0:
        for index in range(length):
            yield from _blocks(_select(tensor, 0, index))
        return
    for start in range(0, length, rows):
        yield _floats(_reshape(_narrow(tensor, 0, start, min(rows, length - start)), (-1,)))


def _floats(tensor: torch.Tensor) -> _Floats:
    # A copy, because an array over the tensor's own memory would forbid the program to resize it.
    if _is_complex(tensor):
        magnitudes: _Floats = np.abs(_numpy(_resolve_conj(_to(tensor, _complex128, copy=True))))
        return magnitudes
    array: _Floats = _numpy(_to(tensor, _float64, copy=True), force=True)
    return array


def _range(blocks: Iterable[_Floats]) -> tuple[float, float, _Counts]:
    counts = _Counts()
    low, high = math.inf, -math.inf
    for block in blocks:
        counts.zeros += block.size - int(np.count_nonzero(block))
        lowest, highest = float(block.min()), float(block.max())
        # NaN and infinities show in the extremes, so most blocks need no mask.
        if math.isfinite(lowest) and math.isfinite(highest):
            counts.finite += block.size
        else:
            finite = block[np.isfinite(block)]
            nans = int(np.isnan(block).sum())
            counts.finite += finite.size
            counts.nans += nans
            counts.infs += block.size - finite.size - nans
            lowest, highest = (float(finite.min()), float(finite.max())) if finite.size else (math.inf, -math.inf)
        low, high = min(low, lowest), max(high, highest)
    return low, high, counts


def _moments(blocks: Iterable[_Floats], low: float, high: float, *, all_finite: bool) -> _Moments:
    scale = max(abs(low), abs(high)) if low <= high else 0.0
    moments = _Moments(scale)
    if scale == 0.0:
        moments.histogram[0] = sum(int(np.isfinite(block).sum()) for block in blocks)
        return moments
    edges = np.linspace(low / scale, high / scale, HISTOGRAM_BINS + 1)
    for block in blocks:
        finite = (block if all_finite else block[np.isfinite(block)]) / scale
        if finite.size:
            moments.add(finite)
            if low == high:
                moments.histogram[0] += finite.size
                continue
            bins = _count_in_bins(finite, edges).tolist()
            moments.histogram = [one + more for one, more in zip(moments.histogram, bins, strict=True)]
    return moments


def _count_in_bins(numbers: _Floats, edges: _Floats) -> np.ndarray[Any, np.dtype[np.intp]]:
    """As `np.histogram` of numbers that all lie between the outermost edges, which are equally far apart."""
    last = len(edges) - 2
    bins = ((numbers - edges[0]) / (edges[-1] - edges[0]) * (last + 1)).astype(np.intp)
    np.minimum(bins, last, out=bins)
    # The division may be off by one step next to an edge. The last bin includes its right edge, the others do not.
    bins -= numbers < edges[bins]
    bins += (numbers >= edges[bins + 1]) & (bins != last)
    return np.bincount(bins, minlength=last + 1)


def _histogram(low: float, high: float, counts: list[int]) -> Histogram:
    """Equal bins from low to high; when all entries are one number they are all in the first bin."""
    if low > high:
        return {"low": "NaN", "high": "NaN", "counts": counts}
    return {"low": spell_statistic(low), "high": spell_statistic(high), "counts": counts}


def _thumbnail(tensor: torch.Tensor, distinct: torch.Tensor, held: _Floats | None) -> Thumbnail:
    shape = list(tensor.shape) or [1]
    full = (math.prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (1, shape[0])
    small = (min(full[0], THUMBNAIL_SIDE), min(full[1], THUMBNAIL_SIDE))
    if distinct.numel() == 1:
        pooled = np.broadcast_to(_floats(_reshape(distinct, (-1,))), small)
    elif tensor.numel() <= BLOCK_ENTRIES:
        pooled = _pool((_floats(tensor) if held is None else held).reshape(full), small)
    else:
        edges = [row * full[0] // small[0] for row in range(small[0] + 1)]
        pooled = np.concatenate([_pool(_rows(tensor, *ends), (1, small[1])) for ends in pairwise(edges)])
    return {
        "shape": [*small] if len(shape) > 1 else [small[1]],
        "cells": _cells(pooled.reshape(1, -1))[0],
    }


def _pool(rows: _Floats, small: tuple[int, int]) -> _Floats:
    """Means over blocks of a matrix, `small` of them each way; NaN and infinity spread over their block.

    Axes before the last two count matrices.
    """
    full = rows.shape[-2:]
    height, width = (length // count for length, count in zip(full, small, strict=True))
    with np.errstate(invalid="ignore", over="ignore"):
        if (height * small[0], width * small[1]) == full and max(height, width) < SHORTEST_PAIRWISE_SUM:
            # Blocks of one size are summed quicker, in the same order.
            tall = reduce(np.add, [rows[..., row::height, :] for row in range(height)])
            quick: _Floats = reduce(np.add, [tall[..., column::width] for column in range(width)]) / (height * width)
            return quick
        edges = [[index * length // count for index in range(count)] for length, count in zip(full, small, strict=True)]
        heights, widths = (np.diff([*starts, length]) for starts, length in zip(edges, full, strict=True))
        means: _Floats = np.add.reduceat(np.add.reduceat(rows, edges[0], axis=-2), edges[1], axis=-1)
        means /= np.outer(heights, widths)
    return means


def _rows(tensor: torch.Tensor, start: int, end: int) -> _Floats:
    """Rows start to end of the value seen with its last axis across, without copying the others."""
    if tensor.dim() == 1:
        return _floats(tensor)[np.newaxis, :]
    width = tensor.shape[-1]
    inner = math.prod(tensor.shape[1:-1])
    first, last = start // inner, (end - 1) // inner
    outer = _floats(_reshape(_narrow(tensor, 0, first, last - first + 1), (-1, width)))
    return outer[start - first * inner : end - first * inner]
