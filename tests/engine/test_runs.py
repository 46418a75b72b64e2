"""What an engine's threads say reaches followers in the order it was said, and not more often than eyes can see."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

from gradwalk.engine.engine import Engine, Lane, Sink
from gradwalk.engine.job import Outcome
from gradwalk.engine.runs import RETAINED_BYTES_MAX, Run, Runs, RunState
from tests.engine.engines import address
from tests.world.sandbox import job_of

LASTING = Outcome(lasting=True)
TURNS = 20
"""Of the loop: more than it takes for anything that is not waiting for time to pass."""


class ByHand:
    """An engine whose one job says what the test lets it say."""

    keeps_results = False
    sink: Sink

    async def submit(self, *job: Any) -> None:
        _, self.sink, _ = job

    def jobs_ahead_of(self, _: Sink) -> int:
        return 0


def stop_the_clock() -> Callable[[float], None]:
    """The running loop's clock stands still until it is told to go on for so long."""
    loop = asyncio.get_running_loop()
    now = [loop.time()]
    loop.time = lambda: now[0]  # type: ignore[method-assign]
    return lambda seconds: now.append(now.pop() + seconds)


async def keep(_: Run) -> bool:
    return True


async def turn() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


async def follow(run: Run, told: list[list[bytes]]) -> None:
    """Notes what comes together, to the end."""
    count = 0
    with run.follower():
        while run.state is not RunState.DONE or count < len(run.log):
            batch = await run.news_after(count, 1_000)
            told += [batch] if batch else []
            count += len(batch)


async def test_results_within_one_picture_are_told_together_and_the_first_and_the_last_at_once() -> None:
    go_on, engine = stop_the_clock(), ByHand()
    told: list[list[bytes]] = []
    runs = Runs(cast("Engine", engine), keep, abandon_seconds=1, retain_seconds=1)
    run = await runs.join_or_start(address("x"), job_of("x"), Lane.LIVE)
    following = asyncio.create_task(follow(run, told))

    async def say(*results: bytes, after_seconds: float = 0.0) -> list[list[bytes]]:
        """What has been told since the last time."""
        go_on(after_seconds)
        known = len(told)
        for result in results:
            engine.sink.append([result])
            await turn()
        return told[known:]

    engine.sink.started()
    assert await say(b"0") == [[b"0"]], "the first at once"
    assert await say(b"1", b"2") == [], "nothing so soon after"
    assert await say(b"3", after_seconds=0.02) == [[b"1", b"2", b"3"]], "what has come since, as one"
    assert await say(b"4", after_seconds=1) == [[b"4"]], "after a pause at once again"
    engine.sink.append([b"5", fills_a_batch := bytes(1 << 20), b"6"])
    engine.sink.finished(LASTING)
    await following
    assert told[-2:] == [[b"5", fills_a_batch], [b"6"]], "an end waits for nothing and leaves nothing out"
    await runs.settle()


async def test_a_run_is_called_off_when_its_last_follower_has_been_gone_for_a_while() -> None:
    go_on = stop_the_clock()
    runs = Runs(cast("Engine", ByHand()), keep, abandon_seconds=1, retain_seconds=1)
    run = await runs.join_or_start(address("x"), job_of("x"), Lane.LIVE)

    async def is_called_off_after(seconds: float) -> bool:
        go_on(seconds)
        await turn()
        return run.cancellation.is_wished

    for _ in range(2):
        with run.follower():
            assert not await is_called_off_after(5.0)
        assert not await is_called_off_after(0.5)
    assert await is_called_off_after(0.6)


async def test_results_that_are_not_kept_are_bounded_by_their_bytes_and_the_oldest_go_first() -> None:
    engine = ByHand()
    runs = Runs(cast("Engine", engine), keep, abandon_seconds=1, retain_seconds=1_000)
    count, part = 5, RETAINED_BYTES_MAX // 3
    for number in range(count):
        run = await runs.join_or_start(address(str(number)), job_of(str(number)), Lane.LIVE)
        engine.sink.append([bytes(part)])
        engine.sink.finished(Outcome(lasting=False))
        while run.state is not RunState.DONE:
            await turn()
    assert [runs.find(address(str(number))) is not None for number in range(count)] == [False] * 2 + [True] * 3
