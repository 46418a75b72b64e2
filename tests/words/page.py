"""What the page says, by its own script in V8 within this process."""

import json
from functools import cache
from typing import Any

from py_mini_racer import MiniRacer

from gradwalk.exports.scene import SCRIPTS, StepWords, Walks
from gradwalk.words.catalogue import read_catalogue


def new_engine() -> MiniRacer:
    """V8 with the page's scripts, which speaks English."""
    engine = MiniRacer()
    engine.eval(f"var gradwalkEnglish = {json.dumps(read_catalogue())}")
    for script in SCRIPTS:
        engine.eval(script.read_text("utf-8"))
    return engine


_engine = cache(new_engine)


def told_by_page(document: bytes) -> Walks:
    """What is said of an encoded document, code in backticks."""
    return json.loads(_engine().call("gradwalk.tellMarkedUp", document.decode()))


def phases_of(step: StepWords) -> list[str]:
    """What is said at each of its five phases; where it does not stop, what the stop before it says."""
    said: list[str] = []
    for phase in range(1, 6):
        reached = [stop["said"] for stop in step["stops"] if stop["phase"] <= phase]
        said.append((reached or [step["stops"][0]["said"]])[-1])
    return said


def tell_all(engine: MiniRacer, facts: list[dict[str, Any]]) -> list[str]:
    """The facts as an engine says them; asked for together, since each call of V8 has its price."""
    engine.eval("var tellAll = (facts) => JSON.stringify(facts.map((one) => gradwalk.tellFact(JSON.stringify(one))))")
    return json.loads(str(engine.call("tellAll", facts)))


def tell_goal_by_page(goal: dict[str, Any], document: bytes) -> str | None:
    """What an example teaches, with the numbers of an encoded document; None where it does not follow them."""
    return json.loads(str(_engine().call("gradwalk.tellGoal", json.dumps(goal), document.decode())))


def tell_by_page(fact: dict[str, Any]) -> str:
    """A fact as the page says it."""
    return str(_engine().call("gradwalk.tellFact", json.dumps(fact)))
