"""Files are made on the batch lane: by the same function on both engines, after everything that somebody looks at."""

import asyncio
import json
import os
import re
from pathlib import Path

import pytest

from gradwalk.engine import export
from gradwalk.engine.engine import Lane
from gradwalk.engine.export import ExportJob, MakerBrokeError, NoFileError, make_file
from gradwalk.engine.runs import Run, Runs, RunState
from gradwalk.exports.catalogue import find_exporter
from gradwalk.exports.exporter import Selection, report_nothing
from gradwalk.notebook.recording import trace
from gradwalk.protocol.upgrades import load_document
from gradwalk.protocol.wire import write_document
from gradwalk.sandbox.cancellation import Cancellation
from gradwalk.store.compression import compress
from gradwalk.store.redis_store import RedisStore
from tests.engine.engines import Open
from tests.world.loop import until
from tests.world.processes import command_of, descendants_of, is_alive

DOCUMENT = (Path(__file__).parents[1] / "golden/chain-of-two.json").read_bytes()
CHAIN = "x = torch.tensor(1.0, requires_grad=True)\ny = x\nfor _ in range(150):\n    y = y * 1.01\ny.backward()\n"
"""Hundreds of pages: long enough to be left, however slow the machine."""
PHASES = Selection(every="phase")
JOB = ExportJob(trace="a" * 40, name="pages", document=compress(DOCUMENT))


def makers() -> list[int]:
    """Processes below this one that make files now."""
    return [pid for pid in descendants_of(os.getpid()) if is_alive(pid) and "gradwalk.exports.maker" in command_of(pid)]


async def order(document: bytes, store: RedisStore | None) -> ExportJob:
    """A file of this trace, which a worker finds in the store."""
    trace = json.loads(document)["id"]
    if store is not None:
        await store.put_trace(trace, document)
    return ExportJob(trace=trace, name="pages", selection=PHASES, document=None if store else compress(document))


async def keep_nothing(_: Run) -> bool:
    """What is not kept can be read in its run for a while."""
    return False


async def to_the_end(run: Run) -> list[tuple[int, int]]:
    """How far it was whenever there was news."""
    told = []
    with run.follower():
        while run.state is not RunState.DONE:
            told.append(run.progress)
            await run.change(1.0)
    return [*told, run.progress]


@pytest.mark.parametrize("opened", ["local", pytest.param("celery", marks=pytest.mark.soak)], indirect=True)
async def test_a_file_is_the_exporters_and_made_once_for_all_who_ask_and_never_for_nobody(opened: Open) -> None:
    async with opened() as (engine, store, _):
        runs = Runs(engine, keep_nothing, abandon_seconds=0.1, retain_seconds=30)
        before = engine.status().started
        long = await order(write_document(trace(CHAIN).document), store)
        left = await runs.join_or_start(long.address("1"), long, Lane.BATCH)
        with left.follower():
            await until(lambda: left.progress[0] > 0 and makers())
        await until(lambda: not makers() and left.state is RunState.DONE)
        assert not left.outcome.lasting
        job = await order(DOCUMENT, store)
        asked = await asyncio.gather(*[runs.join_or_start(job.address("1"), job, Lane.BATCH) for _ in range(20)])
        told = (await asyncio.gather(*map(to_the_end, asked)))[0]
        assert (told, told[-1]) == (sorted(told), (10, 10))
        oracle = find_exporter("pages").write(load_document(json.loads(DOCUMENT)), PHASES)
        assert (await store.get_file(asked[0].id) if store else asked[0].log[-1]) == oracle
        gone = ExportJob(trace="0" * 40, name="pages")
        await to_the_end(run := await runs.join_or_start(gone.address("1"), gone, Lane.BATCH))
        assert run.outcome.problem["fact"]["kind"] == "problem-trace-gone"
        await until(lambda: engine.status().started == before + 3)


def last_words(program: str) -> str:
    """The message about a maker that is this program."""
    with pytest.raises(MakerBrokeError) as found:
        make_file(JOB, report_nothing, Cancellation(), maker=("-c", program))
    return str(found.value)


@pytest.mark.usefixtures("run")
def test_a_makers_mistakes_are_told_as_ours_with_its_last_words_and_it_knows_no_secrets(monkeypatch) -> None:
    # Words that wait for a line's end are lost in a crash, unless this is set where the server runs.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    crash = "import os, sys; sys.stderr.write('half a line '); sys.stdin.buffer.readline(); os.abort()"
    assert re.match(r"half a line Fatal Python error: Aborted\n(.*\n)*.*line 1 in <module>", last_words(crash))
    monkeypatch.setenv("GRADWALK_CLUSTER_URL", "redis://:sesame@nowhere")
    told = last_words("import os, sys; sys.exit(repr(dict(os.environ)))")
    assert ("PATH" in told, "sesame" in told) == (True, False)


@pytest.mark.usefixtures("run")
def test_what_the_maker_and_the_processes_that_it_started_used_is_charged_however_it_ends() -> None:
    burn = "import time\nwhile time.process_time() < 0.3: pass\n"
    nested = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])\n" + burn
    charged: list[float] = []
    with pytest.raises(MakerBrokeError):
        make_file(JOB, report_nothing, Cancellation(), charge=charged.append, maker=("-c", nested))
    assert charged[0] > 0.6
    cancellation = Cancellation()
    told = nested + 'print(\'{"done": 1, "of": 2}\')\n' + burn + "time.sleep(600)"
    with pytest.raises(NoFileError):
        make_file(JOB, lambda *_: cancellation.cancel(), cancellation, charge=charged.append, maker=("-c", told))
    assert charged[1] > 0.6


@pytest.mark.usefixtures("run")
def test_a_file_that_takes_too_long_is_given_up_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "LONGEST_SECONDS", 0.5)
    with pytest.raises(NoFileError, match="not made in 0.5 seconds"):
        make_file(JOB, report_nothing, Cancellation(), maker=("-c", "import time; time.sleep(60)"))
