"""What one client is sent shares each turn of the event loop with what the others are sent."""

import asyncio
from collections import Counter

import httpx
from starlette.types import Receive, Scope, Send

from gradwalk.api.headers import Guard, Hosts
from gradwalk.api.memory import MemoryCap
from gradwalk.engine.rates import OwnRate
from gradwalk.protocol.facts import fact

PARTS = 20
PART = bytes(8 << 10)


async def test_forty_downloads_of_one_client_take_turns_with_one_of_another() -> None:
    sent: list[str] = []

    async def download(scope: Scope, _receive: Receive, send: Send) -> None:
        """An application that could send everything in one go."""
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for number in range(PARTS):
            await send({"type": "http.response.body", "body": PART, "more_body": number < PARTS - 1})
            sent.append(scope["client"][0])

    async def ask(client: str) -> None:
        transport = httpx.ASGITransport(guard, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as reader:
            assert (await reader.get("/")).content == PART * PARTS

    guard = Guard(download, Hosts(["*"]), 1_000, OwnRate("1000/second", fact("api-busy-bytes")), MemoryCap(2**40))
    await asyncio.gather(*[ask("10.0.0.1") for _ in range(40)], ask("10.0.0.2"))
    assert Counter(sent) == {"10.0.0.1": 40 * PARTS, "10.0.0.2": PARTS}
    until_the_other_has_all = len(sent) - sent[::-1].index("10.0.0.2")
    assert until_the_other_has_all <= 3 * PARTS
