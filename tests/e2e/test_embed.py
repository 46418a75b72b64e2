"""The embed page in a frame and the element on a page, on an origin of somebody else's."""

import json

import pytest
from playwright.sync_api import expect

from gradwalk.exports.kit import with_baked
from tests.e2e.conftest import Opener
from tests.e2e.host_page import HostPage, place, wait_until_ready
from tests.exports.readers import golden
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

PROGRAM = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
STOPS = ["0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.5"]
"""The product's, then those of x: two contributions, which meet and land."""


@pytest.fixture(scope="module")
def kept(server: SharedServer) -> tuple[str, str]:
    """The addresses of a trace and of its embed page."""
    trace, snippet = keep_program(server.url, PROGRAM)
    return f"{server.url}/api/traces/{trace}", f"{server.url}/embed/{snippet}"


def test_a_locked_frame_steps_asks_nobody_else_and_keeps_its_address(host: HostPage, server, kept) -> None:
    page, src = host.page, f"{kept[1]}?s=1.3&deck=reveal"
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    frame = host.paste_frame(src)
    ready = host.wait_for("ready")
    assert (ready["steps"], ready["stops"]) == (2, STOPS)
    assert (frame.evaluate("origin"), place(frame)) == ("null", "1.3")
    frame.get_by_role("button", name="Next phase").click()
    assert host.wait_for("step", 2)["place"] == "1.4"
    page.keyboard.press("ArrowLeft")
    host.wait_for_place("1.3")
    expect(frame.get_by_role("region", name="Vector-Jacobian product")).to_be_visible()
    assert (frame.url, page.context.cookies()) == (src, [])
    hosts = {url.split("/")[2] for url in asked if url.startswith("http")}
    assert hosts == {each.removeprefix("http://") for each in (server.url, host.address)}
    assert not [url for url in asked if "/chunks/" in url], "layout and formulas were baked"
    assert frame.locator(".formula math").count() >= 3
    height = host.wait_for("resize")["height"]
    lti = page.evaluate("heard.filter((each) => each.subject === 'lti.frameResize')")
    assert lti == [{"subject": "lti.frameResize", "height": height}]
    page.evaluate("(height) => { document.querySelector('iframe').style.height = height + 'px' }", height)
    frame.wait_for_function("(height) => innerHeight === height", arg=height)
    assert frame.evaluate("document.documentElement.scrollHeight") == height
    # A browser restores the address that a frame had last: an embed that wrote its own would come back elsewhere.
    host.tell("type: 'next'")
    host.wait_for_place("1.4")
    # When the server dies in the lecture, what is on screen goes on.
    page.context.set_offline(True)
    page.keyboard.press("Home")
    for stop in STOPS:
        host.wait_for_place(stop)
        page.keyboard.press("ArrowRight")
    # At either end the key goes to the deck.
    assert host.wait_for("edge")["side"] == "end"
    assert page.evaluate("heard.filter((each) => typeof each === 'string')") == ['{"method":"next","args":[]}']
    host.tell("type: 'goto', step: 0")
    host.wait_for_place("0")
    frame.locator(".viewport").click(position={"x": 300, "y": 20})
    page.keyboard.press("ArrowLeft")
    assert host.wait_for("edge", 2)["side"] == "start"
    page.context.set_offline(False)
    page.reload()
    host.wait_for_place("1.3")


def test_odd_messages_and_inputs_do_nothing_in_a_frame_for_replay(host: HostPage, kept) -> None:
    """Messages of any kind are read in `messages.test.ts`."""
    frame = host.paste_frame(f"{kept[1]}?s=1.3&keys=off")
    asked: list[str] = []
    host.page.on("request", lambda request: asked.append(request.url))
    steps = len(host.told("step"))
    host.tell("type: 'set', inputs: [[1]]")
    host.tell("type: 'set', inputs: {x: 5}")
    host.wait_for("error", 2)
    assert [message["code"] for message in host.told("error")] == ["unreadable", "replay_only"]
    frame.get_by_role("button", name="Play").focus()
    for key in ("ArrowRight", "PageDown", "End", "ArrowLeft"):
        host.page.keyboard.press(key)
    assert place(frame) == "1.3"
    assert (len(host.told("step")), host.told("edge")) == (steps, [])
    expect(frame.get_by_role("button", name="Inputs")).to_have_count(0)
    assert asked == []


def test_an_address_brings_a_program_or_says_that_it_is_damaged(host: HostPage, server, kept) -> None:
    """Hashes of any kind are read in `settings.test.ts`."""
    parts = "title,link,program,table,narration,transport,zoom,equation"
    frame = host.paste_frame(f"{kept[1]}?hide={parts}#s=%00x&theme=pink&steps=9-1&v=1")
    expect(frame.get_by_role("alert")).not_to_be_empty()
    expect(frame.get_by_role("article").first).to_be_visible()
    host.page.goto(f"{server.url}/embed#code=x&i={{")
    expect(host.page.get_by_role("alert")).not_to_be_empty()
    # On one's own machine a program in the hash runs at once.
    host.page.goto("about:blank")
    failed: list[str | None] = []
    host.page.on("requestfailed", lambda request: failed.append(request.failure))
    host.page.goto(f"{server.url}/embed#code=sin(x*y)&i=%7B%22x%22:2%7D&s=1.3")
    wait_until_ready(host.page)
    assert host.page.evaluate("document.querySelector('grad-walk').state.of") == 4
    expect(host.page.get_by_role("article")).to_have_count(4)
    assert "csp" not in failed


def test_two_elements_share_nothing_but_the_module(host: HostPage, kept) -> None:
    one, two = host.paste_elements(
        (f"{kept[1]}/trace.json", 'step="1.3"'),
        (kept[0], 'step="2" phase="2" theme="dark"'),
        head="<style>html { direction: rtl; font-size: 62.5% } button { background: red !important }</style>",
    )
    wait_until_ready(host.page)
    places = "[...document.querySelectorAll('grad-walk')].map((each) => each.state.place)"
    one.get_by_role("button", name="Next step").click()
    assert host.page.evaluate(places) == ["2.1", "2.1"]
    two.get_by_role("button", name="Play").press("ArrowRight")
    assert host.page.evaluate(places) == ["2.1", "2.5"]
    ground = "(element, part) => getComputedStyle(element.shadowRoot.querySelector(part)).backgroundColor"
    assert one.evaluate(ground, ".viewer") != two.evaluate(ground, ".viewer")
    assert one.evaluate(ground, ".icon") != "rgb(255, 0, 0)"
    expect(one.locator(".viewer")).to_have_css("direction", "ltr")
    expect(one.locator(".viewer")).to_have_css("font-size", "15px")
    assert host.page.evaluate("document.head.querySelectorAll('style').length") == 1
    host.page.context.set_offline(True)
    walk = "(walk) => walk.stops.map((stop) => (walk.goTo(stop), walk.state.sentence && walk.state.place))"
    assert one.evaluate(walk) == STOPS


def test_without_scripts_or_a_trace_the_children_are_seen(new_page: Opener, site, server, kept) -> None:
    still = HostPage(new_page(java_script_enabled=False).page, *site, server.url)
    still.paste_elements((kept[0], ""), fallback=f'<img src="{kept[0]}/export/svg?step=1" alt="y = x * x">')
    picture = still.page.get_by_role("img", name="y = x * x")
    expect(picture).to_be_visible()
    assert picture.evaluate("element => element.clientWidth") > 50
    host = HostPage(new_page().page, *site, server.url)
    (host.folder / "no.json").write_text('{"format": 99}')
    host.paste_elements(("no.json", ""), fallback="<p>a picture</p>")
    expect(host.page.get_by_role("alert")).to_contain_text("99")
    expect(host.page.get_by_text("a picture")).to_be_visible()
    expect(host.page.get_by_role("button")).to_have_count(0)


RUN = "<img src=x onerror=\"document.title = 'run'\"><style>body { display: none }</style>"


def test_a_stranger_s_file_sets_formulas_and_runs_and_styles_nothing(host: HostPage) -> None:
    document = with_baked(golden("x-times-x"))
    baked = document["baked"]
    assert baked["math"]
    baked["math"] = {latex: RUN + made for latex, made in baked["math"].items()}
    for layout in baked["layouts"]:
        layout["nodes"] = {
            node: [f"{x}px); background: red; transform: translate({x}", *rest]
            for node, (x, *rest) in layout["nodes"].items()
        }
    (host.folder / "stranger.kit.json").write_text(json.dumps(document))
    (element,) = host.paste_elements(("stranger.kit.json", 'step="1.3"'))
    wait_until_ready(host.page)
    expect(element.locator(".formula math").first).to_be_visible()
    assert element.locator("img, .formula style").count() == 0
    assert element.evaluate("(element) => !element.shadowRoot.innerHTML.includes('background: red')")
    assert host.page.title() == "t"


WIDGET = """async ([module, address]) => {
  const widget = (await import(module)).default;
  const values = {trace: await (await fetch(address)).json(), step: "1.2", height: 420};
  const listeners = {};
  window.model = {
    get: (name) => values[name],
    set: (name, value) => { values[name] = value },
    save_changes: () => { window.saved = values.step },
    on: (name, act) => { listeners[name] = act },
    off: (name) => { delete listeners[name] },
    change: (name, value) => { values[name] = value; listeners["change:" + name]() },
  };
  window.leave = widget.render({model: window.model, el: document.querySelector("#el")});
}"""


def test_an_anywidget_model_gives_the_same_player(host: HostPage, server, kept) -> None:
    host.paste("<div id=el></div>")
    page, element = host.page, host.page.locator("grad-walk")
    page.evaluate(WIDGET, [f"{server.url}/kit/gradwalk.js", kept[0]])
    page.wait_for_function("document.querySelector('grad-walk')?.state.place === '1.2'")
    assert element.evaluate("(element) => element.clientHeight") == 420
    element.get_by_role("button", name="Next phase").click()
    page.wait_for_function("window.saved === '1.3'")
    page.evaluate("model.change('step', '2.1')")
    page.wait_for_function("document.querySelector('grad-walk').state.place === '2.1'")
    page.evaluate("leave()")
    expect(element).to_have_count(0)


def test_an_interactive_frame_runs_other_inputs_and_hands_over_files(host: HostPage, kept) -> None:
    frame = host.paste_frame(f"{kept[1]}?s=2.5&inputs=on")
    value = frame.locator(".card.leaf")
    expect(value).to_contain_text("value 3")
    host.tell("type: 'set', inputs: {x: -4.5}")
    expect(value).to_contain_text("value −4.5")
    expect(value).to_contain_text(".grad −9")
    assert place(frame) == "2.5"
    frame.get_by_role("button", name="Inputs").click()
    field = frame.get_by_role("spinbutton", name="x value")
    expect(field).to_have_value("-4.5")
    field.fill("2")
    field.press("Enter")
    expect(value).to_contain_text(".grad 4")
    expect(frame.locator(".card.leaf")).to_be_in_viewport()
    host.tell("type: 'export', kind: 'svg'")
    host.wait_for("export")
    drawn = host.page.evaluate("new TextDecoder().decode(told('export')[0].body)")
    assert ">.grad<" in drawn
    frame.locator(".viewport").click(position={"x": 300, "y": 20})
    host.page.keyboard.press("PageDown")
    assert host.wait_for("edge")["side"] == "end"
    assert host.page.evaluate("heard.filter((each) => typeof each === 'string')") == []
    assert host.told("error") == []


GROUND = """() => {
  const viewer = document.querySelector("grad-walk").shadowRoot.querySelector(".viewer");
  const [red] = getComputedStyle(viewer).backgroundColor.match(/\\d+/g);
  return red < 128 ? "dark" : "light";
}"""


def test_a_player_has_the_colours_of_its_page_or_device(host: HostPage, kept) -> None:
    for device, of_page, expected in (("dark", "", "dark"), ("dark", "light", "light"), ("light", "dark", "dark")):
        host.page.emulate_media(color_scheme=device)  # type: ignore[arg-type]
        if of_page:
            host.paste_elements((kept[0], ""), head=f"<style>:root {{ color-scheme: {of_page} }}</style>")
        else:
            host.page.goto(kept[1])
        wait_until_ready(host.page)
        assert host.page.evaluate(GROUND) == expected, (device, of_page)


def test_a_low_frame_shows_sentence_product_and_buttons(new_page: Opener, kept) -> None:
    page = new_page().page
    for width, height in ((640, 360), (560, 315)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{kept[1]}?s=1.4")
        wait_until_ready(page)
        expect(page.get_by_role("status", name="Narration")).to_be_visible()
        player = page.get_by_role("group", name="Player")
        expect(player.get_by_role("button", name="Next phase")).to_be_in_viewport(ratio=1)
        expect(player.get_by_role("slider", name="Phase")).to_be_in_viewport(ratio=1)
        callout = page.get_by_role("region", name="Vector-Jacobian product")
        expect(callout.get_by_role("table").first).to_be_in_viewport(ratio=1)
        node = page.get_by_role("group", name="Autograd graph").locator("[aria-current=step]").first
        # Of a card that is drawn smaller, browsers count the area with a rounding error.
        expect(node).to_be_in_viewport(ratio=0.9999)
