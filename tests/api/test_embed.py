"""What a link gives without the page's own code: frames, previews, oEmbed, pictures; and the headers of each."""

import re
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import httpx
import pytest

from gradwalk.api.app import create_app
from gradwalk.api.programs import title_of
from gradwalk.api.settings import Settings
from tests.world.sites import keep_program

SOURCE = (
    "# Why is it multiplied?\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\nprint('</script>')\n"
)


@pytest.fixture(scope="module")
def kept(server: Any) -> tuple[httpx.Client, str, str]:
    return server.client, *keep_program(server.url, "import torch\n" + SOURCE)


def policy(answer: httpx.Response) -> dict[str, str]:
    lines = answer.headers["content-security-policy"].split("; ")
    return {name: rest for name, _, rest in (line.partition(" ") for line in lines)}


def test_the_frame_may_be_framed_and_no_other_page_and_none_sets_a_cookie(kept) -> None:
    client, _, snippet = kept
    framed = {f"/embed/{snippet}": 200, "/embed": 200, f"/embed/{'0' * 40}": 404, "/embed/cut-off": 404}
    others = {"/": 200, f"/t/{snippet}": 200, f"/noscript/{snippet}": 200, "/healthz": 200, "/nowhere": 404}
    for path, status in (framed | others).items():
        answer = client.get(path, headers={"Accept": "text/html"})
        assert (answer.status_code, 'href="/"' in answer.text) == (status, status != 200)
        assert policy(answer)["frame-ancestors"] == ("*" if path in framed else "'none'")
        assert path in others or policy(answer)["default-src"] == "'none'"
        assert not {"x-frame-options", "set-cookie"} & set(answer.headers)
    assert client.get(f"/embed/{'0' * 40}/trace.json").headers["access-control-allow-origin"] == "*"


async def test_who_may_frame_and_what_is_served_without_the_page_are_settings(tmp_path: Path) -> None:
    allowed = "https://lms.example.edu https://*.example.org"
    settings = Settings(data_directory=tmp_path, static_directory=tmp_path / "nothing", frame_ancestors=allowed)
    transport = httpx.ASGITransport(create_app(settings))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        embed, page = [await client.get(path) for path in ("/embed", "/")]
    assert (policy(embed)["frame-ancestors"], page.status_code) == (allowed, 503)


def test_a_link_says_what_its_preview_needs(kept) -> None:
    client, _, snippet = kept
    page = client.get(f"/t/{snippet}?s=1.3").text
    said = dict(re.findall(r'<meta property="(og:[^"]+)" content="([^"]*)">', page))
    assert said["og:title"] == "Why is it multiplied?"
    assert said["og:url"].endswith(f"/t/{snippet}?s=1.3")
    assert said["og:description"].startswith("Step 1 of 2: ")
    assert said["og:image:alt"] == said["og:description"]
    assert (said["og:type"], said["og:image:width"], said["og:image:height"]) == ("website", "1200", "630")
    picture = client.get(httpx.URL(said["og:image"]).raw_path.decode())
    assert (picture.headers["content-type"], len(picture.content) < 1_000_000) == ("image/png", True)
    assert struct.unpack(">8s8xII", picture.content[:24]) == (b"\x89PNG\r\n\x1a\n", 1200, 630)
    assert client.get(f"/t/{snippet}/preview.png?s=1.1").content != picture.content
    assert 'name="twitter:card" content="summary_large_image"' in page
    assert title_of("x\n" * 60_000 + "# late\ny", "en") == "The backward pass of y", "it is not looked through"


@pytest.mark.parametrize("place", ["x", "9.9", "-1", "1.2.3", "%3Cscript%3E", "0" * 500])
def test_a_damaged_place_still_opens(kept, place: str) -> None:
    client, _, snippet = kept
    link, page = client.get(f"/t/{snippet}?s={place}"), client.get(f"/embed/{snippet}?s={place}")
    assert link.status_code == page.status_code == 200
    assert " step=" not in page.text.split('<script type="application/json">')[0]


@pytest.mark.parametrize("inputs", ["{", "[1]", "[" * 3000, '{"k": "\\ud800"}', '{"k": ' + "[" * 300 + "]" * 300 + "}"])
def test_damaged_inputs_of_a_kept_program_are_refused(kept, inputs: str) -> None:
    client, _, snippet = kept
    assert client.get(f"/embed/{snippet}/trace.json", params={"i": inputs}).status_code == 422


def test_a_link_is_found_by_oembed(kept) -> None:
    client, _, snippet = kept
    page = client.get(f"/t/{snippet}?s=1.3").text
    (link,) = re.findall(r'<link rel="alternate" type="application/json\+oembed" href="([^"]+)"', page)
    address = httpx.URL(link.replace("&amp;", "&")).raw_path.decode()
    answer = client.get(address)
    assert answer.headers["content-type"] == "application/json"
    said = answer.json()
    assert (said["version"], said["type"], said["title"]) == ("1.0", "rich", "Why is it multiplied?")
    frame = ET.fromstring(said["html"].replace(" allowfullscreen", ""))
    assert (frame.tag, frame.get("title")) == ("iframe", said["title"])
    assert frame.get("src", "").endswith(f"/embed/{snippet}?s=1.3")
    assert (int(frame.get("width", 0)), int(frame.get("height", 0))) == (said["width"], said["height"])
    assert {"thumbnail_url", "thumbnail_width", "thumbnail_height"} <= set(said)
    small = client.get(f"{address}&maxwidth=320&maxheight=200").json()
    assert (small["width"], small["height"], "thumbnail_url" in small) == (320, 200, False)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("url={base}t/{snippet}&format=xml", 501),
        ("url={base}t/" + "0" * 40, 404),
        ("url=https://elsewhere.example/t/{snippet}", 404),
        ("url=http://[", 404),
    ],
)
def test_oembed_says_what_it_cannot_do(kept, query: str, status: int) -> None:
    client, _, snippet = kept
    answer = client.get("/oembed?" + query.format(base=str(client.base_url), snippet=snippet))
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")


def test_every_step_is_a_picture_and_a_sentence_without_scripts(kept) -> None:
    client, trace, snippet = kept
    page = client.get(f"/noscript/{snippet}").text
    steps = [event for event in client.get(f"/api/traces/{trace}").json()["events"] if event["type"] == "step"]
    assert (page.count("<figure"), page.count("<script")) == (len(steps), 0) == (2, 0)
    for number, source in enumerate(re.findall(r'<img src="([^"]+)"', page), start=1):
        assert f"step={number}" in source
        assert client.get(source).headers["content-type"].startswith("image/svg+xml")
