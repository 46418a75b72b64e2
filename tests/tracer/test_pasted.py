"""What people paste runs like the program that it was copied from, and every place is one of the text as typed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradwalk.tracer.pasted import straighten
from tests.tracer.test_source import text_of
from tests.twin import run_traced

LOOP = """\
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
for step in range(2):
    loss = (w * w).sum()
    loss.backward()
print(w.grad, 'done')
"""
MATRIX = """\
import torch
a = torch.tensor([[1.0, 2.0],
                  [3.0, 4.0]], requires_grad=True)
(a @ a).sum()
"""
COMMANDS = """\
!pip install -q torch \\
    numpy
%matplotlib inline
%%time
pip install wandb
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
%time x = w
torch.relu?
for step in range(2):
    !nvidia-smi
    loss = (w * w).sum()
    %timeit -n 1 loss.backward()
%%bash
rm -r (
# %% next cell
print(w.grad, 'done')
"""
SESSION = """\
>>> import torch
>>> w = torch.tensor([1.0, 2.0], requires_grad=True)
>>> w
tensor([1., 2.], requires_grad=True)
>>> for step in range(2):
...     loss = (w * w).sum()
...     loss.backward()
...
>>> print(w.grad, 'done')
tensor([4., 8.]) done
"""
WITHOUT_DOTS = """\
>>> import torch
>>> a = torch.tensor([[1.0, 2.0],
                  [3.0, 4.0]], requires_grad=True)
>>> (a @ a).sum()
tensor(54., grad_fn=<SumBackward0>)
"""
IPYTHON = """\
In [1]: import torch

In [2]: w = torch.tensor([1.0, 2.0], requires_grad=True)

In [3]: w
Out[3]: tensor([1., 2.], requires_grad=True)

In [4]: for step in range(2):
   ...:     loss = (w * w).sum()
   ...:     loss.backward()
   ...:

In [5]: print(w.grad, 'done')
tensor([4., 8.]) done
"""
NOTEBOOK = """\
In [1]:
import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
w
Out[1]:
tensor([1., 2.], requires_grad=True)
In [ ]:
%%time
for step in range(2):
    loss = (w * w).sum()
    loss.backward()
print(w.grad, 'done')
"""
FENCED = f"```python\n{LOOP}```\n"
PASTED = {
    "a notebook's commands": (COMMANDS, LOOP),
    "a session": (SESSION, LOOP),
    "a session without dots": (WITHOUT_DOTS, MATRIX),
    "IPython": (IPYTHON, LOOP),
    "a notebook's cells": (NOTEBOOK, LOOP),
    "cells of Colab": (NOTEBOOK.replace("In [", "["), LOOP),
    "a fenced block": (FENCED, LOOP),
    "curly quotes": (LOOP.replace("'done'", "\u2018done\u2019"), LOOP),
    "half curly quotes": (LOOP.replace("'done'", '\u201cdone"'), LOOP),
    "curly quotes of their own in a string": (
        LOOP.replace("'done'", "\u201cit\u2019s\u201d"),
        LOOP.replace("'done'", "'it\u2019s'"),
    ),
    "non-breaking spaces": (LOOP.replace("    ", "\u00a0\u00a0\u00a0 ").replace(" = ", "\u00a0= "), LOOP),
    "invisible characters": (LOOP.replace("w = ", "\u200bw =\u200b ").replace("    ", "  \u200b  "), LOOP),
    "a byte order mark and Windows": ("\ufeff" + SESSION.replace("\n", "\r\n"), LOOP),
    "tabs among spaces": (LOOP.replace("    loss.", "\tloss."), LOOP),
    "tabs of eight among spaces": (LOOP.replace("    loss =", "        loss =").replace("    loss.", "\tloss."), LOOP),
    "all of it indented": ("".join(f"    {line}\n" for line in MATRIX.splitlines()), MATRIX),
}
UNTOUCHED = {
    "what looks like a command": ('x = 7\ny = """\n%s\n!pip\n>>> x\n"""\nz = (x\n % 3)\n', "x = \u201ca\u201d\n"),
    "a body of dots": ("class A:\n    ...\nx[\n..., 0]\n", "!ls\n"),
    "a string's curly quotes": ("x = 'it\u2019s'  # \u201cso\u201d\n", "!ls\n"),
    "a string of nothing but quotes": ('x = "\u201c\u201d\u201c\u201d"\n', "!ls\n"),
}
"""Text that parses, and stays what it is when something below it does not."""


def as_read(source: str, events: Any) -> Any:
    """Events with the text at a place instead of its position, which is another in the program copied from."""
    if isinstance(events, dict):
        if "end_column" in events:
            text = text_of(source, events).translate({0x2018: "'", 0x2019: "'", 0x200B: None})
            return " ".join(text.split())
        return {key: as_read(source, value) for key, value in events.items() if key not in ("source", "id")}
    return [as_read(source, one) for one in events] if isinstance(events, list) else events


@pytest.mark.parametrize("name", PASTED)
def test_a_pasted_program_gives_the_events_of_the_clean_one(name: str) -> None:
    pasted, clean = PASTED[name]
    assert as_read(pasted, run_traced(pasted).events) == as_read(clean, run_traced(clean).events)


@pytest.mark.parametrize("name", UNTOUCHED)
def test_what_is_python_stays_as_it_is(name: str) -> None:
    text, below = UNTOUCHED[name]
    assert straighten(text + below).startswith(text)


PIECES = (
    *"\u201c\u201d\u2018\u2019\u00a0\u200b\ufeff\f\t\\\n()[]#'\"\u00e9\U0001f600", "\'\'\'", '"""', "    ", "\\\n",
    "```", ">>> ", "... ", "In [1]:", "Out[1]: ", "%%time", "%%bash", "# %%", "!ls", "x?", "x = 1",
    "def f():", "%time x",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join))
def test_whatever_is_pasted_keeps_its_lines(text: str) -> None:
    assert straighten(text).count("\n") == text.count("\n")
