"""`gradwalk worker`: runs programs that servers elsewhere ask for. Imported only then: it needs the `cluster` extra."""

import logging
import os
import sys
import time
from typing import Any

import click
from celery.signals import setup_logging

from gradwalk.api.logs import configure_logs
from gradwalk.api.service import choose_rates
from gradwalk.api.settings import Settings
from gradwalk.cli.language import Misuse
from gradwalk.cli.serve import read_settings
from gradwalk.cluster.connection import connect
from gradwalk.engine.broker import TASK, Places, make_broker, queue_of
from gradwalk.engine.engine import Lane
from gradwalk.engine.worker import PATIENCE_SECONDS, Worker
from gradwalk.protocol.facts import fact
from gradwalk.sandbox.launcher import LauncherGoneError
from gradwalk.sandbox.supervisor import Sandbox
from gradwalk.store.redis_store import RedisStore

log = logging.getLogger(__name__)

SIGN_OF_LIFE = "worker"
_AGAIN_SECONDS = 1.0


@click.command()
@click.option("--count", type=click.IntRange(1), help="Programs at once.  [default: cores, at least 2]")
def worker(count: int | None) -> None:
    """Run programs for servers that share GRADWALK_CLUSTER_URL with this worker."""
    settings = read_settings(**({} if count is None else {"running_count": count}))
    if not settings.cluster_url:
        raise Misuse(fact("cli-worker-alone"))
    configure_logs(settings.log_format, settings.log_level)
    work(settings)


def work(settings: Settings) -> None:
    """Until it is told to end; then it finishes what it runs.

    Celery leaves when the shared server restarts under its hands. So this process then begins itself anew: what it
    ran is taken over by whoever is there.

    Raises:
        Misuse: programs cannot be run here, or not locked in completely.
    """
    sandbox = Sandbox(settings.run_limits)
    store = RedisStore(connect(settings.cluster_url, patience_seconds=PATIENCE_SECONDS))
    settings.data_directory.mkdir(parents=True, exist_ok=True)
    sign_of_life = settings.data_directory / SIGN_OF_LIFE
    cpu = choose_rates(settings).cpu
    place = Worker(settings.cluster_url, store, cpu, sandbox, settings.run_seconds, sign_of_life)
    try:
        _start(place, sandbox)
        exit_code = _take_messages(place, settings)
    finally:
        place.close()
    if exit_code == 0:
        return
    log.warning("the connection to the shared server was lost; this worker begins anew")
    time.sleep(_AGAIN_SECONDS)
    os.execv(sys.executable, sys.orig_argv)


def _start(worker: Worker, sandbox: Sandbox) -> None:
    try:
        worker.start()
    except LauncherGoneError as error:
        raise Misuse(fact("cli-sandbox-broken", reason=str(error))) from error
    protection = sandbox.protection
    if protection is None or protection.level != "full":
        found = fact("cli-worker-unmeasured")
        if protection is not None:
            found = fact("cli-worker-open", level=protection.level, open=[*protection.open])
        raise Misuse(found)


def _take_messages(worker: Worker, settings: Settings) -> int:
    """The status with which Celery left; 0 when it was told to."""
    # Celery would add handlers of its own to ours.
    setup_logging.connect(_leave_logging_alone)
    places = Places(settings.running_count)
    broker = make_broker(settings.cluster_url, places)

    def carry_out(task: Any, run_id: str) -> None:
        try:
            worker.carry_out(run_id)
        finally:
            places.give_back(task.request.delivery_info["routing_key"])

    broker.task(name=TASK, bind=True)(carry_out)
    consumer = broker.Worker(
        pool="threads",
        concurrency=settings.running_count,
        queues=[queue_of(lane) for lane in sorted(Lane)],
        without_gossip=True,
        without_mingle=True,
        without_heartbeat=True,
    )
    log.info("taking programs, %d at once", settings.running_count)
    try:
        consumer.start()
    except SystemExit as leaving:
        return int(leaving.code or 0)
    return int(consumer.exitcode or 0)


def _leave_logging_alone(**_: object) -> None:
    # It says of every message that it came and went.
    logging.getLogger("celery").setLevel(logging.WARNING)
