"""Names, places and complaints; CPython's own instruction positions are the oracle for spans."""

import dis
import importlib
import sys
import types

import pytest

from gradwalk.protocol.events import EVENT
from gradwalk.tracer.directions import Direction
from gradwalk.tracer.names import MATHS, PRELUDE
from gradwalk.tracer.source import read_program
from tests.twin import run_traced


def text_of(source: str, span) -> str:
    """The text at a span, cut out in UTF-16 as a browser does."""
    lines = [line.encode("utf-16-le") for line in source.replace("\r\n", "\n").replace("\r", "\n").split("\n")]
    if span["line"] == span["end_line"]:
        return lines[span["line"] - 1][2 * span["column"] : 2 * span["end_column"]].decode("utf-16-le")
    first = lines[span["line"] - 1][2 * span["column"] :]
    last = lines[span["end_line"] - 1][: 2 * span["end_column"]]
    return b"\n\0".join([first, *lines[span["line"] : span["end_line"] - 1], last]).decode("utf-16-le")


def instructions(code: types.CodeType):
    for instruction in dis.get_instructions(code):
        yield instruction.opname, instruction.positions
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from instructions(constant)


def spans_of(source: str, *opnames: str) -> list[str]:
    """The text that the program marks for each instruction of the kinds named, in order, without repeats."""
    program = read_program(source)
    found: dict[str, None] = {}
    for opname, positions in instructions(program.code):
        if opname in opnames:
            span = program.span(tuple(positions))
            assert span is not None
            found[text_of(source, span)] = None
    return list(found)


CALLS = ("CALL", "CALL_FUNCTION_EX", "CALL_KW")
# From 3.13 on Python itself points at what is iterated over.
LOOP = "for row in x.rows()" if sys.version_info < (3, 13) else "x.rows()"
SPANS = [
    ("import a\ny = (a\n  .f(1)\n  .mean()\n)\n", CALLS, ["a\n  .f(1)", "a\n  .f(1)\n  .mean()"]),
    ("import a\ny = a.f(\n    1,\n    2,\n)\n", CALLS, ["a.f(\n    1,\n    2,\n)"]),
    ("import x, v\nx[0] += v * 2\n", ("STORE_SUBSCR",), ["x[0] += v * 2"]),
    ("import x\na, b = x\n", ("UNPACK_SEQUENCE",), ["a, b = x"]),
    ("import x\nfor row in x.rows():\n    print(row)\n", ("FOR_ITER",), [LOOP]),
    ("import x\nprint(f'''é\n{x * 2} {x.item()}''')\n", ("BINARY_OP",), ["x * 2"]),
    ("import x\nα = '😀αβγ' + x.f('𝛼') * 2\n", ("BINARY_OP",), ["x.f('𝛼') * 2", "'😀αβγ' + x.f('𝛼') * 2"]),
    ("import x\n\fy = x.f(1)\n", CALLS, ["x.f(1)"]),
    ("\ufeffimport x\ny = x.f(1)\n", CALLS, ["x.f(1)"]),
    ("import x\r\ny = (x\r\n .f(1))\rz = x.g()\r", CALLS, ["x\n .f(1)", "x.g()"]),
    ("import x\ny = x.w @ x.v + x.b\n", ("BINARY_OP",), ["x.w @ x.v", "x.w @ x.v + x.b"]),
    ("import x\nx.f(1)(2)[3]\n", (*CALLS, "BINARY_SUBSCR"), ["x.f(1)", "x.f(1)(2)", "x.f(1)(2)[3]"]),
]


@pytest.mark.parametrize(("source", "opnames", "expected"), SPANS)
def test_a_span_is_what_a_reader_would_point_at(source, opnames, expected):
    found = spans_of(source, *opnames)
    assert [one for one in found if one in expected] == expected
    assert len(opnames) > 1 or found == expected


def test_wrapping_the_result_moves_nothing():
    source = "x = 3.0\ny = x * 2\nabs(y) + (1 -\n  x)\n"
    plain, wrapped = compile(source, "<snippet>", "exec"), read_program(source, {"x": 1}).code
    places = [{place for name, place in instructions(code) if name == "BINARY_OP"} for code in (plain, wrapped)]
    assert places[0] == places[1]


# The program; its free names, the names that are functions of mathematics, those that are modules.
NAMES = {
    "sin(x*y) + x": "x y; sin;",
    "x = x + 1\nx * 2": "x;;",
    "F.relu(x) + torch.sin(y)": "x y;; F torch",
    "sum([a*b for a, b in zip(u, v)])": "u v;;",
    "sum(u*v)": "u v; sum;",
    "parts = [u * v, u]\nsum(parts)": "u v;;",
    "toch.tensor(3.) * x": "x;;",
    "y + sinn(x) + cos(x)": "y x; cos;",
    "import torch\ny = torch.sin(x)": ";;",
    "def f(q):\n    return nn.Linear(q, k)\nf(3)": ";; nn",
}


@pytest.mark.parametrize("source", NAMES)
def test_names_stand_for(source):
    program = read_program(source)
    free, maths, prelude = (part.split() for part in NAMES[source].split(";"))
    assert list(program.free_variables) == free
    assert (set(program.maths_names), set(program.prelude)) == (set(maths), set(prelude))


def test_a_free_name_with_a_value_is_an_input_in_any_program():
    program = read_program("import torch\ndef f(q):\n    return q * k\ny = f(x)\n", {"k": 1, "x": 2, "unused": 3})
    assert (program.free_variables, program.unused_inputs) == (("k", "x"), ("unused",))
    assert program.default_inputs == {"k": 2.0, "x": 3.0}


def test_every_printed_name_resolves_in_torch():
    for path in (*MATHS.values(), *PRELUDE.values()):
        module, _, attribute = path.rpartition(".")
        if module:
            assert hasattr(importlib.import_module(module), attribute), path


TARGETS = [
    ("box.v = a * b", "a * b", ("box.v",)),
    ("w[0] = a * b", "a * b", ("w[0]",)),
    ("w[0] = a * b", "w[0] = a * b", ("w",)),
    ("p, q = f(a)", "f(a)", ("p", "q")),
    ("p, (q, r) = f(a), g(b)", "g(b)", ("q", "r")),
    ("print(y := a + b)", "a + b", ("y",)),
]


@pytest.mark.parametrize(("source", "part", "names"), TARGETS)
def test_the_name_a_value_is_given_to(source, part, names):
    start = source.index(part)
    span = {"line": 2, "column": start, "end_line": 2, "end_column": start + len(part)}
    assert read_program("import a, b, f, g, box, w, y\n" + source).target_of(span) == names


def test_a_long_sum_does_not_recurse():
    program = read_program("+".join(["x"] * 900))
    assert program.free_variables == ("x",)
    assert program.span((1, 1, 0, 3)) == {"line": 1, "column": 0, "end_line": 1, "end_column": 3}


def test_directing_comments_are_read_and_travel_with_the_trace():
    source = "x = 1 #@ note the leaf\n#@break\ns = '#@ hide'\n#@ predict shape \n#@ shout\n"
    expected = [("note", "the leaf", 1), ("break", "", 2), ("predict", "shape", 4)]
    assert read_program(source).directions == tuple(Direction(*each) for each in expected)
    source = "x = torch.tensor(2.0, requires_grad=True)\n(x * x).backward()"
    started = run_traced(f"{source}  #@ predict how large?\n").events[0]
    assert started["directions"] == [{"kind": "predict", "text": "how large?", "line": 2}]
    EVENT.validate_python(started)
    assert "directions" not in run_traced(source).events[0]
