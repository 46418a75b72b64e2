"""How Celery carries the news of a waiting run to a worker. The run itself is in the run log; a message is its id.

So Celery's part is small, and may fail: a message that is lost is sent again by whoever follows the run
(`RunLog.tend`), one that comes twice finds the run in somebody's hands (`RunLog.begin`).
"""

from typing import Final

from celery import Celery

from gradwalk.cluster.connection import name_key
from gradwalk.engine.engine import Lane

TASK: Final = "gradwalk.run"
_PREFIX: Final = name_key("")
_REDELIVER_SECONDS = 60
"""After a worker has died with a message. Followers notice sooner; this is for runs that nobody follows."""


def make_broker(url: str) -> Celery:
    """The Celery application of servers and workers."""
    broker = Celery("gradwalk", broker=url, set_as_current=False)
    broker.conf.update(
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_send_task_events=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "global_keyprefix": _PREFIX,
            # LIVE before BATCH at every pop; Celery's own choice is to take turns.
            "queue_order_strategy": "priority",
            "visibility_timeout": _REDELIVER_SECONDS,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "socket_timeout": 10,
            "socket_keepalive": True,
        },
    )
    return broker


def queue_of(lane: Lane) -> str:
    """Celery's name of a lane's queue; `gradwalk:live` is the list whose length is what to scale workers by."""
    return lane.name.lower()
