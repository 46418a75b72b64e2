"""What takes the place of the embedded parts where several servers share a Redis or Valkey.

Imported only there, by name: it needs the `cluster` extra.
"""

from gradwalk.api.metrics import Metrics
from gradwalk.api.service import Service
from gradwalk.api.settings import Settings
from gradwalk.cluster.connection import connect
from gradwalk.engine.celery_engine import CeleryEngine
from gradwalk.rooms.redis_rooms import RedisRooms
from gradwalk.store.redis_store import RedisStore


def make_service(settings: Settings, metrics: Metrics) -> Service:
    """Runs go to workers, traces into the shared store; this process needs no torch."""
    engine = CeleryEngine(settings.cluster_url, settings.waiting_count, settings.client_waiting_count)
    return Service(settings, engine, RedisStore(connect(settings.cluster_url)), metrics)


def make_rooms(settings: Settings) -> RedisRooms:
    """Rooms that every server of the cluster knows."""
    return RedisRooms(
        settings.cluster_url,
        rooms_max=settings.rooms_max,
        places_max=settings.room_places_max,
        idle_seconds=settings.room_idle_seconds,
    )
