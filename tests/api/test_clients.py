"""One client cannot take what belongs to the others, and nobody runs on for a client who has gone."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwalk.api.clients import name_client
from gradwalk.api.service import choose_rates
from gradwalk.api.settings import Settings
from gradwalk.engine.engine import BusyError
from tests.api.crowd import HONEST, LOOP, STREAM, address, high, measure_beside
from tests.own_loop import run_in_own_loop
from tests.own_redis import OwnRedis

PROXIED = {"trusted_proxies": '["127.0.0.1"]'}
TRACE_SECONDS = 3.0
"""The bar is one second on a calm machine (`tests/benchmarks/loops.py`); here others run beside."""


def test_an_honest_trace_stays_quick_beside_a_crowd_of_endless_loops(start_server: Callable[..., Any]) -> None:
    server = start_server(**PROXIED, run_seconds=5, running_count=2)
    seen = measure_beside(server.url, loops=8, rounds=12)
    assert high(seen.trace) < TRACE_SECONDS
    assert high(seen.page) < 1.0
    assert high(seen.health) < 1.0
    assert set(seen.answers) <= {"timeout"}


def test_a_postponed_loop_is_still_told_that_it_ran_too_long(start_server: Callable[..., Any]) -> None:
    server = start_server(**PROXIED, run_seconds=2, running_count=1)
    seen = measure_beside(server.url, loops=3, rounds=3)
    assert set(seen.answers) <= {"timeout"}
    body = {"source": "print('once')\n" + LOOP.format(number=0)}
    text = server.client.post("/api/traces", json=body, headers=STREAM).text
    assert text.count("once") == 2  # in the source and in the output, however often it was begun anew
    assert '"kind":"timeout"' in text


def test_one_address_has_its_own_part_of_the_queue_and_no_more(start_server: Callable[..., Any]) -> None:
    server = start_server(**PROXIED, running_count=1, client_waiting_count=2, run_seconds=30, abandon_seconds=60)

    def ask(number: int, who: int) -> Any:
        body = {"source": LOOP.format(number=number)}
        return server.client.post("/api/traces", json=body, headers=address(who))

    greedy = [ask(number, who=1) for number in range(6)]
    assert [answer.status_code for answer in greedy[:2]] == [202, 202]
    refusal = greedy[-1]
    assert refusal.status_code == 429
    assert int(refusal.headers["retry-after"]) >= 1
    assert "from your address" in refusal.json()["detail"]
    assert ask(7, who=2).status_code == 202
    honest = server.client.post("/api/traces", json={"source": HONEST.format(number=1)}, headers=STREAM | address(3))
    assert '"problems":0' in honest.text


def test_new_runs_of_one_address_are_counted_and_known_traces_are_not(start_server: Callable[..., Any]) -> None:
    server = start_server(**PROXIED, client_rate="3/hour")

    def ask(number: int, who: int) -> Any:
        body = {"source": HONEST.format(number=number)}
        return server.client.post("/api/traces", json=body, headers=STREAM | address(who))

    assert [ask(number, who=1).status_code for number in (0, 1, 2, 3)] == [200, 200, 200, 429]
    refusal = ask(4, who=1)
    assert 1 <= int(refusal.headers["retry-after"]) <= 3_600
    assert refusal.json()["kind"] == "busy"
    assert ask(2, who=1).status_code == 200
    assert ask(4, who=2).status_code == 200


def test_without_a_trusted_proxy_nobody_can_choose_an_address(start_server: Callable[..., Any]) -> None:
    server = start_server(client_rate="1/hour")
    answers = [
        server.client.post("/api/traces", json={"source": f"x + {who}"}, headers=STREAM | address(who))
        for who in range(2)
    ]
    assert [answer.status_code for answer in answers] == [200, 429]


def test_the_child_of_a_client_who_has_gone_is_killed(start_server: Callable[..., Any]) -> None:
    server = start_server(running_count=1, run_seconds=120, abandon_seconds=0.1, spare_count=0)
    (zygote,) = children_of(server.process.pid)
    body = {"source": LOOP.format(number=0)}
    with server.client.stream("POST", "/api/traces", json=body, headers=STREAM) as answer:
        next(answer.iter_text())
        wait_until(lambda: bool(children_of(zygote)))
        (child,) = children_of(zygote)
        wait_until(lambda: os.getpgid(child) == child)
    wait_until(lambda: not children_of(zygote))
    wait_until(lambda: server.client.get("/readyz").json()["running"] == 0)


def test_rates_over_all_servers_refuse_nobody_while_the_shared_server_is_away(tmp_path: Path) -> None:
    shared = OwnRedis(tmp_path)

    async def work() -> None:
        rates = [choose_rates(Settings(cluster_url=shared.url, client_rate="2/hour")) for _ in range(2)]
        first, second = (one.runs for one in rates)
        await first.take("greedy")
        await second.take("greedy")
        for rate in (first, second):
            with pytest.raises(BusyError, match="from your address") as refused:
                await rate.take("greedy")
            assert 1 <= refused.value.retry_after_seconds <= 3_600
        await first.take("modest")
        shared.stop()
        for rate in (first, second):
            await rate.take("greedy")
        shared.restart()
        with pytest.raises(BusyError):
            await second.take("greedy")
        for one in rates:
            await one.close()

    try:
        run_in_own_loop(work())
    finally:
        shared.stop()


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


def children_of(pid: int) -> set[int]:
    """Of any thread of a process."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for task in tasks for child in task.read_text().split()}


def wait_until(holds: Callable[[], bool]) -> None:
    """Polls."""
    give_up = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.02)
