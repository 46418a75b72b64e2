"""The users of docker-compose.yml do nothing that is not theirs.

All that servers and workers do they do under them in `tests/store`, `tests/engine` and `tests/rooms`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import redis as client
from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

from tests.world.cluster import Cluster, url_of
from tests.world.redis import Redis

TRACE, ROOM, RUN = f"gradwalk:trace:{'a' * 40}", "gradwalk:room:ABCDEF", "a" * 32
FOREIGN_TO_ALL = {
    "all keys": ("keys", "*"),
    "a walk through all keys": ("scan", "0"),
    "everything gone": ("flushall",),
    "settings": ("config", "get", "*"),
    "what others say": ("monitor",),
    "other clients": ("client", "list"),
    "a program of its own": ("eval", "return 1", "0"),
    "another server's copy": ("replicaof", "127.0.0.1", "1"),
    "the end": ("shutdown",),
    "a foreign key": ("get", "theirs"),
    "a key that begins as ours": ("get", "gradwalk"),
}
FOREIGN_TO_WORKERS = {
    "links": ("get", "gradwalk:snippet:a"),
    "whose links they are": ("zrange", "gradwalk:snippets:a", "0", "-1"),
    "a room's secret": ("hget", ROOM, "secret"),
    "which rooms there are": ("zrange", "gradwalk:rooms", "0", "-1"),
    "what rooms are told": ("publish", ROOM, "closed"),
    "what rooms say": ("psubscribe", "gradwalk:room:*"),
    "how often somebody asked": ("set", "gradwalk:rate:LIMITER/api-busy-client/10.0.0.1/3000000/1/minute", "0"),
    "servers' news": ("xadd", "gradwalk:wake:a", "*", "wake", "1"),
}
FOREIGN_TO_SERVERS = {
    "results": ("xadd", f"gradwalk:log:{RUN}", "*", "end", "{}"),
    "the end of a log": ("pexpire", f"gradwalk:log:{RUN}", "1"),
    "a sign of life": ("set", f"gradwalk:beat:{RUN}", "a"),
    "a file": ("set", "gradwalk:file/a", "a"),
    "workers' names": ("set", "gradwalk:worker:a", "{}"),
    "versions": ("set", "gradwalk:versions", "{}"),
    "messages that are taken": ("hget", "gradwalk:unacked", "a"),
    "messages": ("brpop", "gradwalk:live", "1"),
}


@pytest.fixture(params=["api", "worker"])
def role(request: pytest.FixtureRequest, redis: Redis) -> Iterator[tuple[str, Any]]:
    """A service, and a connection under its name."""
    with client.Redis.from_url(url_of(request.param, redis.url)) as connection:
        yield request.param, connection


def test_a_role_can_do_nothing_that_is_not_its_own(role: tuple[str, Any]) -> None:
    name, connection = role
    foreign = FOREIGN_TO_ALL | (FOREIGN_TO_WORKERS if name == "worker" else FOREIGN_TO_SERVERS)
    allowed = []
    for what, command in foreign.items():
        try:
            connection.execute_command(*command)
            allowed.append(what)
        except NoPermissionError:
            pass
    assert allowed == []


def test_a_script_can_do_no_more_than_the_role_that_loaded_it(role: tuple[str, Any]) -> None:
    name, connection = role
    script = connection.script_load("return redis.call(ARGV[1], KEYS[1], unpack(ARGV, 2))")
    command, key, *rest = FOREIGN_TO_WORKERS["links"] if name == "worker" else FOREIGN_TO_SERVERS["a file"]
    for arguments in ((key, command, *rest), (TRACE, "flushall"), (TRACE, "rename", "theirs")):
        with pytest.raises(ResponseError, match="can't|permission|ACL"):
            connection.evalsha(script, 1, *arguments)


def test_without_a_password_there_is_nothing_but_a_sign_of_life(redis: Redis) -> None:
    def connect(**given: str) -> Any:
        return client.Redis(port=redis.port, retry=None, **given)

    with connect() as connection, pytest.raises(AuthenticationError):
        connection.ping()
    with connect(username="health", password="any") as connection:
        assert connection.ping()
        for command in (("get", TRACE), ("set", TRACE, "a"), ("info",), *FOREIGN_TO_ALL.values()):
            with pytest.raises(NoPermissionError):
                connection.execute_command(*command)
    with connect(username="web", password="web") as connection, pytest.raises(AuthenticationError):
        connection.ping()


def test_what_was_written_together_is_there_after_a_restart(cluster: Cluster) -> None:
    """Redis 7.0 reads its file under the name of the default user, and leaves out what that may not do."""
    with client.Redis.from_url(url_of("worker", cluster.shared.url)) as connection:
        with connection.pipeline() as together:
            together.set("gradwalk:versions", "a").sadd("gradwalk:workers", "a").execute()
        cluster.shared.restart()
        assert connection.get("gradwalk:versions") == b"a"
    assert cluster.shared.refusals() == []
