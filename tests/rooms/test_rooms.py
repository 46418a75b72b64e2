"""Rooms over real connections to a real server: who sees what, when, and what is left afterwards."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests.rooms.hall import Hall
from tests.world.cluster import ClusterServer, url_of
from tests.world.processes import PATIENCE_SECONDS
from tests.world.redis import Redis
from tests.world.server import Server
from tests.world.shared import SharedServer

ADA, BOB, CAT = "Ada", "Bob", "Cat"
QUESTION = {"id": "4.3", "prompt": "What is v times J?"}


@pytest.fixture(scope="module")
def pair(redis_server: Redis, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Two servers that know the same rooms, on the test worker's redis; they have no workers and no PyTorch.

    Nothing that they do there is refused to their user of the shared server.
    """
    redis_server.client().acl_log_reset()
    settings = {"path": "/healthz", "rooms_max": 40, "room_places_max": 30}
    home = tmp_path_factory.mktemp("rooms")
    servers = ClusterServer(home, redis_server.url, **settings), ClusterServer(home, redis_server.url, **settings)
    yield servers
    for server in servers:
        server.stop()
    assert redis_server.refusals() == []


@pytest.fixture(params=["of one process", "shared"])
def lecture_server(request: pytest.FixtureRequest, run: object) -> Any:  # noqa: ARG001 (it starts processes)
    """The same tests for both kinds of rooms."""
    shared: tuple[Server, Server] | None = request.param == "shared" and request.getfixturevalue("pair")
    return shared[0] if shared else request.getfixturevalue("tight_server")


@asynccontextmanager
async def in_hall(server: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A client of those who are there; at the end they all leave."""
    async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
        yield client
        there = asyncio.all_tasks() - {asyncio.current_task()}
        for each in there:
            each.cancel()
        await asyncio.gather(*there, return_exceptions=True)


async def test_who_follows_sees_what_is_presented_and_who_comes_late_the_same(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client, position="1.1")
        early = await hall.follower(ADA)
        assert early.view["shown"]["position"] == "1.1"
        revision = await hall.present(position="7.3", speed=2.0, trace="f" * 40)
        await early.until(lambda: early.view["revision"] == revision)
        late = await hall.follower(BOB)
        assert late.views == [early.view]
        assert late.view["shown"] | {"position": "7.3", "speed": 2.0} == late.view["shown"]
        plain = (await client.get(hall.address)).json()
        assert plain == late.view
        assert hall.secret not in str(late.views)


async def test_only_the_presenter_steers_and_sends_everybody_home(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client, question=QUESTION)
        stranger = Hall(client, {"code": hall.code, "secret": "guessed"})
        body = {"shown": {"position": "3.1"}}
        for headers in ({}, {"Authorization": "Bearer guessed"}, {"Authorization": "Bearer é".encode()}):
            assert (await client.put(f"{hall.address}/state", json=body, headers=headers)).status_code == 403
            assert not headers or (await client.get(f"{hall.address}/events", headers=headers)).status_code == 403
        assert await stranger.close() == 403
        assert (await client.get(hall.address)).json()["shown"]["position"] == "0"
        follower = await hall.follower(ADA)
        assert await hall.close() == 204
        await follower.until(lambda: follower.is_closed)
        assert {(await client.get(f"{hall.address}{path}")).status_code for path in ("", "/events")} == {404}
        assert (await hall.answer("4.3", ADA, "6"), await hall.close()) == (404, 404)


async def test_answers_are_counted_once_each_and_masked_until_they_are_revealed(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client)
        presenter, follower, *_ = [await hall.presenter(), *[await hall.follower(one) for one in (ADA, BOB, CAT)]]
        assert await hall.answer("4.3", ADA, "6") == 409
        await hall.present(question=QUESTION)
        for participant, answer in ((ADA, "6"), (BOB, "10"), (CAT, "6"), (ADA, "10")):
            assert await hall.answer("4.3", participant, answer) == 204
        tally = [{"answer": "10", "count": 2}, {"answer": "6", "count": 1}]
        await presenter.until(lambda: presenter.view["tally"] == tally)
        assert presenter.view["answered"] == 3
        await hall.present(question=QUESTION, position="4.3")
        await follower.until(lambda: follower.view["shown"]["position"] == "4.3")
        assert all(view["tally"] is None and view["answered"] == 0 for view in follower.views)
        await hall.present(question=QUESTION, revealed=True)
        await follower.until(lambda: follower.view["tally"] == tally)
        assert await hall.answer("4.3", BOB, "1") == 409
        await hall.present(question={**QUESTION, "id": "5.3"})
        await presenter.until(lambda: presenter.view["answered"] == 0 and presenter.view["tally"] == [])


async def test_who_is_not_there_has_no_vote(lecture_server: Any) -> None:
    """However many names somebody makes up, or asks for without coming in: one vote to a connected page."""
    async with in_hall(lecture_server) as client:
        hall, other = await Hall.open(client, question=QUESTION), await Hall.open(client, question=QUESTION)
        presenter, follower = await hall.presenter(), await hall.follower(ADA)
        ada = await hall.seat(ADA)
        made_up = ["0" * 40, await other.seat(BOB), f"{ada[:15]}{int(ada[15] == '0')}{ada[16:]}"]
        for participant in (*made_up, *[await hall.seat(name) for name in "BCDEF"]):
            body = {"participant": participant, "answer": "WRONG"}
            assert (await client.put(f"{hall.address}/answers/4.3", json=body)).status_code == 403
        for participant in made_up:
            asked = {"participant": participant}
            async with client.stream("GET", f"{hall.address}/events", params=asked) as answer:
                assert answer.status_code == 403
        assert await hall.answer(QUESTION["id"], ADA, "6") == 204
        await presenter.until(lambda: presenter.view["answered"] == 1)
        assert presenter.view["tally"] == [{"answer": "6", "count": 1}]
        await follower.drop()
        await presenter.until(lambda: presenter.view["followers"] == 0)
        assert await hall.answer(QUESTION["id"], ADA, "7") == 403


async def test_codes_cannot_be_tried_at_speed(tight_server: SharedServer) -> None:
    async with in_hall(tight_server) as client:
        client.headers["X-Forwarded-For"] = "192.0.2.8"
        hall = await Hall.open(client)
        here = [("GET", ""), ("GET", "/events"), ("POST", "/participants")]
        for method, path in [*here, ("GET", ""), ("GET", "")]:
            assert (await client.request(method, f"/api/rooms/BBBBBB{path}", json={})).status_code == 404
        for code in ("BBBBBB", hall.code):
            for method, path in here:
                answer = await client.request(method, f"/api/rooms/{code}{path}", json={})
                assert (answer.status_code, "retry-after" in answer.headers) == (429, True)
        other = {"X-Forwarded-For": "192.0.2.9"}
        assert (await client.get(hall.address, headers=other)).status_code == 200


async def test_the_presenter_knows_who_follows_and_who_wandered_off(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client)
        presenter = await hall.presenter()
        ada, bob = await hall.follower(ADA), await hall.follower(BOB)

        def there(followers: int, away: int) -> Callable[[], bool]:
            return lambda: (presenter.view["followers"], presenter.view["away"]) == (followers, away)

        await presenter.until(there(2, 0))
        assert await hall.note_presence(ADA, following=False) == 204
        await presenter.until(there(1, 1))
        assert await hall.note_presence(ADA, following=True) == 204
        assert await hall.note_presence(CAT, following=False) == 204
        await presenter.until(there(2, 0))
        second_tab = await hall.follower(BOB)
        await bob.drop()
        await ada.drop()
        await presenter.until(there(1, 0))
        await second_tab.drop()
        await presenter.until(there(0, 0))
        assert (second_tab.view["followers"], second_tab.view["away"]) == (None, None)


async def test_a_page_that_sends_without_end_is_alone_in_being_refused(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client)
        sent = [await hall.note_presence(ADA, following=False) for _ in range(130)]
        assert (sent[0], sent[-1]) == (204, 429)
        assert await hall.note_presence(BOB, following=False) == 204


async def test_every_place_has_an_end(lecture_server: Any) -> None:
    async with in_hall(lecture_server) as client:
        hall = await Hall.open(client)
        for number in range(30):
            await hall.follower(f"number {number}")
        full = await client.get(f"{hall.address}/events", params={"participant": await hall.seat("late")})
        assert (full.status_code, "retry-after" in full.headers) == (429, True)
        assert (await hall.follower("number 3")).view, "on another page"


@pytest.mark.parametrize("kind", ["of one process", "shared"])
async def test_of_rooms_a_client_has_its_part_and_the_emptiest_makes_room(
    kind: str, start_server: Callable[..., Server], redis: Redis
) -> None:
    url = url_of("api", redis.url) if kind == "shared" else ""
    settings = {"rooms_max": 4, "client_rooms_max": 2, "cluster_url": url}
    server = start_server(path="/healthz", trusted_proxies=["127.0.0.1"], **settings)

    async def ask(number: int) -> httpx.Response:
        return await client.post("/api/rooms", json={}, headers={"X-Forwarded-For": f"10.0.0.{number}"})

    async with in_hall(server) as client:
        presented, followed = [Hall(client, (await ask(1)).json()) for _ in range(2)]
        refused = await ask(1)
        assert (refused.status_code, "retry-after" in refused.headers) == (429, True)
        await presented.presenter()
        await followed.follower(ADA)
        others = [Hall(client, (await ask(number)).json()) for number in (2, 3)]
        if kind == "shared":
            assert (await ask(4)).status_code == 429, "a presenter of any may be on its way"
            for hall in (followed, *others):  # as when no presenter was heard of for a minute
                redis.client().zincrby("gradwalk:rooms", -60, hall.code)
        assert (await ask(4)).status_code == 201
        codes = [hall.code for hall in (presented, followed, *others)]
        found = [(await client.get(f"/api/rooms/{code}")).status_code for code in codes]
        assert found[:2] == [200, 200]
        assert sorted(found[2:]) == [200, 404]


def test_what_cannot_be_shown_is_refused(tight_server: Any) -> None:
    for shown in (
        {"position": "<script>"},
        {"position": "1.1", "more": 1},
        {"speed": "fast"},
        {"trace": "../etc"},
        {"question": {"id": "4.3", "prompt": "x" * 501}},
    ):
        answer = tight_server.client.post("/api/rooms", json={"shown": shown})
        assert answer.status_code == 422, shown
        assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("kind", [pytest.param("of one process", marks=pytest.mark.soak), "shared"])
async def test_a_room_that_its_presenter_left_ends_by_itself_and_not_by_the_end_of_a_server(
    kind: str, start_server: Callable[..., Server], request: pytest.FixtureRequest, redis_server: Redis
) -> None:
    url = url_of("api", redis_server.url) if kind == "shared" else ""
    server = start_server(path="/healthz", room_idle_seconds=3, cluster_url=url)

    async with in_hall(server) as client:
        hall = await Hall.open(client)
        presenter = await hall.presenter()
        follower = await hall.follower(ADA)
        await presenter.until(lambda: presenter.view["followers"] == 1)
        assert not follower.is_closed
        await presenter.drop()
        await follower.until(lambda: follower.is_closed)
        assert (await client.get(hall.address)).status_code == 404
    if kind == "shared":
        await stop_under_a_follower(server, request.getfixturevalue("pair")[0])


async def stop_under_a_follower(server: Server, other: Server) -> None:
    """A follower is not told that the room is closed, and finds it at another server."""
    async with in_hall(other) as client:
        hall = await Hall.open(client)
        async with in_hall(server) as ending:
            follower = await Hall(ending, {"code": hall.code, "secret": hall.secret}).follower(ADA)
            await asyncio.to_thread(server.stop)
            await asyncio.wait_for(follower.listening, PATIENCE_SECONDS)
            assert not follower.is_closed
        assert (await hall.follower(ADA)).view == follower.view


async def test_a_room_is_one_on_every_server_of_a_cluster(pair: tuple[Server, Server], redis_server: Redis) -> None:
    here, there = pair
    async with in_hall(here) as client, in_hall(there) as other:
        hall = await Hall.open(client, question=QUESTION)
        elsewhere = Hall(other, {"code": hall.code, "secret": hall.secret})
        presenter, far = await hall.presenter(), await elsewhere.follower(ADA)
        await presenter.until(lambda: presenter.view["followers"] == 1)
        assert await elsewhere.answer(QUESTION["id"], ADA, "6") == 204
        await presenter.until(lambda: presenter.view["answered"] == 1)
        # As when the answer to an earlier question was on its way while this one was asked.
        redis_server.client().hset(f"gradwalk:room:{hall.code}:answers", await hall.seat(BOB), "0 late")
        near_tab = await hall.follower(ADA)
        await far.drop()
        await far.connect()
        await near_tab.drop()
        revision = await elsewhere.present(position="4.2", question=QUESTION, revealed=True)
        await far.until(lambda: far.view["revision"] == revision)
        await presenter.until(lambda: presenter.view["revision"] == revision and presenter.view["followers"] == 1)
        assert far.view["tally"] == [{"answer": "6", "count": 1}]
        for connection in redis_server.client().client_list(_type="pubsub"):
            redis_server.client().client_kill_filter(_id=connection["id"])
        revision = await hall.present(position="5.1")
        await far.until(lambda: far.view["revision"] == revision)
        assert await elsewhere.close() == 204
        await far.until(lambda: far.is_closed)
        await presenter.until(lambda: presenter.is_closed)
        assert not [key for key in redis_server.client().keys("gradwalk:room*") if hall.code.encode() in key]
    assert all(redis_server.client().pttl(key) > 0 for key in redis_server.client().keys("gradwalk:room*"))
