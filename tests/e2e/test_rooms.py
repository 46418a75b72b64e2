"""A lecture: a presenter's page, a follower's, the second screen, in three browsers' worth of contexts."""

import re

from playwright.sync_api import Locator, Page, expect

from gradwalk.words.catalogue import say
from tests.e2e.conftest import Opener
from tests.e2e.player import PlayerPage, fragment, named, number

SOURCE = """import torch
x = torch.tensor([2., 3.], requires_grad=True)
a = x * x
y = (a * x).sum()
y.backward()
"""
CODE = re.compile(r"^[B-Z]{6}$")


def open_room(presenter: PlayerPage, place: str = "3.3") -> str:
    """The code of a room whose presenter stands at `place`; its dialog stays open."""
    presenter.open(fragment(SOURCE, s=place))
    presenter.wait_for_steps(4)
    presenter.named("button", "page-room").click()
    presenter.named("button", "page-room-open").click()
    code = presenter.page.get_by_role("dialog").locator(".code")
    expect(code).to_have_text(CODE)
    return code.inner_text()


def follow(player: PlayerPage, code: str) -> None:
    player.page.goto(f"{player.server}/room/{code}")
    expect(bar(player)).to_contain_text(say("page-you-follow"))


def bar(player: PlayerPage) -> Locator:
    return player.named("region", "page-room")


def same_place(presenter: PlayerPage, follower: PlayerPage) -> None:
    expect(presenter.narration).not_to_be_empty()
    expect(follower.narration).to_have_text(presenter.narration.inner_text())


def answers(page: Page) -> Locator:
    """The histogram of what the hall answered."""
    return named(page, "figure", "page-answers")


def test_a_follower_stands_where_the_presenter_stands_wanders_off_and_comes_back(new_page: Opener) -> None:
    presenter, follower = new_page(), new_page()
    code = open_room(presenter)
    presenter.named("button", "page-done").click()
    follow(follower, code)
    same_place(presenter, follower)
    expect(follower.program).to_contain_text("a = x * x")
    expect(bar(presenter)).to_contain_text(say("page-following", count=1, away=0))
    followed = presenter.move("Next step")
    same_place(presenter, follower)

    follower.button("Previous phase").click()
    expect(bar(follower)).to_contain_text(say("page-on-your-own"))
    expect(bar(presenter)).to_contain_text(say("page-following", count=0, away=1))
    expect(follower.narration).not_to_have_text(presenter.move("First step"))
    follower.type_program(SOURCE.replace("3.", "5."))
    follower.button("Run").click()
    follower.show_panel("page-steps")
    expect(follower.page.get_by_role("table", name="Steps")).to_contain_text("25")
    follower.show_panel("page-program")

    follower.named("button", "page-back-to-lecture").click()
    same_place(presenter, follower)
    expect(follower.narration).not_to_have_text(followed)
    expect(follower.program).to_contain_text("[2., 3.]")
    follower.named("button", "page-what-i-tried").click()
    expect(follower.program).to_contain_text("[2., 5.]")

    follower.named("button", "page-back-to-lecture").click()
    presenter.type_program("sin(x*y) + x")
    expect(follower.program).to_contain_text("sin(x*y) + x")
    same_place(presenter, follower)
    presenter.page.reload()
    expect(bar(presenter)).to_contain_text(say("page-following", count=1, away=0))
    presenter.named("button", "page-close-room").click()
    closed = say("page-room-closed-by-lecturer")
    expect(follower.page.get_by_role("alert").filter(has_text=closed)).to_be_visible()


def test_the_hall_predicts_and_sees_nothing_until_it_is_revealed(new_page: Opener) -> None:
    presenter, follower, screen = new_page(), new_page(), new_page().page
    code = open_room(presenter, "2.2")
    screen.goto(presenter.named("link", "page-room-second").get_attribute("href") or "")
    presenter.named("button", "page-done").click()
    follow(follower, code)
    expect(screen.get_by_role("heading", name=code)).to_be_visible()
    presenter.named("button", "page-predict").click()
    presenter.button("Next phase").click()
    asked = follower.named("form", "page-prediction")
    expect(asked).to_be_visible()
    expect(named(screen, "heading", "page-screen-question-hidden")).to_be_visible()
    before = [each.narration.inner_text() for each in (presenter, follower)]
    asked.get_by_role("textbox").fill("2, 3")
    named(asked, "button", "page-commit").click()
    expect(follower.page.get_by_text(say("page-answer-sent"))).to_be_visible()
    expect(answers(screen)).to_contain_text(say("page-answers-count", count=1))
    expect(bar(presenter)).to_contain_text(say("page-answered", count=1))
    for each, said in zip((presenter, follower), before, strict=True):
        expect(answers(each.page)).to_have_count(0)
        expect(each.narration).to_have_text(said)

    named(presenter.named("form", "page-prediction"), "button", "page-skip").click()
    count = answers(follower.page).locator(".count")
    expect(count).to_be_visible()
    assert number(count.inner_text()) == 1
    expect(follower.named("status", "page-feedback")).not_to_be_empty()
    same_place(presenter, follower)
