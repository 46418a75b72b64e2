"""How Celery carries the id of a waiting run to a worker, in the order of priorities. The run itself is in the run log.

So Celery's part is small, and may fail: a message that is lost is sent again by a server that follows the run, one that
comes twice finds the run in other hands (`RunLog.begin`).
"""

import threading
from collections.abc import Iterable
from typing import Final

from celery import Celery

from gradwalk.cluster.connection import name_key
from gradwalk.engine.engine import Lane

TASK: Final = "gradwalk.run"
PRIORITIES: Final = 5
"""Of each lane: a client's first waiting run has the first one, its fifth and all later ones the last."""
_REDELIVER_SECONDS = 60
"""After a worker has died with a message. Followers notice sooner."""


class Places:
    """What kombu calls a cycle: the queues that a worker reads now, those of a higher priority first.

    One place is kept for those who look: files, which take minutes, never fill all of a worker, but its only one.
    """

    def __init__(self, running_max: int) -> None:
        self._files = max(1, running_max - 1)
        self._lock = threading.Lock()
        self._queues: list[str] = []

    def update(self, queues: Iterable[str]) -> None:
        """These are all there are."""
        self._queues = list(queues)

    def consume(self, count: int) -> list[str]:
        """Those that the next message may come from."""
        return [queue for queue in self._queues[:count] if self._files > 0 or queue != queue_of(Lane.BATCH)]

    def rotate(self, last_used: str) -> None:
        """A message came from this one."""
        self._count(last_used, -1)

    def give_back(self, queue: str) -> None:
        """What that message asked for is done."""
        self._count(queue, 1)

    def _count(self, queue: str, change: int) -> None:
        with self._lock:
            self._files += change * (queue == queue_of(Lane.BATCH))


def make_broker(url: str, places: Places | None = None) -> Celery:
    """The Celery application of servers and workers; `places` are a worker's."""
    broker = Celery("gradwalk", broker=url, set_as_current=False)
    broker.conf.update(
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_publish_retry_policy={"max_retries": 3, "interval_start": 0.1, "interval_step": 0.2, "interval_max": 0.5},
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "global_keyprefix": name_key(""),
            "priority_steps": [*range(PRIORITIES * len(Lane))],
            "queue_order_strategy": "priority" if places is None else lambda: places,
            "visibility_timeout": _REDELIVER_SECONDS,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "socket_timeout": 10,
            "socket_keepalive": True,
        },
    )
    return broker


def queue_of(lane: Lane) -> str:
    """Celery's name of a lane's queue."""
    return lane.name.lower()
