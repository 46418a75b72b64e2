"""What one run may use of the machine, and which layers lock it in."""

import math

from pydantic import BaseModel, ConfigDict, Field

EXIT_OF_OUR_FAULT = 70
"""Exit status of a child that could not do its job."""

EXIT_OF_MEMORY = 71
"""Exit status of a child whose program left too little memory to go on telling about it."""

EXIT_OF_TIME = 72
"""Exit status of a child whose time was up where the run could not say so itself."""

WARM = b"warm"
"""What a spawned child says when it is ready for its job."""


class RunLimits(BaseModel):
    """Given to the zygote when it starts; the same for every child of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    wall_seconds: float = Field(
        default=10.0, gt=0, description="A program that is silent for so long is ended by SIGKILL."
    )
    soft_share: float = Field(
        default=0.8,
        gt=0,
        lt=1,
        description="Of that, when the child is asked to end by itself and to say at which line.",
    )
    recording_seconds: float = Field(
        default=30.0, ge=0, description="On top of that, while backward passes are described and told."
    )
    memory_bytes: int = Field(default=1 << 30, gt=0, description="On top of what the warm process has.")
    spare_count: int = Field(default=1, ge=0, description="Children forked ahead of the next request.")
    landlock: bool = Field(default=True, description="Off only in tests of the other layers.")
    seccomp: bool = Field(default=True, description="Off only in tests of the other layers.")
    resource_limits: bool = Field(default=True, description="Off only in tests of the other layers.")

    @property
    def soft_seconds(self) -> float:
        """When the alarm rings inside the child, early enough for it to still say which line it was."""
        return self.wall_seconds * self.soft_share

    @property
    def total_seconds(self) -> float:
        """From the start of a run to SIGKILL, whatever it says meanwhile."""
        return self.wall_seconds + self.recording_seconds

    @property
    def cpu_seconds(self) -> int:
        """Of processor time, after which the kernel ends a child that neither alarm nor SIGKILL has ended."""
        return math.ceil(self.total_seconds) + 1
