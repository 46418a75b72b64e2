"""The English sentences of all examples, as they were read and approved.

After a change: `pytest tests/words/test_sentences.py --rewrite-goldens`, then read the diff.
"""

from pathlib import Path

from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.words.catalogue import tell, tell_attribute
from gradwalk.words.problems import tell_problem
from tests.tracer.programs import trace
from tests.words.page import told_by_page

APPROVED = Path(__file__).with_name("sentences.txt")


def sentences() -> list[str]:
    """One a line: where it is said, and what."""
    lines = []
    for example in EXAMPLES:
        traced = trace(example.slug)
        said: dict[str, str | None] = {}
        for at, step in enumerate(told_by_page(traced.document)["backward"], start=1):
            said |= {f"{at}.{stop}": step["phases"][stop - 1] for stop in step["stops"]}
        for event in traced.of("problem"):
            said |= zip(("problem", "message", "hint"), tell_problem(event), strict=True)
        for event in traced.of("pass_finished"):
            for one in event["leaf_grads"]:
                because = one["grad"].get("because")
                said[f"{one['leaf']}.grad"] = because and tell(because)
                said[f"{one['leaf']}.grad, hint"] = because and tell_attribute(because, "hint")
            for finding in event.get("findings", ()):
                said[f"{finding['kind']} in pass {event['pass']}"] = tell(finding["fact"])
        lines += [f"{example.slug} {where}: {sentence}" for where, sentence in said.items() if sentence]
    return lines


def test_the_sentences_of_the_examples_are_the_approved_ones(rewrite_goldens: bool) -> None:
    if rewrite_goldens:
        APPROVED.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    assert sentences() == APPROVED.read_text(encoding="utf-8").splitlines()
