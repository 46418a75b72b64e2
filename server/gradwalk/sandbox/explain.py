"""What a locked process refused, and what to write instead: from an exception to a fact."""

import re
import socket
import sys
import traceback
from typing import Final

from torch.distributed import DistError

from gradwalk.protocol.facts import Fact, fact

_NETWORK: Final = frozenset(["requests", "urllib3", "httpx", "aiohttp", "socket", "gdown", "huggingface_hub"])
_DATA: Final[tuple[tuple[str, str], ...]] = (
    (r"\bFashionMNIST\b|\bKMNIST\b|\bEMNIST\b|\bMNIST\b", "torch.randn(64, 1, 28, 28), torch.randint(10, (64,))"),
    (r"\bCIFAR100\b", "torch.randn(64, 3, 32, 32), torch.randint(100, (64,))"),
    (r"\bCIFAR10\b|\bSVHN\b", "torch.randn(64, 3, 32, 32), torch.randint(10, (64,))"),
    (r"\bload_iris\b|iris\.csv", "torch.randn(150, 4), torch.randint(3, (150,))"),
    (r"\bload_digits\b", "torch.randn(100, 64), torch.randint(10, (100,))"),
    (r"\bload_wine\b", "torch.randn(178, 13), torch.randint(3, (178,))"),
    (r"\bload_breast_cancer\b", "torch.randn(569, 30), torch.randint(2, (569,))"),
    (r"\bload_diabetes\b", "torch.randn(442, 10), torch.randn(442)"),
    (r"\bload_boston\b|\bBostonHousing\b", "torch.randn(506, 13), torch.randn(506)"),
    (r"\bfetch_california_housing\b", "torch.randn(500, 8), torch.randn(500)"),
    (r"\bmake_moons\b|\bmake_circles\b|\bmake_blobs\b", "torch.randn(100, 2), torch.randint(2, (100,))"),
    (r"\bImageNet\b|\bImageFolder\b|\bmodels\.\w+\(", "torch.randn(4, 3, 224, 224), torch.randint(1000, (4,))"),
)
"""Names of data sets that people write, and random data of the same shape, features and targets."""


def explain(error: BaseException, source: str) -> Fact | None:
    """Why an error comes of the lock; None for the program's own errors."""
    match error:
        case ModuleNotFoundError(name=str() as name):
            return _missing_module(name, source)
        case _ if _speaks_to_network(error) or _speaks_to_network(error.__context__):
            return fact("problem-no-network")
        case EOFError() if "input(" in source:
            return fact("problem-no-input")
        case BlockingIOError() | RuntimeError() if _is_thread_refused(error):
            return fact("problem-no-processes")
        case OSError() if _starts_processes(source):
            return fact("problem-no-processes")
        case OSError() if error.filename is not None or "temporary directory" in str(error):
            return _no_file(error, source)
        case OSError():
            return fact("problem-not-allowed")
        case DistError():
            return fact("problem-no-processes")
        case RuntimeError() if "open file failed" in str(error):
            return fact("problem-no-files")
        case _:
            return None


def _missing_module(name: str, source: str) -> Fact:
    library = name.partition(".")[0]
    if library in sys.modules:
        return fact("problem-no-library", library=name)
    if library in _NETWORK:
        return fact("problem-no-network")
    instead = _data_instead(source)
    if instead is not None:
        return fact("problem-no-library-data", library=library, instead=instead)
    return fact("problem-no-library", library=library)


def _no_file(error: OSError, source: str) -> Fact:
    asked = str(error.filename)[:200] if error.filename is not None else None
    instead = _data_instead(source)
    if asked is None:
        return fact("problem-no-files")
    if instead is not None:
        return fact("problem-no-file-data", file=asked, instead=instead)
    return fact("problem-no-file", file=asked)


def _data_instead(source: str) -> str | None:
    return next((data for pattern, data in _DATA if re.search(pattern, source)), None)


def _is_thread_refused(error: BaseException) -> bool:
    return re.search("can't start new thread|Resource temporarily unavailable", str(error)) is not None


def _starts_processes(source: str) -> bool:
    return re.search(r"\b(subprocess|multiprocessing|Popen|system|fork|popen)\b", source) is not None


def _speaks_to_network(error: BaseException | None) -> bool:
    """Whether a socket or the address of a name was asked for on the way to it."""
    if not isinstance(error, OSError | RuntimeError):
        return False
    codes = [frame.f_code for frame, _ in traceback.walk_tb(error.__traceback__)]
    return any(code.co_name == "getaddrinfo" or code.co_filename == socket.__file__ for code in codes)
