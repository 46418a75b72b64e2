"""An event loop of one's own, wherever the test runs."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def run_in_own_loop(coroutine: Coroutine[object, object, T]) -> T:
    """What the coroutine returns or raises.

    In a thread of its own: Playwright's synchronous interface keeps a loop running in the main thread of its worker.
    """
    with ThreadPoolExecutor(max_workers=1) as own:
        return own.submit(asyncio.run, coroutine).result()
