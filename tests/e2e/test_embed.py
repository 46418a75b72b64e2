"""The embed page in a frame and the element on a page, on an origin of somebody else's."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Frame, Page, expect

from tests.e2e.conftest import Opener
from tests.world.shared import SharedServer
from tests.world.sites import keep_program

PROGRAM = "import torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
STOPS = ["0", "1.1", "1.2", "1.3", "1.4", "1.5", "2.1", "2.5"]
"""The product's, then those of x: two contributions, which meet and land."""
LISTEN = """<script>
window.heard = [];
addEventListener("message", (event) => heard.push(event.data));
const told = (type) => heard.filter((message) => message.ns === "gradwalk" && message.type === type);
const frame = () => document.querySelector("iframe").contentWindow;
const tell = (message) => frame().postMessage({ns: "gradwalk", v: 1, ...message}, "*");
</script>"""
FRAME = '<iframe sandbox="allow-scripts" title="A backward pass" src="{src}" width="900" height="600"></iframe>'


@pytest.fixture(scope="module")
def kept(server: SharedServer) -> tuple[str, str]:
    return keep_program(server.url, PROGRAM)


def told(page: Page, kind: str) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = page.evaluate("(type) => told(type)", kind)
    return messages


def wait_for(page: Page, kind: str, count: int = 1) -> dict[str, Any]:
    page.wait_for_function("([type, count]) => told(type).length >= count", arg=[kind, count])
    return told(page, kind)[-1]


def open_frame(new_page: Opener, site: tuple[Path, str], src: str, frame: str = FRAME) -> tuple[Page, Frame]:
    """A page of another origin with one frame, when the frame has said that it is ready."""
    folder, address = site
    (folder / "page.html").write_text(f"<!doctype html><title>t</title>{LISTEN}{frame.format(src=src)}")
    page = new_page().page
    page.goto(f"{address}/page.html")
    wait_for(page, "ready")
    return page, page.frames[1]


def place(frame: Frame) -> str:
    found: str = frame.evaluate("document.querySelector('grad-walk').state.place")
    return found


def test_a_locked_frame_gets_ready_steps_and_asks_nobody_else(new_page, site, server, kept) -> None:
    page = new_page().page
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    folder, address = site
    src = f"{server.url}/embed/{kept[1]}?s=1.3"
    (folder / "page.html").write_text(f"<!doctype html><title>t</title>{LISTEN}{FRAME.format(src=src)}")
    page.goto(f"{address}/page.html")
    ready = wait_for(page, "ready")
    assert (ready["steps"], ready["stops"]) == (2, STOPS)
    frame = page.frames[1]
    assert frame.evaluate("origin") == "null"
    assert place(frame) == "1.3"
    frame.get_by_role("button", name="Next phase").click()
    assert wait_for(page, "step")["place"] == "1.4"
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => told('step').at(-1).place === '1.3'")
    expect(frame.get_by_role("region", name="Vector-Jacobian product")).to_be_visible()
    assert frame.url == src, "an embed never rewrites its own address"
    assert page.context.cookies() == []
    assert {url.split("/")[2] for url in asked if url.startswith("http")} == {
        server.url.removeprefix("http://"),
        address.removeprefix("http://"),
    }
    assert not [url for url in asked if "/chunks/" in url], "layout and formulas were baked"
    assert frame.locator(".formula math").count() >= 3


@pytest.mark.parametrize("deck", ["", "reveal"])
def test_at_either_end_the_key_goes_to_the_deck(new_page, site, server, kept, deck: str) -> None:
    page, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}#s=2.5&deck={deck}")
    frame.locator(".viewport").click(position={"x": 300, "y": 20})
    page.keyboard.press("PageDown")
    assert wait_for(page, "edge")["side"] == "end"
    asked = page.evaluate("heard.filter((each) => typeof each === 'string')")
    assert asked == (['{"method":"next","args":[]}'] if deck else [])
    assert place(frame) == "2.5"
    page.evaluate("tell({type: 'goto', step: 0})")
    page.wait_for_function("() => told('step').at(-1)?.place === '0'")
    frame.locator(".viewport").click(position={"x": 300, "y": 20})
    page.keyboard.press("ArrowLeft")
    page.wait_for_function("() => told('edge').length === 2")
    assert told(page, "edge")[1]["side"] == "start"


def test_its_height_is_told_once_and_chased_by_nobody(new_page, site, server, kept) -> None:
    page, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}")
    told_height = wait_for(page, "resize")["height"]
    lti = page.evaluate("heard.filter((each) => each.subject === 'lti.frameResize')")
    assert lti[-1] == {"subject": "lti.frameResize", "height": told_height}
    page.evaluate("(height) => { document.querySelector('iframe').style.height = height + 'px' }", told_height)
    frame.wait_for_function("(height) => innerHeight === height", arg=told_height)
    assert frame.evaluate("document.documentElement.scrollHeight") == told_height
    for _ in range(10):
        page.evaluate("tell({type: 'next'})")
    page.wait_for_function("() => told('step').at(-1).place === '2.5'")
    heights = [each["height"] for each in told(page, "resize")]
    assert len(heights) <= 3
    assert heights == sorted(set(heights)), "the same height is told once"


ODD = """() => {
  const odd = [null, undefined, 0, NaN, "", "slide:start", '{"method":"next"}', [1, [2]], new Date(0), 7n, {},
    "<img src=x onerror=alert(1)>", "javascript:alert(1)"];
  for (const each of odd) {
    frame().postMessage(each, "*");
    for (const type of ["goto", "set", "export", "constructor", each]) {
      const v = type === "goto" || type === "set" ? 2 : 1;
      tell({type, v, step: each, phase: each, theme: each, hide: each, inputs: each, kind: each, innerHTML: each});
    }
  }
  tell({type: "state?"});
}"""


def test_odd_messages_do_nothing(new_page, site, server, kept) -> None:
    """A thousand of any kind are read in `messages.test.ts`."""
    page, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}?s=1.3&keys=off")
    shown = "(element) => element.shadowRoot.textContent"
    before, steps, ready = frame.locator("grad-walk").evaluate(shown), len(told(page, "step")), len(told(page, "ready"))
    page.evaluate(ODD)
    wait_for(page, "ready", ready + 1)
    frame.get_by_role("button", name="Play").focus()
    for key in ("ArrowRight", "PageDown", "End", "ArrowLeft"):
        page.keyboard.press(key)
    assert place(frame) == "1.3"
    # The answer to `state?` says where it stands; nothing else moved.
    assert len(told(page, "step")) == steps + 1
    assert frame.locator("img").count() == 0
    assert frame.locator("grad-walk").evaluate(shown) == before
    assert {message["code"] for message in told(page, "error")} == {"unreadable"}
    assert told(page, "edge") == []


def test_a_damaged_address_shows_a_message_and_the_picture(new_page, site, server, kept) -> None:
    """A thousand hashes are read in `settings.test.ts`."""
    parts = "title,link,program,table,narration,transport,zoom,equation"
    _, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}?hide={parts}#s=%00x&theme=pink&steps=9-1&v=1")
    expect(frame.get_by_role("alert")).not_to_be_empty()
    for each in ("", "#", "s=99999999", "s=-1", "c=%%%", "digits=1e9", "s=1.9", "hide=" + "a," * 5000):
        frame.evaluate("(hash) => { location.hash = hash }", each)
    expect(frame.get_by_role("article").first).to_be_visible()
    page = new_page().page
    for state in ("c=!!!", "code=x&i={", "v=1", "code=1&seed=-4"):
        page.goto("about:blank")
        page.goto(f"{server.url}/embed#{state}")
        expect(page.get_by_role("alert")).not_to_be_empty()


def test_a_program_in_the_hash_runs_on_ones_own_machine(new_page, server) -> None:
    page = new_page().page
    page.goto(f"{server.url}/embed#code=sin(x*y)&i=%7B%22x%22:2%7D&s=1.3")
    page.wait_for_function("() => document.querySelector('grad-walk').isReady")
    assert page.evaluate("document.querySelector('grad-walk').state.of") == 4


def test_two_elements_share_nothing_but_the_module(new_page, site, server, kept) -> None:
    folder, address = site
    (folder / "page.html").write_text(
        f"""<!doctype html><title>t</title><style>button {{ background: red !important }}</style>
        <grad-walk src="{server.url}/embed/{kept[1]}/trace.json" step="1.3"><p>one</p></grad-walk>
        <grad-walk src="{server.url}/api/traces/{kept[0]}" step="2" phase="2" theme="dark"><p>two</p></grad-walk>
        <script type="module" src="{server.url}/kit/gradwalk.js"></script>"""
    )
    page = new_page().page
    page.goto(f"{address}/page.html")
    page.wait_for_function("[...document.querySelectorAll('grad-walk')].every((each) => each.isReady)")
    one, two = page.locator("grad-walk").all()
    one.get_by_role("button", name="Next step").click()
    assert [each.evaluate("(element) => element.state.place") for each in (one, two)] == ["2.1", "2.1"]
    two.get_by_role("button", name="Play").focus()
    page.keyboard.press("ArrowRight")
    assert [each.evaluate("(element) => element.state.place") for each in (one, two)] == ["2.1", "2.5"]
    colours = "(element) => getComputedStyle(element.shadowRoot.querySelector('.viewer')).backgroundColor"
    assert one.evaluate(colours) != two.evaluate(colours)
    red = "(element) => getComputedStyle(element.shadowRoot.querySelector('.icon')).backgroundColor"
    assert one.evaluate(red) != "rgb(255, 0, 0)"
    assert page.evaluate("document.head.querySelectorAll('style').length") == 1


def test_without_scripts_the_children_are_seen(new_page, site, server, kept) -> None:
    folder, address = site
    (folder / "page.html").write_text(
        f"""<!doctype html><title>t</title><grad-walk src="{server.url}/api/traces/{kept[0]}">
        <img src="{server.url}/api/traces/{kept[0]}/export/svg?step=1" alt="y = x * x"></grad-walk>
        <script type="module" src="{server.url}/kit/gradwalk.js"></script>"""
    )
    page = new_page(java_script_enabled=False).page
    page.goto(f"{address}/page.html")
    expect(page.get_by_role("img", name="y = x * x")).to_be_visible()
    assert page.get_by_role("img").bounding_box()["width"] > 50


def test_a_trace_that_cannot_be_had_is_told_below_the_fallback(new_page, site, server) -> None:
    folder, address = site
    (folder / "no.json").write_text('{"format": 99}')
    (folder / "page.html").write_text(
        f"""<!doctype html><title>t</title><grad-walk src="no.json"><p>a picture</p></grad-walk>
        <script type="module" src="{server.url}/kit/gradwalk.js"></script>"""
    )
    page = new_page().page
    page.goto(f"{address}/page.html")
    expect(page.get_by_role("alert")).to_contain_text("99")
    expect(page.get_by_text("a picture")).to_be_visible()


def test_a_property_and_an_anywidget_model_give_the_same_player(new_page, site, server, kept) -> None:
    folder, address = site
    (folder / "page.html").write_text("<!doctype html><title>t</title><div id=el></div>")
    page = new_page().page
    page.goto(f"{address}/page.html")
    page.evaluate(
        """async ([module, address]) => {
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
        }""",
        [f"{server.url}/kit/gradwalk.js", f"{server.url}/api/traces/{kept[0]}"],
    )
    element = page.locator("grad-walk")
    page.wait_for_function("document.querySelector('grad-walk')?.state.place === '1.2'")
    assert element.evaluate("(element) => element.clientHeight") == 420
    element.get_by_role("button", name="Next phase").click()
    page.wait_for_function("window.saved === '1.3'")
    page.evaluate("model.change('step', '2.1')")
    page.wait_for_function("document.querySelector('grad-walk').state.place === '2.1'")
    page.evaluate("leave()")
    expect(element).to_have_count(0)


def test_an_interactive_frame_runs_other_inputs_and_hands_over_files(new_page, site, server, kept) -> None:
    page, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}?s=2.5&inputs=on")
    expect(frame.locator(".card.leaf .value")).to_contain_text("3")
    page.evaluate("tell({type: 'set', inputs: {x: -4.5}})")
    expect(frame.locator(".card.leaf .value")).to_contain_text("−4.5")
    expect(frame.locator(".card.leaf .leaf-grad")).to_contain_text("−9")
    assert place(frame) == "2.5"
    frame.get_by_role("button", name="Inputs").click()
    field = frame.get_by_role("spinbutton", name="x value")
    expect(field).to_have_value("-4.5")
    field.fill("2")
    field.press("Enter")
    expect(frame.locator(".card.leaf .leaf-grad")).to_contain_text("4")
    expect(frame.locator(".card.leaf")).to_be_in_viewport()
    page.evaluate("tell({type: 'export', kind: 'svg'})")
    page.wait_for_function("told('export').length === 1")
    drawn = page.evaluate("new TextDecoder().decode(told('export')[0].body)")
    assert ".grad 4" in drawn.replace("\N{NO-BREAK SPACE}", " ")
    assert told(page, "error") == []


def test_a_frame_for_replay_runs_nothing(new_page, site, server, kept) -> None:
    page, frame = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}?s=2.5")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("tell({type: 'set', inputs: {x: 5}}); tell({type: 'set', inputs: {x: 'os.system(1)'}})")
    page.wait_for_function("told('error').length === 2")
    assert [each["code"] for each in told(page, "error")] == ["replay_only", "unreadable"]
    expect(frame.get_by_role("button", name="Inputs")).to_have_count(0)
    assert asked == []


def test_a_reloaded_page_shows_the_same_step_every_time(new_page, site, server, kept) -> None:
    """A browser restores the address that a frame had last: an embed that wrote its own would come back elsewhere."""
    page, _ = open_frame(new_page, site, f"{server.url}/embed/{kept[1]}?s=1.3")
    for _ in range(2):
        page.evaluate("tell({type: 'next'})")
        page.wait_for_function("told('step').at(-1)?.place === '1.4'")
        page.reload()
        page.wait_for_function("told('step').at(-1)?.place === '1.3'")


GROUND = """() => {
  const viewer = document.querySelector("grad-walk").shadowRoot.querySelector(".viewer");
  const [red] = getComputedStyle(viewer).backgroundColor.match(/\\d+/g);
  return red < 128 ? "dark" : "light";
}"""


def test_a_player_has_the_colours_of_its_page_or_device(new_page, site, server, kept) -> None:
    folder, address = site
    page = new_page().page
    for device, of_page, expected in (
        ("light", "", "light"), ("dark", "", "dark"),
        ("dark", "light", "light"), ("light", "dark", "dark"), ("light", "normal", "light"),
    ):  # fmt: skip
        (folder / f"{of_page}.html").write_text(
            f"""<!doctype html><title>t</title><style>:root {{ color-scheme: {of_page} }}</style>
            <grad-walk src="{server.url}/api/traces/{kept[0]}"></grad-walk>
            <script type="module" src="{server.url}/kit/gradwalk.js"></script>"""
        )
        page.emulate_media(color_scheme=device)  # type: ignore[arg-type]
        page.goto(f"{address}/{of_page}.html" if of_page else f"{server.url}/embed/{kept[1]}")
        page.wait_for_function("() => document.querySelector('grad-walk')?.isReady")
        assert page.evaluate(GROUND) == expected, (device, of_page)


def test_a_low_frame_shows_sentence_product_and_buttons(new_page, server, kept) -> None:
    page = new_page().page
    for width, height in ((640, 360), (800, 400), (560, 315)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{server.url}/embed/{kept[1]}?s=1.4")
        page.wait_for_function("() => document.querySelector('grad-walk')?.isReady")
        expect(page.get_by_role("status", name="Narration")).to_be_visible()
        player = page.get_by_role("group", name="Player")
        expect(player.get_by_role("button", name="Next phase")).to_be_in_viewport(ratio=1)
        expect(player.get_by_role("slider", name="Phase")).to_be_in_viewport(ratio=1)
        callout = page.get_by_role("region", name="Vector-Jacobian product")
        expect(callout.get_by_role("table").first).to_be_in_viewport(ratio=1)
        node = page.get_by_role("group", name="Autograd graph").locator("[aria-current=step]").first
        # Of a card that is drawn smaller, browsers count the area with a rounding error.
        expect(node).to_be_in_viewport(ratio=0.9999)
