"""Drawings of graphs; Graphviz itself is the oracle: it reads every DOT and finds a way for every edge."""

import json
import subprocess
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradwalk.tracer.drawing import draw


def node(name, group=None):
    return {"id": name, "group": group}


def edge(name, start, end, argnum=0):
    return {"id": name, "from": {"node": start, "output_nr": 0}, "to": {"node": end, "argnum": argnum}}


def group(name, parent=None):
    return {"id": name, "parent": parent}


def laid_out(dots: list[str]) -> list[dict]:
    """What Graphviz makes of each DOT."""
    done = subprocess.run(["dot", "-Tjson0"], input="\n".join(dots), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    # A closed child has no port cells yet, which Graphviz mentions; anything else it says is a fault.
    said = [line for line in done.stderr.splitlines() if "unrecognized" not in line]
    assert said == []
    decoder, pictures, rest = json.JSONDecoder(), [], done.stdout.strip()
    while rest:
        picture, end = decoder.raw_decode(rest)
        pictures.append(picture)
        rest = rest[end:].strip()
    return pictures


def edges_of(picture: dict) -> list[tuple[str, str, str]]:
    names = {one["_gvid"]: one["name"] for one in picture.get("objects", ())}
    assert all(one["pos"] for one in picture.get("edges", ()))
    return [(one["id"], names[one["tail"]], names[one["head"]]) for one in picture.get("edges", ())]


def test_a_flat_graph_keeps_repeated_edges_in_operand_order():
    top, groups = draw([node("n0"), node("n1")], [edge("e0", "n0", "n1"), edge("e1", "n0", "n1", 1)], [])
    assert groups == {}
    [picture] = laid_out([top])
    assert sorted(edges_of(picture)) == [("e0", "n0", "n1"), ("e1", "n0", "n1")]


def test_an_edge_passes_every_border_between_its_ends():
    """n0 -> [g0 n1 -> [g1 n2]] -> n3 and, out of the depth, n2 -> n3."""
    nodes = [node("n0"), node("n1", "g0"), node("n2", "g1"), node("n3")]
    edges = [edge("e0", "n0", "n1"), edge("e1", "n1", "n2"), edge("e2", "n2", "n3"), edge("e3", "n0", "n2")]
    top, groups = draw(nodes, edges, [group("g1", "g0"), group("g0")])
    pictures = laid_out([top, groups["g0"], groups["g1"]])
    assert [sorted(edges_of(picture)) for picture in pictures] == [
        [("e0", "n0", "g0"), ("e2", "g0", "n3"), ("e3", "n0", "g0")],
        [("e0", "in_e0", "n1"), ("e1", "n1", "g1"), ("e2", "g1", "out_e2"), ("e3", "in_e3", "g1")],
        [("e1", "in_e1", "n2"), ("e2", "n2", "out_e2"), ("e3", "in_e3", "n2")],
    ]
    assert "n0 -> g0 [id=e3 headport=e3]" in top
    assert "g0 -> n3 [id=e2 tailport=e2]" in top
    assert "g1 -> out_e2 [id=e2 tailport=e2]" in groups["g0"]
    assert "n2 -> out_e2 [id=e2]" in groups["g1"]


def test_points_stand_at_the_border():
    nodes = [node("n0"), *(node(f"n{index}", "g0") for index in range(1, 5)), node("n5")]
    edges = [edge(f"e{index}", f"n{index}", f"n{index + 1}") for index in range(5)] + [edge("e9", "n0", "n4")]
    _, groups = draw(nodes, edges, [group("g0")])
    [picture] = laid_out([groups["g0"]])
    heights = {one["name"]: float(one["pos"].split(",")[1]) for one in picture["objects"] if "pos" in one}
    assert {one["name"][0]: one["shape"] for one in picture["objects"] if "pos" in one} == {
        "n": "box",
        "i": "point",
        "o": "point",
    }
    assert heights["in_e0"] == heights["in_e9"] == max(heights.values())
    assert heights["out_e4"] == min(heights.values())


def test_a_group_that_is_left_and_entered_again_is_drawn():
    nodes = [node("n0", "g0"), node("n1", "g1"), node("n2", "g0")]
    edges = [edge("e0", "n0", "n1"), edge("e1", "n1", "n2"), edge("e2", "n0", "n2")]
    top, groups = draw(nodes, edges, [group("g0"), group("g1")])
    pictures = laid_out([top, *groups.values()])
    assert sorted(edges_of(pictures[0])) == [("e0", "g0", "g1"), ("e1", "g1", "g0")]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_any_graph_is_drawn_whole(data):
    count = data.draw(st.integers(1, 12))
    group_count = data.draw(st.integers(0, 4))
    parents = [data.draw(st.sampled_from([None, *range(index)])) for index in range(group_count)]
    groups = [group(f"g{index}", None if up is None else f"g{up}") for index, up in enumerate(parents)]
    homes = st.sampled_from([None, *(one["id"] for one in groups)])
    nodes = [node(f"n{index}", data.draw(homes)) for index in range(count)]
    pairs = data.draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=20))
    edges = [edge(f"e{k}", f"n{min(pair)}", f"n{max(pair)}") for k, pair in enumerate(pairs) if pair[0] != pair[1]]
    top, dots = draw(nodes, edges, groups)
    pictures = laid_out([top, *dots.values()])
    drawn = [one for picture in pictures for one in edges_of(picture)]
    for one in edges:
        pieces = [(start, end) for name, start, end in drawn if name == one["id"]]
        assert sum(start == one["from"]["node"] for start, _ in pieces) == 1
        assert sum(end == one["to"]["node"] for _, end in pieces) == 1
        crossings = [end for _, end in pieces if end == f"out_{one['id']}"]
        crossings += [start for start, _ in pieces if start == f"in_{one['id']}"]
        assert len(pieces) == len(crossings) + 1


@pytest.mark.parametrize("depth", [1, 40])
def test_five_thousand_nodes_are_drawn_quickly(depth):
    groups = [group(f"g{index}", f"g{index - 1}" if index % depth else None) for index in range(800)]
    nodes = [node(f"n{index}", f"g{index * 800 // 5000}") for index in range(5000)]
    edges = [edge(f"e{index}", f"n{index}", f"n{index + 1}") for index in range(4999)]
    edges += [edge(f"f{index}", f"n{index}", f"n{index + 7}") for index in range(0, 4990, 5)]
    started = time.process_time()
    top, dots = draw(nodes, edges, groups)
    assert time.process_time() - started < 1.0
    assert len(dots) == 800
    assert top.startswith("digraph")
