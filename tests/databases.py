"""torch's own databases of operators and modules. They take seconds to import, so a test gets them from a fixture.

What is tested of each entry is parametrized over chunks of the database: the first is in `make test`, all are in
`make test-all`. In which chunk an entry is depends on its name alone.
"""

from importlib import import_module
from typing import Any
from zlib import crc32

import pytest
import torch

COUNT = 12
CHUNKS = [pytest.param(chunk, marks=pytest.mark.sweep if chunk else ()) for chunk in range(COUNT)]
"""For `parametrize`."""
_READERS = ("torch.testing._internal.common_utils", "torch.testing._internal.opinfo.core")


def is_in(chunk: int, name: str) -> bool:
    """Whether the entry of this name belongs to the chunk."""
    return crc32(name.encode()) % COUNT == chunk


def _of(name: str) -> Any:
    """A module of torch's own tests, which forbid every later program to set `torch.backends.cudnn.deterministic`."""
    module, *readers = map(import_module, (name, *_READERS))
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    # Per list of samples they read the source of every frame, to find a `unittest.TestCase`: two thirds of the time.
    for reader in readers:
        reader.extract_test_fn = lambda: None
    return module


def load_operators() -> list[Any]:
    """Every OpInfo of torch's operator database."""
    return list(_of("torch.testing._internal.common_methods_invocations").op_db)


def load_custom_functions() -> list[Any]:
    """Every OpInfo of torch's database of custom Functions."""
    return list(_of("torch.testing._internal.autograd_function_db").autograd_function_db)


@pytest.fixture(scope="session")
def operator_database() -> list[Any]:
    """`load_operators`."""
    return load_operators()


@pytest.fixture(scope="session")
def module_database() -> list[Any]:
    """Every ModuleInfo."""
    return list(_of("torch.testing._internal.common_modules").module_db)
