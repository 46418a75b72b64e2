"""A child where forking a warm process is unsafe (macOS): warms up by itself, runs one job, is gone."""

import os
import resource
import sys
from typing import NoReturn

from gradwalk.sandbox import lockdown
from gradwalk.sandbox.child import Confinement, run_child
from gradwalk.sandbox.limits import WARM, RunLimits
from gradwalk.sandbox.ordinary import Ordinary
from gradwalk.sandbox.warm import set_up_torch, settle, warm_up


def main() -> NoReturn:
    """Started with its limits and the number of its pipe to the parent."""
    limits = RunLimits.model_validate_json(sys.argv[1])
    set_up_torch()
    warm_up()
    ordinary = Ordinary()
    ordinary.install()
    settle()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spent_seconds = int(usage.ru_utime + usage.ru_stime) + 1
    budget = lockdown.Budget(limits.memory_bytes, limits.budget.cpu_seconds + spent_seconds)
    ruleset = lockdown.create_landlock_ruleset() if limits.landlock else None
    seccomp = limits.seccomp and lockdown.seccomp_is_known_here()
    lockdown.drop_root()
    base_bytes = lockdown.address_space_bytes()
    channel = int(sys.argv[2])
    os.write(channel, WARM)
    run_child(
        channel,
        Confinement(
            base_bytes=base_bytes,
            budget=budget,
            landlock_ruleset=ruleset,
            seccomp=seccomp,
            null_device=lockdown.open_null_device(),
            ordinary=ordinary,
            soft_seconds=limits.soft_seconds,
            recording_seconds=limits.recording_seconds,
            resource_limits=limits.resource_limits,
        ),
    )


if __name__ == "__main__":
    main()
