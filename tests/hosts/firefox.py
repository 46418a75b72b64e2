"""Firefox by its own remote protocol, Marionette: JSON over a plain socket, so that no driver has to be installed.

Debian has no geckodriver, and Playwright's WebDriver BiDi asks Debian's Firefox for a command that it does not have.
"""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.world.processes import end, wait_until

PATIENCE_SECONDS = 40
# Nothing but this machine is reached: whatever asks for more finds a proxy that is not there.
PREFERENCES = {
    "network.proxy.type": 1,
    "network.proxy.http": "127.0.0.1",
    "network.proxy.http_port": 9,
    "network.proxy.ssl": "127.0.0.1",
    "network.proxy.ssl_port": 9,
    "datareporting.policy.dataSubmissionEnabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.aboutwelcome.enabled": False,
    "ui.prefersReducedMotion": 1,
}
ARROW_RIGHT, PAGE_DOWN = "\ue014", "\ue00f"
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Firefox:
    """One window of a running Firefox."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._incoming = self._socket.makefile("rb")
        self._count = 0
        self._receive()
        self._ask("WebDriver:NewSession", {})

    def close(self) -> None:
        self._incoming.close()
        self._socket.close()

    def _receive(self) -> Any:
        digits = b""
        while (byte := self._incoming.read(1)) != b":":
            if not byte:
                raise ConnectionError("Firefox has gone")
            digits += byte
        return json.loads(self._incoming.read(int(digits)))

    def _ask(self, command: str, parameters: dict[str, Any]) -> Any:
        self._count += 1
        message = json.dumps([0, self._count, command, parameters]).encode()
        self._socket.sendall(str(len(message)).encode() + b":" + message)
        _, _, error, result = self._receive()
        if error is not None:
            raise RuntimeError(f"{command}: {error['error']}: {error['message']}")
        return result

    def open(self, address: str) -> None:
        self._ask("WebDriver:Navigate", {"url": address})

    def run(self, script: str, *arguments: object) -> Any:
        """The value of a function's body, or of the promise that it returns."""
        asked = {"script": f"return (async () => {{ {script} }})()", "args": list(arguments)}
        return self._ask("WebDriver:ExecuteScript", asked)["value"]

    def click(self, expression: str) -> None:
        """Clicks the element that a JavaScript expression is."""
        self._ask("WebDriver:ElementClick", {"id": self.run(f"return {expression}")[_ELEMENT]})

    def press(self, key: str) -> None:
        """Presses a key, wherever the focus is."""
        strokes = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]
        self._ask("WebDriver:PerformActions", {"actions": [{"type": "key", "id": "keyboard", "actions": strokes}]})

    @contextmanager
    def frame(self) -> Iterator[None]:
        """What is asked inside the block is asked of the page's first frame."""
        self._ask("WebDriver:SwitchToFrame", {"id": 0})
        try:
            yield
        finally:
            self._ask("WebDriver:SwitchToFrame", {"id": None})

    def wait_until(self, expression: str, *arguments: object) -> None:
        """Until a JavaScript expression is true of the page."""
        wait_until(lambda: self.run(f"return Boolean({expression})", *arguments))


@contextmanager
def running_firefox(profile: Path) -> Iterator[Firefox]:
    """Firefox without a screen, with a profile of its own; ends with the block."""
    executable = shutil.which("firefox") or shutil.which("firefox-esr")
    assert executable is not None, "no Firefox: run make test-hosts, which installs it"
    lines = {**PREFERENCES, "marionette.port": 0}.items()
    (profile / "user.js").write_text("".join(f"user_pref({json.dumps(k)}, {json.dumps(v)});\n" for k, v in lines))
    command = [executable, "--headless", "--width=1440", "--height=900", "--marionette", "--no-remote"]
    process = subprocess.Popen([*command, "--profile", profile], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port = wait_until(lambda: _port_of(profile), process)
        with closing(Firefox(port)) as firefox:
            yield firefox
    finally:
        end(process)


def _port_of(profile: Path) -> int | None:
    """Where it listens: with port 0 Firefox picks one and writes it down."""
    try:
        return int((profile / "MarionetteActivePort").read_text())
    except (FileNotFoundError, ValueError):
        return None
