"""What is refused before anything runs, and what every answer says."""

import json
from typing import Any

import pytest

from gradwalk.words.catalogue import LANGUAGES, tell, tell_attribute
from tests.api.metrics import counts
from tests.world.shared import OWNER_TOKEN, SharedServer
from tests.world.sites import keep_program

JSON = {"Content-Type": "application/json"}
MANY = b", ".join(b'"%d": 0' % n for n in range(33))
REPLAYS = ("steps/0/gradcheck", "gradcheck", "steps/0/jacobian", "passes/0", "values/0")


@pytest.mark.parametrize(
    ("body", "status", "place"),
    [
        pytest.param(b"{", 422, "body", id="broken JSON"),
        pytest.param(b'{"source": "x", "extra": 1}', 422, "body.extra", id="unknown field"),
        pytest.param(b'{"source": "x", "options": {%b}}' % MANY, 422, "more than 32 fields", id="a crowd of fields"),
        pytest.param(b'{"source": "x", "options": {"seed": false}}', 422, "body.options.seed", id="false is not 0"),
        pytest.param(b'{"source": "\\ud800"}', 422, "surrogate", id="lone surrogate"),
        pytest.param(b'{"source": "\xff"}', 422, "UTF-8", id="not UTF-8"),
        pytest.param(b'{"source": "x", "options": {"inputs": {"x": NaN}}}', 422, "", id="NaN"),
        pytest.param(b'{"source": "x", "options": %b' % (b"[" * 5_000), 422, "depth", id="nested"),
        pytest.param(b'{"options": {"grad_output": %b}}' % (b"[" * 101 + b"]" * 101), 422, "grad_output", id="deep"),
        pytest.param(b'{"source": "x", "options": {"grad_output": [%b0]}}' % (b"[]," * 9_000), 413, "", id="lists"),
        pytest.param(b'{"source": "' + b"x" * (128 << 10) + b'"}', 413, "", id="128 KiB"),
    ],
)
def test_a_bad_request_is_a_problem_that_names_the_place(server: Any, body: bytes, status: int, place: str) -> None:
    answer = server.client.post("/api/traces", content=body, headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    problem = answer.json()
    assert (problem["status"], problem["fact"]["kind"][:4]) == (status, "api-")
    assert place in json.dumps(problem)
    assert "Traceback" not in answer.text


def test_a_long_body_that_does_not_say_so_is_cut_off(server: Any) -> None:
    parts = [b'{"source": "'] + [b"x" * 65_536] * 64
    answer = server.client.post("/api/traces", content=iter(parts), headers=JSON)
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")


def test_bytes_of_a_client_are_counted_before_they_are_read(tight_server: Any) -> None:
    client = tight_server.client

    def send(body: Any, who: str, path: str = "/api/traces") -> tuple[int, str]:
        answer = client.post(path, content=body, headers=JSON | {"X-Forwarded-For": who})
        why = answer.json().get("fact", {}).get("operands", {}).get("why", {}).get("kind", "")
        return answer.status_code, why

    unreadable, full = b"x" * 60_000, (429, "api-busy-bytes")
    assert [send(unreadable, "192.0.2.1") for _ in range(3)] == [(422, ""), (422, ""), full]
    assert send(b'{"shown": {}}', "192.0.2.1", "/api/rooms") == full
    assert send(b"{}", "192.0.2.2") == (422, "")
    assert [send(iter([b"x"]), "192.0.2.3") for _ in range(2)] == [(422, ""), full]


def test_what_is_sent_to_a_room_is_short(server: Any) -> None:
    asked = {"shown": {"question": {"id": "q", "prompt": "\U0001f600" * 500}}}
    assert server.client.post("/api/rooms", json=asked).status_code == 201
    asked["shown"]["question"]["prompt"] = "x" * 4_096
    assert server.client.post("/api/rooms", json=asked).json()["detail"].startswith("This request is longer")


@pytest.mark.parametrize("asks", ["header", "query"])
def test_a_refusal_is_in_the_language_of_the_request_and_carries_its_fact(server: Any, asks: str) -> None:
    for language in (*LANGUAGES, "tlh"):
        said = language if language in LANGUAGES else "en"
        headers = {"Accept-Language": f"{language}-XX,en;q=0.1" if asks == "header" else "tlh"}
        query = {"lang": language} if asks == "query" else {}
        for path in (f"/api/traces/{'0' * 40}", "/api/traces/no", "/nowhere", "/api/rooms/BCDFGH", "/oembed"):
            answer = server.client.get(path, params=query, headers=headers)
            assert answer.headers["content-language"] == said
            problem = answer.json()
            assert problem["detail"] == tell(problem["fact"], said)
            for part in ("title", "hint"):
                assert problem.get(part) == tell_attribute(problem["fact"], part, said)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Host": "evil.example"}, 421, id="re-bound name"),
        pytest.param({"Origin": "https://evil.example"}, 403, id="another site"),
        pytest.param({"Origin": "null"}, 403, id="a sandboxed frame"),
        pytest.param({"Origin": "http://["}, 403, id="no address at all"),
        pytest.param({"Sec-Fetch-Site": "cross-site"}, 403, id="cross-site"),
        pytest.param({"Content-Type": "text/plain"}, 415, id="what a form can send"),
    ],
)
def test_another_site_cannot_run_programs_here(server: Any, headers: dict[str, str], status: int) -> None:
    answer = server.client.post("/api/traces", content=b'{"source": "x"}', headers=JSON | headers)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


ELSEWHERE = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}


def test_what_another_site_asks_for_by_an_address_runs_nothing(tight_server: SharedServer) -> None:
    """But for links to kept programs, which are made for other pages: `tests/api/test_clients.py` has their rate."""
    trace, snippet = keep_program(tight_server.url, "x * x + 11")
    client = tight_server.client
    before = counts(client)
    for part in REPLAYS:
        path = f"/api/traces/{trace}/{part}"
        assert client.get(path, headers=ELSEWHERE).status_code == 404
        assert client.post(path, headers=JSON | ELSEWHERE).status_code == 403
    known = {"trace": trace, "snippet": snippet, "code": "BCDFGH", "name": "svg"}
    paths = client.get("/openapi.json").json()["paths"]
    for path in [path.format_map(known) for path, methods in paths.items() if "get" in methods]:
        assert client.get(path, headers=ELSEWHERE).status_code < 500, path
    assert client.get(f"/embed/{'0' * 40}/trace.json", params={"i": "{}"}, headers=ELSEWHERE).status_code == 404
    after = counts(client)
    assert [name for name in after if name.startswith("traces_total") and after[name] != before.get(name)] == []


def test_only_the_owner_pins_a_link(tight_server: SharedServer, server: SharedServer) -> None:
    _, snippet = keep_program(tight_server.url, "x * x + 12")
    assert OWNER_TOKEN not in tight_server.log.read_text()

    def pin(token: str, of: str = snippet) -> int:
        headers = JSON | {"X-Forwarded-For": "192.0.2.10", "Authorization": f"Bearer {token}".strip()}
        return int(tight_server.client.put(f"/api/snippets/{of}/pin", headers=headers).status_code)

    assert [pin(OWNER_TOKEN), pin(OWNER_TOKEN, "0" * 40), pin(OWNER_TOKEN + "!"), pin("")] == [204, 404, 403, 403]
    assert [pin("guess"), pin("more"), pin("most"), pin("guess"), pin(OWNER_TOKEN)] == [403, 403, 403, 429, 429]
    for headers in (JSON, JSON | {"Authorization": "Bearer"}):
        assert server.client.put(f"/api/snippets/{'0' * 40}/pin", headers=headers).status_code == 403, "no token"


def test_the_probes_tell_what_locks_programs_in(server: Any) -> None:
    assert server.client.get("/healthz").json() == {"status": "ok"}
    answer = server.client.get("/readyz").json()
    assert (answer["status"], answer["layers"]["seccomp"]) == ("ready", True)
    assert answer["protection"] == {"level": "full", "open": [], "said": {"kind": "page-protection-full"}}


READ = ("/", "/readyz", "/api/examples", "/api/nowhere", "/openapi.json", "/api/traces/no", "/api/traces/" + "0" * 40)
ASKED: list[tuple[str, str, dict[str, str]]] = [
    *(("GET", path, {}) for path in READ),
    ("GET", "/healthz", {"Host": "evil.example"}),
    ("PUT", "/api/traces", JSON),
    ("POST", "/api/traces", JSON),
    ("POST", "/api/traces", {"Content-Type": "text/plain"}),
    ("POST", "/api/traces", JSON | {"Origin": "https://e.example"}),
]


@pytest.mark.parametrize(("method", "path", "headers"), ASKED)
def test_every_answer_carries_the_security_headers(server, method, path, headers):
    said = server.client.request(method, path, headers=headers).headers
    policy = dict(part.split(" ", 1) for part in said["content-security-policy"].split("; "))
    assert policy["default-src"] == "'self'"
    assert policy["object-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert not {"'unsafe-inline'", "'unsafe-eval'"} & set(policy["script-src"].split())
    assert (said["x-content-type-options"], said["cross-origin-opener-policy"]) == ("nosniff", "same-origin")
    assert (said["referrer-policy"], said["permissions-policy"][:9]) == ("strict-origin-when-cross-origin", "camera=()")
    # Traces may be read from anywhere: pages and slides elsewhere show them. Nothing else may.
    is_reading_a_trace = method == "GET" and path.startswith("/api/traces/")
    assert said.get("access-control-allow-origin") == ("*" if is_reading_a_trace else None)
    assert not {"access-control-allow-credentials", "server"} & set(said)
