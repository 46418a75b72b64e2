"""What one server knows of a room: its state as it was read last, and who follows it here."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

from gradwalk.change import Change
from gradwalk.protocol.document import encode
from gradwalk.rooms.room import Audience, RoomState, view_of

PING_SECONDS: Final = 15.0
"""After which a follower without news hears that the connection lives."""
_TALLY_SECONDS: Final = 0.5
"""Counts of who is there and who answered what are told at most this often."""


class Mirror:
    """One room on this server. Followers of an audience share the same bytes."""

    def __init__(self, code: str) -> None:
        self.code = code
        self.is_open = True
        self.followers = 0
        self.presenters = 0
        self.seated: Counter[str] = Counter()
        """Connections of each participant on this server."""
        self.reading = asyncio.Lock()
        self._tally_due: asyncio.TimerHandle | None = None
        self.views: dict[Audience, bytes] = {}
        """As the room was read last; none before."""
        self._changes = {audience: Change() for audience in Audience}

    def note_state(self, state: RoomState) -> None:
        """Wakes those for whom there is news."""
        for audience in Audience:
            view = encode(view_of(state, audience))
            if view != self.views.get(audience):
                self.views[audience] = view
                self._changes[audience].tell()

    async def await_change(self, audience: Audience) -> bool:
        """Whether there was one before it is time to say that the connection lives."""
        return await self._changes[audience].wait(PING_SECONDS)

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

    def read_soon(self, read: Callable[[], object]) -> None:
        """For counts, which only the presenter is told: a hall that answers is a thousand changes in a second."""
        if self.presenters and self._tally_due is None:
            self._tally_due = asyncio.get_running_loop().call_later(_TALLY_SECONDS, self._read, read)

    def _read(self, read: Callable[[], object]) -> None:
        self._tally_due = None
        read()

    def wake(self) -> None:
        """Lets everybody look again."""
        for change in self._changes.values():
            change.tell()

    def end(self) -> None:
        """Everybody here leaves."""
        self.is_open = False
        if self._tally_due is not None:
            self._tally_due.cancel()
        self.wake()
