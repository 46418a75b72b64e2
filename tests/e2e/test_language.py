"""The page speaks the language that was chosen; where its catalogue cannot be had, English."""

from playwright.sync_api import expect

from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment

CATALOGUE = "**/assets/de-*.js"


def test_a_link_in_german_is_german(player: PlayerPage) -> None:
    player.page.goto(f"{player.server}/#{fragment('x*y', lang='de')}")
    expect(player.page.get_by_role("textbox", name=say("page-program", "de"))).to_be_visible()
    expect(player.page.locator("html")).to_have_attribute("lang", "de")


def test_a_catalogue_that_does_not_come_leaves_an_english_page(player: PlayerPage) -> None:
    player.expected_complaints = ["net::ERR_FAILED"]
    player.page.route(CATALOGUE, lambda route: route.abort())
    with player.page.expect_event("requestfailed", lambda request: "/assets/de-" in request.url):
        player.open(fragment("x*y", lang="de"))
    expect(player.page.locator("html")).to_have_attribute("lang", "en")
