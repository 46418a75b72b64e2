"""What may be asked for, and the limits of asking."""

from typing import Annotated, Any

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, model_validator

NESTED_MAX = 100
"""Lists inside of lists; where JSON is read or written on the way to the program and back, 200 are too many."""
_WRITTEN_MAX = 254
"""Lists inside of lists that orjson writes."""
_FIELDS_MAX = 32


def _refuse_depth(given: Any) -> Any:
    # orjson counts in a tenth of the time that a loop takes over sixty thousand numbers.
    wrapped = given
    for _ in range(_WRITTEN_MAX - NESTED_MAX):
        wrapped = [wrapped]
    try:
        orjson.dumps(wrapped)
    except TypeError as error:
        # Other complaints are not about depth.
        if "ecursion" in str(error):
            raise ValueError(f"nested more than {NESTED_MAX} deep") from None
    return given


Nested = Annotated[Any, AfterValidator(_refuse_depth)]
"""A number, or nested lists of numbers; non-finite ones spelled as in `values`."""


class _Asked(BaseModel):
    """What a stranger writes; pydantic has a complaint for each unknown field, and ten thousand take 20 ms."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, ser_json_inf_nan="strings")

    @model_validator(mode="before")
    @classmethod
    def _refuse_crowd(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > _FIELDS_MAX:
            raise ValueError(f"more than {_FIELDS_MAX} fields")
        return given


class Limits(_Asked):
    """Only ever lower than the server's own; in the caller's own process they may also be raised."""

    steps: int | None = Field(None, ge=1, description="Executed autograd nodes recorded in full.")
    passes: int | None = Field(None, ge=1, description="Backward passes of one loop recorded in full.")
    elements: int | None = Field(None, ge=0, description="Entries of one value written out; larger are summarised.")
    jacobian_cells: int | None = Field(None, ge=0, description="Cells of one local Jacobian written out.")


class Options(_Asked):
    """How a program is run."""

    inputs: dict[str, Nested] = Field(
        default_factory=dict,
        max_length=64,
        description="Free variables and named leaves: a number, nested lists, or {value, requires_grad, dtype}.",
    )
    grad_output: Nested = Field(
        None,
        description="The external gradient v, where the program makes no backward call itself; else in the place of "
        "the v that it gives its first backward call, where that starts at one tensor of several numbers.",
    )
    seed: int = Field(0, ge=0, le=2**63 - 1, description="Manual seed of torch, random and numpy.")
    passes: list[Annotated[int, Field(ge=0, lt=2**31)]] | None = Field(
        default=None,
        min_length=1,
        max_length=16,
        description="Backward passes to record, by number from 0, with the rest of their turns of a loop; unset: the "
        "first, the last and some between.",
    )
    limits: Limits = Limits()  # type: ignore[call-arg]


class TraceRequest(_Asked):
    """One program to trace."""

    source: Annotated[str, StringConstraints(min_length=0)]
    options: Options = Options()  # type: ignore[call-arg]


class ResolvedLimits(BaseModel):
    """Every limit of one run, spelled out."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: int = 20_000
    """Executed autograd nodes recorded in full."""
    passes: int = 64
    """Backward passes of one loop recorded in full."""
    nodes: int = 20_000
    """Nodes of one graph written out."""
    first_nodes: int = 5_000
    """Of a graph with more nodes, those that are written out: what runs first."""
    elements: int = 1_024
    """Entries of one value written out."""
    jacobian_cells: int = 4_096
    """Cells of one local Jacobian written out."""
    jacobian_cells_total: int = 65_536
    """Cells of all local Jacobians computed while tracing; the rest is on demand."""
    stdout_characters: int = 64_000
    """Characters a program may print."""
    source_bytes: int = 20_000
    """Length of the program in UTF-8."""


SERVER_LIMITS = ResolvedLimits()


def resolve_limits(requested: Limits, ceiling: ResolvedLimits | None = SERVER_LIMITS) -> ResolvedLimits:
    """The limits of one run: what was asked for, never above `ceiling`; without a ceiling, as asked."""
    asked = requested.model_dump(exclude_none=True)
    if ceiling is None:
        return ResolvedLimits(**asked)
    return ceiling.model_copy(update={name: min(value, getattr(ceiling, name)) for name, value in asked.items()})
