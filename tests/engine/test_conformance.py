"""Both engines keep the same promises: the local pool, and a real worker behind a real redis-server.

Single flight, order, lanes, caps, cancellation; with real children in both.
"""

import asyncio
import json
import os
import time
from collections.abc import Callable
from typing import Any

import pytest

from gradwalk.engine.engine import BusyError, Engine, Lane
from gradwalk.engine.local import QUICK_SECONDS, LocalEngine
from gradwalk.engine.rates import OwnRate, Rate
from gradwalk.engine.runs import Run, Runs, RunState
from gradwalk.protocol.facts import fact
from gradwalk.sandbox.supervisor import Sandbox
from tests.engine.engines import CPU_RATE, CPU_SECONDS, Open, address, local_engine
from tests.world.loop import until
from tests.world.processes import children_of
from tests.world.redis import Redis
from tests.world.sandbox import jacobian_job_of, job_of

ENDLESS = "while True: pass"
SLOW = "import torch\nx = torch.ones(2, requires_grad=True)\nfor n in range(8_000_000): pass\n(x * x).sum().backward()"
"""Longer than a quick run may be while others wait."""
BURNING = """
import time, torch
while time.process_time() < 0.5: pass
x = torch.tensor({number}.0, requires_grad=True)
(x * x).backward()
"""
"""Half a second of processor time, then a pass."""


def runs_of(engine: Engine, kept: list[Run], abandon_seconds: float = 0.1) -> Runs:
    async def keep(run: Run) -> bool:
        kept.append(run)
        return True

    return Runs(engine, keep, abandon_seconds=abandon_seconds, retain_seconds=0.2)


async def ask(runs: Runs, source: str, lane: Lane = Lane.LIVE, client: str = "") -> Run:
    return await runs.join_or_start(address(source), job_of(source), lane, client)


async def block(runs: Runs, client: str = "") -> Run:
    """A program that never ends, once it has a place."""
    blocking = await ask(runs, ENDLESS, client=client)
    await until(lambda: blocking.state is RunState.RUNNING)
    return blocking


async def replay(runs: Runs, source: str, client: str = "") -> Run:
    """The local Jacobian of its first step, by running the program again."""
    return await runs.join_or_start(f"{address(source)}/0/0", jacobian_job_of(source), Lane.LIVE, client)


async def end(*runs: Run) -> None:
    """Calls them off."""
    for run in runs:
        run.cancellation.cancel()
    await until(lambda: all(run.state is RunState.DONE for run in runs))


async def read_all(run: Run) -> list[bytes]:
    log: list[bytes] = []
    with run.follower():
        while run.state is not RunState.DONE or len(log) < len(run.log):
            log += await run.news_after(len(log), 1.0)
    return log


async def events_of(run: Run) -> list[Any]:
    return [json.loads(event) for event in await read_all(run)]


async def test_a_hundred_askers_share_one_run_and_all_read_everything_in_order(opened: Open) -> None:
    async with opened() as (engine, *_):
        before = engine.status().started
        kept: list[Run] = []
        runs = runs_of(engine, kept)
        asked = await asyncio.gather(*[ask(runs, "x * x") for _ in range(100)])
        assert len(set(map(id, asked))) == 1
        logs = await asyncio.gather(*map(read_all, asked))
        assert all(log == logs[0] for log in logs)
        assert [json.loads(event)["seq"] for event in logs[0]] == list(range(len(logs[0])))
        assert json.loads(logs[0][-1])["type"] == "finished"
        await runs.settle()
        assert len(kept) == 1
        assert runs.find(address("x * x")) is None
        await until(lambda: engine.status().started == before + 1)


async def test_a_run_is_done_only_when_it_was_kept(opened: Open) -> None:
    """Or whoever was told "done" could find nothing after a kill -9 in the next moment."""
    may_be_kept = asyncio.Event()

    async def keep(_: Run) -> bool:
        await may_be_kept.wait()
        return True

    async with opened() as (engine, *_):
        runs = Runs(engine, keep, abandon_seconds=0.0, retain_seconds=0.2)
        run = await ask(runs, "x + x")
        log: list[bytes] = []
        with run.follower():
            while run.outcome is None or len(log) < len(run.log):
                log += await run.news_after(len(log), 1.0)
        assert json.loads(log[-1])["type"] == "finished"
        assert run.state is RunState.RUNNING
        with run.follower():
            pass  # a late reader who leaves must not call off what is over
        assert runs.find_joinable(run.id) is run
        may_be_kept.set()
        await until(lambda: run.state is RunState.DONE)
        assert runs.find(run.id) is None


async def test_an_abandoned_run_is_called_off_and_can_be_asked_for_again(opened: Open) -> None:
    async with opened() as (engine, *_):
        runs = runs_of(engine, [])
        run = await ask(runs, ENDLESS)
        with run.follower():
            await until(lambda: len(run.log) == 1)
            waiting = [await ask(runs, f"x + {n} + x") for n in range(3)]
            await end(*waiting)
        await until(lambda: run.cancellation.is_wished)
        again = await ask(runs, ENDLESS)
        assert again is not run
        with again.follower():
            await until(lambda: len(again.log) == 1)
        await until(lambda: again.state is RunState.DONE and run.state is RunState.DONE)
        assert b"problem-left" in b"".join(again.log) or b"problem-called-off" in b"".join(again.log)
        await until(lambda: engine.status().running == 0)


async def test_a_full_queue_says_when_to_come_back_and_live_jobs_go_first(opened: Open) -> None:
    async with opened() as (engine, *_):
        begun: list[Run] = []

        async def note_begin(run: Run) -> None:
            while run.state is RunState.QUEUED:
                await run.change(1.0)
            begun.append(run)

        runs = runs_of(engine, [], abandon_seconds=60)
        blocking = await block(runs)
        batch = [await ask(runs, f"x + {n}", Lane.BATCH) for n in range(2)]
        live = await ask(runs, f"{ENDLESS}  # and is looked at")
        # A cluster counts those that came before, and no live job that came later.
        ahead = [0, 0, 1] if engine.keeps_results else [0, 1, 2]
        await until(lambda: [run.jobs_ahead() for run in (live, *batch)] == ahead)
        refused = await asyncio.gather(*[ask(runs, "x / 3") for _ in range(2)], return_exceptions=True)
        assert [isinstance(one, BusyError) and one.retry_after_seconds >= 1 for one in refused] == [True, True]
        assert runs.find(address("x / 3")) is None
        beginnings = asyncio.gather(*map(note_begin, batch))
        blocking.cancellation.cancel()
        await until(lambda: live.state is RunState.RUNNING)
        # What is looked at makes no room for them, however long it takes.
        assert begun == []
        live.cancellation.cancel()
        await beginnings
        assert begun == batch
        await asyncio.gather(*map(read_all, (live, *batch)))
        await runs.settle()


async def test_a_run_that_cannot_be_kept_is_still_answered(opened: Open) -> None:
    async def fail(_: Run) -> bool:
        raise OSError("the disk is full")

    async with opened() as (engine, *_):
        kept, gone = (Runs(engine, fail, abandon_seconds=1, retain_seconds=each) for each in (1_000, 0))
        for runs in (kept, gone):
            assert (await events_of(await ask(runs, "x")))[-1]["type"] == "finished"
            await runs.settle()
        assert kept.find(address("x")) is not None  # readable for a while
        await until(lambda: gone.find(address("x")) is None)


async def test_a_worker_of_another_version_says_so_instead_of_naming_its_trace_wrongly(celery: Open) -> None:
    async with celery() as (engine, *_):
        kept: list[Run] = []
        runs = runs_of(engine, kept)
        run = await runs.join_or_start("f" * 40, job_of("x * 3"), Lane.LIVE)
        events = await events_of(run)
        assert [event["type"] for event in events] == ["started", "problem", "finished"]
        assert events[1]["fact"] == {"kind": "problem-upgraded"}
        assert kept == []


async def test_a_run_whose_message_is_lost_is_sent_again(celery: Open, celery_redis: Redis, monkeypatch: Any) -> None:
    monkeypatch.setattr("gradwalk.engine.celery_engine.PATIENCE_SECONDS", 0.5)
    async with celery() as (engine, *_):
        runs = runs_of(engine, [], abandon_seconds=60)
        blocking, waiting = await block(runs), await ask(runs, "x * 31")
        with celery_redis.client() as shared:
            await until(lambda: shared.delete("gradwalk:live"))
        await end(blocking)
        assert (await events_of(waiting))[-1]["problems"] == 0


async def test_what_lost_its_worker_three_times_is_given_up_and_says_so(celery: Open, celery_redis: Redis) -> None:
    async with celery() as (engine, *_):
        runs = runs_of(engine, [], abandon_seconds=60)
        blocking = await block(runs)
        trace, again = await ask(runs, "x * 19"), await replay(runs, "x * 19")
        with celery_redis.client() as shared:
            for run in (trace, again):
                shared.set(f"gradwalk:tries:{shared.getrange(f'gradwalk:order:{run.id}', 0, 31).decode()}", 3)
        blocking.cancellation.cancel()
        events = await events_of(trace)
        assert [event["type"] for event in events] == ["started", "problem", "finished"]
        assert events[1]["fact"] == {"kind": "problem-given-up", "operands": {"count": 3}}
        await read_all(again)
        assert again.outcome.problem["fact"]["kind"] == "problem-given-up"
        assert (await events_of(await ask(runs, "x * 19")))[-1]["problems"] == 0, "it may be asked for once more"


async def test_a_client_with_several_slow_runs_gives_a_place_to_one_that_has_none(local: Open) -> None:
    async with local() as (engine, *_):
        runs = runs_of(engine, [], abandon_seconds=60)
        greedy = [await ask(runs, f"while {number}: pass", client="greedy") for number in (1, 2, 3)]
        await until(lambda: engine.status().running == 2)
        assert (await events_of(await ask(runs, SLOW, client="modest")))[-1]["problems"] == 0
        assert all(run.state is not RunState.DONE for run in greedy)
        await end(*greedy)


@pytest.mark.soak
async def test_a_client_that_had_more_has_its_place_and_the_processor_later(
    start_sandbox: Callable[..., Sandbox],
) -> None:
    sandbox = start_sandbox(wall_seconds=60)
    async with local_engine(sandbox, 1, 4)() as (engine, *_):
        runs = runs_of(engine, [], abandon_seconds=60)

        async def start(number: int, client: str) -> tuple[Run, int]:
            others = children_of(sandbox.launcher.pid)
            run = await ask(runs, f"while {number}: pass", client=client)
            await until(lambda: run.state is RunState.RUNNING and children_of(sandbox.launcher.pid) - others)
            [child] = children_of(sandbox.launcher.pid) - others
            return run, child

        def nice(child: int) -> int:
            return os.getpriority(os.PRIO_PROCESS, child) - os.getpriority(os.PRIO_PROCESS, sandbox.launcher.pid)

        await read_all(await ask(runs, BURNING.format(number=4).replace("0.5", "5"), client="greedy"))
        alone, child = await start(1, "greedy")
        assert nice(child) == 0, "nobody else is here"
        await end(alone)
        modest, _ = await start(2, "modest")
        began = time.monotonic()
        greedy, child = await start(3, "greedy")
        assert time.monotonic() - began > 5 * QUICK_SECONDS
        await until(lambda: nice(child) > 1)
        await end(greedy, modest)


async def leave(cpu: Rate, *clients: str, seconds: float) -> None:
    """Takes all processor time of these clients but so much."""
    for client in clients:
        await cpu.take(client, CPU_SECONDS - seconds)


async def is_used_up(cpu: Rate, client: str) -> bool:
    try:
        await cpu.check(client)
    except BusyError:
        return True
    return False


async def test_a_client_pays_for_the_processor_time_of_its_runs_however_they_end(opened: Open) -> None:
    async with opened() as (engine, _, cpu):
        runs = runs_of(engine, [], abandon_seconds=60)
        await leave(cpu, "done", "left", "replay", "quick", "asleep", seconds=0.4)
        done = await ask(runs, BURNING.format(number=1), client="done")
        assert (await events_of(done))[-1]["problems"] == 0
        left = await ask(runs, BURNING.format(number=2) + ENDLESS, client="left")
        await until(lambda: len(left.log) > 1)
        await end(left)
        found = await replay(runs, BURNING.format(number=3), "replay")
        ((jacobian,),) = await events_of(found)
        assert (jacobian["argnum"], found.outcome.lasting) == (0, True)
        await read_all(await ask(runs, "import time\ntime.sleep(1)\nx * 23", client="asleep"))
        await read_all(await ask(runs, "x * 21", client="quick"))
        used_up = [client for client in ("done", "left", "replay", "quick", "asleep") if await is_used_up(cpu, client)]
        assert used_up == ["done", "left", "replay"]


async def test_a_run_whose_client_has_used_up_its_time_meanwhile_is_not_begun(opened: Open) -> None:
    async with opened() as (engine, _, cpu):
        kept: list[Run] = []
        runs = runs_of(engine, kept, abandon_seconds=60)
        blocking = await block(runs, "other")
        # A local engine has a second place, for what is slow.
        second = await replay(runs, ENDLESS, "another")
        waiting = await ask(runs, "x * 22", client="spent")
        await leave(cpu, "spent", seconds=0)
        blocking.cancellation.cancel()
        second.cancellation.cancel()
        assert await read_all(second) == []
        assert second.outcome.problem["fact"]["kind"] in ("problem-left", "problem-called-off")
        events = await events_of(waiting)
        assert [event["type"] for event in events] == ["started", "problem", "finished"]
        assert events[1]["kind"] == "busy"
        assert events[1]["fact"]["operands"]["why"] == {"kind": "api-busy-cpu"}
        assert (await events_of(await ask(runs, "x * 22", client="modest")))[-1]["problems"] == 0
        await runs.settle()
        assert waiting not in kept


async def test_a_postponed_run_costs_what_it_used_and_is_not_begun_anew_for_nothing(local: Open) -> None:
    async with local() as (engine, _, cpu):
        runs = runs_of(engine, [], abandon_seconds=60)
        slow = await block(runs, "first")
        await leave(cpu, "second", seconds=0.001)
        postponed = await ask(runs, ENDLESS + " # 3", client="second")
        # Whose client had less of late would come first, and other tests have used the engine.
        await until(lambda: postponed.state is RunState.RUNNING)
        await read_all(await ask(runs, SLOW, client="modest"))
        assert await is_used_up(cpu, "second")
        slow.cancellation.cancel()
        assert b'"busy"' in b"".join(await read_all(postponed))


async def test_closing_tells_every_waiting_job() -> None:
    cpu = OwnRate(CPU_RATE, fact("api-busy-cpu"))
    engine = LocalEngine(Sandbox(), running_max=1, waiting_max=2, cpu=cpu)  # never started
    runs = runs_of(engine, [])
    waiting = [await ask(runs, f"x + {n}") for n in range(2)]
    await engine.close()
    await until(lambda: all(run.state is RunState.DONE for run in waiting))
    assert [run.outcome.lasting for run in waiting] == [False, False]
