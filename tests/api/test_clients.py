"""One client cannot take what belongs to the others, and a run ends when its last reader has left."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from itertools import cycle
from typing import Any

import httpx
import pytest

from gradwalk.api.clients import name_client
from gradwalk.api.service import choose_rates
from gradwalk.api.settings import Settings
from gradwalk.engine.engine import BusyError
from gradwalk.protocol.upgrades import load_document
from tests.api.metrics import counts
from tests.world.cluster import Cluster, url_of
from tests.world.processes import PATIENCE_SECONDS, children_of, command_of, wait_until
from tests.world.shared import SharedServer
from tests.world.stream import ACCEPT, events_in

LOOP = "import torch\nn = {number}\nwhile True:\n    n += 1\n"
HONEST = "import torch\nx = torch.tensor({number}.0, requires_grad=True)\n(x * x).backward()\n"


def address(number: int) -> dict[str, str]:
    """The header by which a trusted proxy says who asks."""
    return {"X-Forwarded-For": f"10.0.{number // 250}.{number % 250 + 1}"}


def post(client: httpx.Client, source: str, who: int) -> httpx.Response:
    """The whole stream of a program of this client, or its refusal."""
    return client.post("/api/traces", json={"source": source}, headers=ACCEPT | address(who))


def why(refusal: Any) -> str:
    """The kind of fact for which a client has to come back later."""
    assert (refusal.status_code, refusal.headers["content-type"]) == (429, "application/problem+json")
    assert 1 <= int(refusal.headers["retry-after"]) <= 3_600
    problem = refusal.json()
    assert problem["kind"] == "busy"
    return str(problem["fact"]["operands"]["why"]["kind"])


def test_a_client_has_its_own_part_of_the_queue_and_leaves_it_with_its_streams(tight_server: SharedServer) -> None:
    client = tight_server.client
    (zygote,) = [pid for pid in children_of(tight_server.pid) if "zygote" in command_of(pid)]

    def running() -> int:
        return int(client.get("/readyz").json()["running"])

    with ExitStack() as streams:

        def ask(number: int, who: int) -> Any:
            body = {"source": LOOP.format(number=number)}
            request = client.stream("POST", "/api/traces", json=body, headers=ACCEPT | address(who))
            answer = streams.enter_context(request)
            return answer if answer.status_code == 200 else answer.read() and answer

        def ask_until_refused(numbers: range, *whos: int) -> tuple[int, Any]:
            for count, (number, who) in enumerate(zip(numbers, cycle(whos), strict=False)):
                answer = ask(number, who)
                if answer.status_code != 200:
                    return count, answer
            raise AssertionError("never refused")

        # One that runs gives its place to those who wait, now and then: how many are taken is not certain.
        taken, refusal = ask_until_refused(range(5), 1)
        assert taken >= 2
        assert why(refusal) == "api-busy-client-queue"
        taken, refusal = ask_until_refused(range(10, 40), *range(2, 30))
        assert taken >= 2
        assert why(refusal) == "api-busy-queue"
        assert client.get("/healthz").status_code == 200
    # A run may take a minute; those whose streams are closed end long before.
    wait_until(lambda: running() == 0 and len(children_of(zygote)) <= 1)
    link = client.post("/api/snippets", json={"source": LOOP.format(number=50)}).json()["id"]
    with pytest.raises(httpx.ReadTimeout):
        client.get(f"/t/{link}/preview.png", headers=address(50), timeout=1)
    wait_until(lambda: running() == 0)
    assert counts(client).get("traces_total|status=timeout", 0) == 0
    assert '"problems":0' in post(client, HONEST.format(number=7), 50).text


def test_new_runs_of_a_client_are_counted_and_known_traces_are_not(tight_server: SharedServer) -> None:
    client = tight_server.client
    before = counts(client)
    programs = [HONEST.format(number=100 + number) for number in range(6)]
    assert [post(client, program, 61).status_code for program in programs[:5]] == [200] * 5
    assert why(post(client, programs[5], 61)) == "api-busy-client"
    assert post(client, programs[2], 61).status_code == 200
    assert post(client, programs[5], 62).status_code == 200
    assert post(client, "raise ValueError  # 100", 62).status_code == 200
    after = counts(client)
    more = {name: after[name] - before.get(name, 0.0) for name in after}
    assert more["traces_total|status=done"] == more["trace_seconds_count"] - 1 == 6
    assert more["traces_total|status=problem"] == 1
    assert more["trace_seconds_sum"] > 0
    assert more["cache_hits_total"] == 1
    assert more["http_request_seconds_count|method=POST|route=/api/traces|status=429"] == 1
    streamed = "http_request_seconds_count|method=POST|route=/api/traces|status=200"
    assert more.get(streamed, 0) == 0, "streams are not timed"
    assert {"queue_depth|lane=live", "jobs_running", "rooms", "room_participants"} <= set(after)


def test_links_to_a_kept_program_run_it_within_a_rate_of_their_own(tight_server: SharedServer) -> None:
    client, who = tight_server.client, address(63)
    body = {"source": HONEST.format(number=200)}
    assert post(client, body["source"], 63).status_code == 200
    path = f"/embed/{client.post('/api/snippets', json=body, headers=who).json()['id']}/trace.json"

    def ask(number: int) -> Any:
        headers = who | {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
        return client.get(path, params={"i": f'{{"x": {number}.0}}'}, headers=headers)

    first, second = ask(1), ask(2)
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.headers["access-control-allow-origin"] == "*"
    (finished,) = [each for each in load_document(second.json())["events"] if each["type"] == "pass_finished"]
    assert [each["grad"]["data"] for each in finished["leaf_grads"]] == [[4.0]]
    assert why(ask(3)) == "api-busy-link"
    assert ask(2).status_code == 200
    assert client.post("/api/traces", json={"source": "x + 200"}, headers=who).status_code == 202


@pytest.mark.soak
def test_a_postponed_loop_ends_as_one_that_ran_too_long(start_server: Any) -> None:
    server = start_server(trusted_proxies=["127.0.0.1"], run_seconds=2, running_count=1)

    def ask(source: str, who: int) -> str:
        with httpx.Client(base_url=server.url, timeout=300) as client:
            return post(client, source, who).text

    with ThreadPoolExecutor(3) as pool:
        greedy = [pool.submit(ask, "print('once')\n" + LOOP.format(number=who), who) for who in range(3)]
        wait_until(lambda: server.client.get("/readyz").json()["running"])
        for number in range(3):
            assert '"problems":0' in ask(HONEST.format(number=number), 60_000)
    for told in (each.result() for each in greedy):
        assert told.count("once") == 2  # in the source and in the output, however often it was begun anew
        assert {event["kind"] for event in events_in(told) if event["type"] == "problem"} == {"timeout"}


def ask_for_loops(client: httpx.Client, who: int) -> Any:
    """The answer that refuses a client who runs endless loops."""
    for number in range(100):
        answer = post(client, LOOP.format(number=number + 1_000 * who), who)
        if answer.status_code != 200:
            return answer
    raise AssertionError("never refused")


def test_a_client_that_used_up_its_processor_time_runs_nothing_more_and_still_reads(
    narrow_server: SharedServer,
) -> None:
    client = narrow_server.client
    known = post(client, HONEST.format(number=1), 1)
    path = f"/api/traces/{next(iter(events_in(known.text)))['id']}"
    assert why(ask_for_loops(client, 1)) == "api-busy-cpu"
    unread = client.post("/api/traces", content="no JSON", headers=address(1) | {"Content-Type": "application/json"})
    assert why(unread) == "api-busy-cpu"
    for replay in ("gradcheck", "steps/0/jacobian"):
        assert why(client.post(f"{path}/{replay}", json={}, headers=address(1))) == "api-busy-cpu"
    for name in ("pages", "svg"):
        assert why(client.get(f"{path}/export/{name}", headers=address(1))) == "api-busy-cpu"
    assert "event: problem" in client.get(f"{path}/export/svg/progress", headers=address(1)).text
    assert client.get(path, headers=address(1)).status_code == 200
    for number in (1, 2):
        assert '"problems":0' in post(client, HONEST.format(number=number), 2).text
    refused = "http_request_seconds_count|method=POST|route=/api/traces|status=429"
    assert counts(client)[refused] == 2


@pytest.mark.soak
def test_processor_time_is_counted_over_all_servers_of_a_cluster(cluster: Cluster) -> None:
    settings = {"cpu_rate": "2/hour"}
    worker = cluster.add_worker(**settings, run_seconds=2)
    first, second = (
        cluster.add_server("/healthz", **settings, trusted_proxies='["127.0.0.1"]').client for _ in range(2)
    )
    worker.wait()
    wait_until(lambda: all(one.get("/readyz").status_code == 200 for one in (first, second)))
    assert why(ask_for_loops(first, 1)) == "api-busy-cpu"
    assert why(post(second, HONEST.format(number=1), 1)) == "api-busy-cpu"
    assert '"problems":0' in post(second, HONEST.format(number=1), 2).text


async def test_without_a_rate_of_processor_time_any_number_of_seconds_is_fine() -> None:
    cpu = choose_rates(Settings(cpu_rate="")).cpu
    await cpu.take("greedy", 1e9)
    await cpu.check("greedy")


async def take_on(rate: Any) -> None:
    """Takes until it is refused."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await rate.take("greedy")
            await asyncio.sleep(0.01)


async def test_rates_over_all_servers_refuse_nobody_while_the_shared_server_is_away(cluster: Cluster) -> None:
    url = url_of("api", cluster.shared.url)
    rates = [choose_rates(Settings(cluster_url=url, client_rate="2/hour")) for _ in range(2)]
    first, second = (one.runs for one in rates)
    await first.take("greedy")
    await second.take("greedy")
    for rate in (first, second):
        with pytest.raises(BusyError) as refused:
            await rate.take("greedy")
        assert 1 <= refused.value.retry_after_seconds <= 3_600
    await first.take("modest")
    cluster.shared.stop()
    for rate in (first, second):
        await rate.take("greedy")
    cluster.shared.restart()
    # Until it is found again, nobody is refused.
    with pytest.raises(BusyError):
        await take_on(second)
    for one in rates:
        await one.close()


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("fe80::1%eth0", "fe80::/64"),
        ("what?", "unknown"),
    ],
)
def test_a_client_is_an_address_or_an_ipv6_network(host: str, client: str) -> None:
    assert name_client(host) == client
