"""Pictures of graphs too large for a slide: what stands round the node at work can be read, the rest is led to."""

import re
import xml.etree.ElementTree as ET

import pytest

from gradwalk.exports.exporter import Selection
from gradwalk.exports.moment import MULTIPLY, SEND, Moment, Walk
from gradwalk.exports.picture import draw_picture
from gradwalk.exports.places import Layout, find_layouts
from gradwalk.exports.raster import draw_still, write_still
from gradwalk.exports.window import MARGIN, SLIDE, find_view
from gradwalk.notebook.recording import trace
from gradwalk.protocol.document import TraceDocument
from tests.exports.readers import SVG, words_of

pytestmark = pytest.mark.usefixtures("run")
"""Graphviz and ffmpeg are processes."""
BLOCKS = """
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)
    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))
model = nn.Sequential(nn.Linear(3, 4), *[Block(4) for _ in range(5)], nn.Linear(4, 1))
loss = (model(torch.randn(2, 3)) - torch.ones(2, 1)).pow(2).mean()
loss.backward()
"""
CHAIN = """
import torch
x = torch.tensor([0.5, 0.25], requires_grad=True)
y = x
for _ in range(160):
    y = torch.sin(y) * 1.01
y.sum().backward()
"""
TALL = """
import torch
ws = [torch.full((2,), float(k), requires_grad=True) for k in range(40)]
torch.cat([w * 2 for w in ws]).sum().backward()
"""
READABLE_PX = 14
"""Of 1080 on a slide, for the lines of a card."""
SAID_PX = 22
"""For the sentence, unless its equation takes more than a slide: the 8H rule."""


@pytest.fixture(scope="module", params=[BLOCKS, CHAIN, TALL], ids=["blocks", "chain", "tall"])
def large(request: pytest.FixtureRequest) -> TraceDocument:
    return trace(request.param).document


def some_moments(document: TraceDocument) -> list[tuple[Moment, Layout]]:
    """Every fortieth step, the first and the last, each with its layout."""
    walk, layouts = Walk(document), find_layouts(document)
    numbers = [*range(1, len(walk.steps), 40), len(walk.steps)]
    moments = [walk.moment(Selection(number, MULTIPLY)) for number in numbers]
    return [(moment, layouts[moment.started["pass"]]) for moment in moments]


def test_the_cards_of_a_large_graph_can_be_read_on_a_slide(large: TraceDocument) -> None:
    for moment, layout in some_moments(large):
        drawing = ET.fromstring(draw_still(moment, layout, "svg"))
        width, height = (float(drawing.get(side, "0").removesuffix("pt")) for side in ("width", "height"))
        zoom = min(1920 / width, 1080 / height)
        texts = {"".join(each.itertext()): float(each.get("font-size", 0)) for each in drawing.iter(f"{SVG}text")}
        title = moment.active_node.get("leaf") or moment.active_node["label"]
        assert texts[title] * zoom >= READABLE_PX
        if height <= 9 / 16 * width:
            first_word = moment.sentence.split()[0].replace("`", "")
            assert max(size for words, size in texts.items() if words.startswith(first_word)) * zoom >= SAID_PX
        for text in drawing.iter(f"{SVG}text"):
            assert -1 <= float(text.get("x", 0)) <= width + 1


def test_the_node_at_work_and_its_neighbours_are_whole(large: TraceDocument) -> None:
    for moment, layout in some_moments(large):
        seen = find_view(layout, moment)
        whole = seen.window.whole
        assert moment.active in seen.nodes
        ends = [(edge["from"]["node"], edge["to"]["node"]) for edge in moment.graph["edges"]]
        near = {node for pair in ends if moment.active in pair for node in pair}
        boxes = [whole.nodes[node] for node in near]
        across = max(box.x + box.width for box in boxes) - min(box.x for box in boxes)
        down = max(box.y + box.height for box in boxes) - min(box.y for box in boxes)
        if across <= SLIDE.width - 2 * MARGIN and down <= SLIDE.height - 2 * MARGIN:
            for node in near:
                assert seen.nodes[node][2:] == pytest.approx(whole.nodes[node][2:])
                assert node not in seen.window.sides
        for pair, edge in zip(ends, moment.graph["edges"], strict=True):
            if moment.active in pair:
                assert edge["id"] in seen.edges, "an edge of the node at work is led to the border at least"


def test_the_window_moves_seldom_and_the_same_step_has_the_same_picture() -> None:
    document = trace(CHAIN).document
    walk, (layout,) = Walk(document), find_layouts(document).values()
    views = [find_view(layout, walk.moment(Selection(number, SEND))) for number in range(1, 101)]
    places = [view.window.part for view in views if view.window is not None]
    assert len(places) == 100
    assert len(set(places)) < len(places) / 2
    assert len({(view.width, view.height) for view in views}) == 1
    assert write_still("pdf", document, Selection(50)) == write_still("pdf", document, Selection(50))


def test_a_step_inside_a_closed_group_shows_its_own_card_and_the_groups_it_is_in() -> None:
    document = trace(BLOCKS).document
    walk, (layout,) = Walk(document), find_layouts(document).values()
    groups = {number: layout.home.get(step["node"], "") for number, step in enumerate(walk.steps, start=1)}
    for closed, shown in (("model.6: Linear", r"model\.6: Linear"), ("Block × 5", r"model\.\d\.(up|down): Linear")):
        inside = next(number for number, group in groups.items() if group and layout.groups[group].label == closed)
        moment = walk.moment(Selection(inside, MULTIPLY))
        words = words_of(draw_still(moment, layout, "svg"))
        assert closed in words
        assert re.search(shown, words)
        assert f"all {len(moment.graph['nodes'])} nodes" in words
    before = draw_picture(walk.moment(Selection(0)), layout)
    assert "nodes</FONT>" in before, "before the pass the groups are closed"


def test_gradients_that_leave_the_window_fade_and_bring_no_token_to_its_border() -> None:
    document = trace(TALL).document
    walk, (layout,) = Walk(document), find_layouts(document).values()
    moment = walk.moment(Selection(60, MULTIPLY))
    view = find_view(layout, moment)
    dot = draw_picture(moment, view)
    cut = [edge for edge, ends in view.window.cut.items() if ends.start or ends.end]
    assert cut
    for edge in cut:
        (line,) = [line for line in dot.splitlines() if re.search(rf"->.*\bid={edge}\b", line)]
        assert ";" in line.partition("color=")[2]
        assert "beyond" in line or "none" in line
    for x, y in re.findall(r'gradient_e\d+ \[.*pos="([\d.-]+),([\d.-]+)"', dot):
        assert 20 < float(x) < view.width - 20
        assert 5 < float(y) < view.height - 5
