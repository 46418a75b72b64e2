"""The list of examples: one entry here, one message in the catalogue and one text file in `programs/`."""

from importlib.resources import files
from typing import Any

from gradwalk.examples.example import Example
from gradwalk.protocol.facts import Fact, fact

_PROGRAMS = files("gradwalk.examples") / "programs"
_PREFIX = "example-"


def program_text(slug: str) -> str:
    """The program of one example.

    Raises:
        FileNotFoundError: there is no text file for this slug.
    """
    return (_PROGRAMS / f"{slug.replace('-', '_')}.py").read_text(encoding="utf-8")


def _example(about: Fact, *, start: str = "1.1", seed_files: tuple[str, ...] = (), **options: Any) -> Example:
    slug = about["kind"].removeprefix(_PREFIX)
    return Example(
        slug=slug, fact=about, source=program_text(slug), options=options, start=start, seed_files=seed_files
    )


EXAMPLES: list[Example] = [
    # What v, J and v times J are.
    _example(fact("example-map"), start="1.3", seed_files=("000", "002"), grad_output=[0.0, 1.0, 0.0]),
    _example(fact("example-rows-of-j"), seed_files=("000", "002")),
    _example(fact("example-whole-jacobian"), seed_files=("000",)),
    _example(fact("example-ones-as-v"), seed_files=("001", "000")),
    _example(fact("example-weights-as-v"), start="1.3", seed_files=("001",)),
    _example(fact("example-doubling-loop"), seed_files=("001",)),
    _example(fact("example-chain-of-two"), start="2.3", seed_files=("001", "000")),
    _example(fact("example-why-grad-output"), start="4.3", seed_files=("003", "000")),
    # Functions of one's own.
    _example(fact("example-exp-function"), start="1.3", seed_files=("002",)),
    _example(fact("example-wrong-shape"), start="2.5", seed_files=("002",)),
    _example(fact("example-returned-jacobian"), start="1.3", seed_files=("002",)),
    _example(fact("example-batch"), start="3.3", seed_files=("002",)),
    _example(fact("example-linear-function"), start="2.3", seed_files=("003",)),
    _example(fact("example-gradcheck"), start="2.3", seed_files=("004",)),
    _example(fact("example-composite"), start="2.3", seed_files=("004",)),
    _example(fact("example-none-zeros-undefined"), start="4.4", seed_files=("004",)),
    # How the engine walks.
    _example(fact("example-sin-expression"), inputs={"x": 1.0, "y": 2.0}),
    _example(fact("example-used-twice"), start="3.1"),
    _example(fact("example-x-times-x"), start="2.1"),
    _example(fact("example-broadcast-bias"), start="1.3", seed_files=("003",)),
    _example(fact("example-gradient-accumulation")),
    _example(fact("example-double-backward"), start="1.3"),
    _example(fact("example-detach"), start="3.3"),
    _example(fact("example-backward-twice")),
    _example(fact("example-in-place")),
    # The same in the large.
    _example(fact("example-vanishing"), start="1.3"),
    _example(fact("example-mlp-step")),
    _example(fact("example-attention"), start="3.3"),
]
