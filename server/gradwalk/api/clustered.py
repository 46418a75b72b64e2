"""What takes the place of the embedded parts where several servers share a Redis or Valkey.

Imported only there, by name: it needs the `cluster` extra.
"""

from gradwalk.api.metrics import Metrics
from gradwalk.api.service import Service
from gradwalk.api.settings import Settings
from gradwalk.cluster.connection import connect
from gradwalk.engine.celery_engine import CeleryEngine
from gradwalk.store.redis_store import RedisStore


def make_service(settings: Settings, metrics: Metrics) -> Service:
    """Runs go to workers, traces into the shared store; this process needs no torch."""
    engine = CeleryEngine(settings.cluster_url, settings.waiting_count, settings.client_waiting_count)
    return Service(settings, engine, RedisStore(connect(settings.cluster_url)), metrics)
