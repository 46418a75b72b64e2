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
from gradwalk.rooms.redis_rooms import RedisRooms
from gradwalk.rooms.rooms import RoomLimits
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
    return Service(settings, engine, RedisStore(connect(settings.cluster_url)), metrics, rates)


def make_rooms(url: str, limits: RoomLimits) -> RedisRooms:
    """Rooms that every server of the cluster knows."""
    return RedisRooms(url, limits)
