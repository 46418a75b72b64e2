"""Problems as text, for answers to API clients and terminals."""

from typing import NamedTuple

from gradwalk.protocol.events import Problem
from gradwalk.words.catalogue import LANGUAGE, say, tell, tell_attribute


class ToldProblem(NamedTuple):
    """What is said of a problem, with capitals."""

    title: str
    message: str
    """With the words of Python's or PyTorch's own, where they add something."""
    hint: str | None


def tell_problem(problem: Problem, language: str = LANGUAGE) -> ToldProblem:
    """The problem's three sentences; of a fact that the catalogue does not know, that it is so."""
    fact = problem["fact"]
    try:
        title, hint = tell_attribute(fact, "title", language), tell_attribute(fact, "hint", language)
        message = tell(fact, language)
    except LookupError:
        # Who wrote the trace may be a newer gradwalk.
        title, message, hint = None, say("fact-unknown", language, kind=fact["kind"]), None
    if "words" in problem:
        message = f"{message} {say('problem-words', language, words=problem['words'])}"
    return ToldProblem(_capital(title or ""), _capital(message), None if hint is None else _capital(hint))


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
