"""Rooms that several servers share: a hash in Redis or Valkey for each, and a message when it has changed.

A seat that its server does not renew becomes free by itself. Every key has a time to live.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from typing import Any, Final

from redis.exceptions import RedisError

from gradwalk.cluster.connection import ask_at_once, connect, connect_listener, name_key
from gradwalk.protocol.facts import fact
from gradwalk.protocol.rooms import Shown
from gradwalk.rooms.room import NO_SUCH_ROOM, NoSuchRoom, RoomsOutOfReach, RoomState, count_answers
from gradwalk.rooms.storage import CHANGED, SEAT_SECONDS, Found, Hear, RoomLimits

log = logging.getLogger(__name__)

_BEATS_MISSED = 2
"""After which a room counts as one that nobody presents."""
_CLIENT_SECONDS = 86_400
_PAUSE_SECONDS = 0.25
_ROOMS: Final = name_key("rooms")
"""Open rooms, by when they end."""


class ClusterStorage:
    """Rooms of a cluster; what each method does is said of `MemoryStorage`."""

    outlives_server = True

    def __init__(self, url: str, limits: RoomLimits) -> None:
        self.limits = limits
        self._url = url
        self._redis = connect(url)
        self._idle_ms = int(limits.idle_seconds * 1e3)

    async def create(self, code: str, secret: str, shown: Shown, client: str) -> bool:
        room, of_client = _key(code), name_key("rooms", client)
        fields = {"shown": shown.model_dump_json(), "revision": 1}
        is_new, *_ = await self._ask(lambda ask: ask.hsetnx(room, "secret", secret).pexpire(room, self._idle_ms))
        if is_new:
            await self._ask(
                lambda ask: ask.hset(room, mapping=fields).sadd(of_client, code).expire(of_client, _CLIENT_SECONDS)
            )
            await self.keep_open(code)
        return bool(is_new)

    async def count(self, client: str | None = None) -> int:
        counted = [_ROOMS] if client is None else [_ROOMS, name_key("rooms", client)]
        _, count = await self._ask(
            lambda ask: ask.zremrangebyscore(_ROOMS, "-inf", time.time()).zintercard(len(counted), counted)
        )
        return int(count)

    async def idle_rooms(self) -> dict[str, int]:
        latest = time.time() + self.limits.idle_seconds - _BEATS_MISSED * self.limits.beat_seconds
        [idle] = await self._ask(lambda ask: ask.zrangebyscore(_ROOMS, "-inf", latest))
        codes = [code.decode() for code in idle]
        seated = await self._ask(lambda ask: [ask.zcard(_key(code, "seats")) for code in codes])
        return dict(zip(codes, seated, strict=True))

    async def find(self, code: str, participant: str = "") -> Found:
        (secret, shown), seat = await self._ask(
            lambda ask: ask.hmget(_key(code), "secret", "shown").zscore(_key(code, "seats"), participant)
        )
        if secret is None or shown is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        return Found(secret.decode(), Shown.model_validate_json(shown), seat is not None)

    async def keep_open(self, code: str) -> None:
        end = time.time() + self.limits.idle_seconds
        [is_open] = await self._ask(lambda ask: ask.pexpire(_key(code), self._idle_ms))
        if not is_open:
            raise NoSuchRoom(NO_SUCH_ROOM)
        await self._ask(lambda ask: ask.zadd(_ROOMS, {code: end}).expire(_ROOMS, int(self.limits.idle_seconds) + 1))

    async def show(self, code: str, shown: Shown, *, forget_answers: bool) -> int:
        room, forgotten = _key(code), [_key(code, "answers")] if forget_answers else []
        revision, *_ = await self._ask(
            lambda ask: [
                ask.hincrby(room, "revision").hset(room, "shown", shown.model_dump_json()).pexpire(room, self._idle_ms),
                *map(ask.delete, forgotten),
            ]
        )
        return int(revision)

    async def answer(self, code: str, participant: str, answer: str) -> bool:
        answers = _key(code, "answers")
        is_known, count = await self._ask(lambda ask: ask.hexists(answers, participant).hlen(answers))
        if not is_known and count >= self.limits.places_max:
            return False
        await self._ask(lambda ask: ask.hset(answers, participant, answer).pexpire(answers, self._idle_ms))
        return True

    async def take_seats(self, code: str, participants: Collection[str]) -> tuple[int, int]:
        seats, now = _key(code, "seats"), time.time()
        taken = dict.fromkeys(participants, now + SEAT_SECONDS)
        is_open, _, new, seated, _ = await self._ask(
            lambda ask: (
                ask.exists(_key(code))
                .zremrangebyscore(seats, "-inf", now)
                .zadd(seats, taken)
                .zcard(seats)
                .pexpire(seats, self._idle_ms)
            )
        )
        if not is_open:
            await self._ask(lambda ask: ask.delete(seats))
            raise NoSuchRoom(NO_SUCH_ROOM)
        return new, seated

    async def leave_seat(self, code: str, participant: str) -> None:
        seats, away = _key(code, "seats"), _key(code, "away")
        await self._ask(lambda ask: ask.zrem(seats, participant).zrem(away, participant))

    async def set_away(self, code: str, participant: str, *, away: bool) -> None:
        key = _key(code, "away")
        if away:
            await self._ask(lambda ask: ask.zadd(key, {participant: 0}).pexpire(key, self._idle_ms))
        else:
            await self._ask(lambda ask: ask.zrem(key, participant))

    async def state(self, code: str) -> RoomState:
        seats, away = _key(code, "seats"), _key(code, "away")
        _, (secret, revision, shown), answers, seated, gone = await self._ask(
            lambda ask: (
                ask.zremrangebyscore(seats, "-inf", time.time())
                .hmget(_key(code), "secret", "revision", "shown")
                .hvals(_key(code, "answers"))
                .zcard(seats)
                .zintercard(2, [seats, away])
            )
        )
        # One that was closed while it was shown has no secret any more.
        if secret is None or shown is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        now_shown = Shown.model_validate_json(shown)
        counted = count_answers(now_shown, [answer.decode() for answer in answers])
        return RoomState(int(revision), now_shown, counted, seated - gone, gone)

    async def remove(self, code: str) -> None:
        keys = [_key(code, *part) for part in ((), ("answers",), ("seats",), ("away",))]
        await self._ask(lambda ask: ask.delete(*keys).zrem(_ROOMS, code))

    async def say(self, code: str, news: str) -> None:
        await self._ask(lambda ask: ask.publish(_key(code), news))

    async def listen(self, hear: Hear) -> None:
        while True:
            listener = connect_listener(self._url)
            try:
                async with listener.pubsub() as news:
                    await news.psubscribe(f"{_key('')}*")
                    hear("", CHANGED)
                    async for message in news.listen():
                        if message["type"] == "pmessage":
                            hear(message["channel"].decode().rpartition(":")[2], message["data"].decode())
            except (RedisError, OSError) as error:
                log.warning("shared rooms: the connection broke (%s)", type(error).__name__)
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                await listener.aclose()

    async def close(self) -> None:
        await self._redis.aclose()

    async def _ask(self, write: Callable[[Any], object]) -> list[Any]:
        try:
            return await ask_at_once(self._redis, write)
        except (RedisError, OSError) as error:
            raise RoomsOutOfReach(fact("api-rooms-away")) from error


def _key(code: str, *part: str) -> str:
    return name_key("room", code, *part)
