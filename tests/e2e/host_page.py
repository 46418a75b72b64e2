"""A page of somebody else's, on an origin of its own, with frames and elements of gradwalk on it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Frame, Locator, Page

from tests.world.sites import LISTEN

FRAME = '<iframe sandbox="allow-scripts" title="A backward pass" src="{src}" width="900" height="600"></iframe>'
ELEMENT = '<grad-walk src="{src}" {attributes}>{fallback}</grad-walk>'
MODULE = '<script type="module" src="{server}/kit/gradwalk.js"></script>'


def place(host: Page | Frame) -> str:
    """Where the first player of a document stands."""
    return host.evaluate("document.querySelector('grad-walk').state.place")


def wait_until_ready(host: Page | Frame) -> None:
    """Until every player of a document has its trace."""
    host.wait_for_function(
        "() => { const all = [...document.querySelectorAll('grad-walk')];"
        " return all.length > 0 && all.every((each) => each.isReady) }"
    )


@dataclass
class HostPage:
    """One such page; what it hears from its frame is in `heard`."""

    page: Page
    folder: Path
    address: str
    server: str

    def paste(self, markup: str, name: str = "page.html") -> None:
        (self.folder / name).write_text(LISTEN + markup)
        self.page.goto(f"{self.address}/{name}")

    def paste_frame(self, src: str) -> Frame:
        """A frame that is locked as tightly as a host may; returns when it has said that it is ready."""
        self.paste(FRAME.format(src=src))
        self.wait_for("ready")
        return self.page.frames[1]

    def paste_elements(self, *sources: tuple[str, str], fallback: str = "", head: str = "") -> list[Locator]:
        """An element for each source and its attributes."""
        elements = (ELEMENT.format(src=src, attributes=each, fallback=fallback) for src, each in sources)
        self.paste(head + "".join(elements) + MODULE.format(server=self.server))
        return self.page.locator("grad-walk").all()

    def tell(self, message: str) -> None:
        """Sends the frame a message, spelled in JavaScript."""
        self.page.evaluate(f"tell({{{message}}})")

    def told(self, kind: str) -> list[dict[str, Any]]:
        return self.page.evaluate("(type) => told(type)", kind)

    def wait_for(self, kind: str, count: int = 1) -> dict[str, Any]:
        """The last of so many messages of a kind."""
        self.page.wait_for_function("([type, count]) => told(type).length >= count", arg=[kind, count])
        return self.told(kind)[-1]

    def wait_for_place(self, place: str) -> None:
        """Until the frame has said that it stands there."""
        self.page.wait_for_function("(place) => told('step').at(-1)?.place === place", arg=place)
