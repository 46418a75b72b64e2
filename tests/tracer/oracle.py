"""The names under which other folders know `tests.twin`."""

from tests.twin import run_plain, tensor_of

__all__ = ["run_plain", "tensor_of"]
