"""What one server knows of a shared room: the last state that it read, and who follows it here."""

import asyncio
from collections import Counter

from gradwalk.change import Change
from gradwalk.protocol.document import encode
from gradwalk.rooms.room import RoomState, view_of
from gradwalk.rooms.rooms import Audience


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
        self.tally_due: asyncio.TimerHandle | None = None
        self._views: dict[Audience, bytes] = {}
        self._changes = {audience: Change() for audience in Audience}

    def view(self, audience: Audience) -> bytes:
        """As it was read last."""
        return self._views[audience]

    @property
    def is_known(self) -> bool:
        """False until the first state was read."""
        return bool(self._views)

    def note_state(self, state: RoomState) -> None:
        """Wakes those for whom there is news."""
        for audience in Audience:
            view = encode(view_of(state, audience))
            if view != self._views.get(audience):
                self._views[audience] = view
                self.wake(audience)

    def wake(self, *audiences: Audience) -> None:
        """Lets them look again."""
        for audience in audiences:
            self._changes[audience].tell()

    async def await_change(self, audience: Audience, patience_seconds: float) -> bool:
        """Whether there was one."""
        return await self._changes[audience].wait(patience_seconds)

    def end(self) -> None:
        """Everybody here leaves."""
        self.is_open = False
        if self.tally_due is not None:
            self.tally_due.cancel()
        self.wake(*Audience)
