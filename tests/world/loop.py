"""An event loop of one's own, wherever the test runs."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")


def run_in_own_loop(
    coroutine: Coroutine[object, object, T], make_loop: Callable[[], asyncio.AbstractEventLoop] | None = None
) -> T:
    """What the coroutine returns or raises, in a usual loop or the one that is made.

    In a thread of its own: Playwright's synchronous interface keeps a loop running in the main thread of its worker.
    """

    def run() -> T:
        with asyncio.Runner(loop_factory=make_loop) as runner:
            return runner.run(coroutine)

    with ThreadPoolExecutor(max_workers=1) as own:
        return own.submit(run).result()
