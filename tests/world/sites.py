"""Pages of somebody else: a site on an origin of its own that embeds what this server gives."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

NODE_MODULES = Path(__file__).parents[2] / "frontend" / "node_modules"
TWO_LAYERS = """# Two layers, one step
torch.manual_seed(0)
x = torch.tensor([[1.0, 2.0]])
W1 = torch.randn(2, 3, requires_grad=True)
b1 = torch.zeros(3, requires_grad=True)
W2 = torch.randn(3, 1, requires_grad=True)
h = torch.relu(x @ W1 + b1)
y = h @ W2
target = torch.tensor([[1.0]])
loss = ((y - target) ** 2).mean()
loss.backward()
"""
"""The example by which links and embeds are measured: eleven lines."""

LISTEN = """<!doctype html><meta charset="utf-8"><title>t</title><script>
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

    def do_GET(self) -> None:
        if self.path == "/favicon.ico":
            self.send_response(204)
            self.end_headers()
        else:
            super().do_GET()

    def end_headers(self) -> None:
        """Two versions of a page that are written within a second look alike to `If-Modified-Since`."""
        self.send_header("Cache-Control", "no-store")
        super().end_headers()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server for a folder; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def keep_program(server: str, source: str) -> tuple[str, str]:
    """Runs a program and keeps it; gives the ids of its trace and of its snippet."""
    with httpx.Client(base_url=server, timeout=60) as client:
        body = {"source": source, "options": {}}
        client.post("/api/traces", json=body, headers={"Accept": "text/event-stream"}).raise_for_status()
        receipt = client.post("/api/traces", json=body).json()
        assert receipt["status"] == "done"
        return receipt["id"], client.post("/api/snippets", json=body).json()["id"]
