"""Rooms that several servers share: a hash in Redis or Valkey is the truth, a message only says that it changed.

A lost message costs nothing but time: every server reads its rooms again with each heartbeat, and after a broken
connection. Seats are kept for some seconds and renewed by the server that holds the connection, so those of a server
that died become free by themselves. Every key has a time to live.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterator
from functools import partial
from typing import Any, Final

from redis.exceptions import RedisError

from gradwalk.cluster.connection import connect, connect_listener, name_key
from gradwalk.protocol.facts import fact
from gradwalk.protocol.rooms import Shown
from gradwalk.rooms.mirror import Mirror
from gradwalk.rooms.room import (
    NO_PLACE,
    NO_PLACE_FOR_ANSWER,
    NO_ROOM_FOR_CLIENT,
    NO_ROOM_LEFT,
    NO_SEAT,
    NO_SUCH_ROOM,
    RoomState,
    begins_anew,
    check_open,
    check_participant,
    check_secret,
    new_code,
    new_participant,
    new_secret,
)
from gradwalk.rooms.rooms import (
    Audience,
    Counts,
    GoElsewhere,
    NoSuchRoom,
    NotAParticipant,
    Opened,
    RoomLimits,
    RoomsFull,
    RoomsOutOfReach,
)

log = logging.getLogger(__name__)

HEARTBEAT_SECONDS: Final = 5.0
SEAT_SECONDS: Final = 3 * HEARTBEAT_SECONDS
_BEATS_MISSED = 2
"""After which a room counts as one that nobody presents."""
_CLIENT_SECONDS = 86_400
_PAUSE_SECONDS = 0.25
_CHANGED, _COUNTED, _CLOSED, _LEFT = "changed", "counted", "closed", "left"


class RedisRooms:
    """Every room of a cluster, as one of its servers sees it. Everything lives on the event loop."""

    def __init__(self, url: str, limits: RoomLimits) -> None:
        self._url = url
        self._redis: Any = connect(url)  # its types cannot tell an answer from the promise of one
        self._limits = limits
        self._beat_seconds = min(HEARTBEAT_SECONDS, limits.idle_seconds / 3)
        self._mirrors: dict[str, Mirror] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_attending = False
        self._is_stopping = False

    async def open(self, shown: Shown, client: str) -> Opened:
        of_client = name_key("rooms", client)
        with _shared_server():
            await self._redis.zremrangebyscore(_ROOMS, "-inf", time.time())
            if await self._redis.zintercard(2, [_ROOMS, of_client]) >= self._limits.client_rooms_max:
                raise RoomsFull(NO_ROOM_FOR_CLIENT)
            if await self._redis.zcard(_ROOMS) >= self._limits.rooms_max:
                await self._close_emptiest()
            code, secret = new_code(), new_secret()
            while not await self._redis.hsetnx(_key(code), "secret", secret):
                code = new_code()
            await self._redis.hset(_key(code), mapping={"shown": shown.model_dump_json(), "revision": 1, "asked": 1})
            await self._redis.sadd(of_client, code)
            await self._redis.expire(of_client, _CLIENT_SECONDS)
            await self._stay_open(code)
            return Opened(code, secret)

    async def _close_emptiest(self) -> None:
        """Of those of which no presenter gave a sign of life lately."""
        latest = time.time() + self._limits.idle_seconds - _BEATS_MISSED * self._beat_seconds
        idle = [code.decode() for code in await self._redis.zrangebyscore(_ROOMS, "-inf", latest)]
        if not idle:
            raise RoomsFull(NO_ROOM_LEFT)
        seated = [await self._redis.zcard(_key(code, "seats")) for code in idle]
        await self._end(idle[seated.index(min(seated))])

    async def seat(self, code: str) -> str:
        with _shared_server():
            return new_participant(await self._secret_of(code))

    async def view(self, code: str) -> bytes:
        with _shared_server():
            known = self._mirrors.get(code)
            mirror = known or Mirror(code)
            await self._read(mirror)
            if not mirror.is_open:
                raise NoSuchRoom(NO_SUCH_ROOM)
            return mirror.view(Audience.HALL)

    async def present(self, code: str, secret: str, shown: Shown) -> int:
        with _shared_server():
            await self.authorize(code, secret)
            revision: int = await self._redis.transaction(
                partial(self._change_shown, code, shown), _key(code), value_from_callable=True
            )
            await self._say(code, _CHANGED)
            return revision

    async def _change_shown(self, code: str, shown: Shown, pipeline: Any) -> int:
        before, revision = await pipeline.hmget(_key(code), "shown", "revision")
        if before is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        changed = {"shown": shown.model_dump_json(), "revision": int(revision) + 1}
        pipeline.multi()
        if begins_anew(Shown.model_validate_json(before), shown):
            changed["asked"] = changed["revision"]
            pipeline.delete(_key(code, "answers"))
        pipeline.hset(_key(code), mapping=changed)
        pipeline.pexpire(_key(code), self._idle_ms)
        return int(revision) + 1

    async def answer(self, code: str, question: str, participant: str, answer: str) -> None:
        with _shared_server():
            secret, shown, asked = await self._redis.hmget(_key(code), "secret", "shown", "asked")
            if shown is None:
                raise NoSuchRoom(NO_SUCH_ROOM)
            check_participant(participant, secret.decode())
            check_open(Shown.model_validate_json(shown), question)
            answers = _key(code, "answers")
            async with self._redis.pipeline() as pipeline:
                pipeline.zscore(_key(code, "seats"), participant)
                pipeline.hexists(answers, participant)
                pipeline.hlen(answers)
                seat, is_known, count = await pipeline.execute()
                if seat is None:
                    raise NotAParticipant(NO_SEAT)
                if not is_known and count >= self._limits.places_max:
                    raise RoomsFull(NO_PLACE_FOR_ANSWER)
                # One that comes after the next question is still an answer to this one.
                pipeline.hset(answers, participant, f"{asked.decode()} {answer}")
                pipeline.pexpire(answers, self._idle_ms)
                await pipeline.execute()
            await self._say(code, _COUNTED)

    async def note_presence(self, code: str, participant: str, *, following: bool) -> None:
        with _shared_server():
            check_participant(participant, await self._secret_of(code))
            away = _key(code, "away")
            if following:
                await self._redis.zrem(away, participant)
            else:
                await self._redis.zadd(away, {participant: 0})
                await self._redis.pexpire(away, self._idle_ms)
            await self._say(code, _COUNTED)

    async def authorize(self, code: str, secret: str) -> None:
        with _shared_server():
            check_secret(secret, await self._secret_of(code))
            await self._stay_open(code)

    async def _secret_of(self, code: str) -> str:
        known: bytes | None = await self._redis.hget(_key(code), "secret")
        if known is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        return known.decode()

    async def follow(self, code: str, audience: Audience, participant: str | None) -> AsyncGenerator[bytes | None]:
        if participant is not None:
            with _shared_server():
                check_participant(participant, await self._secret_of(code))
        self._attend()
        mirror = self._mirrors.setdefault(code, Mirror(code))
        mirror.enter(audience, participant)
        try:
            with _shared_server():
                if participant is not None:
                    await self._take_seat(code, participant)
                if not mirror.is_known or audience is Audience.PRESENTER:
                    await self._read(mirror)
            if not mirror.is_open:
                raise NoSuchRoom(NO_SUCH_ROOM)
            told = None
            while mirror.is_open and not self._is_stopping:
                news = mirror.view(audience)
                if news is not told:
                    told = news
                    yield news
                elif not await mirror.await_change(audience):
                    yield None
            if mirror.is_open:
                raise GoElsewhere(fact("api-rooms-elsewhere"))
        finally:
            self._leave(mirror, audience, participant)

    async def close_room(self, code: str, secret: str) -> None:
        with _shared_server():
            await self.authorize(code, secret)
            await self._end(code)

    async def _end(self, code: str) -> None:
        await self._redis.delete(*[_key(code, *part) for part in ((), ("answers",), ("seats",), ("away",))])
        await self._redis.zrem(_ROOMS, code)
        await self._say(code, _CLOSED)

    def counts(self) -> Counts:
        return Counts(len(self._mirrors), sum(len(mirror.seated) for mirror in self._mirrors.values()))

    def stop(self) -> None:
        self._is_stopping = True
        for mirror in self._mirrors.values():
            mirror.wake()

    async def close(self) -> None:
        self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._redis.aclose()

    @property
    def _idle_ms(self) -> int:
        return int(self._limits.idle_seconds * 1e3)

    async def _stay_open(self, code: str) -> None:
        """A sign of life: a room without a presenter ends some time after the last one."""
        await self._redis.pexpire(_key(code), self._idle_ms)
        await self._redis.zadd(_ROOMS, {code: time.time() + self._limits.idle_seconds})
        await self._redis.expire(_ROOMS, int(self._limits.idle_seconds) + 1)

    async def _take_seat(self, code: str, participant: str) -> None:
        now = int(time.time() * 1e3)
        until = now + int(SEAT_SECONDS * 1e3)
        seats = _key(code, "seats")
        async with self._redis.pipeline() as pipeline:
            pipeline.exists(_key(code))
            pipeline.zremrangebyscore(seats, "-inf", now)
            pipeline.zadd(seats, {participant: until})
            pipeline.pexpire(seats, self._idle_ms)
            pipeline.zcard(seats)
            is_open, _, is_new, _, seated = await pipeline.execute()
        if not is_open or (is_new and seated > self._limits.places_max):
            await self._redis.zrem(seats, participant)
            raise RoomsFull(NO_PLACE) if is_open else NoSuchRoom(NO_SUCH_ROOM)
        await self._say(code, _COUNTED)

    def _leave(self, mirror: Mirror, audience: Audience, participant: str | None) -> None:
        gone = mirror.leave(audience, participant)
        if gone is not None:
            self._in_background(self._give_seat_back(mirror.code, gone))
        if mirror.followers == 0 and self._mirrors.get(mirror.code) is mirror:
            del self._mirrors[mirror.code]
            mirror.end()

    async def _give_seat_back(self, code: str, participant: str) -> None:
        await self._redis.zrem(_key(code, "seats"), participant)
        # Who has another page open on another server is seated there again.
        await self._say(code, f"{_LEFT} {participant}")

    async def _say(self, code: str, what: str) -> None:
        await self._redis.publish(_key(code), what)

    async def _read(self, mirror: Mirror) -> None:
        """The state as it is now; one reading at a time, so that an older one never comes last."""
        async with mirror.reading:
            now = int(time.time() * 1e3)
            async with self._redis.pipeline(transaction=True) as asking:
                asking.hmget(_key(mirror.code), "revision", "shown", "asked")
                asking.hvals(_key(mirror.code, "answers"))
                asking.zcount(_key(mirror.code, "seats"), now, "+inf")
                asking.zintercard(2, [_key(mirror.code, "seats"), _key(mirror.code, "away")])
                (revision, shown, asked), answers, seated, away = await asking.execute()
        if shown is None:
            mirror.end()
            return
        answered = Counter(each[len(asked) + 1 :].decode() for each in answers if each.startswith(asked + b" "))
        state = RoomState(int(revision), Shown.model_validate_json(shown), answered, seated - away, away)
        mirror.note_state(state)

    def _attend(self) -> None:
        """From the first follower on: hears what changes, and beats."""
        if not self._is_attending:
            self._is_attending = True
            self._in_background(self._listen())
            self._in_background(self._beat())

    def _in_background(self, work: Any) -> None:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None and not self._is_stopping:
            log.warning("shared rooms: %s", task.exception())

    async def _listen(self) -> None:
        while True:
            listener = connect_listener(self._url)
            try:
                async with listener.pubsub() as news:
                    await news.psubscribe(f"{_key('')}*")
                    await self._read_all()
                    async for message in news.listen():
                        if message["type"] == "pmessage":
                            self._hear(_code_of(message["channel"]), message["data"].decode())
            except (RedisError, OSError) as error:
                log.warning("shared rooms: the connection broke (%s)", type(error).__name__)
                await asyncio.sleep(_PAUSE_SECONDS)
            finally:
                await listener.aclose()

    def _hear(self, code: str, what: str) -> None:
        mirror = self._mirrors.get(code)
        if mirror is None:
            return
        kind, _, participant = what.partition(" ")
        if kind == _CLOSED:
            mirror.end()
        elif kind == _CHANGED:
            self._in_background(self._read(mirror))
        else:
            if kind == _LEFT and participant in mirror.seated:
                self._in_background(self._take_seat(code, participant))
            mirror.read_soon(lambda: self._in_background(self._read(mirror)))

    async def _read_all(self) -> None:
        for mirror in list(self._mirrors.values()):
            await self._read(mirror)

    async def _beat(self) -> None:
        """Renews what this server holds, and reads again what a message may have been lost of."""
        while True:
            await asyncio.sleep(self._beat_seconds)
            with contextlib.suppress(RedisError, OSError):
                for mirror in list(self._mirrors.values()):
                    await self._renew(mirror)

    async def _renew(self, mirror: Mirror) -> None:
        until = int((time.time() + SEAT_SECONDS) * 1e3)
        if mirror.presenters and await self._redis.exists(_key(mirror.code)):
            await self._stay_open(mirror.code)
        seats = _key(mirror.code, "seats")
        await self._redis.zremrangebyscore(seats, "-inf", int(time.time() * 1e3))
        if mirror.seated:
            await self._redis.zadd(seats, dict.fromkeys(mirror.seated, until))
            await self._redis.pexpire(seats, self._idle_ms)
        await self._read(mirror)


_ROOMS = name_key("rooms")


@contextlib.contextmanager
def _shared_server() -> Iterator[None]:
    """What goes wrong with it is told in a sentence."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise RoomsOutOfReach(fact("api-rooms-away")) from error


def _key(code: str, *part: str) -> str:
    return name_key("room", code, *part)


def _code_of(channel: bytes) -> str:
    return channel.decode().rpartition(":")[2]
