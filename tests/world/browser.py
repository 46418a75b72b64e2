"""Chromium, and what its pages complain about."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.world.processes import ROOT
from tests.world.server import ELSEWHERE

CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
]  # fmt: skip

# As long as Playwright's own actions wait. Its five seconds are too few beside a program that is traced elsewhere.
expect.set_options(timeout=30_000)


@contextmanager
def running_browser() -> Iterator[Browser]:
    """Chromium from `CHROMIUM`, or the one on PATH."""
    executable = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if executable is None:
        raise RuntimeError("no Chromium: install it, or name it in CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, headless=True, args=CHROMIUM_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


def axe(where: str = "document") -> str:
    """The body of an async function: rule, element and reason of everything that axe finds wrong.

    Axe stumbles over elements that go while it looks, so it looks again at a page that changed."""
    return f"""{(ROOT / "frontend/node_modules/axe-core/axe.min.js").read_text()};
        const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
        let changed = false;
        new MutationObserver(() => {{ changed = true; }}).observe(document, {{ childList: true, subtree: true }});
        for (let left = 9; ; left--) {{
            changed = false;
            const run = window.axe.run({where}, {{ runOnly: {{ type: "tag", values: tags }} }});
            const found = await run.catch((error) => {{ if (!changed || left === 0) throw error; }});
            if (changed && left > 0) continue;
            const of = ({{ id, nodes }}) => nodes.map((node) => [id, node.html, node.failureSummary]);
            return found.violations.flatMap(of);
        }}"""


# Said by Chromium about every page over plain HTTP that is not on this machine.
UNAVOIDABLE = "The Cross-Origin-Opener-Policy header has been ignored"


class Complaints:
    """What a page must never say: errors in the console, uncaught exceptions, breaches of its own policy."""

    def __init__(self, page: Page) -> None:
        self.texts: list[str] = []
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.texts.append(str(error)))
        page.add_init_script(
            "addEventListener('securitypolicyviolation', (event) =>"
            " console.error('policy violated: ' + event.violatedDirective + ' ' + event.blockedURI))"
        )

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not message.text.startswith(UNAVOIDABLE):
            self.texts.append(message.text)
