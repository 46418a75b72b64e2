"""Pages of somebody else: a site on an origin of its own that embeds what this server gives."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from tests.world.stream import trace_events

NODE_MODULES = Path(__file__).parents[2] / "frontend" / "node_modules"
LISTEN = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>t</title><script>
window.heard = [];
addEventListener("message", ({data}) => heard.push(data));
window.told = (type) => heard.filter((each) => each?.ns === "gradwalk" && each.type === type);
window.frame = () => document.querySelector("iframe").contentWindow;
window.tell = (message) => frame().postMessage({ns: "gradwalk", v: 1, ...message}, "*");
</script>"""
"""The head of a page that notes what it hears from its frame and can send to it."""


class _Handler(SimpleHTTPRequestHandler):
    """Files of a folder; under /npm/ those of the front end's packages."""

    def translate_path(self, path: str) -> str:
        if path.startswith("/npm/"):
            return str(NODE_MODULES / path.removeprefix("/npm/").partition("?")[0])
        return super().translate_path(path)

    def end_headers(self) -> None:
        """Two versions of a page that are written within a second look alike to `If-Modified-Since`."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server for a folder; gives its address."""
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder))) as server,
        ThreadPoolExecutor(1) as thread,
    ):
        thread.submit(server.serve_forever)
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def keep_program(server: str, source: str) -> tuple[str, str]:
    """Runs a program and keeps it; gives the ids of its trace and of its snippet."""
    with httpx.Client(base_url=server, timeout=60) as client:
        trace = str(trace_events(client, source)[0]["id"])
        return trace, client.post("/api/snippets", json={"source": source}).json()["id"]
