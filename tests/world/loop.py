"""A pytest plugin: a test that is a coroutine function runs in an event loop of its own, where it can `until`."""

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.world.processes import PATIENCE_SECONDS


async def until(holds: Callable[[], object]) -> None:
    """Waits for what comes by itself, for three minutes at most."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    coroutine = pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names})
    # In a thread of its own: Playwright's synchronous interface keeps a loop running in the main thread of its worker.
    with ThreadPoolExecutor(max_workers=1) as own:
        own.submit(asyncio.run, coroutine).result()
    return True
