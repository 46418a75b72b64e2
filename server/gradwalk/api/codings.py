"""Which coding an answer has, by what its reader takes and by what it is."""

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

from gradwalk.store.compression import Coding

PREFERRED: Final[tuple[Coding, ...]] = ("zstd", "gzip")
"""The first one among equals."""
ON_THE_LOOP_BYTES_MAX = 32 << 10
"""What is longer is compressed in a thread: it would take the event loop more than half a millisecond."""
_WEIGHT = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_COMPRESSIBLE = re.compile(
    r"text/(?!event-stream)|(application|image)/([\w.-]+\+)?(json|xml|javascript|wasm)\b|font/(ttf|otf)"
)


def coding_for(scope: Scope) -> Coding | None:
    """The coding of the answer to a request; None for plain bytes."""
    return choose_coding(",".join(Headers(scope=scope).getlist("accept-encoding")))


@lru_cache(maxsize=256)
def choose_coding(accepted: str) -> Coding | None:
    """What `Accept-Encoding` prefers (RFC 9110, 12.5.3); None for plain bytes, also where it takes nothing at all."""
    weights = dict(map(_read_weight, accepted.lower().split(",")))
    weight_of: Callable[[Coding], float] = lambda coding: weights.get(coding, weights.get("*", 0.0))  # noqa: E731
    best = max(PREFERRED, key=weight_of)
    return best if weight_of(best) > 0 and weight_of(best) >= weights.get("identity", 0.0) else None


def is_compressible(media_type: str) -> bool:
    """Whether it is worth while; pictures, videos, WOFF2 fonts and archives are compressed already."""
    return _COMPRESSIBLE.match(media_type) is not None


def _read_weight(item: str) -> tuple[str, float]:
    """A coding and its weight; 0 for a weight that is none."""
    coding, separator, weight = (part.strip() for part in item.partition(";"))
    if not separator:
        return coding, 1.0
    found = _WEIGHT.fullmatch(weight)
    return coding, float(found[1]) if found else 0.0
