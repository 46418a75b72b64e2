"""What went wrong, or stands out, is on the page with its line; the page goes on."""

import json
import re
import warnings

import httpx
import torch
from playwright.sync_api import Route, expect

from gradwalk.sandbox.selftest import Protection
from gradwalk.words.catalogue import say
from tests.e2e.player import PlayerPage, fragment, named
from tests.twin import run_plain

MISTAKES = [
    # Program, line, and a word of torch's or Python's own, or of what to do.
    ("import torch\nx = torch.tensor(1.0, requires_grad=True\ny = x * x", 2, ""),
    ("import torch\nx = torch.tensor(1.0, requires_grad=True)\ny = torch.sine(x)", 3, "sine"),
    ("import torch\nx = torch.ones(3, requires_grad=True)\n(x * 2).backward()", 3, "scalar"),
    ("import torch\nx = torch.ones(3, requires_grad=True)\ntorch.optim.SGD(x, 0.1)", 3, "into a list"),
]


def test_a_mistake_is_told_at_its_line_and_goes_when_it_is_mended(player: PlayerPage) -> None:
    for source, line, word in MISTAKES:
        player.open(fragment(source))
        card = player.problems.first
        expect(card).to_contain_text(word)
        card.get_by_role("button", name=say("page-go-to-line", line=line)).click()
        expect(player.program).to_be_focused()
        expect(player.page.locator(".cm-lintRange-error").first).to_be_visible()
    player.run("x * x")
    player.wait_for_steps(2)
    expect(player.problems).to_have_count(0)
    # An expression half typed leaves the picture.
    player.type_program("x * x *")
    expect(player.problems).to_have_count(1)
    player.wait_for_steps(2)
    # Of a program without a graph there is nothing to show.
    player.run("import torch\nprint(torch.ones(2))")
    expect(player.named("heading", "page-no-pass")).to_be_visible()
    expect(player.problems.first).to_contain_text("requires_grad=True")


def test_a_press_adds_the_call_that_is_missing_and_runs(player: PlayerPage) -> None:
    step = "(torch.ones(2, requires_grad=True) * 2).sum().backward()"
    player.open(fragment(f"import torch\ndef train():\n    {step}"))
    player.problems.get_by_role("button", name=say("page-add-call", call="train()")).click()
    player.wait_for_steps(3)
    expect(player.problems).to_have_count(0)
    expect(player.program).to_contain_text("backward()\n\ntrain()", use_inner_text=True)
    # Nothing has a value for what it takes.
    player.open(fragment(f"import torch\ndef train(data):\n    {step}"))
    expect(player.problems).to_have_count(1)
    expect(player.problems.get_by_role("button", name=say("page-add-call", call="train(data)"))).to_have_count(0)


SHAPES = """
import torch

def block(t):
    u = t * 2
    return u.sin()

x = torch.ones(2, 3, requires_grad=True)
w = torch.ones(2, 3, requires_grad=True)
(w * 3).sum().backward()
z = block(x) @ w
""".strip()


def test_a_call_that_raised_stands_in_the_graph_with_its_operands(player: PlayerPage) -> None:
    """After a pass that went well, and with an operand that comes out of a group."""
    player.open(fragment(SHAPES, s="1.3"))
    player.wait_for_steps(3)
    card = player.problems.first
    for number in (1, 2):
        expect(card).to_contain_text(say("page-operand-shape", number=number, shape="[2 × 3] float32"))
    card.get_by_role("button", name=say("page-show-node")).click()
    failed = player.named("article", "player-node-raised", node="matmul")
    expect(failed).to_be_visible()
    for operand in ("u.sin()", "w"):
        expect(player.page.get_by_role("table", name=operand, exact=True)).to_be_visible()
    player.show_panel("page-steps")
    player.rows.first.click()
    expect(failed).to_have_count(0)
    # Of a backward that raised, the node is in the graph anyway.
    player.open("example=wrong-shape&s=2.5")
    # By hand: columns of the Jacobian of (x^2, xy, y^2) at (2, 3).
    refused = player.page.get_by_role("table", name=say("player-refused-for", name="p"))
    expect(refused.get_by_role("cell")).to_have_text(["4", "3", "0", "0", "2", "6"])
    player.problems.first.get_by_role("button", name=say("page-show-node")).click()
    raised = player.page.get_by_role("article", name=say("player-node-raised", node=""))
    expect(raised.get_by_role("button")).to_have_attribute("aria-pressed", "true")


def test_warnings_and_caught_errors_stand_at_their_lines(player: PlayerPage) -> None:
    source = "x = torch.ones(4, 1, requires_grad=True)\nloss = F.mse_loss(x, torch.zeros(4))\nloss.backward()"
    with warnings.catch_warnings(record=True) as torchs_own:
        warnings.simplefilter("always")
        torch.nn.functional.mse_loss(torch.ones(4, 1), torch.zeros(4))
    player.open(fragment(source))
    shown = player.named("region", "page-warnings")
    expect(shown).to_contain_text(str(torchs_own[0].message)[:40])
    expect(player.page.locator(".cm-lintRange-warning")).to_have_text("F.mse_loss(x, torch.zeros(4))")
    shown.get_by_role("button", name=say("page-go-to-line", line=2)).click()
    expect(player.program).to_be_focused()
    again = "y = (x * x).sum()\ny.backward()\ntry:\n    y.backward()\nexcept RuntimeError:\n    pass"
    player.run("x = torch.ones(2, requires_grad=True)\n" + again)
    expect(player.page.locator(".cm-lintRange-info")).to_have_text("x * x")
    expect(player.page.locator(".cm-lintRange-error")).to_have_count(0)
    expect(shown).to_have_count(0)
    player.run("if True:\n    x = torch.ones(2, requires_grad=True).cuda()\nx.sum().backward()")
    expect(player.page.locator(".cm-lintRange-info")).to_have_text("x = torch.ones(2, requires_grad=True).cuda()")


BOTH = "x = torch.tensor([1., 2.], requires_grad=True)\nw = torch.tensor([3., 4.], requires_grad=True)\n"
END = "\nloss.backward()\nprint(x.grad)"
DETACHED, ATTACHED = (f"{BOTH}loss = ({x} * w).sum(){END}" for x in ("x.detach()", "x"))


def test_why_there_is_no_gradient_is_the_first_thing_told(player: PlayerPage) -> None:
    """Each reason there is: `tests/tracer/test_reasons.py`."""
    opening = player.named("region", "player-without-gradient")
    last = player.page.get_by_role("table", name="Steps").locator("tbody tr").last
    assert [run_plain(each).namespace["x"].grad is None for each in (DETACHED, ATTACHED)] == [True, False]
    player.open(fragment(DETACHED, s="0.1"))
    for text in ("x.grad", say("player-line", line=3)):
        expect(opening).to_contain_text(text)
    player.show_panel("page-steps")
    expect(last).to_contain_text("x.grad None")
    player.button("Next phase").click()
    expect(opening).to_have_count(0)
    player.show_panel("page-program")
    player.run(ATTACHED)
    player.show_panel("page-steps")
    expect(last).not_to_contain_text("x.grad None")
    # A layer that is frozen on purpose is told in the table only.
    frozen = "net = nn.Linear(2, 1)\nnet.bias.requires_grad_(False)\nnet(torch.ones(3, 2)).sum().backward()"
    player.open(fragment(frozen, s="0.1"))
    player.show_panel("page-steps")
    expect(last).to_contain_text("net.bias.grad None")
    expect(opening).to_have_count(0)


LOOP = """
import torch
w = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([w], lr=10.0)
for i in range(500):
    loss = w * w * (1 + i)
    loss.backward()
    opt.step()
    opt.zero_grad()
""".strip()


def test_of_many_passes_the_first_that_is_not_finite_is_one_click_away(player: PlayerPage) -> None:
    curve = player.named("group", "player-curve")
    # Each pass multiplies w by 1 - 2 lr (1 + i).
    w, first = 1.0, 1
    while abs(w) * 2 * first < 3.4e38:
        w, first = w * (1 - 20 * first), first + 1
    player.open(fragment(LOOP))
    named(curve, "button", "player-curve-non-finite", **{"pass": first}).click()
    expect(curve).to_contain_text(say("player-curve-pass", **{"pass": first}, total=500))
    expect(curve).not_to_contain_text(say("player-curve-unrecorded"))
    expect(player.page.get_by_text(re.compile("NaN|∞")).first).to_be_visible()


def test_all_numbers_of_a_large_value_can_be_read(player: PlayerPage) -> None:
    program = "torch.manual_seed(0)\nx = torch.randn(60, 40, requires_grad=True)\ntorch.exp(x).sum().backward()"
    torch.manual_seed(0)
    expected = torch.exp(torch.randn(60, 40))
    player.open(fragment(program, s="2.5"))
    player.page.get_by_role("button", name=say("player-all-numbers")).last.click()
    dialog = player.page.get_by_role("dialog")
    for text in ("[60 × 40]", f"{expected[0, 0].item():.4g}"):
        expect(dialog).to_contain_text(text)
    dialog.get_by_role("group").last.evaluate("(window) => window.scrollTo(100000, 100000)")
    expect(dialog).to_contain_text(f"{expected[59, 39].item():.4g}")


MARKUP = "<img src=x onerror=document.title='gone'><script>document.title='gone'</script>"
CONTROLS = "\u202e\u2066\x1b]0;gone\x07\u200b"
PROGRAM = f"""
import torch  # {CONTROLS[:2]}eno
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
    for shown in (player.program, player.problems.first, player.named("region", "page-program-output")):
        expect(shown).to_contain_text(r"\u202e\u2066")
        assert not set("\u202e\u2066\x1b\x07") & set(shown.inner_text())
    assert player.page.locator("img[src=x], script:not([src]):not([type])").count() == 0
    assert "gone" not in player.page.title()
    # Turned text ends with its own paragraph: what stands beside it reads as ever.
    button = player.problems.first.get_by_role("button").first
    expect(button).to_be_visible()
    assert button.evaluate("element => getComputedStyle(element).direction") == "ltr"


def test_the_form_of_requests_is_read_under_the_page_s_own_policy(player: PlayerPage) -> None:
    """Where the hint of a refused request leads. What the policy stops would be a complaint of the page."""
    description = httpx.get(f"{player.server}/openapi.json", timeout=60).json()
    asked: list[str] = []
    player.page.on("request", lambda request: asked.append(request.url))
    player.page.goto(f"{player.server}/docs")
    for path, methods in description["paths"].items():
        for method in methods:
            expect(player.page.get_by_text(f"{method.upper()} {path}", exact=True)).to_be_visible()
    assert "sin(x*y) + x" in player.page.inner_text("main")
    assert asked == [f"{player.server}/docs"]


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
