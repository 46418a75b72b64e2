"""Traces over HTTP: a real server process, a real client."""

import json
from pathlib import Path
from typing import Any

import httpx
import torch

from gradwalk.notebook.recording import trace as trace_in_this_process
from gradwalk.protocol.document import encode, snippet_id
from gradwalk.protocol.merging import merge
from gradwalk.protocol.requests import TraceRequest
from gradwalk.protocol.wire import read_events, unpacked_value, write_document
from tests.twin import tensor_of
from tests.world.stream import ACCEPT, events_in, trace_events

PROGRAM = """
import torch
torch.manual_seed(3)
W = torch.randn(2, 3, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])
y = torch.tanh(W @ x)
print(y)
y.sum().backward()
"""


def payload(source: str, **options: Any) -> dict[str, Any]:
    return {"source": source, "options": options}


def post(server: Any, source: str, **options: Any) -> list[Any]:
    """Events over the POST itself; the stream must be whole."""
    events = trace_events(server.client, source, **options)
    read_events(events)
    return events


def again(server: Any, path: str, **headers: str) -> httpx.Response:
    """Asks for what the program is run again for."""
    answer: httpx.Response = server.client.post(path, headers={"Content-Type": "application/json", **headers})
    return answer


def test_a_program_posted_for_its_stream_is_traced_as_in_python_and_then_known(server: Any) -> None:
    events = post(server, PROGRAM, seed=5)
    assert encode(events) == encode(
        json.loads(write_document(trace_in_this_process(PROGRAM, seed=5).document))["events"]
    )
    answer = server.client.post("/api/traces", json=payload(PROGRAM, seed=5))
    receipt = answer.json()
    assert (answer.status_code, receipt["status"]) == (200, "done")
    document = server.client.get(receipt["links"]["self"])
    assert "immutable" in document.headers["cache-control"]
    assert document.json()["events"] == events
    nothing_more = {"Last-Event-ID": str(events[-1]["seq"])}
    assert server.client.get(receipt["links"]["events"], headers=nothing_more).status_code == 204


def test_a_program_is_kept_when_it_is_shared_and_not_by_its_runs(server: Any) -> None:
    program = payload("x * 3 + 34", inputs={"x": 2.0})
    post(server, program["source"], **program["options"])
    address = f"/api/snippets/{snippet_id(TraceRequest.model_validate(program))}"
    assert server.client.get(address).status_code == 404
    shared = server.client.post("/api/snippets", json=program)
    assert (shared.status_code, shared.json()["links"]["self"]) == (201, address)
    assert server.client.get(address).json()["source"] == program["source"]
    links = shared.json()["links"]
    assert [server.client.get(links[name]).status_code for name in ("page", "embed")] == [200, 200]
    other = server.client.get(f"{links['embed']}/trace.json", params={"i": '{"x": 5.0}'})
    moved = {"source": program["source"], "options": other.json()["options"]}
    address = f"/api/snippets/{snippet_id(TraceRequest.model_validate(moved))}"
    assert server.client.get(address).status_code == 404


def test_a_running_trace_is_followed_from_anywhere(server: Any) -> None:
    source = "import torch, math\nx = torch.ones(1, requires_grad=True)\n(x * 2).backward()\nwhile True: pass"
    receipt = server.client.post("/api/traces", json=payload(source))
    assert receipt.status_code == 202
    links = receipt.json()["links"]
    assert server.client.get(links["self"]).status_code == 202
    answers = [server.client.get(links["events"], headers={"Last-Event-ID": last}) for last in ("0", "garbage", "-4")]
    seen = [[event["seq"] for event in events_in(answer.text)] for answer in answers]
    assert seen == [seen[1][1:], seen[1], seen[1]]
    assert list(events_in(answers[1].text))[-2]["kind"] == "timeout"
    passing = server.client.get(links["self"])
    assert (passing.headers["cache-control"], passing.json()["events"][-1]["type"]) == ("no-store", "finished")


def test_the_web_process_never_imports_torch(server: Any) -> None:
    post(server, "x + 1")
    mapped = Path(f"/proc/{server.pid}/maps").read_text()
    # With the last, the test can see what is loaded.
    assert [name in mapped for name in ("libtorch", "numpy", "pydantic_core")] == [False, False, True]


LOOP = """
import torch
w = torch.tensor(1.0, requires_grad=True)
for i in range(500):
    (w * w * (1 + i)).backward()
    w.grad = None
"""


def test_a_pass_comes_on_demand(server: Any) -> None:
    events = post(server, LOOP)
    assert events[-1]["unrecorded"] == 500 - events[-1]["passes"] > 400
    path = f"/api/traces/{events[0]['id']}/passes/321"
    streamed = read_events(list(events_in(again(server, path, **ACCEPT).text)))
    (started,) = [event for event in streamed if event["type"] == "pass_started"]
    (finished,) = [event for event in streamed if event["type"] == "pass_finished"]
    assert [started["number"]] == streamed[0]["options"]["passes"] == [321]
    leaf = next(step for step in streamed if step["type"] == "step" and step["accumulate"])
    assert leaf["accumulate"]["after"]["data"] == [644.0]
    assert finished["leaf_grads"][0]["leaf"] == "w"
    receipt = again(server, path)
    assert (receipt.status_code, receipt.json()["id"]) == (200, streamed[0]["id"])


def left_out(events: list[Any]) -> tuple[int, str]:
    """The last step whose first local Jacobian is made on demand, and where it is."""
    steps = [event for event in merge(read_events(events)) if event["type"] == "step" and event["local_jacobians"]]
    index, jacobian = steps[-1]["index"], steps[-1]["local_jacobians"][0]
    assert jacobian["value"] == {"missing": "on_demand"}
    return index, f"/api/traces/{events[0]['id']}/steps/{index}/jacobian?argnum={jacobian['argnum']}"


def test_local_jacobians_come_on_demand(server: Any) -> None:
    index, path = left_out(post(server, PROGRAM, limits={"jacobian_cells": 0}))
    (jacobian,) = again(server, path).raise_for_status().json()
    full = next(one for one in merge(read_events(post(server, PROGRAM))) if one.get("index") == index)
    assert jacobian == full["local_jacobians"][0]


LARGE = """
torch.manual_seed(3)
x = torch.randn(40, 50, requires_grad=True)
x_before = x.detach().clone()
y = torch.exp(x)
(y * y).sum().backward()
"""


def values_of(events: list[Any]) -> tuple[str, list[Any]]:
    """The address under which the values of a trace are numbered, and those that it tells."""
    return f"/api/traces/{events[0]['id']}/values", [value for event in events for value in event.get("values", ())]


def test_all_numbers_of_a_value_come_on_demand(server: Any) -> None:
    events = post(server, LARGE)
    namespace: dict[str, Any] = {"torch": torch}
    exec(LARGE, namespace)  # noqa: S102 (plain torch is the oracle)
    x, y = namespace["x"], namespace["y"]
    found = []
    path, values = values_of(events)
    for number in [number for number, value in enumerate(values) if "summary" in value]:
        answer = again(server, f"{path}/{number}", Accept="application/octet-stream")
        assert answer.status_code == 200, answer.text
        assert (answer.headers["x-dtype"], answer.headers["x-shape"]) == ("float32", "40,50")
        found.append(torch.frombuffer(bytearray(answer.content), dtype=torch.float32).reshape(40, 50))
        assert torch.equal(tensor_of(unpacked_value(again(server, f"{path}/{number}").json())), found[-1])
    small = next(number for number, value in enumerate(values) if "summary" not in value)
    assert again(server, f"{path}/{small}").json() == values[small]
    assert again(server, f"{path}/{len(values)}").status_code == 404
    for tensor in (x.detach(), y.detach(), (2 * y).detach(), x.grad):
        assert any(torch.equal(tensor, entries) for entries in found)


def test_what_a_replay_cannot_give_out_is_a_problem_that_says_why(server: Any) -> None:
    path, values = values_of(post(server, "x = torch.ones(1100, 1000, requires_grad=True)\n(x * x).sum().backward()"))
    large = f"{path}/{next(number for number, value in enumerate(values) if 'summary' in value)}"
    vmap = "torch.func.vmap(torch.func.grad(lambda x: (x.sin() * x).sum()))(torch.ones(2, 3))\n"
    _, batched = left_out(post(server, vmap))
    for path, word in ((large, "1,100,000"), (batched, "vmap")):
        answer = again(server, path)
        assert (answer.status_code, answer.headers["content-type"]) == (409, "application/problem+json")
        assert word in answer.json()["detail"]
