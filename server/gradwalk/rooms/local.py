"""Rooms of one server process. Everything lives on the event loop."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from gradwalk.change import Change
from gradwalk.protocol.rooms import Shown
from gradwalk.rooms.room import (
    NO_ROOM_FOR_CLIENT,
    NO_ROOM_LEFT,
    NO_SUCH_ROOM,
    Room,
    check_participant,
    new_code,
    new_participant,
)
from gradwalk.rooms.rooms import Audience, Counts, NoSuchRoom, Opened, RoomLimits, RoomsFull

TALLY_SECONDS: Final = 0.5
"""Counts of who is there and who answered what are told at most this often."""


class _LiveRoom:
    """A room and those who wait for its next change."""

    def __init__(self, room: Room, client: str) -> None:
        self.room = room
        self.client = client
        self.is_open = True
        self.presenters = 0
        self.idle_end: asyncio.TimerHandle | None = None
        self._changes = {audience: Change() for audience in Audience}
        self._tally_due: asyncio.TimerHandle | None = None

    def wake(self, *audiences: Audience) -> None:
        """Lets them look again."""
        for audience in audiences:
            self._changes[audience].tell()

    def wake_for_counts(self) -> None:
        """Soon, not at once: a hall that answers is a thousand changes in a second."""
        if self._tally_due is None:
            self._tally_due = asyncio.get_running_loop().call_later(TALLY_SECONDS, self._tell_counts)

    def _tell_counts(self) -> None:
        self._tally_due = None
        self.wake(Audience.PRESENTER)

    async def await_change(self, audience: Audience, patience_seconds: float) -> bool:
        """Whether there was one."""
        return await self._changes[audience].wait(patience_seconds)

    def end(self) -> None:
        """Everybody leaves."""
        self.is_open = False
        for timer in (self.idle_end, self._tally_due):
            if timer is not None:
                timer.cancel()
        self.wake(*Audience)


class LocalRooms:
    """Every room of this process, by its code."""

    def __init__(self, limits: RoomLimits) -> None:
        self._limits = limits
        self._rooms: dict[str, _LiveRoom] = {}

    async def open(self, shown: Shown, client: str) -> Opened:
        if sum(live.client == client for live in self._rooms.values()) >= self._limits.client_rooms_max:
            raise RoomsFull(NO_ROOM_FOR_CLIENT)
        if len(self._rooms) >= self._limits.rooms_max:
            idle = [live for live in self._rooms.values() if not live.presenters]
            if not idle:
                raise RoomsFull(NO_ROOM_LEFT)
            self._end(min(idle, key=lambda live: live.room.participants))
        code = new_code()
        while code in self._rooms:
            code = new_code()
        live = self._rooms[code] = _LiveRoom(Room(code, shown, self._limits.places_max), client)
        self._stay_open(live)
        return Opened(code, live.room.secret)

    async def seat(self, code: str) -> str:
        return new_participant(self._find(code).room.secret)

    async def view(self, code: str) -> bytes:
        return self._find(code).room.view(Audience.HALL)

    async def present(self, code: str, secret: str, shown: Shown) -> int:
        live = self._steered(code, secret)
        revision = live.room.present(shown)
        live.wake(*Audience)
        return revision

    async def answer(self, code: str, question: str, participant: str, answer: str) -> None:
        live = self._find_seat(code, participant)
        live.room.answer(question, participant, answer)
        live.wake_for_counts()

    async def note_presence(self, code: str, participant: str, *, following: bool) -> None:
        live = self._find_seat(code, participant)
        live.room.note_presence(participant, following=following)
        live.wake_for_counts()

    async def authorize(self, code: str, secret: str) -> None:
        self._steered(code, secret)

    async def follow(self, code: str, audience: Audience, participant: str | None) -> AsyncGenerator[bytes | None]:
        live = self._find(code) if participant is None else self._find_seat(code, participant)
        if participant is not None:
            live.room.enter(participant)
            live.wake_for_counts()
        live.presenters += audience is Audience.PRESENTER
        try:
            told = None
            while live.is_open:
                news = live.room.view(audience)
                if news is not told:
                    told = news
                    yield news
                elif not await live.await_change(audience, self._limits.ping_seconds):
                    yield None
        finally:
            live.presenters -= audience is Audience.PRESENTER
            if participant is not None:
                live.room.leave(participant)
            if live.is_open:
                live.wake_for_counts()
                self._stay_open(live)

    async def close_room(self, code: str, secret: str) -> None:
        self._end(self._steered(code, secret))

    def counts(self) -> Counts:
        return Counts(len(self._rooms), sum(live.room.participants for live in self._rooms.values()))

    def stop(self) -> None:
        for live in list(self._rooms.values()):
            self._end(live)

    async def close(self) -> None:
        self.stop()

    def _find(self, code: str) -> _LiveRoom:
        live = self._rooms.get(code)
        if live is None:
            raise NoSuchRoom(NO_SUCH_ROOM)
        return live

    def _find_seat(self, code: str, participant: str) -> _LiveRoom:
        live = self._find(code)
        check_participant(participant, live.room.secret)
        return live

    def _steered(self, code: str, secret: str) -> _LiveRoom:
        live = self._find(code)
        live.room.check_secret(secret)
        self._stay_open(live)
        return live

    def _stay_open(self, live: _LiveRoom) -> None:
        """A sign of life: a room without a presenter ends some time after the last one."""
        if live.idle_end is not None:
            live.idle_end.cancel()
        live.idle_end = asyncio.get_running_loop().call_later(self._limits.idle_seconds, self._end_if_idle, live)

    def _end_if_idle(self, live: _LiveRoom) -> None:
        if live.presenters:
            self._stay_open(live)
        else:
            self._end(live)

    def _end(self, live: _LiveRoom) -> None:
        self._rooms.pop(live.room.code, None)
        live.end()
