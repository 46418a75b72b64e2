"""Single flight, order, lanes, bounds and cancellation, with a real sandbox behind the local engine."""

import asyncio
import json
from collections.abc import Callable, Iterator

import pytest

from gradwalk.engine.engine import BusyError, Lane
from gradwalk.engine.job import Outcome
from gradwalk.engine.local import LocalEngine
from gradwalk.engine.runs import Run, Runs, RunState
from gradwalk.protocol.requests import TraceRequest, resolve_limits
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.sandbox.jobs import TraceJob
from gradwalk.sandbox.limits import RunLimits
from gradwalk.sandbox.supervisor import Sandbox
from tests.own_loop import run_in_own_loop

ENDLESS = "while True: pass"


@pytest.fixture(scope="module")
def engine() -> Iterator[LocalEngine]:
    engine = LocalEngine(Sandbox(RunLimits(wall_seconds=20.0)), running_max=1, waiting_max=3)
    engine.start()
    yield engine
    engine.close()


def job(source: str) -> TraceJob:
    request = TraceRequest(source=source)
    return TraceJob(request=request, limits=resolve_limits(request.options.limits))


def runs_of(engine: LocalEngine, kept: list[Run], abandon_seconds: float = 0.1) -> Runs:
    async def keep(run: Run) -> bool:
        kept.append(run)
        return True

    return Runs(engine, keep, abandon_seconds=abandon_seconds, retain_seconds=0.2)


async def read_all(run: Run) -> list[bytes]:
    log: list[bytes] = []
    with run.follower():
        while run.state is not RunState.DONE or len(log) < len(run.log):
            log += await run.news_after(len(log), 1.0)
    return log


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(15):
        while not holds():
            await asyncio.sleep(0.01)


def test_a_hundred_askers_share_one_run_and_all_read_everything(engine: LocalEngine) -> None:
    async def ask() -> None:
        kept: list[Run] = []
        runs = runs_of(engine, kept)
        asked = [runs.join_or_start("same", job("x * x"), Lane.LIVE) for _ in range(100)]
        assert len(set(map(id, asked))) == 1
        logs = await asyncio.gather(*map(read_all, asked))
        assert all(log == logs[0] for log in logs)
        assert json.loads(logs[0][-1])["type"] == "finished"
        await runs.settle()
        assert len(kept) == 1
        assert runs.find("same") is None

    run_in_own_loop(ask())


def test_a_run_is_done_only_when_it_was_kept(engine: LocalEngine) -> None:
    """Or whoever was told "done" could find nothing after a kill -9 in the next moment."""

    async def ask() -> None:
        may_be_kept = asyncio.Event()

        async def keep(_: Run) -> bool:
            await may_be_kept.wait()
            return True

        runs = Runs(engine, keep, abandon_seconds=0.0, retain_seconds=0.2)
        run = runs.join_or_start("kept", job("x * x"), Lane.LIVE)
        log: list[bytes] = []
        with run.follower():
            while run.outcome is None or len(log) < len(run.log):
                log += await run.news_after(len(log), 1.0)
        assert json.loads(log[-1])["type"] == "finished"
        assert run.state is RunState.RUNNING
        with run.follower():
            pass  # a late reader who leaves must not call off what is over
        assert runs.find_joinable("kept") is run
        may_be_kept.set()
        await until(lambda: run.state is RunState.DONE)
        assert runs.find("kept") is None

    run_in_own_loop(ask())


def test_a_passing_problem_is_never_kept_and_can_be_tried_again(engine: LocalEngine) -> None:
    async def ask() -> None:
        kept: list[Run] = []
        runs = runs_of(engine, kept)
        first = runs.join_or_start("a", job("import torch\ntorch.zeros(10**12)"), Lane.LIVE)
        assert b'"memory"' in b"".join(await read_all(first))
        await runs.settle()
        assert runs.find("a") is first  # readable for a while
        second = runs.join_or_start("a", job("x"), Lane.LIVE)
        assert second is not first
        await read_all(second)
        await runs.settle()
        assert kept == [second]

    run_in_own_loop(ask())


def test_an_abandoned_run_is_called_off(engine: LocalEngine) -> None:
    async def ask() -> None:
        runs = runs_of(engine, [])
        run = runs.join_or_start("a", job(ENDLESS), Lane.LIVE)
        with run.follower():
            await until(lambda: len(run.log) == 1)
        with run.follower():  # back in time: nothing happens to it
            await asyncio.sleep(0.3)
            assert not run.cancellation.is_wished
        await until(lambda: run.state is RunState.DONE)
        assert b"Called off" in b"".join(run.log)
        assert engine.status().running == 0

    run_in_own_loop(ask())


def test_a_full_queue_says_when_to_come_back_and_live_jobs_go_first(engine: LocalEngine) -> None:
    async def ask() -> None:
        kept: list[Run] = []
        runs = runs_of(engine, kept, abandon_seconds=60)
        blocking = runs.join_or_start("endless", job(ENDLESS), Lane.LIVE)
        await until(lambda: blocking.state is RunState.RUNNING)
        batch = [runs.join_or_start(f"batch {n}", job(f"x + {n}"), Lane.BATCH) for n in range(2)]
        live = runs.join_or_start("live", job("x - 1"), Lane.LIVE)
        assert [run.jobs_ahead() for run in (live, *batch)] == [0, 1, 2]
        with pytest.raises(BusyError) as refused:
            runs.join_or_start("one too many", job("x"), Lane.LIVE)
        assert refused.value.retry_after_seconds >= 1
        assert runs.find("one too many") is None
        blocking.cancellation.cancel()
        await asyncio.gather(*map(read_all, (live, *batch)))
        await runs.settle()
        assert [run.id for run in kept] == ["live", "batch 0", "batch 1"]

    run_in_own_loop(ask())


def test_a_run_that_cannot_be_kept_is_still_answered(engine: LocalEngine) -> None:
    async def ask() -> None:
        async def fail(_: Run) -> bool:
            raise OSError("the disk is full")

        runs = Runs(engine, fail, abandon_seconds=1, retain_seconds=0.05)
        run = runs.join_or_start("a", job("x"), Lane.LIVE)
        assert json.loads((await read_all(run))[-1])["type"] == "finished"
        await runs.settle()
        assert runs.find("a") is run  # readable for a while
        await until(lambda: runs.find("a") is None)

    run_in_own_loop(ask())


def test_closing_tells_every_waiting_job() -> None:
    told: list[Outcome] = []

    class Listener:
        def started(self) -> None:
            raise AssertionError("nothing runs here")

        def append(self, batch: list[bytes]) -> None:
            raise AssertionError(batch)

        def finished(self, outcome: Outcome) -> None:
            told.append(outcome)

    engine = LocalEngine(Sandbox(), running_max=1, waiting_max=2)  # never started
    for _ in range(2):
        engine.submit(job("x"), Lane.LIVE, Listener(), Cancellation())
    engine.close()
    assert [outcome.lasting for outcome in told] == [False, False]
