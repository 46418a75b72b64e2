"""A child where forking a warm process is unsafe (macOS): warms up by itself, runs one job, is gone."""

import os
import sys
import time
from typing import NoReturn

from gradwalk.sandbox import lockdown
from gradwalk.sandbox.child import Confinement, run_child
from gradwalk.sandbox.limits import WARM, RunLimits
from gradwalk.sandbox.warm import warm_up


def main() -> NoReturn:
    """Started with its limits and the number of its pipe to the parent."""
    limits = RunLimits.model_validate_json(sys.argv[1])
    ordinary = warm_up()
    confinement = Confinement.prepare(limits, ordinary, spent_seconds=int(time.process_time()) + 1)
    lockdown.drop_root()
    channel = int(sys.argv[2])
    os.write(channel, WARM)
    os.setsid()
    run_child(channel, confinement, os.getppid())
