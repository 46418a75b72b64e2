"""What a process that is made ready for children has done with torch; in a process of its own."""

import subprocess
import sys

_PROGRAM = """
import torch

def numbers():
    torch.manual_seed(7)
    return [*torch.rand(3).tolist(), torch.seed() != 7]

before = numbers()
from gradwalk.sandbox.warm import set_up_torch
set_up_torch()
kept = [device._lazy_seed_tracker.get_calls() for device in (torch.cuda, torch.xpu, torch.mtia)]
assert numbers() == before
assert [device._lazy_seed_tracker.get_calls() for device in (torch.cuda, torch.xpu, torch.mtia)] == kept
"""


def test_seeds_are_the_same_and_nothing_is_kept_for_devices_that_are_not_there() -> None:
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True)
