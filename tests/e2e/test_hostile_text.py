"""What comes out of a program is text on the page, whatever it is made of; the page says how well it is locked in."""

import json

from playwright.sync_api import Route, expect

from gradwalk.sandbox.selftest import Protection
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment

MARKUP = "<img src=x onerror=document.title='gone'><script>document.title='gone'</script>"
CONTROLS = "\u202e\u2066\x1b]0;gone\x07\u200b"
PROGRAM = f"""
import torch
class Weird(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
Weird.__name__ = {MARKUP!r}
x = torch.tensor(1.0, requires_grad=True)
print({MARKUP!r}, {CONTROLS!r})
Weird.apply(x).backward()
raise ValueError({MARKUP + CONTROLS!r})
"""


def test_markup_bidi_and_control_characters_stay_text(player: PlayerPage) -> None:
    player.open(fragment(PROGRAM, s="1.3"))
    player.wait_for_steps(2)
    expect(player.problems.first).to_contain_text(MARKUP)
    assert player.page.locator("img[src=x], script:not([src]):not([type])").count() == 0
    assert "gone" not in player.page.title()
    # Turned text ends with its own paragraph: what stands beside it reads as ever.
    button = player.problems.first.get_by_role("button").first
    expect(button).to_be_visible()
    assert button.evaluate("element => getComputedStyle(element).direction") == "ltr"


def test_below_full_the_page_wears_a_badge(player: PlayerPage) -> None:
    def downgrade(route: Route) -> None:
        answer = route.fetch()
        protection = Protection("none", ("read", "exec")).describe()
        route.fulfill(response=answer, body=json.dumps(answer.json() | {"protection": protection}))

    player.page.route("**/api/server", downgrade)
    player.open(fragment("x * x"))
    badge = player.named("note", "page-protection")
    for key in ("page-protection-none", "page-protection-read", "page-protection-exec"):
        expect(badge).to_contain_text(say(key))
    player.page.unroute("**/api/server")
    player.page.reload()
    player.wait_for_steps(2)
    expect(badge).to_have_count(0)
