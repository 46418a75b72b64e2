"""What takes the place of the embedded parts where several servers share a Redis or Valkey.

Imported only there, by name: it needs the `cluster` extra.
"""

from functools import partial
from typing import Any, cast

from limits.aio.storage import RedisStorage

from gradwalk.api.clients import Rates, make_rates
from gradwalk.api.metrics import Metrics
from gradwalk.api.service import Service
from gradwalk.api.settings import Settings
from gradwalk.cluster.connection import connect, name_key
from gradwalk.engine.celery_engine import CeleryEngine
from gradwalk.engine.rates import SharedRate
from gradwalk.rooms.redis_storage import ClusterStorage
from gradwalk.rooms.rooms import Rooms
from gradwalk.store.redis_store import RedisStore


def choose_rates(settings: Settings) -> Rates:
    """Counted in the shared server."""
    connection = connect(settings.cluster_url, patience_seconds=0.5)
    storage = RedisStorage(
        settings.cluster_url,
        wrap_exceptions=True,
        implementation="redispy",
        key_prefix=name_key("rate"),
        # As it asks for it; its own type does not know that pools are options as well.
        connection_pool=cast("Any", connection.connection_pool),
    )
    return make_rates(settings, partial(SharedRate, storage=storage), connection.aclose)


def make_service(settings: Settings, metrics: Metrics, rates: Rates) -> Service:
    """Runs go to workers, traces into the shared store; this process needs no torch."""
    engine = CeleryEngine(settings.cluster_url, settings.waiting_count, settings.client_waiting_count)
    store = RedisStore(connect(settings.cluster_url))
    rooms = Rooms(ClusterStorage(settings.cluster_url, settings.room_limits))
    return Service(settings, engine, store, rooms, metrics, rates)
