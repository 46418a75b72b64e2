"""A real server and a real browser, for tests, screenshots and benchmarks."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.own_process import end, free_port

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "server" / "gradwalk" / "static"
READY_SECONDS = 90
ELSEWHERE = "lecture.test"
"""A name under which the server is not on the reader's own machine, as far as the browser can tell."""
CHROMIUM_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
]


@contextmanager
def running_server(**settings: object) -> Iterator[str]:
    """`gradwalk serve` with an empty store of its own; gives its address and ends it afterwards."""
    if not (STATIC / "index.html").exists():
        raise RuntimeError("the page is not built: run `make install`")
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "server.log"
        environment = {
            **os.environ,
            "GRADWALK_DATA_DIRECTORY": folder,
            "GRADWALK_ALLOWED_HOSTS": json.dumps([ELSEWHERE]),
            **{f"GRADWALK_{name.upper()}": str(value) for name, value in settings.items()},
        }
        with log.open("wb") as output:
            server = subprocess.Popen(
                [str(Path(sys.executable).parent / "gradwalk"), "serve", "--host", "127.0.0.1", "--port", str(port)],
                cwd=folder,
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait_until_ready(server, address, log)
            yield address
        finally:
            end(server)


def _wait_until_ready(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            break
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):
                return
        except (urllib.error.URLError, TimeoutError, ConnectionError):
            time.sleep(0.1)
    raise RuntimeError(f"the server did not get ready:\n{log.read_text(errors='replace')[-4000:]}")


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
