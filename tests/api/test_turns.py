"""What one client is sent shares each turn of the event loop with what the others are sent."""

import asyncio
from collections import Counter
from functools import partial

import httpx
from starlette.types import Message, Receive, Scope, Send

from gradwalk.api.headers import Guard
from gradwalk.api.settings import Settings

PARTS, BODY = 8, bytes(1 << 20)


async def test_forty_downloads_of_one_client_take_turns_with_one_of_another() -> None:
    sent: list[str] = []

    async def download(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": BODY})

    async def note(scope: Scope, send: Send, message: Message) -> None:
        sent.extend([scope["client"][0]] * bool(message.get("body")))
        await send(message)

    async def ask(client: str) -> None:
        transport = httpx.ASGITransport(lambda *to: guard(*to[:2], partial(note, *to[::2])), client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as reader:
            assert (await reader.get("/")).content == BODY

    guard = Guard(download, Settings())
    await asyncio.gather(*[ask("10.0.0.1") for _ in range(40)], ask("10.0.0.2"))
    assert Counter(sent) == {"10.0.0.1": 40 * PARTS, "10.0.0.2": PARTS}
    assert len(sent) - sent[::-1].index("10.0.0.2") <= 3 * PARTS, "the other has all"
