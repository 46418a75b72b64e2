"""Rooms of one server process: what a `Mirror` shows is all there is of them. Everything lives on the event loop."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator

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
from gradwalk.rooms.rooms import Audience, Counts, NoSuchRoom, NotAParticipant, Opened, RoomLimits, RoomsFull


class _Room(Mirror):
    """A room that is nowhere else."""

    def __init__(self, code: str, shown: Shown, client: str) -> None:
        super().__init__(code)
        self.client = client
        self.secret = new_secret()
        self.shown = shown
        self.revision = 1
        self.answers: dict[str, str] = {}
        """The last one of each participant."""
        self.away: set[str] = set()
        self.idle_end: asyncio.TimerHandle | None = None
        self.read()

    def read(self) -> None:
        """Tells what has changed."""
        away = len(self.away)
        answers = Counter(self.answers.values())
        self.note_state(RoomState(self.revision, self.shown, answers, len(self.seated) - away, away))


class LocalRooms:
    """Every room of this process, by its code."""

    def __init__(self, limits: RoomLimits) -> None:
        self._limits = limits
        self._rooms: dict[str, _Room] = {}

    async def open(self, shown: Shown, client: str) -> Opened:
        if sum(room.client == client for room in self._rooms.values()) >= self._limits.client_rooms_max:
            raise RoomsFull(NO_ROOM_FOR_CLIENT)
        if len(self._rooms) >= self._limits.rooms_max:
            idle = [room for room in self._rooms.values() if not room.presenters]
            if not idle:
                raise RoomsFull(NO_ROOM_LEFT)
            self._end(min(idle, key=lambda room: len(room.seated)))
        code = new_code()
        while code in self._rooms:
            code = new_code()
        room = self._rooms[code] = _Room(code, shown, client)
        self._stay_open(room)
        return Opened(code, room.secret)

    async def seat(self, code: str) -> str:
        return new_participant(self._find(code).secret)

    async def view(self, code: str) -> bytes:
        return self._find(code).view(Audience.HALL)

    async def present(self, code: str, secret: str, shown: Shown) -> int:
        room = self._steered(code, secret)
        if begins_anew(room.shown, shown):
            room.answers = {}
        room.shown = shown
        room.revision += 1
        room.read()
        return room.revision

    async def answer(self, code: str, question: str, participant: str, answer: str) -> None:
        room = self._find_seat(code, participant)
        check_open(room.shown, question)
        if participant not in room.seated:
            raise NotAParticipant(NO_SEAT)
        if participant not in room.answers and len(room.answers) >= self._limits.places_max:
            raise RoomsFull(NO_PLACE_FOR_ANSWER)
        room.answers[participant] = answer
        room.read_soon(room.read)

    async def note_presence(self, code: str, participant: str, *, following: bool) -> None:
        room = self._find_seat(code, participant)
        if following:
            room.away.discard(participant)
        elif participant in room.seated:
            room.away.add(participant)
        room.read_soon(room.read)

    async def authorize(self, code: str, secret: str) -> None:
        self._steered(code, secret)

    async def follow(self, code: str, audience: Audience, participant: str | None) -> AsyncGenerator[bytes | None]:
        room = self._find(code) if participant is None else self._find_place(code, participant)
        room.enter(audience, participant)
        if audience is Audience.PRESENTER:
            room.read()
        else:
            room.read_soon(room.read)
        try:
            told = None
            while room.is_open:
                news = room.view(audience)
                if news is not told:
                    told = news
                    yield news
                elif not await room.await_change(audience):
                    yield None
        finally:
            gone = room.leave(audience, participant)
            if gone is not None:
                room.away.discard(gone)
            if room.is_open:
                room.read_soon(room.read)
                self._stay_open(room)

    async def close_room(self, code: str, secret: str) -> None:
        self._end(self._steered(code, secret))

    def counts(self) -> Counts:
        return Counts(len(self._rooms), sum(len(room.seated) for room in self._rooms.values()))

    def stop(self) -> None:
        for room in list(self._rooms.values()):
            self._end(room)

    async def close(self) -> None:
        self.stop()

    def _find(self, code: str) -> _Room:
        room = self._rooms.get(code)
        if room is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        return room

    def _find_seat(self, code: str, participant: str) -> _Room:
        room = self._find(code)
        check_participant(participant, room.secret)
        return room

    def _find_place(self, code: str, participant: str) -> _Room:
        room = self._find_seat(code, participant)
        if participant not in room.seated and len(room.seated) >= self._limits.places_max:
            raise RoomsFull(NO_PLACE)
        return room

    def _steered(self, code: str, secret: str) -> _Room:
        room = self._find(code)
        check_secret(secret, room.secret)
        self._stay_open(room)
        return room

    def _stay_open(self, room: _Room) -> None:
        """A sign of life: a room without a presenter ends some time after the last one."""
        if room.idle_end is not None:
            room.idle_end.cancel()
        room.idle_end = asyncio.get_running_loop().call_later(self._limits.idle_seconds, self._end_if_idle, room)

    def _end_if_idle(self, room: _Room) -> None:
        if room.presenters:
            self._stay_open(room)
        else:
            self._end(room)

    def _end(self, room: _Room) -> None:
        self._rooms.pop(room.code, None)
        if room.idle_end is not None:
            room.idle_end.cancel()
        room.end()
