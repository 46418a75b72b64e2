"""Pictures stand as the page stands: our places against those of the page's own code, which another Graphviz ran."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gradwalk.exports.kit import with_baked
from gradwalk.exports.picture import ON_SCREEN
from gradwalk.exports.places import Box, Layout, place
from gradwalk.protocol.upgrades import load_document

GOLDEN = Path(__file__).parents[1] / "golden"
ALIKE_PX = 12
"""Two versions of Graphviz round and balance a little differently."""


def both(name: str) -> Iterator[tuple[Layout, dict[str, Any]]]:
    """For every pass: where our pictures and where the page have things."""
    document = load_document(json.loads((GOLDEN / f"{name}.json").read_text()))
    baked: dict[str, Any] = with_baked(document)["baked"]
    for started in (event for event in document["events"] if event["type"] == "pass_started"):
        yield (
            place(started["graph"], ON_SCREEN),
            next(layout for layout in baked["layouts"] if layout["pass"] == started["pass"]),
        )


@pytest.mark.parametrize("name", ["attention", "x-times-x", "broadcast-bias"])
def test_cards_stand_where_the_page_puts_them(name: str) -> None:
    for ours, page in both(name):
        assert set(ours.nodes) == set(page["nodes"])
        assert set(ours.edges) == set(page["edges"])
        for node, (x, y, width, height) in page["nodes"].items():
            box = ours.nodes[node]
            assert (box.width, box.height) == (width, height), node
            assert (box.x, box.y) == pytest.approx((x, y), abs=ALIKE_PX), node


@pytest.mark.parametrize("name", ["chain-of-two", "mlp-step", "composite"])
def test_the_same_groups_are_open_and_the_order_is_the_same(name: str) -> None:
    for ours, page in both(name):
        assert set(ours.open_groups) == {group for group, (*_, is_open) in page["groups"].items() if is_open}
        assert set(ours.closed_groups) == {group for group, (*_, is_open) in page["groups"].items() if not is_open}
        assert set(ours.edges) == set(page["edges"])
        for start, (x, *_) in page["nodes"].items():
            after = [node for node, (right, *_) in page["nodes"].items() if right > x + ALIKE_PX]
            assert all(ours.nodes[node].x > ours.nodes[start].x for node in after)
        for node, box in ours.nodes.items():
            group = next((g for g in ours.open_groups.values() if inside(box, g)), None)
            assert (group is not None) == any(
                inside(Box(*page["nodes"][node]), Box(*g[:4])) for g in page["groups"].values()
            )


def inside(box: Box, group: Box) -> bool:
    return group.x <= box.x <= group.x + group.width and group.y <= box.y <= group.y + group.height
