"""Somebody in a lecture hall: follows a room over a real connection and knows the last view."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx

from tests.world.loop import until

_SEATS: dict[tuple[str, str], str] = {}
"""What each room gave to whom, on whichever server it was asked for."""


class Follower:
    """One connection to a room's events, as often as it is made."""

    def __init__(self, client: httpx.AsyncClient, code: str, **who: dict[str, str]) -> None:
        self._client, self._path, self._who = client, f"/api/rooms/{code}/events", who
        self.views: list[dict[str, Any]] = []
        self.is_closed = False
        self.listening: asyncio.Task[None] | None = None

    @property
    def view(self) -> dict[str, Any]:
        """The last one."""
        return self.views[-1]

    async def connect(self) -> None:
        """Until the first view of this connection has come."""
        count = len(self.views)
        self.listening = asyncio.create_task(self._listen())
        await self.until(lambda: len(self.views) > count)

    async def drop(self) -> None:
        """As when the network goes away."""
        self.listening.cancel()
        await asyncio.gather(self.listening, return_exceptions=True)

    async def until(self, holds: Callable[[], object]) -> None:
        """Returns when `holds()` does, and raises what went wrong with the connection."""
        await until(lambda: holds() or (self.listening.done() and self.listening.result()))

    async def _listen(self) -> None:
        async with self._client.stream("GET", self._path, **self._who) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith('data: {"'):
                    self.views.append(json.loads(line.removeprefix("data: ")))
                self.is_closed |= line == "event: closed"


class Hall:
    """A room on a real server, seen by its presenter."""

    def __init__(self, client: httpx.AsyncClient, opened: dict[str, Any]) -> None:
        self.client = client
        self.code: str = opened["code"]
        self.secret: str = opened["secret"]
        self.address = f"/api/rooms/{self.code}"
        self._key = {"Authorization": f"Bearer {self.secret}"}

    @classmethod
    async def open(cls, client: httpx.AsyncClient, **shown: Any) -> "Hall":
        """A new room."""
        answer = await client.post("/api/rooms", json={"shown": shown})
        assert answer.status_code == 201, answer.text
        return cls(client, answer.json())

    async def seat(self, name: str) -> str:
        """What the room calls somebody: always the same."""
        if (self.code, name) not in _SEATS:
            answer = await self.client.post(f"{self.address}/participants", json={})
            _SEATS[self.code, name] = answer.json().get("participant", "0" * 40)
        return _SEATS[self.code, name]

    async def follower(self, name: str) -> Follower:
        """Somebody who has just come in."""
        follower = Follower(self.client, self.code, params={"participant": await self.seat(name)})
        await follower.connect()
        return follower

    async def presenter(self) -> Follower:
        """The presenter's own view."""
        follower = Follower(self.client, self.code, headers=self._key)
        await follower.connect()
        return follower

    async def present(self, **shown: Any) -> int:
        """The revision of the next state."""
        answer = await self.client.put(f"{self.address}/state", json={"shown": shown}, headers=self._key)
        assert answer.status_code == 200, answer.text
        return answer.json()["revision"]

    # The others return the status of the reply.

    async def answer(self, question: str, name: str, answer: str) -> int:
        body = {"participant": await self.seat(name), "answer": answer}
        return (await self.client.put(f"{self.address}/answers/{question}", json=body)).status_code

    async def note_presence(self, name: str, *, following: bool) -> int:
        address = f"{self.address}/participants/{await self.seat(name)}"
        return (await self.client.put(address, json={"following": following})).status_code

    async def close(self) -> int:
        headers = {**self._key, "Content-Type": "application/json"}
        return (await self.client.delete(self.address, headers=headers)).status_code
