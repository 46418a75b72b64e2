"""A lecture: a presenter's page, a follower's, the second screen, in three browsers' worth of contexts."""

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment, number

SOURCE = """import torch
x = torch.tensor([2., 3.], requires_grad=True)
a = x * x
y = (a * x).sum()
y.backward()
"""
PLACE_MS = 15_000
CODE = re.compile(r"^[B-Z]{6}$")


def open_room(presenter: PlayerPage, place: str = "3.3") -> str:
    """The code of a room whose presenter stands at `place`."""
    presenter.open(fragment(SOURCE, s=place))
    presenter.wait_for_steps(4)
    presenter.button("Room").click()
    presenter.button("Open a room").click()
    code = presenter.page.get_by_role("dialog").locator(".code")
    expect(code).to_have_text(CODE)
    text = code.text_content() or ""
    presenter.button("Done").click()
    return text


def follow(player: PlayerPage, code: str) -> PlayerPage:
    player.page.goto(f"{player.server}/room/{code}")
    expect(bar(player.page)).to_contain_text("You follow the lecture.")
    return player


def bar(page: Page) -> Locator:
    return page.get_by_role("region", name="Room")


def same_place(presenter: PlayerPage, follower: PlayerPage) -> None:
    sentence = presenter.narration.text_content() or ""
    assert sentence
    expect(follower.narration).to_have_text(sentence, timeout=PLACE_MS)


def test_a_follower_stands_where_the_presenter_stands_wanders_off_and_comes_back(new_page: Opener) -> None:
    presenter, follower = new_page(), new_page()
    code = open_room(presenter)
    follow(follower, code)
    same_place(presenter, follower)
    expect(follower.program).to_contain_text("a = x * x")
    expect(bar(presenter.page)).to_contain_text("1 following")
    presenter.button("Next step").click()
    same_place(presenter, follower)
    followed = follower.narration.text_content()

    follower.button("Previous phase").click()
    expect(bar(follower.page)).to_contain_text("You are on your own")
    expect(bar(presenter.page)).to_contain_text("0 following, 1 trying")
    presenter.button("First step").click()
    expect(follower.narration).not_to_have_text(presenter.narration.text_content() or "")
    follower.type_program(SOURCE.replace("3.", "5."))
    follower.button("Run").click()
    expect(follower.page.get_by_role("table", name="Steps")).to_contain_text("25")

    follower.button("Back to the lecture").click()
    same_place(presenter, follower)
    assert follower.narration.text_content() != followed
    expect(follower.program).to_contain_text("[2., 3.]")
    follower.button("What I tried").click()
    expect(follower.program).to_contain_text("[2., 5.]")


@pytest.mark.soak
def test_the_presenter_s_new_program_reaches_the_hall_and_whoever_comes_late(new_page: Opener) -> None:
    presenter, early, late = new_page(), new_page(), new_page()
    code = open_room(presenter)
    follow(early, code)
    presenter.type_program("sin(x*y) + x")
    expect(early.program).to_contain_text("sin(x*y) + x", timeout=PLACE_MS)
    follow(late, code)
    expect(late.program).to_contain_text("sin(x*y) + x")
    same_place(presenter, late)
    presenter.page.reload()
    expect(bar(presenter.page)).to_contain_text("2 following")
    presenter.button("Close the room").click()
    for each in (early, late):
        expect(each.page.get_by_role("alert").filter(has_text="closed the room")).to_be_visible()


def test_the_hall_predicts_and_sees_nothing_until_it_is_revealed(new_page: Opener) -> None:
    presenter, follower, screen = new_page(), new_page(), new_page().page
    code = open_room(presenter, "2.2")
    follow(follower, code)
    presenter.button("Room").click()
    screen.goto(presenter.page.get_by_role("link", name="Open the second screen").get_attribute("href") or "")
    presenter.button("Done").click()
    expect(screen.get_by_role("heading", name=code)).to_be_visible()
    presenter.button("Predict").click()
    presenter.button("Next phase").click()
    asked = follower.page.get_by_role("form", name="Prediction")
    expect(asked).to_be_visible(timeout=PLACE_MS)
    expect(screen.get_by_role("heading", name="Question")).to_be_visible()
    before = [each.narration.text_content() for each in (presenter, follower)]
    asked.get_by_role("textbox").fill("2, 3")
    asked.get_by_role("button", name="Commit").click()
    expect(follower.page.get_by_text("stays hidden until the lecturer reveals it")).to_be_visible()
    expect(screen.get_by_role("figure", name="Answers of the hall")).to_contain_text("1 answer")
    expect(bar(presenter.page)).to_contain_text("1 answered")
    expect(presenter.page.get_by_role("figure", name="Answers of the hall")).to_have_count(0)
    expect(follower.page.get_by_role("figure", name="Answers of the hall")).to_have_count(0)
    assert [each.narration.text_content() for each in (presenter, follower)] == before

    presenter.page.get_by_role("form", name="Prediction").get_by_role("button", name="Skip").click()
    histogram = follower.page.get_by_role("figure", name="Answers of the hall")
    expect(histogram).to_be_visible(timeout=PLACE_MS)
    count = histogram.locator(".count").text_content() or ""
    assert number(count) == 1
    expect(follower.page.get_by_role("status", name="Feedback")).to_contain_text("it is")
    same_place(presenter, follower)
