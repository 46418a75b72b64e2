"""The page as a person meets it: by the roles and names that `design/player.md` promises."""

import json
import re
import urllib.parse
from typing import Any

from playwright.sync_api import Locator, Page, expect

from gradwalk.words.catalogue import say


def fragment(source: str, **keys: Any) -> str:
    """The part of a link after `#`, written by hand rather than by the page."""
    spelled = {key: value if isinstance(value, str) else json.dumps(value) for key, value in keys.items()}
    return urllib.parse.urlencode({"v": "1", "code": source, **spelled}, quote_via=urllib.parse.quote)


def number(text: str) -> float:
    """A number as the page spells it: a true minus sign, `∞`, powers of ten as `1.5·10⁻⁷`."""
    plain = text.strip().replace("\u2212", "-").replace("∞", "inf")
    powers = re.fullmatch(r"(.*)·10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)", plain)
    if powers is None:
        return float(plain)
    return float(powers[1]) * 10.0 ** int(powers[2].translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


def numbers(table: Locator) -> list[list[float]]:
    """The numbers of a table, row by row, without its heads and marks."""
    spelled = table.evaluate("""table => [...table.rows].map((row) => [...row.querySelectorAll("td")].map((cell) => {
        const copy = cell.cloneNode(true);
        copy.querySelectorAll("sup").forEach((mark) => mark.remove());
        return copy.textContent;
    }))""")
    return [[number(text) for text in row] for row in spelled if row]


def slow_down(page: Page, bytes_per_second: int, latency: int = 100) -> None:
    """As DevTools does it."""
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    conditions = {"downloadThroughput": bytes_per_second, "uploadThroughput": bytes_per_second, "latency": latency}
    session.send("Network.emulateNetworkConditions", {"offline": False, **conditions})


def named(place: Page | Locator, role: str, key: str, **operands: str | int) -> Locator:
    """What has a role and, as its name, a message of the catalogue."""
    return place.get_by_role(role, name=say(key, **operands), exact=True)  # type: ignore[arg-type]


class PlayerPage:
    """One page with a program in it."""

    def __init__(self, page: Page, server: str) -> None:
        self.page = page
        self.server = server
        self.expected_complaints: list[str] = []
        """What the browser must be allowed to say in its console, as where the server is taken away."""

    def open(self, fragment: str = "") -> None:
        """Goes to a link, as in a new tab, and waits for the editor."""
        # Else only the hash changes, and what is on show may still be the last program's. An address of the same
        # server leaves the page its process, with what that has compiled.
        if self.page.url.startswith(self.server):
            self.page.goto(f"{self.server}/healthz")
        self.page.goto(f"{self.server}/#{fragment}" if fragment else self.server)
        # Until then the program is in a text area.
        expect(self.program).to_have_attribute("contenteditable", "true")

    @property
    def program(self) -> Locator:
        return self.page.get_by_role("textbox", name="Program")

    @property
    def narration(self) -> Locator:
        return self.page.get_by_role("status", name="Narration")

    @property
    def rows(self) -> Locator:
        """The rows of the step table, without its head; on their tab (`show_panel`)."""
        return self.page.get_by_role("table", name="Steps").locator("tbody tr:has(th)")

    @property
    def product(self) -> Locator:
        return self.page.get_by_role("region", name="Vector-Jacobian product")

    @property
    def problems(self) -> Locator:
        return self.page.get_by_role("region", name="Problems").get_by_role("alert")

    def named(self, role: str, key: str, **operands: str | int) -> Locator:
        return named(self.page, role, key, **operands)

    def part(self, name: str) -> Locator:
        """A part of the page that has no role of its own."""
        return self.page.locator(f"[data-part={name}]")

    def press(self, key: str, times: int = 1) -> None:
        for _ in range(times):
            self.page.keyboard.press(key)

    def move(self, button: str) -> str:
        """Presses a button of the transport; the sentence, which comes when the motion is over."""
        told = self.narration.inner_text()
        self.button(button).click()
        expect(self.narration).not_to_have_text(told)
        return self.narration.inner_text()

    def change_hash(self, fragment: str) -> None:
        """Opens a link in the page that is open."""
        self.page.evaluate("hash => { location.hash = hash }", fragment)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def show_panel(self, key: str) -> None:
        """One of the tabs beside the picture, `page-program` or `page-steps`."""
        self.named("tab", key).click()

    def choose_speed(self, speed: str) -> None:
        self.named("button", "page-view").click()
        self.named("combobox", "player-speed").select_option(speed)
        self.press("Escape")

    def slider(self, name: str) -> Locator:
        return self.page.get_by_role("slider", name=name, exact=True)

    def type_program(self, source: str) -> None:
        """Replaces the program by way of the clipboard's door, so that the editor indents nothing by itself."""
        self.program.click()
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.press("Delete")
        self.page.keyboard.insert_text(source)

    def run(self, source: str) -> None:
        """Replaces the program and runs it by its keys."""
        self.type_program(source)
        self.press("ControlOrMeta+Enter")

    def wait_for_end_of_run(self) -> None:
        """Of the run that is under way; what the status says would not do, it is silent for the first moments."""
        expect(self.page.locator("[data-is-running]")).to_have_attribute("data-is-running", "false")

    def wait_for_steps(self, count: int) -> None:
        expect(self.slider("Step")).to_have_attribute("max", str(count))

    def cells(self, table: str) -> list[list[float]]:
        """The numbers of one table of the equation, row by row."""
        grid = self.product.get_by_role("table", name=table, exact=True).first
        grid.wait_for()
        # An entry that its products have not reached yet.
        expect(grid.get_by_text("·", exact=True)).to_have_count(0)
        return numbers(grid)

    def place(self) -> str | None:
        """`step.phase` as the address bar has it."""
        keys = urllib.parse.parse_qs(urllib.parse.urlsplit(self.page.url).fragment)
        return keys.get("s", [None])[0]

    def wait_for_key(self, key: str, value: str) -> None:
        """Until the address has it."""
        self.page.wait_for_function(
            "([key, value]) => new URLSearchParams(location.hash.slice(1)).get(key) === value",
            arg=[key, value],
        )

    def wait_for_place(self, place: str) -> None:
        self.wait_for_key("s", place)
