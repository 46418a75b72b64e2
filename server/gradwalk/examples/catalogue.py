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


def _example(
    about: Fact,
    *,
    stop: str,
    seed_files: tuple[str, ...] = (),
    follows: dict[str, str] | None = None,
    **options: Any,
) -> Example:
    slug = about["kind"].removeprefix(_PREFIX)
    return Example(
        slug=slug,
        fact=about,
        source=program_text(slug),
        options=options,
        stop=stop,
        follows=follows or {},
        seed_files=seed_files,
    )


EXAMPLES: list[Example] = [
    # What v, J and v times J are.
    _example(
        fact("example-map", J="[[4, 0], [3, 2], [0, 6]]", v="[0, 1, 0]", grad="[3, 2]"),
        stop="1.3",
        seed_files=("000", "002"),
        follows={"J": "1.3 J", "v": "1.3 v", "grad": "2.5 p.grad"},
        grad_output=[0.0, 1.0, 0.0],
    ),
    _example(
        fact("example-rows-of-j", first="[4, 0]", second="[3, 2]", third="[0, 6]"),
        stop="6.5",
        seed_files=("000", "002"),
        follows={"first": "6.5 p.grad", "second": "12.5 p.grad", "third": "18.5 p.grad"},
    ),
    _example(fact("example-whole-jacobian"), stop="5.4", seed_files=("000",)),
    _example(
        fact("example-ones-as-v", grad="[2, 4, 6]"),
        stop="1.3",
        seed_files=("001", "000"),
        follows={"grad": "2.5 x.grad"},
    ),
    _example(
        fact("example-weights-as-v", one="0.2", row_one="[2, 1]", two="0.8", row_two="[1, 3]", grad="[1.2, 2.6]"),
        stop="1.3",
        seed_files=("001",),
        follows={
            "one": "1.3 v[0]",
            "row_one": "1.3 J[0]",
            "two": "1.3 v[1]",
            "row_two": "1.3 J[1]",
            "grad": "2.5 x.grad",
        },
    ),
    _example(fact("example-doubling-loop"), stop="10.3", seed_files=("001",)),
    _example(
        fact("example-chain-of-two", v="[1, 1]", next="[6, 14]", grad="[48, 68]"),
        stop="2.3",
        seed_files=("001", "000"),
        follows={"v": "1.3 v", "next": "2.3 v", "grad": "3.5 x.grad"},
    ),
    _example(
        fact("example-why-grad-output", x="2", v="14", grad="28"),
        stop="4.3",
        seed_files=("003", "000"),
        follows={"x": "4.3 x", "v": "4.3 v", "grad": "5.5 w.grad"},
    ),
    # Functions of one's own.
    _example(fact("example-exp-function"), stop="1.3", seed_files=("002",)),
    _example(fact("example-wrong-shape"), stop="2.5", seed_files=("002",)),
    _example(fact("example-returned-jacobian"), stop="1.3", seed_files=("002",)),
    _example(fact("example-batch"), stop="3.3", seed_files=("002",)),
    _example(fact("example-linear-function"), stop="3.3", seed_files=("003",)),
    _example(fact("example-gradcheck"), stop="2.3", seed_files=("004",)),
    _example(fact("example-composite"), stop="2.3", seed_files=("004",)),
    _example(fact("example-none-zeros-undefined"), stop="4.4", seed_files=("004",)),
    # How the engine walks.
    _example(fact("example-sin-expression"), stop="2.3", inputs={"x": 1.0, "y": 2.0}),
    _example(
        fact("example-used-twice", a="6", b="10", v="16", x="2", y="3", x_grad="48", y_grad="32"),
        stop="3.1",
        follows={
            **{name: f"3.1 {name}" for name in ("a", "b", "v", "x", "y")},
            "x_grad": "4.5 x.grad",
            "y_grad": "5.5 y.grad",
        },
    ),
    _example(fact("example-x-times-x", x="3", grad="6"), stop="2.1", follows={"x": "2.1 x", "grad": "2.5 x.grad"}),
    _example(
        fact("example-broadcast-bias", grad="[3, 30, 300]"),
        stop="1.3",
        seed_files=("003",),
        follows={"grad": "2.5 bias.grad"},
    ),
    _example(
        fact("example-gradient-accumulation", first="2.5", second="12.5", grad="15"),
        stop="10.5",
        follows={"first": "5.5 w.grad", "second": "10.5 v", "grad": "10.5 w.grad"},
    ),
    _example(
        fact("example-double-backward", slope="27", grad="18"),
        stop="1.3",
        follows={"slope": "1.3 slope", "grad": "5.5 x.grad"},
    ),
    _example(fact("example-detach"), stop="3.3"),
    _example(fact("example-backward-twice", grad="4"), stop="3.5", follows={"grad": "2.5 x.grad"}),
    _example(fact("example-in-place"), stop="3.5"),
    # The same in the large.
    _example(fact("example-vanishing", grad="3.875·10⁻⁷"), stop="1.3", follows={"grad": "11.5 x.grad"}),
    _example(fact("example-mlp-step"), stop="1.3"),
    _example(fact("example-attention"), stop="3.3"),
]
