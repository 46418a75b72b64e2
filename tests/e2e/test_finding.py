"""Finding one's way in a graph: search by name, operation and line, the heat map, all groups at once."""

import io
import math
import re

import pytest
import torch
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.e2e.player import PlayerPage, fragment, number

NETWORK = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
x = torch.tensor([[1.0, 2.0]])
loss = model(x).sum()
loss.backward()
""".strip()


def search(player: PlayerPage, words: str) -> Locator:
    player.page.get_by_role("searchbox", name="Find in the graph").fill(words)
    return player.page.get_by_role("list", name="Found").get_by_role("listitem")


def test_the_finder_knows_names_operations_and_lines(player: PlayerPage) -> None:
    player.open(fragment(NETWORK, s="1.1"))
    player.wait_for_steps(10)
    player.button("Find in the graph").click()
    page = player.page
    expect(page.get_by_role("searchbox", name="Find in the graph")).to_be_focused()
    by_name = search(player, "model.0.weight")
    expect(by_name).to_have_count(1)
    by_name.get_by_role("button", name=re.compile("model.0.weight")).first.click()
    found = page.locator("article:has([aria-pressed=true])")
    expect(found).to_contain_text("model.0.weight")
    expect(found).to_be_in_viewport()
    search(player, "relu").get_by_role("button", name=re.compile("Go to step")).click()
    player.page.wait_for_function("() => location.hash.includes('.3')")
    expect(player.product).to_contain_text("ReluBackward0")
    expect(search(player, "line 7").first).to_contain_text("line 7")
    search(player, "conv")
    expect(page.get_by_role("status", name="Search results")).to_have_text("Nothing matches.")
    page.keyboard.press("Escape")
    expect(player.button("Find in the graph")).to_be_focused()


def test_the_heat_map_tells_the_norm_of_each_gradient(player: PlayerPage) -> None:
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    (x * x).sum().backward()
    assert x.grad is not None
    source = "import torch\nx = torch.tensor([3.0, 4.0], requires_grad=True)\n(x * x).sum().backward()"
    player.open(fragment(source, s="3.5"))
    player.wait_for_steps(3)
    heat = player.button("Heat map")
    heat.click()
    expect(heat).to_have_attribute("aria-pressed", "true")
    tags = player.page.locator(".world .heat .norm")
    expect(tags).to_have_count(3)
    told = sorted(number(re.sub(r"[^\d.\u2212·⁻⁰¹²³⁴⁵⁶⁷⁸⁹∞]", "", text)) for text in tags.all_inner_texts())
    norms = sorted([1.0, math.sqrt(2), x.grad.norm().item()])
    assert told == [pytest.approx(each, rel=5e-2) for each in norms]
    heat.click()
    expect(tags).to_have_count(0)


def test_all_groups_open_and_close_at_once(player: PlayerPage) -> None:
    player.open(fragment(NETWORK, s="1.1"))
    player.wait_for_steps(10)
    graph = player.page.get_by_role("group", name="Autograd graph")
    nodes = graph.get_by_role("article")
    player.page.get_by_role("button", name=re.compile("^(open|close) all$")).wait_for()
    if player.button("open all").count() > 0:
        player.button("open all").click()
    expect(nodes).to_have_count(10)
    player.button("close all").click()
    expect(nodes).not_to_have_count(10)
    closed = nodes.count()
    player.button("open all").click()
    expect(nodes).to_have_count(10)
    assert closed < 10


LOOP = """
import torch

w = torch.tensor(0.9, requires_grad=True)
h = torch.tensor(1.0)
for _ in range(20):
    h = torch.tanh(w * h + 0.1)
h.backward()
""".strip()


def test_a_long_graph_has_a_map_that_nothing_covers(player: PlayerPage) -> None:
    player.open(fragment(LOOP.replace("range(20)", "range(200)"), s="30.3"))
    player.wait_for_end_of_run()
    player.button("open all").click()
    overview = player.page.get_by_role("button", name="Overview of the graph: centre the active node")
    picture = Image.open(io.BytesIO(overview.screenshot())).convert("RGB")
    middle = picture.width // 2
    assert picture.getpixel((middle, 0)) == picture.getpixel((middle, picture.height - 1)), "its border is covered"
    world = player.page.locator(".world")
    shown = world.get_attribute("style") or ""
    overview.click(position={"x": 10, "y": 20})
    expect(world).not_to_have_attribute("style", shown)
    elsewhere = world.get_attribute("style") or ""
    overview.press("Enter")
    expect(world).not_to_have_attribute("style", elsewhere)
