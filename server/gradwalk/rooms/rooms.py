"""Live rooms, whether one server has them or several share them: the storage is the truth, and says when it changes.

News that are lost cost nothing but time: every server reads its rooms again with each heartbeat. With it, it renews the
seats of those who are connected there, so that those of a server that died become free.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from gradwalk.change import Change
from gradwalk.protocol.document import encode
from gradwalk.protocol.facts import fact
from gradwalk.protocol.rooms import Shown
from gradwalk.rooms.room import (
    NO_SEAT,
    NO_SUCH_ROOM,
    Audience,
    GoElsewhere,
    NoSuchRoom,
    NotAParticipant,
    RoomsFull,
    RoomsOutOfReach,
    RoomState,
    begins_anew,
    check_open,
    check_participant,
    check_secret,
    keep_answer,
    new_code,
    new_participant,
    new_secret,
    view_of,
)
from gradwalk.rooms.storage import CHANGED, COUNTED, Found, MemoryStorage

if TYPE_CHECKING:
    from gradwalk.rooms.redis_storage import ClusterStorage

log = logging.getLogger(__name__)

PING_SECONDS: Final = 15.0
"""After which a follower without news hears that the connection lives."""
_TALLY_SECONDS: Final = 0.5
"""Counts of who is there and who answered what are told at most this often."""


class _Mirror:
    """A room as one server knows it: its last state, and who follows it here, each audience with the same bytes."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.is_open = True
        self.followers = 0
        self.presenters = 0
        self.seated: Counter[str] = Counter()
        """Connections of each participant on this server."""
        self.reading = asyncio.Lock()
        self.tally_due: asyncio.TimerHandle | None = None
        self.views: dict[Audience, bytes] = {}
        """As the room was read last; none before."""
        self.changes = {audience: Change() for audience in Audience}

    def note_state(self, state: RoomState) -> None:
        """Wakes those for whom there is news."""
        for audience in Audience:
            view = encode(view_of(state, audience))
            if view != self.views.get(audience):
                self.views[audience] = view
                self.changes[audience].tell()

    def enter(self, audience: Audience, participant: str | None) -> None:
        """One more connection."""
        self.followers += 1
        self.presenters += audience is Audience.PRESENTER
        if participant is not None:
            self.seated[participant] += 1

    def leave(self, audience: Audience, participant: str | None) -> str | None:
        """One connection less; gives the participant whose last one it was."""
        self.followers -= 1
        self.presenters -= audience is Audience.PRESENTER
        if participant is None:
            return None
        self.seated[participant] -= 1
        if self.seated[participant]:
            return None
        del self.seated[participant]
        return participant

    def wake(self) -> None:
        """Lets everybody look again."""
        for change in self.changes.values():
            change.tell()

    def end(self) -> None:
        """Everybody here leaves."""
        self.is_open = False
        if self.tally_due is not None:
            self.tally_due.cancel()
        self.wake()


class Rooms:
    """Every room, as one server sees it, on its event loop. Nothing of a room is kept once it is closed.

    Raises:
        NoSuchRoom: by every method that takes a code, when that room is closed.
        NotThePresenter: by those that take a secret, for another one.
        NotAParticipant: by those that take a participant, for a name that this room did not give.
    """

    def __init__(self, storage: "MemoryStorage | ClusterStorage") -> None:
        self._storage = storage
        self._limits = storage.limits
        self._mirrors: dict[str, _Mirror] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_attending = False
        self._is_stopping = False

    async def open(self, shown: Shown, client: str) -> tuple[str, str]:
        """A new room: its code, for everybody, and its secret, for the presenter.

        Where all are taken, the emptiest that nobody presents makes room.

        Raises:
            RoomsFull: this client has too many, or every one is presented.
        """
        if await self._storage.count(client) >= self._limits.client_rooms_max:
            raise RoomsFull(fact("api-rooms-client"))
        if await self._storage.count() >= self._limits.rooms_max:
            await self._close_emptiest()
        code, secret = new_code(), new_secret()
        while not await self._storage.create(code, secret, shown, client):
            code = new_code()
        return code, secret

    async def _close_emptiest(self) -> None:
        seated = await self._storage.idle_rooms()
        idle = [code for code in seated if code not in self._mirrors or not self._mirrors[code].presenters]
        if not idle:
            raise RoomsFull(fact("api-rooms-full"))
        await self._end(min(idle, key=seated.__getitem__))

    async def seat(self, code: str) -> str:
        """A new follower's own name in the room."""
        return new_participant((await self._storage.find(code)).secret)

    async def view(self, code: str) -> bytes:
        """What the hall sees now, encoded."""
        mirror = self._mirrors.get(code) or _Mirror(code)
        await self._read(mirror)
        if not mirror.is_open:
            raise NoSuchRoom(NO_SUCH_ROOM)
        return mirror.views[Audience.HALL]

    async def present(self, code: str, secret: str, shown: Shown) -> int:
        """Sets what everybody sees; gives the revision."""
        before = await self.authorize(code, secret)
        revision = await self._storage.show(code, shown, forget_answers=begins_anew(before, shown))
        await self._storage.say(code, CHANGED)
        return revision

    async def answer(self, code: str, question: str, participant: str, answer: str) -> None:
        """Counts a participant's answer, in place of an earlier one.

        Raises:
            NotAParticipant: also where its page is not connected.
            NotAsked: this question is not open, or its answers were revealed.
            RoomsFull: more participants than a room has places.
        """
        room = await self._find(code, participant)
        check_open(room.shown, question)
        if not room.is_seated:
            raise NotAParticipant(NO_SEAT)
        if not await self._storage.answer(code, participant, keep_answer(room.shown, answer)):
            raise RoomsFull(fact("api-room-answers-full"))
        await self._storage.say(code, COUNTED)

    async def note_presence(self, code: str, participant: str, *, following: bool) -> None:
        """Whether a connected participant follows or went off to try something."""
        room = await self._find(code, participant)
        if room.is_seated:
            await self._storage.set_away(code, participant, away=not following)
            await self._storage.say(code, COUNTED)

    async def authorize(self, code: str, secret: str) -> Shown:
        """What is shown, for the presenter, of whom this is a sign of life."""
        room = await self._storage.find(code)
        check_secret(secret, room.secret)
        await self._storage.keep_open(code)
        return room.shown

    async def follow(self, code: str, audience: Audience, participant: str | None) -> AsyncGenerator[bytes | None]:
        """The encoded view now and after every change; None when nothing has changed for a while.

        Ends when the room is closed. A slow reader misses states in between, never the last one.

        Raises:
            RoomsFull: every place is taken.
            GoElsewhere: this server goes down, and others know the room.
        """
        if participant is not None:
            await self._find(code, participant)
        self._attend()
        mirror = self._mirrors.setdefault(code, _Mirror(code))
        mirror.enter(audience, participant)
        try:
            if participant is not None:
                await self._take_seat(code, participant)
            if not mirror.views or audience is Audience.PRESENTER:
                await self._read(mirror)
            if not mirror.is_open:
                raise NoSuchRoom(NO_SUCH_ROOM)
            told = None
            while mirror.is_open and not self._is_stopping:
                news = mirror.views[audience]
                if news is not told:
                    told = news
                    yield news
                elif not await mirror.changes[audience].wait(PING_SECONDS):
                    yield None
            if mirror.is_open and self._storage.outlives_server:
                raise GoElsewhere(fact("api-rooms-elsewhere"))
        finally:
            self._leave(mirror, audience, participant)

    async def close_room(self, code: str, secret: str) -> None:
        """Ends a room and forgets all of it."""
        await self.authorize(code, secret)
        await self._end(code)

    def counts(self) -> tuple[int, int]:
        """Rooms with somebody in them here, and participants who are connected here; a second tab counts once."""
        return len(self._mirrors), sum(len(mirror.seated) for mirror in self._mirrors.values())

    def stop(self) -> None:
        """Makes every follower leave: the server is going down."""
        self._is_stopping = True
        for mirror in self._mirrors.values():
            mirror.wake()

    async def close(self) -> None:
        """Lets go of everything, after `stop`."""
        self.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._storage.close()

    async def _find(self, code: str, participant: str) -> Found:
        room = await self._storage.find(code, participant)
        check_participant(participant, room.secret)
        return room

    async def _end(self, code: str) -> None:
        await self._storage.remove(code)
        await self._storage.say(code, CHANGED)

    async def _take_seat(self, code: str, participant: str) -> None:
        is_new, seated = await self._storage.take_seats(code, [participant])
        if is_new and seated > self._limits.places_max:
            await self._storage.leave_seat(code, participant)
            raise RoomsFull(fact("api-room-full"))
        await self._storage.say(code, COUNTED)

    def _leave(self, mirror: _Mirror, audience: Audience, participant: str | None) -> None:
        gone = mirror.leave(audience, participant)
        if gone is not None:
            self._in_background(self._give_seat_back(mirror.code, gone))
        if mirror.followers == 0 and self._mirrors.get(mirror.code) is mirror:
            del self._mirrors[mirror.code]
            mirror.end()

    async def _give_seat_back(self, code: str, participant: str) -> None:
        await self._storage.leave_seat(code, participant)
        # Who has another page open on another server is seated there again.
        await self._storage.say(code, participant)

    async def _read(self, mirror: _Mirror) -> None:
        """The state as it is now; one reading at a time, so that an older one never comes last."""
        async with mirror.reading:
            try:
                mirror.note_state(await self._storage.state(mirror.code))
            except NoSuchRoom:
                mirror.end()

    def _attend(self) -> None:
        """From the first follower on: hears what changes, and beats."""
        if not self._is_attending:
            self._is_attending = True
            self._in_background(self._storage.listen(self._hear))
            self._in_background(self._beat())

    def _in_background(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._is_stopping:
            log.warning("rooms: %s", error)

    def _hear(self, code: str, news: str) -> None:
        for heard in self._mirrors.keys() & {code} if code else list(self._mirrors):
            self._update(self._mirrors[heard], news)

    def _update(self, mirror: _Mirror, news: str) -> None:
        if news == CHANGED:
            self._in_background(self._read(mirror))
            return
        if news in mirror.seated:
            self._in_background(self._take_seat(mirror.code, news))
        # Counts, which only the presenter is told: a hall that answers is a thousand changes in a second.
        if mirror.presenters and mirror.tally_due is None:
            mirror.tally_due = asyncio.get_running_loop().call_later(_TALLY_SECONDS, self._read_tally, mirror)

    def _read_tally(self, mirror: _Mirror) -> None:
        mirror.tally_due = None
        self._in_background(self._read(mirror))

    async def _beat(self) -> None:
        """Renews what this server holds, and reads again what news may have been lost of."""
        while True:
            await asyncio.sleep(self._limits.beat_seconds)
            for mirror in list(self._mirrors.values()):
                with suppress(RoomsOutOfReach):
                    await self._renew(mirror)

    async def _renew(self, mirror: _Mirror) -> None:
        with suppress(NoSuchRoom):
            if mirror.presenters:
                await self._storage.keep_open(mirror.code)
            if mirror.seated:
                await self._storage.take_seats(mirror.code, mirror.seated)
        await self._read(mirror)
