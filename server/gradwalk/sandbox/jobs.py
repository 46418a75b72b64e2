"""What a child can be asked to do; the parent writes one of these to a fresh child, as one frame."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from gradwalk.protocol.requests import ResolvedLimits, TraceRequest
from gradwalk.protocol.values import TensorValue


class _Errand(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, ser_json_inf_nan="strings")


class _OfProgram(_Errand):
    request: TraceRequest
    limits: ResolvedLimits


class TraceJob(_OfProgram):
    """Run a program and answer with its events."""

    kind: Literal["trace"] = "trace"


class JacobianJob(_OfProgram):
    """Run a program again and answer with the local Jacobians of one step."""

    kind: Literal["jacobian"] = "jacobian"
    index: int = Field(ge=0, description="Of the step, over the whole trace.")
    argnum: int = Field(ge=0)


class GradcheckJob(_OfProgram):
    """Run a program again and answer with finite differences beside what its backward says."""

    kind: Literal["gradcheck"] = "gradcheck"
    index: int | None = Field(
        default=None, ge=0, description="Of the step, over the whole trace; null for a whole pass."
    )
    argnum: int = Field(default=0, ge=0)
    pass_index: int = Field(default=0, ge=0, description="The pass that is checked when no step is named.")


class ValueJob(_OfProgram):
    """Run a program again and answer with all entries of a value that was only summarised."""

    kind: Literal["value"] = "value"
    value: TensorValue = Field(description="As the trace has it.")


ReplayJob = JacobianJob | GradcheckJob | ValueJob

ProbeName = Literal["read", "list", "stat", "connect", "fork", "thread", "signal", "memory", "raise", "exec", "loop"]


class ProbeJob(_Errand):
    """Try harmless things that a program must not be able to do, and answer which of them went through."""

    kind: Literal["probe"] = "probe"
    probes: tuple[ProbeName, ...]


Errand = Annotated[TraceJob | JacobianJob | GradcheckJob | ValueJob | ProbeJob, Field(discriminator="kind")]
ERRAND: TypeAdapter[Errand] = TypeAdapter(Errand)
"""What a child reads: a job, or the self-test's questions."""
